//! Exact results: one number, and what an output element of an operation is judged by.

use super::Dyadic;
use super::encode_dyadic;
use crate::scalar::{Precision, Rounding, encode};

/// An exact extended number.
///
/// Constructors give the canonical variant: `Pair` wherever one exists, `Big` only where none does. Equality
/// compares numbers, whatever the variant; NaN equals NaN.
#[derive(Clone, Debug)]
pub enum Value {
    /// Exactly `hi + lo`, with `hi` the f64 nearest to that sum (ties to even). Zero is `+0, +0`.
    Pair {
        /// The nearest f64, finite.
        hi: f64,
        /// The rest.
        lo: f64,
    },
    /// A finite number that no pair holds: too many bits, or beyond the range of f64.
    Big(Box<Dyadic>),
    /// An infinity.
    Inf {
        /// True for minus infinity.
        negative: bool,
    },
    /// Not a number.
    Nan,
}

/// The exact result of one output element.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The sum of the terms.
    pub value: Value,
    /// The sum of the terms' magnitudes, `sum |a||b|`; callers add `|beta||c|` and the like.
    pub gauge: Value,
    /// Number of terms, explicit zeros included.
    pub terms: u64,
}

impl Value {
    /// Zero.
    pub const ZERO: Value = Value::Pair { hi: 0.0, lo: 0.0 };

    /// The value of a float; both zeros give zero.
    #[must_use]
    pub fn from_f64(value: f64) -> Value {
        if value.is_nan() {
            Value::Nan
        } else if value.is_infinite() {
            Value::Inf { negative: value < 0.0 }
        } else {
            Value::Pair { hi: value + 0.0, lo: 0.0 }
        }
    }

    /// A finite number, as a pair if one holds it.
    #[must_use]
    pub fn from_dyadic(value: Dyadic) -> Value {
        let hi = value.to_f64(Rounding::NearestEven);
        if let Some(head) = Dyadic::from_f64(hi) {
            let rest = &value - &head;
            let lo = rest.to_f64(Rounding::NearestEven);
            if Dyadic::from_f64(lo).is_some_and(|l| l == rest) {
                return Value::Pair { hi, lo };
            }
        }
        Value::Big(Box::new(value))
    }

    /// The exact sum of two floats.
    #[must_use]
    pub fn from_sum(x: f64, y: f64) -> Value {
        let sum = x + y;
        // Next to the overflow threshold an intermediate of two-sum may overflow though the sum does not.
        if !(x.abs() < f64::MAX / 4.0 && y.abs() < f64::MAX / 4.0) {
            return &Value::from_f64(x) + &Value::from_f64(y);
        }
        // Knuth's two-sum: exact in any order of magnitudes, below overflow.
        let y_part = sum - x;
        let error = (x - (sum - y_part)) + (y - y_part);
        Value::Pair { hi: sum + 0.0, lo: error + 0.0 }
    }

    /// The number, if it is finite.
    #[must_use]
    pub fn to_dyadic(&self) -> Option<Dyadic> {
        match self {
            Value::Pair { hi, lo } => Some(&Dyadic::from_f64(*hi)? + &Dyadic::from_f64(*lo)?),
            Value::Big(number) => Some((**number).clone()),
            Value::Inf { .. } | Value::Nan => None,
        }
    }

    /// True unless infinite or NaN.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        matches!(self, Value::Pair { .. } | Value::Big(_))
    }

    /// True for NaN.
    #[must_use]
    pub fn is_nan(&self) -> bool {
        matches!(self, Value::Nan)
    }

    /// True for zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Pair { hi, lo } => *hi == 0.0 && *lo == 0.0,
            Value::Big(number) => number.is_zero(),
            Value::Inf { .. } | Value::Nan => false,
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(&self) -> Value {
        match self {
            Value::Pair { hi, lo } if *hi < 0.0 => Value::Pair { hi: -hi, lo: 0.0 - lo },
            Value::Big(number) => Value::Big(Box::new(number.abs())),
            Value::Inf { .. } => Value::Inf { negative: false },
            other => other.clone(),
        }
    }

    /// The bit pattern of the number rounded once, from its exact value, to `precision`. Zero gives +0, NaN the
    /// canonical NaN; see [`encode`] for overflow.
    #[must_use]
    pub fn round(&self, precision: Precision, mode: Rounding) -> u64 {
        match self {
            Value::Pair { hi, lo } if *lo == 0.0 => encode(hi + 0.0, precision, mode),
            Value::Pair { hi, lo } if precision != Precision::F64 => {
                encode(round_pair_to_odd(*hi, *lo), precision, mode)
            }
            Value::Pair { hi, .. } if mode == Rounding::NearestEven => hi.to_bits(),
            Value::Pair { .. } | Value::Big(_) => {
                let number = self.to_dyadic().unwrap_or_default();
                encode_dyadic(&number, precision, mode)
            }
            Value::Inf { negative: false } => encode(f64::INFINITY, precision, mode),
            Value::Inf { negative: true } => encode(f64::NEG_INFINITY, precision, mode),
            Value::Nan => encode(f64::NAN, precision, mode),
        }
    }

    /// The nearest f64, ties to even.
    #[must_use]
    pub fn approx(&self) -> f64 {
        f64::from_bits(self.round(Precision::F64, Rounding::NearestEven))
    }

    /// The exact product with 2^`power`.
    #[must_use]
    pub fn mul_pow2(&self, power: i32) -> Value {
        match self.to_dyadic() {
            Some(number) => Value::from_dyadic(number.mul_pow2(power)),
            None => self.clone(),
        }
    }

    /// The exact product with a float, by the IEEE rules for infinities and NaN.
    #[must_use]
    pub fn scale(&self, factor: f64) -> Value {
        match (self.to_dyadic(), Dyadic::from_f64(factor)) {
            (Some(x), Some(y)) => Value::from_dyadic(&x * &y),
            _ => Value::from_f64(self.sign_class() * factor),
        }
    }

    /// NaN, an infinity, zero or ±1: enough of the number to decide a product with a non-finite factor.
    fn sign_class(&self) -> f64 {
        match self {
            Value::Nan => f64::NAN,
            Value::Inf { negative: false } => f64::INFINITY,
            Value::Inf { negative: true } => f64::NEG_INFINITY,
            finite if finite.is_zero() => 0.0,
            Value::Pair { hi, .. } => hi.signum(),
            Value::Big(number) => {
                if number.is_negative() {
                    -1.0
                } else {
                    1.0
                }
            }
        }
    }
}

/// Knuth's exact sum: `s + e = a + b`, no assumption on magnitudes (below overflow, where `e` is NaN or `s` infinite).
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let from_b = s - a;
    (s, (a - (s - from_b)) + (b - from_b))
}

/// `hi + lo` rounded to odd at 53 bits: toward zero, with the last bit set if inexact. A second rounding to at most
/// 51 bits, in any mode, then gives what rounding `hi + lo` itself would (Boldo and Melquiond 2008).
///
/// `hi` is the f64 nearest to the sum and `lo != 0`, hence `hi` is normal and not zero; toward zero is `hi` itself
/// or the float before it.
#[inline(always)]
pub(crate) fn round_pair_to_odd(hi: f64, lo: f64) -> f64 {
    let toward_zero = hi.to_bits() - u64::from(hi.is_sign_negative() != lo.is_sign_negative());
    f64::from_bits(toward_zero | 1)
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Nan, Value::Nan) => true,
            (Value::Inf { negative: x }, Value::Inf { negative: y }) => x == y,
            _ => match (self.to_dyadic(), other.to_dyadic()) {
                (Some(x), Some(y)) => x == y,
                _ => false,
            },
        }
    }
}

impl std::ops::Add for &Value {
    type Output = Value;

    /// The exact sum; infinities of both signs give NaN.
    fn add(self, other: &Value) -> Value {
        match (self.to_dyadic(), other.to_dyadic()) {
            (Some(x), Some(y)) => Value::from_dyadic(&x + &y),
            _ => Value::from_f64(self.sign_class() + other.sign_class()),
        }
    }
}

impl std::ops::Neg for &Value {
    type Output = Value;

    fn neg(self) -> Value {
        match self {
            Value::Pair { hi, lo } => Value::Pair { hi: 0.0 - hi, lo: 0.0 - lo },
            Value::Big(number) => Value::Big(Box::new(-&**number)),
            Value::Inf { negative } => Value::Inf { negative: !negative },
            Value::Nan => Value::Nan,
        }
    }
}

impl std::ops::Sub for &Value {
    type Output = Value;

    fn sub(self, other: &Value) -> Value {
        self + &-other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: a value that calls itself NaN whatever it is.
    #[test]
    fn each_value_knows_what_it_is() {
        let big = Value::from_dyadic(&Dyadic::from_int(1).mul_pow2(3000) + &Dyadic::from_int(1));
        let values = [
            (Value::from_f64(-0.0), (false, true, true)),
            (Value::from_f64(1.0), (false, false, true)),
            (Value::from_sum(1.0, 1e-30), (false, false, true)),
            (big, (false, false, true)),
            (Value::from_f64(f64::INFINITY), (false, false, false)),
            (Value::from_f64(f64::NAN), (true, false, false)),
        ];
        for (value, expected) in values {
            assert_eq!((value.is_nan(), value.is_zero(), value.is_finite()), expected, "{value:?}");
        }
    }
}
