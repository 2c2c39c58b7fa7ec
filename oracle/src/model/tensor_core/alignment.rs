//! One fused sum opened up: where its terms are aligned, and what each of them keeps.
//!
//! ```text
//! E           largest exponent of the terms that are not zero, at least e_zero
//! 2^(E - F)   the unit: a term becomes an integer number of it, the rest is dropped
//! ```
//!
//! For readers, not for judging: the same decoding, alignment and rounding as [`FusedSum::step`], with what lies between kept.

use super::fused::FusedSum;
use super::term::{Meaning, Term};
use crate::exact::Dyadic;
use crate::scalar::Precision;

/// What one fused sum did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// E.
    pub exponent: i32,
    /// True where no term is as large as `e_zero`, which then is E.
    pub at_floor: bool,
    /// Exponent of the unit, E - F.
    pub unit: i32,
    /// The products in order, then the accumulator.
    pub terms: Vec<Aligned>,
    /// The sum of all integers.
    pub sum: i64,
    /// The sum, rounded.
    pub bits: u64,
}

/// One term of a fused sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// The term.
    pub exact: Dyadic,
    /// The exponent by which it is aligned; `None` for zero.
    pub exponent: Option<i32>,
    /// What is left of it, in units.
    pub integer: i64,
}

impl Aligned {
    fn new(term: Term, unit: i32) -> Aligned {
        let place = i64::from(term.exponent - term.fraction);
        let zero = term.significand == 0;
        Aligned {
            exact: Dyadic::from_magnitude(term.negative, u128::from(term.significand), place),
            exponent: (!zero).then_some(term.exponent),
            integer: if zero { 0 } else { term.aligned(unit) },
        }
    }
}

impl FusedSum {
    /// The step that [`step`](Self::step) takes, in full; `None` where a term is infinite or NaN.
    #[must_use]
    pub fn align(&self, acc: u64, a: &[u64], b: &[u64], input: Precision) -> Option<Alignment> {
        let factor = |bits| Meaning::decode(bits, input);
        let products = a.iter().zip(b).map(|(&x, &y)| factor(x).times(factor(y)));
        let acc = Meaning::decode(acc, self.output.precision());
        let terms: Option<Vec<Term>> = products
            .chain([acc])
            .map(|operand| match operand {
                Meaning::Finite(term) => Some(term),
                Meaning::Nan | Meaning::Infinity(_) => None,
            })
            .collect();
        let terms = terms?;
        let nonzero = terms.iter().filter(|term| term.significand != 0);
        let largest = nonzero.map(|term| term.exponent).max();
        let exponent = largest.unwrap_or(self.zero_exponent).max(self.zero_exponent);
        let unit = exponent - self.fraction;
        let terms: Vec<Aligned> = terms.into_iter().map(|term| Aligned::new(term, unit)).collect();
        let sum = terms.iter().map(|term| term.integer).sum();
        Some(Alignment {
            exponent,
            at_floor: largest.is_none_or(|largest| largest < self.zero_exponent),
            unit,
            terms,
            sum,
            bits: self.output.round(sum, unit),
        })
    }
}
