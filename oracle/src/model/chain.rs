//! Chains of fused or separate multiply and add, as IEEE 754 units do them (section 5.4.1, round to nearest even).
//!
//! ```text
//! acc <- init;  for each term in order: acc <- fma(a, b, acc)  |  acc <- acc + round(a * b);  then the epilogue
//! ```
//!
//! The walk over terms is in [`reduction`](super::reduction). Values of every accumulator type are carried as the f64 that embeds them;
//! each step rounds to the type.
//! Products of narrow operands are exact in f64, and a sum that f64 does not hold is rounded to odd there, which leaves the one
//! rounding that counts to the narrow type (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).

use crate::exact::{round_pair_to_odd, two_sum};
use crate::scalar::{Precision, nearest_in};

pub use super::reduction::element;

/// The operations of one unit of type `precision`, each correctly rounded (nearest, ties to even).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The type that every result is rounded to.
    pub precision: Precision,
}

impl Unit {
    /// `a * b`, rounded once.
    #[must_use]
    pub fn mul(self, a: f64, b: f64) -> f64 {
        match self.precision {
            Precision::F64 => a * b,
            Precision::F32 => f64::from(a as f32 * b as f32),
            // Operands of at most 24 bits: the f64 product is exact.
            narrow => nearest_in(a * b, narrow),
        }
    }

    /// `a + b`, rounded once.
    #[must_use]
    pub fn add(self, a: f64, b: f64) -> f64 {
        match self.precision {
            Precision::F64 => a + b,
            Precision::F32 => f64::from(a as f32 + b as f32),
            narrow => nearest_in(odd_sum(a, b), narrow),
        }
    }

    /// `a * b + c`, rounded once.
    #[must_use]
    pub fn fma(self, a: f64, b: f64, c: f64) -> f64 {
        match self.precision {
            Precision::F64 => a.mul_add(b, c),
            Precision::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            // A product of zeros and an addend of zero has the sign that one addition gives it.
            narrow => nearest_in(odd_sum(a * b, c), narrow),
        }
    }
}

/// `a + b` in f64, rounded to odd. Infinities and NaN as f64 adds them. What is narrow is far from where f64 overflows or underflows.
fn odd_sum(a: f64, b: f64) -> f64 {
    match two_sum(a, b) {
        (sum, rest) if rest == 0.0 || !sum.is_finite() => sum,
        (sum, rest) => round_pair_to_odd(sum, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Dyadic, encode_dyadic};
    use crate::scalar::{Rounding, decode};
    use crate::source::Random;

    /// The sum of exact products, by big numbers.
    fn exactly(products: &[(f64, f64)], narrow: Precision) -> f64 {
        let number = |v: f64| Dyadic::from_f64(v).expect("finite");
        let sum = products.iter().fold(Dyadic::zero(), |sum, &(a, b)| &sum + &(&number(a) * &number(b)));
        decode(encode_dyadic(&sum, narrow, Rounding::NearestEven), narrow)
    }

    /// Any bits, and addends near the product, where ties are.
    #[test]
    fn steps_of_narrow_units_round_once_as_big_numbers_do() {
        for narrow in [Precision::F16, Precision::Bf16, Precision::Tf32] {
            let unit = Unit { precision: narrow };
            let mut random = Random::new(5, "narrow chains");
            let bits = narrow.spec().storage_bits;
            let mut draw = || loop {
                let value = decode(random.below(1 << bits), narrow);
                // tf32 is stored unrounded: what the unit sees has its bits.
                let value = nearest_in(value, narrow);
                if value.is_finite() {
                    return value;
                }
            };
            for turn in 0..20_000 {
                let (a, b, other) = (draw(), draw(), draw());
                let c = match turn % 3 {
                    0 => other,
                    1 => nearest_in(a * b * 2f64.powi(turn % 40 - 20), narrow),
                    _ => nearest_in(-a * b, narrow),
                };
                if !c.is_finite() {
                    continue;
                }
                let same = |found: f64, products: &[(f64, f64)]| {
                    let expected = exactly(products, narrow);
                    assert!(found == expected, "{narrow}: {products:?} gave {found:e}, not {expected:e}");
                };
                same(unit.fma(a, b, c), &[(a, b), (c, 1.0)]);
                same(unit.add(a, c), &[(a, 1.0), (c, 1.0)]);
                same(unit.mul(a, b), &[(a, b)]);
            }
        }
    }
}
