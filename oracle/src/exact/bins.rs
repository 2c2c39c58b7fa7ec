//! The inner loops of exact summation: error-free bins over adjacent columns, one vector lane per column.
//!
//! ```text
//!            lane 0   lane 1   ...              a: one value of A, the same in all lanes
//!   b        b[t][0]  b[t][1]  ...              b: one row of B, K vectors of it
//!   value    S, rest  S, rest  ...   (+= a b)   gauge: the same for |a| |b|
//! ```
//!
//! Nothing here checks anything: [`super::certificate`] proves beforehand that none of these operations rounds
//! (except where the rounding error is what is wanted). The vector type is `pulp`'s, chosen at run time; its
//! `mul_add_f64s` is fused on every machine, so that one without FMA instructions is slower and no less exact.
//!
//! Sums and fused operations are mixed on purpose: processors have units for each, and a sign is applied by a fused
//! multiplication by 1 or -1 rather than before the addition.
//!
//! No closures here or in the callers' loops: a closure is compiled without the vector instructions that its
//! surroundings were given, and each operation in it becomes a call.

#![expect(
    clippy::needless_range_loop,
    reason = "one index runs over several arrays, and an iterator's closure would leave the vector unit"
)]

use super::certificate::BinPlan;
use pulp::Simd;

/// How elements of a dense row are stored; f32 holds every narrower type exactly and costs half the traffic.
pub trait Lane: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The value as f64, exactly.
    fn widen(self) -> f64;

    /// The row itself, where it already is f64.
    fn as_f64s(row: &[Self]) -> Option<&[f64]>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Lane for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn as_f64s(_: &[f32]) -> Option<&[f64]> {
        None
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn as_f64s(row: &[f64]) -> Option<&[f64]> {
        Some(row)
    }
}

/// Sums of K vectors of adjacent columns in progress.
pub(super) trait Bins<S: Simd, const K: usize>: Copy {
    /// How many of the parts are used.
    const PARTS: usize;

    /// Empty sums.
    fn new(simd: S, plan: &BinPlan) -> Self;

    /// Adds `a * b` to the value, lane by lane, and its magnitude to the gauge.
    #[must_use]
    fn add(self, simd: S, a: f64, b: [S::f64s; K]) -> Self;

    /// Value and gauge of vector j, each as parts that add up to it exactly; unused ones are zero.
    fn parts(&self, simd: S, j: usize) -> [[S::f64s; 4]; 2];
}

/// 1.5 * 2^`exponent`.
#[inline(always)]
fn sigma(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52 | 1 << 51)
}

/// The part of `x` on the grid of `sigma`, and what is left.
#[inline(always)]
fn split<S: Simd>(simd: S, x: S::f64s, sigma: S::f64s) -> (S::f64s, S::f64s) {
    let on_grid = simd.sub_f64s(simd.add_f64s(x, sigma), sigma);
    (on_grid, simd.sub_f64s(x, on_grid))
}

/// `a * b - c` with one rounding.
#[inline(always)]
fn mul_sub<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
    let negated = pulp::cast(simd.xor_u64s(pulp::cast(c), pulp::cast(simd.splat_f64s(-0.0))));
    simd.mul_add_f64s(a, b, negated)
}

// What pulp has for bits of floats stays a call, with its vectors in memory, in a build with debug assertions: 6 % of the samples that perf took
// of the quick tier were in it. On integers the same is one instruction in every build.

/// `a & b`, bit by bit.
#[inline(always)]
fn and<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
    pulp::cast(simd.and_u64s(pulp::cast(a), pulp::cast(b)))
}

/// `a | b`, bit by bit.
#[inline(always)]
fn or<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
    pulp::cast(simd.or_u64s(pulp::cast(a), pulp::cast(b)))
}

/// `|x|`.
#[inline(always)]
pub(super) fn abs<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    pulp::cast(simd.and_u64s(pulp::cast(x), simd.splat_u64s(u64::MAX >> 1)))
}

/// All bits of the certificate's window in one float.
#[derive(Clone, Copy)]
pub(super) struct Plain<S: Simd, const K: usize> {
    value: [S::f64s; K],
    gauge: [S::f64s; K],
}

impl<S: Simd, const K: usize> Bins<S, K> for Plain<S, K> {
    const PARTS: usize = 1;

    #[inline(always)]
    fn new(simd: S, _: &BinPlan) -> Self {
        let zero = simd.splat_f64s(0.0);
        Plain { value: [zero; K], gauge: [zero; K] }
    }

    #[inline(always)]
    fn add(mut self, simd: S, a: f64, b: [S::f64s; K]) -> Self {
        let (factor, magnitude) = (simd.splat_f64s(a), simd.splat_f64s(a.abs()));
        for j in 0..K {
            self.value[j] = simd.mul_add_f64s(factor, b[j], self.value[j]);
            self.gauge[j] = simd.mul_add_f64s(magnitude, abs(simd, b[j]), self.gauge[j]);
        }
        self
    }

    #[inline(always)]
    fn parts(&self, simd: S, j: usize) -> [[S::f64s; 4]; 2] {
        let zero = simd.splat_f64s(0.0);
        [[self.value[j], zero, zero, zero], [self.gauge[j], zero, zero, zero]]
    }
}

/// A running bin that starts at its sigma, and a rest.
#[derive(Clone, Copy)]
pub(super) struct TwoBins<S: Simd, const K: usize> {
    sigma: S::f64s,
    value: [[S::f64s; 2]; K],
    gauge: [[S::f64s; 2]; K],
}

/// One step of a running bin.
#[inline(always)]
fn step<S: Simd>(simd: S, [bin, rest]: [S::f64s; 2], a: S::f64s, b: S::f64s) -> [S::f64s; 2] {
    let sum = simd.mul_add_f64s(a, b, bin);
    let taken = simd.sub_f64s(sum, bin);
    [sum, simd.add_f64s(rest, mul_sub(simd, a, b, taken))]
}

impl<S: Simd, const K: usize> Bins<S, K> for TwoBins<S, K> {
    const PARTS: usize = 2;

    #[inline(always)]
    fn new(simd: S, plan: &BinPlan) -> Self {
        let sigma = simd.splat_f64s(sigma(plan.bins[0]));
        let empty = [[sigma, simd.splat_f64s(0.0)]; K];
        TwoBins { sigma, value: empty, gauge: empty }
    }

    #[inline(always)]
    fn add(mut self, simd: S, a: f64, b: [S::f64s; K]) -> Self {
        let (factor, magnitude) = (simd.splat_f64s(a), simd.splat_f64s(a.abs()));
        for j in 0..K {
            self.value[j] = step(simd, self.value[j], factor, b[j]);
            self.gauge[j] = step(simd, self.gauge[j], magnitude, abs(simd, b[j]));
        }
        self
    }

    #[inline(always)]
    fn parts(&self, simd: S, j: usize) -> [[S::f64s; 4]; 2] {
        let zero = simd.splat_f64s(0.0);
        let [value, value_rest] = self.value[j];
        let [gauge, gauge_rest] = self.gauge[j];
        let (value, gauge) = (simd.sub_f64s(value, self.sigma), simd.sub_f64s(gauge, self.sigma));
        [[value, value_rest, zero, zero], [gauge, gauge_rest, zero, zero]]
    }
}

/// Two bins with constant sigmas, and a rest.
#[derive(Clone, Copy)]
pub(super) struct ThreeBins<S: Simd, const K: usize> {
    sigma: [S::f64s; 2],
    value: [[S::f64s; 3]; K],
    gauge: [[S::f64s; 3]; K],
}

impl<S: Simd, const K: usize> Bins<S, K> for ThreeBins<S, K> {
    const PARTS: usize = 3;

    #[inline(always)]
    fn new(simd: S, plan: &BinPlan) -> Self {
        let empty = [[simd.splat_f64s(0.0); 3]; K];
        ThreeBins {
            sigma: [simd.splat_f64s(sigma(plan.bins[0])), simd.splat_f64s(sigma(plan.bins[1]))],
            value: empty,
            gauge: empty,
        }
    }

    #[inline(always)]
    fn add(mut self, simd: S, a: f64, b: [S::f64s; K]) -> Self {
        let (a, sign_bit, one) = (simd.splat_f64s(a), simd.splat_f64s(-0.0), simd.splat_f64s(1.0));
        for j in 0..K {
            let product = simd.mul_f64s(a, b[j]);
            let error = mul_sub(simd, a, b[j], product);
            let first = simd.sub_f64s(simd.mul_add_f64s(a, b[j], self.sigma[0]), self.sigma[0]);
            let (second, _) = split(simd, mul_sub(simd, a, b[j], first), self.sigma[1]);
            let rest = simd.add_f64s(simd.sub_f64s(simd.sub_f64s(product, first), second), error);
            let sign = or(simd, and(simd, product, sign_bit), one);
            let parts = [first, second, rest];
            for bin in 0..3 {
                self.value[j][bin] = simd.add_f64s(self.value[j][bin], parts[bin]);
                self.gauge[j][bin] = simd.mul_add_f64s(parts[bin], sign, self.gauge[j][bin]);
            }
        }
        self
    }

    #[inline(always)]
    fn parts(&self, simd: S, j: usize) -> [[S::f64s; 4]; 2] {
        let zero = simd.splat_f64s(0.0);
        let ([a, b, c], [x, y, z]) = (self.value[j], self.gauge[j]);
        [[a, b, c, zero], [x, y, z, zero]]
    }
}

/// Three bins with constant sigmas, and a rest.
#[derive(Clone, Copy)]
pub(super) struct FourBins<S: Simd, const K: usize> {
    sigma: [S::f64s; 3],
    value: [[S::f64s; 4]; K],
    gauge: [[S::f64s; 4]; K],
}

impl<S: Simd, const K: usize> Bins<S, K> for FourBins<S, K> {
    const PARTS: usize = 4;

    #[inline(always)]
    fn new(simd: S, plan: &BinPlan) -> Self {
        let empty = [[simd.splat_f64s(0.0); 4]; K];
        FourBins {
            sigma: [
                simd.splat_f64s(sigma(plan.bins[0])),
                simd.splat_f64s(sigma(plan.bins[1])),
                simd.splat_f64s(sigma(plan.bins[2])),
            ],
            value: empty,
            gauge: empty,
        }
    }

    #[inline(always)]
    fn add(mut self, simd: S, a: f64, b: [S::f64s; K]) -> Self {
        let (a, sign_bit, one) = (simd.splat_f64s(a), simd.splat_f64s(-0.0), simd.splat_f64s(1.0));
        for j in 0..K {
            let product = simd.mul_f64s(a, b[j]);
            let error = mul_sub(simd, a, b[j], product);
            let (first, left) = split(simd, product, self.sigma[0]);
            let (second, left) = split(simd, left, self.sigma[1]);
            let (third, left) = split(simd, left, self.sigma[2]);
            let (second_error, error) = split(simd, error, self.sigma[1]);
            let (third_error, error) = split(simd, error, self.sigma[2]);
            let second = simd.add_f64s(second, second_error);
            let third = simd.add_f64s(third, third_error);
            let rest = simd.add_f64s(left, error);
            let sign = or(simd, and(simd, product, sign_bit), one);
            let parts = [first, second, third, rest];
            for bin in 0..4 {
                self.value[j][bin] = simd.add_f64s(self.value[j][bin], parts[bin]);
                self.gauge[j][bin] = simd.mul_add_f64s(parts[bin], sign, self.gauge[j][bin]);
            }
        }
        self
    }

    #[inline(always)]
    fn parts(&self, _: S, j: usize) -> [[S::f64s; 4]; 2] {
        [self.value[j], self.gauge[j]]
    }
}
