//! The inner loops of exact summation: error-free bins over a few adjacent columns, one lane per column.
//!
//! ```text
//!            lane 0   lane 1   ...              a: one value of A, the same in all lanes
//!   b        b[t][0]  b[t][1]  ...              b: one row of B
//!   value    S, rest  S, rest  ...   (+= a b)   gauge: the same for |a| |b|
//! ```
//!
//! Nothing here checks anything: [`super::certificate`] proves beforehand that none of these operations rounds
//! (except where the rounding error is what is wanted). All loops are plain Rust over fixed arrays, inlined into a
//! function compiled for the vector instructions of the machine. [`f64::mul_add`] is correctly rounded everywhere,
//! so a machine without FMA is slower and no less exact.

use super::certificate::Plan;

/// How elements of a dense row are stored; f32 holds every narrower type exactly and costs half the traffic.
pub trait Lane: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The value as f64, exactly.
    fn widen(self) -> f64;
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
}

impl Lane for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

/// Sums of W adjacent columns in progress.
pub(super) trait Bins<const W: usize> {
    /// How many of the parts are used.
    const PARTS: usize;

    /// Empty sums.
    fn new(plan: &Plan) -> Self;
    /// Adds `a * b[j]` to lane j of the value, and its magnitude to the gauge.
    fn add(&mut self, a: f64, b: &[f64; W]);
    /// Value and gauge of lane j, each as parts that add up to it exactly, unused ones zero.
    fn parts(&self, j: usize) -> ([f64; 4], [f64; 4]);
}

/// 1.5 * 2^`exponent`.
fn sigma(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52 | 1 << 51)
}

/// The part of `x` on the grid of `sigma`, and what is left.
#[inline(always)]
fn split(x: f64, sigma: f64) -> (f64, f64) {
    let on_grid = (x + sigma) - sigma;
    (on_grid, x - on_grid)
}

/// `x` with its sign flipped where `sign` (a sign bit, or 0) is set.
#[inline(always)]
fn flip(x: f64, sign: u64) -> f64 {
    f64::from_bits(x.to_bits() ^ sign)
}

const SIGN: u64 = 1 << 63;

pub(super) struct Plain<const W: usize> {
    value: [f64; W],
    gauge: [f64; W],
}

impl<const W: usize> Bins<W> for Plain<W> {
    const PARTS: usize = 1;

    #[inline(always)]
    fn new(_: &Plan) -> Self {
        Plain {
            value: [0.0; W],
            gauge: [0.0; W],
        }
    }

    #[inline(always)]
    fn add(&mut self, a: f64, b: &[f64; W]) {
        for j in 0..W {
            self.value[j] = a.mul_add(b[j], self.value[j]);
            self.gauge[j] = a.abs().mul_add(b[j].abs(), self.gauge[j]);
        }
    }

    #[inline(always)]
    fn parts(&self, j: usize) -> ([f64; 4], [f64; 4]) {
        ([self.value[j], 0.0, 0.0, 0.0], [self.gauge[j], 0.0, 0.0, 0.0])
    }
}

pub(super) struct TwoBins<const W: usize> {
    sigma: f64,
    value: [f64; W],
    value_rest: [f64; W],
    gauge: [f64; W],
    gauge_rest: [f64; W],
}

impl<const W: usize> Bins<W> for TwoBins<W> {
    const PARTS: usize = 2;

    #[inline(always)]
    fn new(plan: &Plan) -> Self {
        let sigma = sigma(plan.bins[0]);
        TwoBins {
            sigma,
            value: [sigma; W],
            value_rest: [0.0; W],
            gauge: [sigma; W],
            gauge_rest: [0.0; W],
        }
    }

    #[inline(always)]
    fn add(&mut self, a: f64, b: &[f64; W]) {
        for j in 0..W {
            let sum = a.mul_add(b[j], self.value[j]);
            let taken = sum - self.value[j];
            self.value[j] = sum;
            self.value_rest[j] += a.mul_add(b[j], -taken);
        }
        let a = a.abs();
        for j in 0..W {
            let magnitude = b[j].abs();
            let sum = a.mul_add(magnitude, self.gauge[j]);
            let taken = sum - self.gauge[j];
            self.gauge[j] = sum;
            self.gauge_rest[j] += a.mul_add(magnitude, -taken);
        }
    }

    #[inline(always)]
    fn parts(&self, j: usize) -> ([f64; 4], [f64; 4]) {
        let value = [self.value[j] - self.sigma, self.value_rest[j], 0.0, 0.0];
        let gauge = [self.gauge[j] - self.sigma, self.gauge_rest[j], 0.0, 0.0];
        (value, gauge)
    }
}

pub(super) struct ThreeBins<const W: usize> {
    sigma: [f64; 2],
    value: [[f64; W]; 3],
    gauge: [[f64; W]; 3],
}

impl<const W: usize> Bins<W> for ThreeBins<W> {
    const PARTS: usize = 3;

    #[inline(always)]
    fn new(plan: &Plan) -> Self {
        ThreeBins {
            sigma: [sigma(plan.bins[0]), sigma(plan.bins[1])],
            value: [[0.0; W]; 3],
            gauge: [[0.0; W]; 3],
        }
    }

    #[inline(always)]
    fn add(&mut self, a: f64, b: &[f64; W]) {
        for j in 0..W {
            let product = a * b[j];
            let error = a.mul_add(b[j], -product);
            let (first, left) = split(product, self.sigma[0]);
            let second = ((left + error) + self.sigma[1]) - self.sigma[1];
            let rest = (left - second) + error;
            self.value[0][j] += first;
            self.value[1][j] += second;
            self.value[2][j] += rest;
            let sign = product.to_bits() & SIGN;
            self.gauge[0][j] += flip(first, sign);
            self.gauge[1][j] += flip(second, sign);
            self.gauge[2][j] += flip(rest, sign);
        }
    }

    #[inline(always)]
    fn parts(&self, j: usize) -> ([f64; 4], [f64; 4]) {
        let [v, g] = [&self.value, &self.gauge].map(|x| [x[0][j], x[1][j], x[2][j], 0.0]);
        (v, g)
    }
}

pub(super) struct FourBins<const W: usize> {
    sigma: [f64; 3],
    value: [[f64; W]; 4],
    gauge: [[f64; W]; 4],
}

impl<const W: usize> Bins<W> for FourBins<W> {
    const PARTS: usize = 4;

    #[inline(always)]
    fn new(plan: &Plan) -> Self {
        FourBins {
            sigma: plan.bins.map(sigma),
            value: [[0.0; W]; 4],
            gauge: [[0.0; W]; 4],
        }
    }

    #[inline(always)]
    fn add(&mut self, a: f64, b: &[f64; W]) {
        for j in 0..W {
            let product = a * b[j];
            let error = a.mul_add(b[j], -product);
            let (first, left) = split(product, self.sigma[0]);
            let (second, left) = split(left, self.sigma[1]);
            let (third, left) = split(left, self.sigma[2]);
            let (second_error, error) = split(error, self.sigma[1]);
            let (third_error, error) = split(error, self.sigma[2]);
            let parts = [first, second + second_error, third + third_error, left + error];
            let sign = product.to_bits() & SIGN;
            for (bin, part) in parts.into_iter().enumerate() {
                self.value[bin][j] += part;
                self.gauge[bin][j] += flip(part, sign);
            }
        }
    }

    #[inline(always)]
    fn parts(&self, j: usize) -> ([f64; 4], [f64; 4]) {
        let [v, g] = [&self.value, &self.gauge].map(|x| x.map(|bin| bin[j]));
        (v, g)
    }
}
