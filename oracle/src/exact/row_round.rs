//! Rounding a row of exact sums into a type, each sum once.
//!
//! A sum `hi + lo + tail` is first rounded to odd at 53 bits, which loses nothing that a second rounding to at most
//! 51 bits could want (see [`super::value`]), then as one float. Nearest-even into the output types of kernels is
//! done without branches, so that the loop runs on vectors; everything else goes through
//! [`encode`](crate::scalar::encode).

use super::value::round_pair_to_odd;
use super::{Dyadic, Value};
use crate::scalar::{Precision, Rounding, encode};
use pulp::NullaryFnOnce;

/// One row to round, as a task for the vector unit. All slices have one length; `hi` is finite and the f64 nearest
/// to the sum.
pub(super) struct RoundRow<'a> {
    pub(super) hi: &'a [f64],
    pub(super) lo: &'a [f64],
    pub(super) tail: &'a [f64],
    pub(super) precision: Precision,
    pub(super) mode: Rounding,
    pub(super) out: &'a mut [u64],
}

impl NullaryFnOnce for RoundRow<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let nearest = self.mode == Rounding::NearestEven;
        match self.precision {
            Precision::F64 if nearest => self.each(f64::to_bits),
            Precision::F64 => self.each_exactly(),
            Precision::F32 if nearest => self.each_odd(|x| u64::from((x as f32).to_bits())),
            Precision::F16 if nearest => self.each_odd(|x| u64::from(nearest_f16(odd_f32(x)))),
            Precision::Bf16 if nearest => self.each_odd(|x| u64::from(nearest_bf16(odd_f32(x)))),
            precision => {
                let mode = self.mode;
                self.each_odd(|x| encode(x, precision, mode));
            }
        }
    }
}

impl RoundRow<'_> {
    #[inline(always)]
    fn each(self, round: impl Fn(f64) -> u64) {
        for (out, &hi) in self.out.iter_mut().zip(self.hi) {
            *out = round(hi);
        }
    }

    /// `tail` only matters where `lo` is not zero, and then `lo` has the sign of `lo + tail`.
    #[inline(always)]
    fn each_odd(self, round: impl Fn(f64) -> u64) {
        for ((out, &hi), &lo) in self.out.iter_mut().zip(self.hi).zip(self.lo) {
            let odd = round_pair_to_odd(hi, lo);
            *out = round(if lo == 0.0 { hi } else { odd });
        }
    }

    /// f64 in a directed mode, where 53 bits rounded to odd are too few.
    fn each_exactly(self) {
        let sums = self.hi.iter().zip(self.lo).zip(self.tail);
        for (out, ((&hi, &lo), &tail)) in self.out.iter_mut().zip(sums) {
            *out = if tail == 0.0 {
                Value::Pair { hi, lo }.round(self.precision, self.mode)
            } else {
                let parts = [hi, lo, tail].map(|x| Dyadic::from_f64(x).unwrap_or_default());
                Value::from_dyadic(parts.into_iter().sum()).round(self.precision, self.mode)
            };
        }
    }
}

/// A finite f64 rounded to odd in f32; beyond f32's range, the largest finite (whose last bit is odd).
#[inline(always)]
fn odd_f32(x: f64) -> u32 {
    let nearest = x as f32;
    let wide = f64::from(nearest);
    // The pattern before, in magnitude, where the conversion went away from zero (to infinity, perhaps).
    let bits = nearest.to_bits() - u32::from(wide.abs() > x.abs());
    bits | u32::from(wide != x)
}

/// Finite f32 to bf16: drop 16 bits.
#[inline(always)]
fn nearest_bf16(bits: u32) -> u32 {
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

/// Finite f32 to f16.
#[inline(always)]
fn nearest_f16(bits: u32) -> u32 {
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal: drop 13 bits, rebase the exponent by 15 - 127, stop at infinity.
    let dropped = (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
    let normal = dropped.wrapping_sub(112 << 10).min(0x7c00);
    // Subnormal: the addition rounds to multiples of 2^-24, the last place of 0.5.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    sign | if magnitude < 113 << 23 { subnormal } else { normal }
}
