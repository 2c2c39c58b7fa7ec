//! Flushing subnormal numbers to zero, on the way in and on the way out.
//!
//! ```text
//!            2^(emin-1)            2^emin              operand: flushed iff its exponent field is zero
//!   ---------|---------------------|------> |x|
//!     before rounding: flushed  |##|  kept             |##|: rounds up to 2^emin. "Tiny before rounding" flushes it,
//!     after rounding:  flushed  |  kept                      "tiny after rounding" keeps it.
//! ```
//!
//! A flushed number keeps its sign. x86 (FTZ and DAZ, SDM volume 1, 10.2.3 and 11.5.2) detects tininess after rounding, as if
//! the exponent had no bounds; Arm (FZ, FZ16, FIZ, Arm ARM A1.5.6) before rounding, after it with FPCR.AH = 1.

use crate::exact::{Dyadic, encode_dyadic};
use crate::scalar::{Precision, Rounding};

/// Which exact results count as subnormal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tininess {
    /// Magnitude below 2^emin.
    BeforeRounding,
    /// Magnitude below 2^emin when rounded to the significand alone, the exponent unbounded.
    AfterRounding,
}

/// What a unit flushes to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flush {
    /// Subnormal operands.
    pub operands: bool,
    /// Subnormal results.
    pub results: Option<Tininess>,
}

impl Flush {
    /// IEEE 754: nothing is flushed.
    pub const NOTHING: Flush = Flush { operands: false, results: None };

    /// DAZ and FTZ.
    pub const X86: Flush = Flush { operands: true, results: Some(Tininess::AfterRounding) };

    /// The operand that the unit sees.
    #[must_use]
    pub fn operand(self, bits: u64, precision: Precision) -> u64 {
        let spec = precision.spec();
        let sign = bits & 1 << (spec.storage_bits - 1);
        let subnormal = bits & !sign & (u64::MAX >> (64 - spec.storage_bits)) < 1 << (spec.significand - 1);
        if self.operands && subnormal { sign } else { bits }
    }
}

impl Tininess {
    /// True if the exact number, which is not zero, counts as subnormal in `precision`.
    pub(super) fn is_tiny(self, exact: &Dyadic, precision: Precision, rounding: Rounding) -> bool {
        let emin = i64::from(precision.spec().emin);
        let below = exact.msb_exponent().is_none_or(|msb| msb < emin);
        match self {
            Tininess::BeforeRounding => below,
            // One binade higher there is room below 2^emin: the number keeps its significand.
            Tininess::AfterRounding => {
                let doubled = encode_dyadic(&exact.mul_pow2(1), precision, rounding);
                let magnitude = doubled & (u64::MAX >> (65 - precision.spec().storage_bits));
                below && magnitude < 2 << (precision.spec().significand - 1)
            }
        }
    }
}
