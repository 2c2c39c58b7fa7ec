//! Exact dyadic rationals: every finite float, and every sum and product of them, without rounding.
//!
//! ```text
//! value = sign * sum over i of limbs[i] * 2^(64 * (base + i))        limbs: u64, least significant first
//!
//!          base+2   base+1    base
//!        [ limb 2 | limb 1 | limb 0 ]        first and last limb are never zero; zero has no limbs
//! ```
//!
//! Limbs sit at fixed multiples of 2^64, so that addition needs no shift and equal numbers have equal fields.
//! Slow and plain on purpose; [`super::Accumulator`] and [`super::Panel`] are the faster ways to the same numbers.

mod text;

use crate::scalar::{Precision, Remainder, Rounding, finish, quantum};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// An exact number, integer times a power of two. No NaN, no infinity, one zero.
///
/// Memory is proportional to the distance between the highest and the lowest set bit: at most 68 limbs for sums of
/// products of f64 values. [`mul_pow2`](Dyadic::mul_pow2) does not bound the exponent, its caller does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    negative: bool,
    /// Weight of `limbs[0]`, as a power of 2^64. 0 for zero.
    base: i64,
    limbs: Vec<u64>,
}

/// The bit pattern of an exact number rounded once to `precision`. An exact zero gives +0; the rest is as in
/// [`encode`](crate::scalar::encode).
#[must_use]
pub fn encode_dyadic(value: &Dyadic, precision: Precision, mode: Rounding) -> u64 {
    let Some(msb) = value.msb_exponent() else {
        return 0;
    };
    let quantum = quantum(msb, precision.spec());
    // At most 53 bits remain by the choice of the quantum.
    let (quotient, remainder) = value.truncate(quantum).unwrap_or((u64::MAX, Remainder::Zero));
    finish(value.is_negative(), quotient, remainder, quantum, precision, mode)
}

impl Dyadic {
    /// Zero.
    #[must_use]
    pub fn zero() -> Dyadic {
        Dyadic { negative: false, base: 0, limbs: Vec::new() }
    }

    /// The value of a finite float (both zeros give zero); `None` for NaN and infinities.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Dyadic> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let field = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        let exponent = field.max(1) as i64 - 1075;
        Some(Dyadic::from_magnitude(value.is_sign_negative(), u128::from(significand), exponent))
    }

    /// The value of an integer.
    #[must_use]
    pub fn from_int(value: i128) -> Dyadic {
        Dyadic::from_magnitude(value < 0, value.unsigned_abs(), 0)
    }

    /// `± magnitude * 2^exponent`.
    pub(crate) fn from_magnitude(negative: bool, magnitude: u128, exponent: i64) -> Dyadic {
        let shift = exponent.rem_euclid(64) as u32;
        let (low, high) = (magnitude as u64, (magnitude >> 64) as u64);
        let carry = |x: u64| if shift == 0 { 0 } else { x >> (64 - shift) };
        let limbs = vec![low << shift, high << shift | carry(low), carry(high)];
        Dyadic::from_limbs(negative, limbs, exponent.div_euclid(64))
    }

    /// `± sum of limbs[i] * 2^(64 * (base + i))`, with zero limbs at either end removed.
    pub(crate) fn from_limbs(negative: bool, mut limbs: Vec<u64>, base: i64) -> Dyadic {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        let zeros = limbs.iter().take_while(|&&limb| limb == 0).count();
        limbs.drain(..zeros);
        if limbs.is_empty() {
            return Dyadic::zero();
        }
        Dyadic { negative, base: base + zeros as i64, limbs }
    }

    /// True for zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// True below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(&self) -> Dyadic {
        let mut magnitude = self.clone();
        magnitude.negative = false;
        magnitude
    }

    /// The value times 2^`power`.
    #[must_use]
    pub fn mul_pow2(&self, power: i32) -> Dyadic {
        let exponent = i64::from(power);
        let shift = exponent.rem_euclid(64) as u32;
        let mut limbs = Vec::with_capacity(self.limbs.len() + 1);
        let mut carry = 0u64;
        for &limb in &self.limbs {
            limbs.push(limb << shift | carry);
            carry = if shift == 0 { 0 } else { limb >> (64 - shift) };
        }
        limbs.push(carry);
        Dyadic::from_limbs(self.negative, limbs, self.base + exponent.div_euclid(64))
    }

    /// The exponent of the lowest set bit: the value is an odd multiple of 2 to this power. `None` for zero.
    #[must_use]
    pub fn lsb_exponent(&self) -> Option<i64> {
        let first = self.limbs.first()?;
        Some(64 * self.base + i64::from(first.trailing_zeros()))
    }

    /// The exponent of the highest set bit: 2^e <= |value| < 2^(e+1). `None` for zero.
    #[must_use]
    pub fn msb_exponent(&self) -> Option<i64> {
        let last = self.limbs.last()?;
        Some(64 * (self.base + self.limbs.len() as i64) - 1 - i64::from(last.leading_zeros()))
    }

    /// The value rounded once to f64.
    #[must_use]
    pub fn to_f64(&self, mode: Rounding) -> f64 {
        f64::from_bits(encode_dyadic(self, Precision::F64, mode))
    }

    /// The magnitude in units of 2^`unit`, truncated, and what was cut off. `None` if it needs more than 64 bits.
    pub(crate) fn truncate(&self, unit: i64) -> Option<(u64, Remainder)> {
        let (Some(msb), Some(lsb)) = (self.msb_exponent(), self.lsb_exponent()) else {
            return Some((0, Remainder::Zero));
        };
        if msb - unit >= 64 {
            return None;
        }
        // Two limbs hold all bits from the unit up to the highest.
        let at = unit.div_euclid(64);
        let limbs = u128::from(self.limb(at)) | u128::from(self.limb(at + 1)) << 64;
        let quotient = (limbs >> unit.rem_euclid(64)) as u64;
        let remainder = match (self.bit(unit - 1), lsb < unit - 1) {
            (false, false) => Remainder::Zero,
            (false, true) => Remainder::BelowHalf,
            (true, false) => Remainder::Half,
            (true, true) => Remainder::AboveHalf,
        };
        Some((quotient, remainder))
    }

    /// The bit of weight 2^`exponent` of the magnitude.
    fn bit(&self, exponent: i64) -> bool {
        self.limb(exponent.div_euclid(64)) >> exponent.rem_euclid(64) & 1 == 1
    }

    /// The limb of weight 2^(64 * `at`), 0 outside the stored ones.
    fn limb(&self, at: i64) -> u64 {
        let index = usize::try_from(at - self.base).ok();
        index.and_then(|i| self.limbs.get(i)).copied().unwrap_or(0)
    }

    /// One past the weight of the highest limb.
    fn end(&self) -> i64 {
        self.base + self.limbs.len() as i64
    }

    fn compare_magnitude(&self, other: &Dyadic) -> Ordering {
        let order = self.msb_exponent().cmp(&other.msb_exponent());
        let limbs = (self.base.min(other.base)..self.end().max(other.end())).rev();
        order.then_with(|| {
            limbs.map(|at| self.limb(at).cmp(&other.limb(at))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        })
    }

    /// |self| + |other|, or |self| - |other| (which must not be negative), limb by limb over both ranges.
    fn combine(&self, other: &Dyadic, subtract: bool) -> (Vec<u64>, i64) {
        let base = self.base.min(other.base);
        let end = self.end().max(other.end());
        let mut limbs = Vec::with_capacity((end - base) as usize + 1);
        let mut carry = false;
        for at in base..=end {
            let (x, y) = (self.limb(at), other.limb(at));
            let (partial, first) = if subtract { x.overflowing_sub(y) } else { x.overflowing_add(y) };
            let (limb, second) = if subtract {
                partial.overflowing_sub(u64::from(carry))
            } else {
                partial.overflowing_add(u64::from(carry))
            };
            carry = first || second;
            limbs.push(limb);
        }
        (limbs, base)
    }
}

impl Default for Dyadic {
    fn default() -> Dyadic {
        Dyadic::zero()
    }
}

impl From<i64> for Dyadic {
    fn from(value: i64) -> Dyadic {
        Dyadic::from_int(i128::from(value))
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;

    fn add(self, other: &Dyadic) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        if self.negative == other.negative {
            let (limbs, base) = self.combine(other, false);
            return Dyadic::from_limbs(self.negative, limbs, base);
        }
        let (larger, smaller) = match self.compare_magnitude(other) {
            Ordering::Equal => return Dyadic::zero(),
            Ordering::Greater => (self, other),
            Ordering::Less => (other, self),
        };
        let (limbs, base) = larger.combine(smaller, true);
        Dyadic::from_limbs(larger.negative, limbs, base)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        let mut opposite = self.clone();
        opposite.negative = !self.negative && !self.is_zero();
        opposite
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;

    fn sub(self, other: &Dyadic) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    /// Schoolbook multiplication.
    fn mul(self, other: &Dyadic) -> Dyadic {
        let mut limbs = vec![0u64; self.limbs.len() + other.limbs.len()];
        for (i, &x) in self.limbs.iter().enumerate() {
            let mut carry = 0u128;
            for (j, &y) in other.limbs.iter().enumerate() {
                let sum = u128::from(x) * u128::from(y) + u128::from(limbs[i + j]) + carry;
                limbs[i + j] = sum as u64;
                carry = sum >> 64;
            }
            limbs[i + other.limbs.len()] = carry as u64;
        }
        Dyadic::from_limbs(self.negative != other.negative, limbs, self.base + other.base)
    }
}

macro_rules! owned_operators {
    ($($op:ident $method:ident),*) => {$(
        impl $op for Dyadic {
            type Output = Dyadic;

            fn $method(self, other: Dyadic) -> Dyadic {
                (&self).$method(&other)
            }
        }
    )*};
}
owned_operators!(Add add, Sub sub, Mul mul);

impl Neg for Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        -&self
    }
}

impl std::iter::Sum for Dyadic {
    fn sum<I: Iterator<Item = Dyadic>>(terms: I) -> Dyadic {
        terms.fold(Dyadic::zero(), |sum, term| &sum + &term)
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Dyadic) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Dyadic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
