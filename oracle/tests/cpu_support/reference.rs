//! A second opinion, from the definitions: big integers, and a search through all patterns of a type.
//!
//! ```text
//! numbers are integers in units of 2^-2300; |x| lies between the patterns n and n + 1, found by bisection; the rounding mode
//! takes one of them. The pattern after the largest finite number, which is infinity's, stands for 2^(emax + 1).
//! ```

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Zero};
use sparse_oracle::Precision;
use sparse_oracle::scalar::Rounding;

/// 2^-SCALE is the unit.
const SCALE: u32 = 2300;

/// A number as the references compute with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Nan,
    Infinity { negative: bool },
    Finite { negative: bool, magnitude: BigUint },
}
use Number::{Finite, Infinity, Nan};

/// What happens to subnormal results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    Kept,
    FlushedBefore,
    FlushedAfter,
}

/// The magnitude that a pattern without sign stands for.
fn magnitude(pattern: u64, precision: Precision) -> BigUint {
    let spec = precision.spec();
    let bits = spec.significand - 1;
    let (field, fraction) = (pattern >> bits, pattern & ((1 << bits) - 1));
    let significand = if field == 0 { fraction } else { fraction | 1 << bits };
    let exponent = spec.emin - bits as i32 + (field.max(1) as i32 - 1);
    BigUint::from(significand) << (exponent + SCALE as i32) as usize
}

/// The pattern of infinity.
fn infinity(precision: Precision) -> u64 {
    let spec = precision.spec();
    ((spec.emax - spec.emin + 2) as u64) << (spec.significand - 1)
}

fn sign_bit(negative: bool, precision: Precision) -> u64 {
    u64::from(negative) << (precision.spec().storage_bits - 1)
}

impl Number {
    /// Of bits; subnormals are zeros where `flush` says so.
    pub(crate) fn of(bits: u64, precision: Precision, flush: bool) -> Number {
        let negative = bits >> (precision.spec().storage_bits - 1) & 1 == 1;
        let pattern = bits & !sign_bit(true, precision);
        match pattern.cmp(&infinity(precision)) {
            std::cmp::Ordering::Greater => Nan,
            std::cmp::Ordering::Equal => Infinity { negative },
            std::cmp::Ordering::Less if flush && pattern >> (precision.spec().significand - 1) == 0 => {
                Finite { negative, magnitude: BigUint::zero() }
            }
            std::cmp::Ordering::Less => Finite { negative, magnitude: magnitude(pattern, precision) },
        }
    }

    /// The exact product.
    pub(crate) fn times(&self, other: &Number) -> Number {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { .. }, Finite { magnitude, .. }) | (Finite { magnitude, .. }, Infinity { .. })
                if magnitude.is_zero() =>
            {
                Nan
            }
            (Infinity { negative: s } | Finite { negative: s, .. }, Infinity { negative: t })
            | (Infinity { negative: s }, Finite { negative: t, .. }) => Infinity { negative: s != t },
            (Finite { negative: s, magnitude: x }, Finite { negative: t, magnitude: y }) => {
                Finite { negative: s != t, magnitude: (x * y) >> SCALE as usize }
            }
        }
    }

    /// The exact sum; `down` is the rounding that gives -0 where x - x does.
    pub(crate) fn plus(&self, other: &Number, down: bool) -> Number {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { negative: s }, Infinity { negative: t }) if s != t => Nan,
            (Infinity { negative }, _) | (_, Infinity { negative }) => Infinity { negative: *negative },
            (Finite { negative: s, magnitude: x }, Finite { negative: t, magnitude: y }) => {
                let signed = |negative: bool, m: &BigUint| {
                    if negative { -BigInt::from(m.clone()) } else { BigInt::from(m.clone()) }
                };
                let sum = signed(*s, x) + signed(*t, y);
                let negative =
                    if sum.is_zero() { if s == t { *s } else { down } } else { sum < BigInt::zero() };
                Finite { negative, magnitude: sum.magnitude().clone() }
            }
        }
    }

    /// Rounded to bits; `None` for NaN.
    pub(crate) fn round(&self, to: Precision, mode: Rounding, results: Results) -> Option<u64> {
        let (negative, exact) = match self {
            Nan => return None,
            Infinity { negative } => return Some(sign_bit(*negative, to) | infinity(to)),
            Finite { negative, magnitude } => (*negative, magnitude),
        };
        let least_normal = magnitude(1 << (to.spec().significand - 1), to);
        let tiny = match results {
            Results::Kept => false,
            Results::FlushedBefore => exact < &least_normal,
            // The exponent has no bounds: round 2^100 times as much.
            Results::FlushedAfter => {
                let far = exact << 100;
                exact < &least_normal
                    && magnitude(nearest(&far, negative, to, mode), to) < (least_normal << 100)
            }
        };
        let pattern = if tiny { 0 } else { nearest(exact, negative, to, mode) };
        Some(sign_bit(negative, to) | pattern)
    }
}

/// The pattern that a magnitude rounds to.
fn nearest(exact: &BigUint, negative: bool, to: Precision, mode: Rounding) -> u64 {
    let (mut low, mut high) = (0, infinity(to));
    if *exact >= magnitude(high, to) {
        let down = matches!(
            (mode, negative),
            (Rounding::TowardZero, _) | (Rounding::Up, true) | (Rounding::Down, false)
        );
        return if down { high - 1 } else { high };
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if magnitude(middle, to) <= *exact {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (below, above) = (magnitude(low, to), magnitude(high, to));
    if below == *exact {
        return low;
    }
    let (even, odd) = if low % 2 == 0 { (low, high) } else { (high, low) };
    match mode {
        Rounding::TowardZero => low,
        Rounding::Up => {
            if negative {
                low
            } else {
                high
            }
        }
        Rounding::Down => {
            if negative {
                high
            } else {
                low
            }
        }
        Rounding::ToOdd => odd,
        Rounding::NearestEven | Rounding::NearestAway => match (exact * 2u8).cmp(&(below + above)) {
            std::cmp::Ordering::Less => low,
            std::cmp::Ordering::Greater => high,
            std::cmp::Ordering::Equal if mode == Rounding::NearestEven => even,
            std::cmp::Ordering::Equal => high,
        },
    }
}

/// 1, to see that the unit is where it should be.
pub(crate) fn one() -> Number {
    Finite { negative: false, magnitude: BigUint::one() << SCALE as usize }
}
