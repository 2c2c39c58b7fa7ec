//! Rounding, one algorithm for every type in the table.

use super::{
    Element, FloatSpec, Precision, Scalar, Specials, Values, decode, infinity_bits, max_finite_bits,
};
use crate::with_scalar;

/// A rounding mode of some unit that the models describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Nearest, ties to even (IEEE default).
    NearestEven,
    /// Nearest, ties away from zero (`cvt.rna`).
    NearestAway,
    /// Toward zero (tensor-core outputs, tf32 truncation).
    TowardZero,
    /// Toward +infinity.
    Up,
    /// Toward -infinity.
    Down,
    /// Inexact results get an odd last bit (Arm BFMOPA; also makes a later rounding correct).
    ToOdd,
}

/// The bit pattern of `value` rounded to `precision`.
///
/// - The sign of a zero, and of a value that rounds to zero, is kept. NaN gives the positive quiet NaN with no
///   payload, infinity the infinity.
/// - Beyond the largest finite number, nearest modes and the directed mode away from zero give infinity; modes
///   toward zero give the largest finite number, and so does [`Rounding::ToOdd`].
/// - E4M3 has no infinity: what would be one is NaN (the non-saturating conversion of OCP OFP8). Nearest modes
///   reach it from 464 = 448 + half a unit on: the tie itself goes to 448 (even), or to NaN (away).
/// - For tf32 the pattern is an f32 whose low 13 bits are zero.
#[must_use]
pub fn encode(value: f64, precision: Precision, mode: Rounding) -> u64 {
    let bits = value.to_bits();
    let negative = value.is_sign_negative();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if field == 0x7ff {
        return if fraction == 0 {
            place(negative, infinity_bits(precision), precision)
        } else {
            nan_bits(precision)
        };
    }
    let (significand, unit) = match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    };
    if significand == 0 {
        return place(negative, 0, precision);
    }
    let msb = unit + significand.ilog2() as i32;
    let quantum = quantum(msb.into(), precision.spec()) as i32;
    let (quotient, remainder) = shift_out(significand, quantum - unit);
    finish(negative, quotient, remainder, quantum.into(), precision, mode)
}

/// The bit pattern of a number that `precision` has, infinities among them; `None` for one that it has not, and for NaN.
#[must_use]
#[inline]
pub fn encode_exact(value: f64, precision: Precision) -> Option<u64> {
    encode_normal(value, precision).or_else(|| {
        let rounded = encode(value, precision, Rounding::TowardZero);
        (decode(rounded, precision) == value).then_some(rounded)
    })
}

/// [`encode_exact`] of normal numbers below the last binade, which alone may hold patterns that are not numbers: a shift does it. `None`
/// of all others.
#[inline]
fn encode_normal(value: f64, precision: Precision) -> Option<u64> {
    let spec = precision.spec();
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    let cut = 53 - spec.significand;
    let field = (exponent - spec.emin + 1) as u64;
    let pattern = field << (spec.significand - 1) | fraction >> cut;
    let fits = exponent >= spec.emin && exponent < spec.emax && fraction & ((1 << cut) - 1) == 0;
    fits.then(|| place(value.is_sign_negative(), pattern, precision))
}

/// The value of `precision` that is nearest to `value`, ties to even: [`encode`] and back.
#[must_use]
pub fn nearest_in(value: f64, precision: Precision) -> f64 {
    decode(encode(value, precision, Rounding::NearestEven), precision)
}

/// Element types as what a number rounds to.
pub trait FromF64: Scalar {
    /// The nearest value, ties to even; beyond the range, infinity (NaN in E4M3, which has no infinity). A [`Tf32`](super::Tf32) is
    /// rounded to its f32 storage: the low 13 bits are kept, because the declared input rounding has yet to be applied.
    #[must_use]
    fn from_f64(value: f64) -> Self {
        Self::from_bits64(match Self::PRECISION {
            Precision::F64 => value.to_bits(),
            Precision::F32 | Precision::Tf32 => u64::from((value as f32).to_bits()),
            // Most numbers that are asked for were drawn in the type.
            narrow @ (Precision::F16 | Precision::Bf16 | Precision::E4m3 | Precision::E5m2) => {
                encode_normal(value, narrow).unwrap_or_else(|| encode(value, narrow, Rounding::NearestEven))
            }
        })
    }
}

impl<T: Scalar> FromF64 for T {}

/// The same for arrays whose element type is known only at run time.
pub trait ValuesFromF64 {
    /// Rounds each number to the nearest element of `precision` (exact when it is one).
    #[must_use]
    fn from_f64(precision: Precision, numbers: &[f64]) -> Self;
}

impl ValuesFromF64 for Values {
    fn from_f64(precision: Precision, numbers: &[f64]) -> Values {
        with_scalar!(precision, T => <T as Element>::wrap(numbers.iter().map(|&v| T::from_f64(v)).collect()))
    }
}

/// What lies below the last kept bit of a truncated magnitude, against half of that bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remainder {
    /// Nothing.
    #[default]
    Zero,
    /// Less than half a unit.
    BelowHalf,
    /// Half a unit.
    Half,
    /// More than half a unit.
    AboveHalf,
}

/// Exponent of the last place of a number whose leading bit has weight 2^`msb`: normal or subnormal.
pub(crate) fn quantum(msb: i64, spec: FloatSpec) -> i64 {
    (msb - i64::from(spec.significand) + 1).max(i64::from(spec.min_exponent()))
}

/// `significand / 2^shift`, truncated, and what was shifted out; a negative shift goes left.
fn shift_out(significand: u64, shift: i32) -> (u64, Remainder) {
    if shift <= 0 {
        return (significand << -shift, Remainder::Zero);
    }
    if shift > 54 {
        // A significand has 53 bits: all of it lies below half a unit.
        return (0, Remainder::BelowHalf);
    }
    let rest = significand & ((1 << shift) - 1);
    let remainder = match rest.cmp(&(1 << (shift - 1))) {
        _ if rest == 0 => Remainder::Zero,
        std::cmp::Ordering::Less => Remainder::BelowHalf,
        std::cmp::Ordering::Equal => Remainder::Half,
        std::cmp::Ordering::Greater => Remainder::AboveHalf,
    };
    (significand >> shift, remainder)
}

/// Rounds `quotient * 2^quantum` plus a remainder, and packs the result.
pub(crate) fn finish(
    negative: bool,
    quotient: u64,
    remainder: Remainder,
    quantum: i64,
    precision: Precision,
    mode: Rounding,
) -> u64 {
    let spec = precision.spec();
    let inexact = remainder != Remainder::Zero;
    let odd = quotient & 1 == 1;
    let away = match mode {
        Rounding::NearestEven => remainder > Remainder::Half || (remainder == Remainder::Half && odd),
        Rounding::NearestAway => remainder >= Remainder::Half,
        Rounding::TowardZero => false,
        Rounding::Up => inexact && !negative,
        Rounding::Down => inexact && negative,
        Rounding::ToOdd => inexact && !odd,
    };
    // Patterns of one sign are ordered as the numbers: one more unit is one more pattern, carry and all, and each
    // step of the quantum is 2^(p - 1) patterns. A subnormal has the lowest quantum and no hidden bit.
    let step = quantum - i64::from(spec.min_exponent());
    let exceeds = step > i64::from(spec.emax - spec.emin);
    let magnitude = if exceeds {
        u64::MAX
    } else {
        ((step as u64) << (spec.significand - 1)) + quotient + u64::from(away)
    };
    if magnitude <= max_finite_bits(precision) {
        return place(negative, magnitude, precision);
    }
    let saturates = match mode {
        Rounding::NearestEven | Rounding::NearestAway => false,
        Rounding::TowardZero | Rounding::ToOdd => true,
        Rounding::Up => negative,
        Rounding::Down => !negative,
    };
    let magnitude = if saturates { max_finite_bits(precision) } else { infinity_bits(precision) };
    place(negative, magnitude, precision)
}

/// Puts the sign on a magnitude pattern; moves tf32 to the top of its f32.
fn place(negative: bool, magnitude: u64, precision: Precision) -> u64 {
    let spec = precision.spec();
    let unused = if precision == Precision::Tf32 { 13 } else { 0 };
    u64::from(negative) << (spec.storage_bits - 1) | magnitude << unused
}

/// The canonical NaN.
fn nan_bits(precision: Precision) -> u64 {
    let spec = precision.spec();
    match spec.specials {
        Specials::Ieee => place(false, infinity_bits(precision) | 1 << (spec.significand - 2), precision),
        Specials::NanOnly => infinity_bits(precision),
    }
}
