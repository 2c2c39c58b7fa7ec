//! A fixed-point register as wide as all of f64's products (Kulisch): sums without rounding, in any order.
//!
//! ```text
//!  2^2203        2^2048                      2^0                                2^-2148
//!  [ carry room ][ products of large values ][ ... ][ products of subnormals      ]     68 limbs of 64 bits,
//!                                                                                       two's complement
//! ```
//!
//! The smallest product of two f64 values is 2^-2148 and every product is below 2^2048, so that 2^155 terms fit.
//! Non-finite terms are kept aside as three flags, by the IEEE rules: any NaN term, Inf * 0, or infinities of both
//! signs give NaN; else any infinity gives that infinity.

use super::{Dyadic, Value};

/// Limbs of the register.
const LIMBS: usize = 68;
/// Exponent of the lowest bit of the register. A product of two subnormals reaches exactly this far down.
const LOWEST: i32 = -2148;

/// An exact running sum of f64 values and of products of two f64 values.
#[derive(Clone, Debug)]
pub struct Accumulator {
    limbs: [u64; LIMBS],
    nan: bool,
    positive_infinity: bool,
    negative_infinity: bool,
}

impl Accumulator {
    /// The empty sum.
    #[must_use]
    pub fn new() -> Accumulator {
        Accumulator { limbs: [0; LIMBS], nan: false, positive_infinity: false, negative_infinity: false }
    }

    /// Adds `term`.
    pub fn add(&mut self, term: f64) {
        match split(term) {
            Some((significand, exponent)) => {
                self.add_magnitude(term.is_sign_negative(), u128::from(significand), exponent);
            }
            None => self.add_special(term),
        }
    }

    /// Adds the exact product `a * b`.
    pub fn add_product(&mut self, a: f64, b: f64) {
        match (split(a), split(b)) {
            (Some((x, i)), Some((y, j))) => {
                let negative = a.is_sign_negative() != b.is_sign_negative();
                self.add_magnitude(negative, u128::from(x) * u128::from(y), i + j);
            }
            // With a NaN or an infinity among the factors, the rounded product is the exact one.
            _ => self.add_special(a * b),
        }
    }

    /// Adds a finite number that is a multiple of 2^-2148 below 2^2155 in magnitude, as all sums of products are.
    pub(super) fn add_dyadic(&mut self, term: &Dyadic) {
        let mut rest = term.clone();
        // From the top, 53 bits at a time: the truncation of a number to f64, scaled into its range.
        while let Some(msb) = rest.msb_exponent() {
            let unit = (msb - 52).max(i64::from(LOWEST));
            let (significand, _) = rest.truncate(unit).unwrap_or_default();
            self.add_magnitude(rest.is_negative(), u128::from(significand), unit as i32);
            rest = &rest - &Dyadic::from_magnitude(rest.is_negative(), u128::from(significand), unit);
        }
    }

    /// The finite sum; `None` if a term was not finite.
    #[must_use]
    pub fn to_dyadic(&self) -> Option<Dyadic> {
        if self.nan || self.positive_infinity || self.negative_infinity {
            return None;
        }
        let negative = self.limbs[LIMBS - 1] >> 63 == 1;
        let mut limbs = self.limbs.to_vec();
        if negative {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        // LOWEST is not a multiple of 64: limbs here start 28 bits above 2^(64 * -34).
        let aligned = Dyadic::from_limbs(negative, limbs, i64::from(LOWEST.div_euclid(64)));
        Some(aligned.mul_pow2(LOWEST.rem_euclid(64)))
    }

    /// The sum, by the IEEE rules where a term was not finite.
    #[must_use]
    pub fn value(&self) -> Value {
        match (self.nan, self.positive_infinity, self.negative_infinity) {
            (true, _, _) | (_, true, true) => Value::Nan,
            (_, true, false) => Value::Inf { negative: false },
            (_, false, true) => Value::Inf { negative: true },
            (_, false, false) => self.to_dyadic().map_or(Value::Nan, Value::from_dyadic),
        }
    }

    fn add_special(&mut self, term: f64) {
        self.nan |= term.is_nan();
        self.positive_infinity |= term == f64::INFINITY;
        self.negative_infinity |= term == f64::NEG_INFINITY;
    }

    /// Adds `± magnitude * 2^exponent`, `exponent >= LOWEST`, `magnitude < 2^106`.
    fn add_magnitude(&mut self, negative: bool, magnitude: u128, exponent: i32) {
        let position = (exponent - LOWEST) as u32;
        let (first, shift) = ((position / 64) as usize, position % 64);
        let (low, high) = (magnitude as u64, (magnitude >> 64) as u64);
        let over = |x: u64| if shift == 0 { 0 } else { x >> (64 - shift) };
        let words = [low << shift, high << shift | over(low), over(high)];
        let mut carry = false;
        for (at, limb) in self.limbs[first..].iter_mut().enumerate() {
            if at >= 3 && !carry {
                break;
            }
            let word = words.get(at).copied().unwrap_or(0);
            let (partial, one) =
                if negative { limb.overflowing_sub(word) } else { limb.overflowing_add(word) };
            let (sum, two) = if negative {
                partial.overflowing_sub(u64::from(carry))
            } else {
                partial.overflowing_add(u64::from(carry))
            };
            (*limb, carry) = (sum, one || two);
        }
    }
}

impl Default for Accumulator {
    fn default() -> Accumulator {
        Accumulator::new()
    }
}

/// Significand and exponent of a finite value: |value| = significand * 2^exponent.
fn split(value: f64) -> Option<(u64, i32)> {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    match field {
        0x7ff => None,
        0 => Some((fraction, -1074)),
        _ => Some((fraction | 1 << 52, field - 1075)),
    }
}
