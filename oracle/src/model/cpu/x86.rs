//! x86's control register, and its fused multiply-add, addition and f16 conversions.
//!
//! ```text
//! VFMADD132   src1 * src3 + src2        x * y + z, the NaN of x before that of y before that of z, whichever form;
//! VFMADD213   src2 * src1 + src3        a NaN addend outranks Inf * 0
//! VFMADD231   src2 * src3 + src1
//! ```
//!
//! Sources: Intel SDM volume 1, 10.2.3 (MXCSR), 14.5 (FMA) and table 4-7; volume 2, VCVTPH2PS, VCVTPS2PH; AVX512-FP16
//! specification, 5.2: f16 operands and results are never flushed. All but AVX512-FP16 measured on an AMD EPYC of family 25, model
//! 17 (Zen 4), 2026-11-21, by `x86_instructions.rs` in `kernels`.

use super::flush::Flush;
use super::fused::{Fused, values};
use super::nan;
use crate::scalar::{Precision, Rounding, decode, encode};

/// The fields of MXCSR that change results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mxcsr {
    /// Flush to zero: results of f32 and f64.
    pub ftz: bool,
    /// Denormals are zeros: operands of f32 and f64.
    pub daz: bool,
    /// RC: nearest even, down, up or toward zero.
    pub rounding: Rounding,
}

impl Mxcsr {
    /// 0x1f80, as processes start.
    pub const DEFAULT: Mxcsr = Mxcsr { ftz: false, daz: false, rounding: Rounding::NearestEven };

    /// What bf16 and AMX instructions use instead of MXCSR.
    pub const DOT_PRODUCT: Mxcsr = Mxcsr { ftz: true, daz: true, rounding: Rounding::NearestEven };

    /// The register's fields; others are ignored.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Mxcsr {
        Mxcsr {
            ftz: bits >> 15 & 1 != 0,
            daz: bits >> 6 & 1 != 0,
            rounding: match bits >> 13 & 3 {
                0 => Rounding::NearestEven,
                1 => Rounding::Down,
                2 => Rounding::Up,
                _ => Rounding::TowardZero,
            },
        }
    }

    /// What is flushed in operands and results of a type.
    #[must_use]
    pub fn flush(self, precision: Precision) -> Flush {
        let counts = precision != Precision::F16;
        Flush { operands: self.daz && counts, results: Flush::X86.results.filter(|_| self.ftz && counts) }
    }

    fn fused(self, to: Precision) -> Fused {
        Fused { to, rounding: self.rounding, flush: self.flush(to).results }
    }
}

impl Default for Mxcsr {
    fn default() -> Mxcsr {
        Mxcsr::DEFAULT
    }
}

/// `x * y + z` with one rounding, in f64, f32 or f16.
#[must_use]
pub fn fma(precision: Precision, x: u64, y: u64, z: u64, mxcsr: Mxcsr) -> u64 {
    if let Some(nan) = nan::first(&[x, y, z], precision) {
        return nan;
    }
    let flush = mxcsr.flush(precision);
    let [a, b, c] = values([x, y, z].map(|bits| flush.operand(bits, precision)), precision);
    let sum = mxcsr.fused(precision).sum(&[(a, b), (c, 1.0)]);
    sum.unwrap_or(nan::default_nan(precision, true))
}

/// `x + y` with one rounding: `ADDPS` and its like, x being the first source.
#[must_use]
pub fn add(precision: Precision, x: u64, y: u64, mxcsr: Mxcsr) -> u64 {
    if let Some(nan) = nan::first(&[x, y], precision) {
        return nan;
    }
    let flush = mxcsr.flush(precision);
    let [a, b] = values([x, y].map(|bits| flush.operand(bits, precision)), precision);
    let sum = mxcsr.fused(precision).sum(&[(a, 1.0), (b, 1.0)]);
    sum.unwrap_or(nan::default_nan(precision, true))
}

/// f16 to f32 (`VCVTPH2PS`): exact, MXCSR does not count; NaNs become quiet.
#[must_use]
pub fn widen_f16(bits: u64) -> u64 {
    if nan::is_nan(bits, Precision::F16) {
        return nan::convert(bits, Precision::F16, Precision::F32);
    }
    encode(decode(bits, Precision::F16), Precision::F32, Rounding::NearestEven)
}

/// f32 to f16 (`VCVTPS2PH`), by RC of the immediate or of MXCSR. DAZ counts, FTZ does not.
#[must_use]
pub fn narrow_to_f16(bits: u64, mxcsr: Mxcsr) -> u64 {
    if nan::is_nan(bits, Precision::F32) {
        return nan::convert(bits, Precision::F32, Precision::F16);
    }
    let operand = mxcsr.flush(Precision::F32).operand(bits, Precision::F32);
    encode(decode(operand, Precision::F32), Precision::F16, mxcsr.rounding)
}
