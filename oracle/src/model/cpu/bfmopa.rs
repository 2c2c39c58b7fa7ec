//! Arm's bf16 sums of products: `BFMOPA` (widening), and the steps of `BFDOT` and `BFMMLA`.
//!
//! ```text
//! EBF = 0   p0 = odd(row[2i] * col[2j])      p1 = odd(row[2i+1] * col[2j+1])
//!           s  = odd(p0 + p1)                ZA[i][j] = odd(ZA[i][j] + s)
//! EBF = 1   as 2-way FMOPA: two roundings by RMode; FZ, FIZ and AH count
//!
//! odd: inexact -> the last bit is 1; |x| < 2^-126 -> 0 with its sign; |x| >= 2^128 -> Inf. Subnormal operands are zeros.
//! ```
//!
//! With EBF = 0, `RMode`, FZ and FIZ do not count, an exact zero is +0 unless both terms are -0. A product of bf16 numbers has
//! 16 bits: only its underflow and overflow differ from the exact one. Predicates are as in [`super::fmopa`].
//!
//! With EBF = 0 and AH = 1 the manual disagrees with itself: A1.5.11 says "as if FPCR.AH is 0", the pseudocode hands FPCR to
//! `FPDefaultNaN`, which makes the NaN negative. QEMU 11.1.3 does the latter, and so does this.
//!
//! Source: Arm ARM A1.5.11; J1.3: `BFDotAdd`, `BFMulH`, `FPAdd_BF16`, `BFRound`, `BFUnpack`.

use super::arm::Fpcr;
use super::flush::{Flush, Tininess};
use super::fmopa::{active, dot_add};
use super::fused::{Fused, values};
use crate::scalar::{Precision, Rounding, encode};

/// One element of `BFMOPA`: bf16 pairs into f32.
#[must_use]
pub fn bfmopa(acc: u64, row: [Option<u64>; 2], col: [Option<u64>; 2], fpcr: Fpcr) -> u64 {
    match active(row, col) {
        Some((row, col)) if fpcr.ebf => dot_add(Precision::Bf16, acc, row, col, fpcr),
        Some((row, col)) => unfused(acc, row, col).unwrap_or(fpcr.default_nan(Precision::F32)),
        None => acc,
    }
}

/// `BFDotAdd` without `FEAT_EBF16`; `None` for NaN.
fn unfused(acc: u64, row: [u64; 2], col: [u64; 2]) -> Option<u64> {
    let operand = |bits| Flush::X86.operand(bits, Precision::Bf16);
    let ([a0, a1], [b0, b1]) =
        (values(row.map(operand), Precision::Bf16), values(col.map(operand), Precision::Bf16));
    let pair = add(odd(&[(a0, b0)])?, odd(&[(a1, b1)])?)?;
    add(acc, pair)
}

/// `FPAdd_BF16`.
fn add(x: u64, y: u64) -> Option<u64> {
    let flushed = [x, y].map(|bits| Flush::X86.operand(bits, Precision::F32));
    let [x, y] = values(flushed, Precision::F32);
    odd(&[(x, 1.0), (y, 1.0)])
}

/// A sum rounded to odd (`BFRound`).
fn odd(terms: &[(f64, f64)]) -> Option<u64> {
    let round =
        Fused { to: Precision::F32, rounding: Rounding::ToOdd, flush: Some(Tininess::BeforeRounding) };
    let bits = round.sum(terms)?;
    // The terms are f32 numbers or products of bf16 numbers: f64 is near enough to see 2^128.
    let near: f64 = terms.iter().map(|(a, b)| a * b).sum();
    Some(if near.abs() >= 2f64.powi(128) {
        encode(f64::INFINITY.copysign(near), Precision::F32, Rounding::NearestEven)
    } else {
        bits
    })
}
