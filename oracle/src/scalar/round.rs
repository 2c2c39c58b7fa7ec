//! Decoding and rounding, one algorithm for every type in the table.

use super::{Precision, Specials};
use crate::exact::Dyadic;

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

/// The exact value of the low bits of `bits` read as `precision`.
#[must_use]
pub fn decode(bits: u64, precision: Precision) -> f64 {
    let spec = precision.spec();
    if precision == Precision::F64 {
        return f64::from_bits(bits);
    }
    if matches!(precision, Precision::F32 | Precision::Tf32) {
        return f64::from(f32::from_bits(bits as u32));
    }
    let fraction_bits = spec.significand - 1;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let exponent_bits = spec.storage_bits - 1 - fraction_bits;
    let exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    let top = (1 << exponent_bits) - 1;
    let negative = bits >> (spec.storage_bits - 1) & 1 == 1;
    let magnitude = match spec.specials {
        Specials::Ieee if exponent == top && fraction == 0 => f64::INFINITY,
        Specials::Ieee if exponent == top => f64::NAN,
        Specials::NanOnly if exponent == top && fraction == (1 << fraction_bits) - 1 => f64::NAN,
        _ if exponent == 0 => fraction as f64 * 2.0f64.powi(spec.min_exponent()),
        _ => {
            let significand = fraction | 1 << fraction_bits;
            significand as f64 * 2.0f64.powi(exponent as i32 - 1 + spec.min_exponent())
        }
    };
    if negative { -magnitude } else { magnitude }
}

/// The bit pattern of `value` rounded to `precision`.
#[must_use]
pub fn encode(value: f64, precision: Precision, mode: Rounding) -> u64 {
    let _ = (value, precision, mode);
    0
}

/// The bit pattern of an exact number rounded once to `precision`. An exact zero gives +0.
#[must_use]
pub fn encode_dyadic(value: &Dyadic, precision: Precision, mode: Rounding) -> u64 {
    let _ = (value, precision, mode);
    0
}
