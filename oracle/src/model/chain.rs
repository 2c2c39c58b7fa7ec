//! Chains of fused or separate multiply and add, as IEEE 754 units do them (section 5.4.1, round to nearest even).
//!
//! ```text
//! acc <- init;  for each term in order: acc <- fma(a, b, acc)  |  acc <- acc + round(a * b);  then the epilogue
//! ```
//!
//! The walk over terms is in [`reduction`](super::reduction). Values of every accumulator type are carried as the f64 that embeds them; each step rounds to the type.

use crate::exact::Dyadic;
use crate::scalar::{Precision, Rounding, decode, encode, encode_dyadic};

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
            narrow => decode(encode(a * b, narrow, Rounding::NearestEven), narrow),
        }
    }

    /// `a + b`, rounded once.
    #[must_use]
    pub fn add(self, a: f64, b: f64) -> f64 {
        match self.precision {
            Precision::F64 => a + b,
            Precision::F32 => f64::from(a as f32 + b as f32),
            narrow => self.exactly(narrow, a + b, || sum(&[(a, 1.0), (b, 1.0)])),
        }
    }

    /// `a * b + c`, rounded once.
    #[must_use]
    pub fn fma(self, a: f64, b: f64, c: f64) -> f64 {
        match self.precision {
            Precision::F64 => a.mul_add(b, c),
            Precision::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            narrow => self.exactly(narrow, a.mul_add(b, c), || sum(&[(a, b), (c, 1.0)])),
        }
    }

    /// Rounds an exact sum to a narrow type; f64 already knows the answer for zeros, infinities and NaN, signs of
    /// zeros included.
    fn exactly(self, narrow: Precision, near: f64, exact: impl Fn() -> Dyadic) -> f64 {
        if near == 0.0 || !near.is_finite() {
            return near;
        }
        decode(encode_dyadic(&exact(), narrow, Rounding::NearestEven), narrow)
    }
}

fn sum(products: &[(f64, f64)]) -> Dyadic {
    let number = |v: f64| Dyadic::from_f64(v).unwrap_or_else(Dyadic::zero);
    products
        .iter()
        .fold(Dyadic::zero(), |acc, &(a, b)| &acc + &(&number(a) * &number(b)))
}
