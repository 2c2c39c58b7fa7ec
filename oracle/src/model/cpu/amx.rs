//! Intel AMX's dot products: `TDPBF16PS` and `TDPFP16PS`.
//!
//! ```text
//! even = +0;  odd = +0
//! for each pair k of the tile:   even = fma(a[2k], b[2k], even);   odd = fma(a[2k+1], b[2k+1], odd)
//! C = C + (even + odd)           f32, nearest even, DAZ and FTZ; MXCSR is neither read nor written
//! ```
//!
//! A tile has 1 to 16 pairs. C is added last: a chain of tiles is not one long chain, and not one that starts from C. f16 is
//! widened to f32 first, its subnormals included, none of which is subnormal in f32.
//!
//! Source: Intel SDM volume 2, TDPBF16PS, TDPFP16PS. It does not say which of several NaNs comes out: here the operands count in
//! the order of its formula, as VDPBF16PS is documented. Not compared with silicon yet.

use super::vdpbf16::bf16_fma;
use super::x86::{Mxcsr, add, fma, widen_f16};
use crate::scalar::Precision;

/// One element of `TDPBF16PS`, from pairs (a, b) in the order of k.
#[must_use]
pub fn tdpbf16ps(c: u64, pairs: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    tile(c, pairs, bf16_fma)
}

/// One element of `TDPFP16PS`, from pairs (a, b) in the order of k.
#[must_use]
pub fn tdpfp16ps(c: u64, pairs: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    tile(c, pairs, |a, b, acc| fma(Precision::F32, widen_f16(a), widen_f16(b), acc, Mxcsr::DOT_PRODUCT))
}

fn tile(c: u64, pairs: impl IntoIterator<Item = (u64, u64)>, step: impl Fn(u64, u64, u64) -> u64) -> u64 {
    let mut sums = [0; 2];
    for (k, (a, b)) in pairs.into_iter().enumerate() {
        sums[k % 2] = step(a, b, sums[k % 2]);
    }
    let sum = |x, y| add(Precision::F32, x, y, Mxcsr::DOT_PRODUCT);
    sum(c, sum(sums[0], sums[1]))
}
