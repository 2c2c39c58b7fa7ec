//! AVX512-BF16's dot product (`VDPBF16PS`).
//!
//! ```text
//! t   = fma(a[1], b[1], acc)        the high element of the pair first
//! acc = fma(a[0], b[0], t)          f32, nearest even, DAZ and FTZ; MXCSR is neither read nor written
//! ```
//!
//! So the NaN of `a[0]` outranks that of `b[0]`, `a[1]`, `b[1]` and acc, in this order (SDM table 5-1 of VDPBF16PS).
//!
//! Source: Intel SDM volume 2, VDPBF16PS. AMD's Zen 4 (family 25, model 17) does the same, NaN bits and tininess after rounding
//! included: measured 2026-11-21 by `x86_instructions.rs` in `kernels`; vectors in `data/silicon`.

use super::x86::{Mxcsr, fma};
use crate::scalar::Precision;

/// One element: bf16 pairs into f32; `a[0]` is the low half of the register.
#[must_use]
pub fn vdpbf16ps(acc: u64, a: [u64; 2], b: [u64; 2]) -> u64 {
    let high = bf16_fma(a[1], b[1], acc);
    bf16_fma(a[0], b[0], high)
}

/// A multiply-add of bf16 factors in f32, as the dot products of x86 do it. A bf16 is the upper half of an f32.
pub(super) fn bf16_fma(a: u64, b: u64, acc: u64) -> u64 {
    fma(Precision::F32, a << 16, b << 16, acc, Mxcsr::DOT_PRODUCT)
}
