//! Which NaN a unit returns.
//!
//! ```text
//! x86           the first NaN among the operands, in the order of the instruction, made quiet; if there is none (Inf * 0,
//!               Inf - Inf) the "real indefinite", negative: 0xffc00000
//! Arm, DN = 1   always the default NaN, positive: 0x7fc00000; negative with AH = 1
//! Arm, DN = 0   the first signalling operand made quiet, else the first quiet one, else the default
//! ```
//!
//! Sources: Intel SDM volume 1, 4.8.3.5 and table 4-7; Arm ARM A1.5.7, `FPProcessNaNs`, `FPDefaultNaN`, `FPConvertNaN`. The order of
//! x86's FMA, addend last and no preference for a signalling NaN, is measured: `x86_instructions.rs` in `kernels`.

use crate::scalar::{Precision, decode};

/// True for every NaN.
#[must_use]
pub fn is_nan(bits: u64, precision: Precision) -> bool {
    decode(bits, precision).is_nan()
}

/// True for a NaN whose first fraction bit is not set.
#[must_use]
pub fn is_signalling(bits: u64, precision: Precision) -> bool {
    is_nan(bits, precision) && bits & quiet_bit(precision) == 0
}

/// The NaN with its first fraction bit set.
#[must_use]
pub fn quiet(bits: u64, precision: Precision) -> u64 {
    bits & (u64::MAX >> (64 - precision.spec().storage_bits)) | quiet_bit(precision)
}

/// The NaN without a payload: x86's and, with AH = 1, Arm's is negative, Arm's own positive.
#[must_use]
pub fn default_nan(precision: Precision, negative: bool) -> u64 {
    let spec = precision.spec();
    // Exponent field and first fraction bit.
    let magnitude = (1 << (spec.storage_bits - 1)) - (1 << (spec.significand - 2));
    u64::from(negative) << (spec.storage_bits - 1) | magnitude
}

/// A NaN of another type: sign kept, quiet, payload extended or cut at its low end.
#[must_use]
pub fn convert(bits: u64, from: Precision, to: Precision) -> u64 {
    let (narrow, wide) = (from.spec(), to.spec());
    let sign = bits >> (narrow.storage_bits - 1) & 1;
    let fraction = bits & ((1 << (narrow.significand - 1)) - 1);
    let payload = if wide.significand >= narrow.significand {
        fraction << (wide.significand - narrow.significand)
    } else {
        fraction >> (narrow.significand - wide.significand)
    };
    default_nan(to, sign == 1) | payload
}

/// x86: the first NaN, made quiet.
#[must_use]
pub fn first(operands: &[u64], precision: Precision) -> Option<u64> {
    let nan = operands.iter().find(|&&bits| is_nan(bits, precision));
    nan.map(|&bits| quiet(bits, precision))
}

/// Arm with DN = 0 and AH = 0: the first signalling NaN, made quiet, else the first quiet one.
#[must_use]
pub fn first_signalling(operands: &[u64], precision: Precision) -> Option<u64> {
    let signalling = operands.iter().find(|&&bits| is_signalling(bits, precision));
    match signalling {
        Some(&bits) => Some(quiet(bits, precision)),
        None => first(operands, precision),
    }
}

const fn quiet_bit(precision: Precision) -> u64 {
    1 << (precision.spec().significand - 2)
}
