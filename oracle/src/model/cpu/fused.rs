//! The one step that every unit here is made of: an exact sum of products, rounded once.
//!
//! ```text
//! terms (a, b), values as f64  ->  any Inf * 0, Inf - Inf, NaN        ->  None: the caller knows which NaN
//!                                  any Inf                            ->  that Inf
//!                                  exact sum = 0                      ->  common sign of the terms, else +0 (-0 rounding down)
//!                                  tiny, and flushed                  ->  0 with the sum's sign
//!                                  else                               ->  rounded
//! ```
//!
//! IEEE 754, 5.4.1 and 6.3; Arm ARM J1.3, `FPMulAdd`, `FPDot` and `FPRound`, are this with two terms.

use super::flush::Tininess;
use crate::exact::{Dyadic, encode_dyadic};
use crate::scalar::{Precision, Rounding, decode, encode};

/// How a sum is rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    pub(super) to: Precision,
    pub(super) rounding: Rounding,
    pub(super) flush: Option<Tininess>,
}

impl Fused {
    /// The sum of the products, in bits; `None` for an invalid operation.
    pub(super) fn sum(self, terms: &[(f64, f64)]) -> Option<u64> {
        if let Some(bits) = self.quickly(terms) {
            return Some(bits);
        }
        let is_special = |(a, b): &&(f64, f64)| !(a.is_finite() && b.is_finite());
        let special: f64 = terms.iter().filter(is_special).map(|(a, b)| a * b).sum();
        if special.is_nan() {
            return None;
        }
        if special.is_infinite() {
            return Some(encode(special, self.to, self.rounding));
        }
        Some(self.finite(terms))
    }

    /// The definition, on exact numbers.
    fn finite(self, terms: &[(f64, f64)]) -> u64 {
        let number = |v: f64| Dyadic::from_f64(v).unwrap_or_default();
        let exact: Dyadic = terms.iter().map(|&(a, b)| number(a) * number(b)).sum();
        if exact.is_zero() {
            return self.zero(self.sign_of_zero(terms));
        }
        let flushed = self.flush.is_some_and(|f| f.is_tiny(&exact, self.to, self.rounding));
        if flushed {
            return self.zero(exact.is_negative());
        }
        encode_dyadic(&exact, self.to, self.rounding)
    }

    /// Terms that add up to zero and have one sign are zeros of that sign.
    fn sign_of_zero(self, terms: &[(f64, f64)]) -> bool {
        let negative = |(a, b): &(f64, f64)| a.is_sign_negative() != b.is_sign_negative();
        let negatives = terms.iter().filter(|&term| negative(term)).count();
        match negatives {
            0 => false,
            all if all == terms.len() => true,
            _ => self.rounding == Rounding::Down,
        }
    }

    fn zero(self, negative: bool) -> u64 {
        encode(if negative { -0.0 } else { 0.0 }, self.to, self.rounding)
    }

    /// The same by the machine's arithmetic, where that is plainly it: 10 to 50 times faster.
    fn quickly(self, terms: &[(f64, f64)]) -> Option<u64> {
        match (self.to, self.rounding) {
            (Precision::F64, Rounding::NearestEven) => native_f64(terms),
            (Precision::F64, _) => None,
            (Precision::F32, Rounding::NearestEven) => {
                native_f32(terms).or_else(|| self.exactly_in_f64(terms))
            }
            _ => self.exactly_in_f64(terms),
        }
    }

    /// A sum that f64 holds exactly (Knuth's two-sum loses nothing), if no flushing concerns it. Factors have at most 24
    /// bits here, so that products are exact.
    fn exactly_in_f64(self, terms: &[(f64, f64)]) -> Option<u64> {
        let (x, y) = match *terms {
            [(a, b)] => (a * b, 0.0),
            [(a, b), (c, d)] => (a * b, c * d),
            _ => return None,
        };
        let sum = x + y;
        let back = sum - x;
        let lost = (x - (sum - back)) + (y - back);
        let normal = sum.abs() >= decode(1 << (self.to.spec().significand - 1), self.to);
        // Without a finite sum, `lost` is NaN.
        let plain = lost == 0.0 && sum != 0.0 && (normal || self.flush.is_none());
        plain.then(|| encode(sum, self.to, self.rounding))
    }
}

/// One fused multiply-add in f32, if all terms are exact in it and the result is normal beyond doubt.
fn native_f32(terms: &[(f64, f64)]) -> Option<u64> {
    let &[(a, b), (c, d)] = terms else {
        return None;
    };
    let addend = c * d;
    let (x, y, z) = (a as f32, b as f32, addend as f32);
    let exact = f64::from(x) == a && f64::from(y) == b && f64::from(z) == addend;
    let sum = x.mul_add(y, z);
    let plain = exact && sum.is_finite() && sum.abs() > f32::MIN_POSITIVE;
    plain.then(|| u64::from(sum.to_bits()))
}

/// The same in f64, where the second term is a number.
fn native_f64(terms: &[(f64, f64)]) -> Option<u64> {
    let &[(a, b), (c, d)] = terms else {
        return None;
    };
    let sum = a.mul_add(b, c);
    let plain = d == 1.0 && sum.is_finite() && sum.abs() > f64::MIN_POSITIVE;
    plain.then(|| sum.to_bits())
}

/// The numbers behind bits.
pub(super) fn values<const N: usize>(bits: [u64; N], precision: Precision) -> [f64; N] {
    bits.map(|bits| decode(bits, precision))
}
