//! Arm's control register, and the fused multiply-add of Advanced SIMD (`FMLA`).
//!
//! ```text
//! FZ    subnormal f32, f64, bf16 results (tiny before rounding), and operands, are zeros
//! FZ16  the same for f16
//! FIZ   operands only, not f16
//! AH    FZ flushes results only, tiny after rounding; default NaNs are negative; another choice among NaNs
//! DN    any NaN operand gives the default NaN
//! EBF   BFDOT, BFMMLA and BFMOPA round as IEEE 754 does
//! ```
//!
//! Source: Arm ARM (DDI 0487), A1.5.6, A1.5.7; J1.3: `FPUnpackBase`, `FPRoundBase`, `FPMulAdd`, `FPProcessNaNs3`.

use super::flush::{Flush, Tininess};
use super::fused::{Fused, values};
use super::nan;
use crate::scalar::{Precision, Rounding};

/// The fields of FPCR that change results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fpcr {
    /// Flush to zero, all types but f16.
    pub fz: bool,
    /// Flush to zero, f16.
    pub fz16: bool,
    /// Flush inputs to zero (`FEAT_AFP`).
    pub fiz: bool,
    /// Alternate handling (`FEAT_AFP`).
    pub ah: bool,
    /// Default NaN; ZA instructions act as if it were set.
    pub dn: bool,
    /// Extended bf16 behaviour (`FEAT_EBF16`).
    pub ebf: bool,
    /// `RMode`: nearest even, up, down or toward zero.
    pub rmode: Rounding,
}

impl Fpcr {
    /// All zeros, as Linux starts a process.
    pub const DEFAULT: Fpcr = Fpcr {
        fz: false,
        fz16: false,
        fiz: false,
        ah: false,
        dn: false,
        ebf: false,
        rmode: Rounding::NearestEven,
    };

    /// The register's fields; others are ignored.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Fpcr {
        Fpcr {
            fiz: bits & 1 != 0,
            ah: bits >> 1 & 1 != 0,
            ebf: bits >> 13 & 1 != 0,
            fz16: bits >> 19 & 1 != 0,
            rmode: match bits >> 22 & 3 {
                0 => Rounding::NearestEven,
                1 => Rounding::Up,
                2 => Rounding::Down,
                _ => Rounding::TowardZero,
            },
            fz: bits >> 24 & 1 != 0,
            dn: bits >> 25 & 1 != 0,
        }
    }

    /// What is flushed in operands and results of a type.
    #[must_use]
    pub fn flush(self, precision: Precision) -> Flush {
        let tininess = if self.ah { Tininess::AfterRounding } else { Tininess::BeforeRounding };
        let (operands, results) = match precision {
            Precision::F16 => (self.fz16, self.fz16),
            _ => (self.fiz || self.fz && !self.ah, self.fz),
        };
        Flush { operands, results: results.then_some(tininess) }
    }

    /// `FPDefaultNaN`.
    #[must_use]
    pub fn default_nan(self, precision: Precision) -> u64 {
        nan::default_nan(precision, self.ah)
    }

    pub(super) fn fused(self, to: Precision) -> Fused {
        Fused { to, rounding: self.rmode, flush: self.flush(to).results }
    }
}

impl Default for Fpcr {
    fn default() -> Fpcr {
        Fpcr::DEFAULT
    }
}

/// `FPMulAdd`: `acc + n * m` with one rounding, in f64, f32 or f16. `FMLA Vd, Vn, Vm` is this on each element.
#[must_use]
pub fn fmla(precision: Precision, acc: u64, n: u64, m: u64, fpcr: Fpcr) -> u64 {
    let flush = fpcr.flush(precision);
    let operands = [acc, n, m].map(|bits| flush.operand(bits, precision));
    let [c, a, b] = values(operands, precision);
    let default = fpcr.default_nan(precision);
    if let Some(chosen) = propagated(operands, precision, fpcr) {
        let zero_times_infinity = a.abs() == 0.0 && b.is_infinite() || a.is_infinite() && b.abs() == 0.0;
        // With AH = 0, Inf * 0 outranks a quiet addend.
        let invalid = zero_times_infinity && !fpcr.ah && !nan::is_signalling(acc, precision);
        return if fpcr.dn || invalid { default } else { chosen };
    }
    fpcr.fused(precision).sum(&[(a, b), (c, 1.0)]).unwrap_or(default)
}

/// `FPProcessNaNs3`: the operand that becomes the result.
fn propagated([acc, n, m]: [u64; 3], precision: Precision, fpcr: Fpcr) -> Option<u64> {
    if fpcr.ah {
        // The register <n>, else <m>, else the accumulator.
        return nan::first(&[n, m, acc], precision);
    }
    nan::first_signalling(&[acc, n, m], precision)
}
