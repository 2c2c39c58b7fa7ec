//! Arm SME's outer products: `FMOPA`, non-widening and 2-way.
//!
//! ```text
//! non-widening   ZA[i][j] = round(ZA[i][j] + row[i] * col[j])                                one rounding
//! 2-way          p = round(row[2i] * col[2j] + row[2i+1] * col[2j+1])   exact products       first rounding
//!                ZA[i][j] = round(ZA[i][j] + p)                                              second rounding
//! ```
//!
//! NaN results are always the default NaN. An element whose predicate is not active is `None` here: non-widening, either one
//! leaves `ZA[i][j]` as it is; 2-way, it counts as +0, and `ZA[i][j]` stays if neither pair has both sides active.
//!
//! Source: Arm ARM C9.2 FMOPA; J1.3: `FPMulAdd_ZA`, `FPDotAdd_ZA`, `FPDot`, `FPAdd`; D22.6.

use super::arm::{Fpcr, fmla};
use super::fused::values;
use crate::scalar::{Precision, decode};

/// One element of non-widening `FMOPA` on f64, f32 or f16.
#[must_use]
pub fn fmopa(precision: Precision, acc: u64, row: Option<u64>, col: Option<u64>, fpcr: Fpcr) -> u64 {
    match (row, col) {
        (Some(row), Some(col)) => fmla(precision, acc, row, col, Fpcr { dn: true, ..fpcr }),
        _ => acc,
    }
}

/// One element of 2-way `FMOPA`: f16 pairs into f32.
#[must_use]
pub fn fmopa_2way(acc: u64, row: [Option<u64>; 2], col: [Option<u64>; 2], fpcr: Fpcr) -> u64 {
    match active(row, col) {
        Some((row, col)) => dot_add(Precision::F16, acc, row, col, fpcr),
        None => acc,
    }
}

/// What a 2-way outer product multiplies; `None` if it leaves the element alone.
pub(super) fn active(row: [Option<u64>; 2], col: [Option<u64>; 2]) -> Option<([u64; 2], [u64; 2])> {
    let pair = |i: usize| row[i].is_some() && col[i].is_some();
    let zeroed = |side: [Option<u64>; 2]| side.map(|bits| bits.unwrap_or(0));
    (pair(0) || pair(1)).then(|| (zeroed(row), zeroed(col)))
}

/// `FPDotAdd_ZA`: the pairs' products summed with one rounding, then added with another.
pub(super) fn dot_add(input: Precision, acc: u64, row: [u64; 2], col: [u64; 2], fpcr: Fpcr) -> u64 {
    let flush = fpcr.flush(input);
    let operands = |side: [u64; 2]| values(side.map(|bits| flush.operand(bits, input)), input);
    let ([a0, a1], [b0, b1]) = (operands(row), operands(col));
    let unit = fpcr.fused(Precision::F32);
    let default = fpcr.default_nan(Precision::F32);
    let Some(pair) = unit.sum(&[(a0, b0), (a1, b1)]) else {
        return default;
    };
    let [acc, pair] = [acc, pair].map(|bits| fpcr.flush(Precision::F32).operand(bits, Precision::F32));
    let terms = [acc, pair].map(|bits| (decode(bits, Precision::F32), 1.0));
    unit.sum(&terms).unwrap_or(default)
}
