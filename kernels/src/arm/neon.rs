//! Advanced SIMD: one row of a CSR matrix, and one block of `br` x 1 tiles, times rows of B, vectorised over columns of B.
//!
//! ```text
//! row      acc[0..W]       += a[i,k] * B[k, j..j+W]          W = 1, 2, 4 or 8 registers of 16 bytes, kept over the whole row
//! tiles    acc[0..R][0..W] += tile[r] * B[col, j..j+W]       R = 1 or 4 rows of the block, W = 1, 2 or 4
//! ```
//!
//! Each element is one chain of `FMLA` from +0, term after term as stored; its value does not depend on R, W or on the lane it is
//! in. B's rows are padded to whole registers (see [`Panel`](super::panel::Panel)), so there are no tails here.

#![expect(unsafe_code, reason = "loads and stores of registers take pointers")]

use super::panel::Panel;
use crate::portable::element::{Operand, Stored};
use crate::portable::unit::Unit;
use core::arch::aarch64::{
    float32x4_t, float64x2_t, vdupq_n_f32, vdupq_n_f64, vfmaq_f32, vfmaq_f64, vld1q_f32, vld1q_f64,
    vst1q_f32, vst1q_f64,
};
use std::ops::Range;

/// A unit with a register of 16 bytes.
pub(crate) trait NeonVector: Unit + Stored {
    /// The register.
    type Register: Copy;
    /// Elements of a register.
    const LANES: usize;

    /// The same number in every lane.
    fn splat(self) -> Self::Register;
    /// The first [`LANES`](Self::LANES) elements.
    fn load(from: &[Self]) -> Self::Register;
    /// Overwrites the first [`LANES`](Self::LANES) elements.
    fn store(register: Self::Register, to: &mut [Self]);
    /// `acc + a * b` in every lane, rounded once.
    fn fmla(acc: Self::Register, a: Self::Register, b: Self::Register) -> Self::Register;
}

macro_rules! vector {
    ($t:ident, $register:ident, $lanes:literal, $dup:ident, $ld1:ident, $st1:ident, $fma:ident) => {
        impl NeonVector for $t {
            type Register = $register;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self) -> $register {
                // SAFETY: Advanced SIMD is part of the target.
                unsafe { $dup(self) }
            }

            #[inline(always)]
            fn load(from: &[$t]) -> $register {
                let from = &from[..$lanes];
                // SAFETY: `from` has as many elements as the register.
                unsafe { $ld1(from.as_ptr()) }
            }

            #[inline(always)]
            fn store(register: $register, to: &mut [$t]) {
                let to = &mut to[..$lanes];
                // SAFETY: `to` has as many elements as the register.
                unsafe { $st1(to.as_mut_ptr(), register) }
            }

            #[inline(always)]
            fn fmla(acc: $register, a: $register, b: $register) -> $register {
                // SAFETY: Advanced SIMD is part of the target.
                unsafe { $fma(acc, a, b) }
            }
        }
    };
}
vector!(f32, float32x4_t, 4, vdupq_n_f32, vld1q_f32, vst1q_f32, vfmaq_f32);
vector!(f64, float64x2_t, 2, vdupq_n_f64, vld1q_f64, vst1q_f64, vfmaq_f64);

/// `acc = sum of values[t] * B[cols[t], ..]`, in the order given. `acc` is as long as a padded row of B.
pub(crate) fn row<I: Operand<A>, A: NeonVector>(cols: &[u32], values: &[I], b: &Panel<'_, A>, acc: &mut [A]) {
    let mut at = 0;
    while at < acc.len() {
        at += match (acc.len() - at) / A::LANES {
            8.. => part_of_row::<8, _, _>(cols, values, b, at, acc),
            4.. => part_of_row::<4, _, _>(cols, values, b, at, acc),
            2.. => part_of_row::<2, _, _>(cols, values, b, at, acc),
            _ => part_of_row::<1, _, _>(cols, values, b, at, acc),
        };
    }
}

/// W registers from column `at` on; returns how many columns that is.
fn part_of_row<const W: usize, I: Operand<A>, A: NeonVector>(
    cols: &[u32],
    values: &[I],
    b: &Panel<'_, A>,
    at: usize,
    acc: &mut [A],
) -> usize {
    let mut sums = [A::splat(A::ZERO); W];
    for (&k, value) in cols.iter().zip(values) {
        let a = value.load().splat();
        let row = b.piece(k as usize, at, W * A::LANES);
        for (w, sum) in sums.iter_mut().enumerate() {
            *sum = A::fmla(*sum, a, A::load(&row[w * A::LANES..]));
        }
    }
    for (w, &sum) in sums.iter().enumerate() {
        A::store(sum, &mut acc[at + w * A::LANES..]);
    }
    W * A::LANES
}

/// The tiles of one block: `br` values each, in `values`, at the columns `cols`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a, I> {
    /// Column of each tile.
    pub(crate) cols: &'a [u32],
    /// `br` values per tile, pads included.
    pub(crate) values: &'a [I],
    /// Rows of a tile.
    pub(crate) br: usize,
}

/// `acc[r] = sum of tile[r] * B[col, ..]` for the rows in `acc`, each as long as a padded row of B.
pub(crate) fn tiles<I: Operand<A>, A: NeonVector>(block: Block<'_, I>, b: &Panel<'_, A>, acc: &mut [A]) {
    let width = b.padded;
    let height = acc.len() / width;
    let mut first = 0;
    while first < height {
        let rows = if height - first >= 4 { 4 } else { 1 };
        let acc = &mut acc[first * width..(first + rows) * width];
        let mut at = 0;
        while at < width {
            at += match (rows, (width - at) / A::LANES) {
                (4, 4..) => outer::<4, 4, _, _>(block, first, b, at, acc),
                (4, 2..) => outer::<4, 2, _, _>(block, first, b, at, acc),
                (4, _) => outer::<4, 1, _, _>(block, first, b, at, acc),
                (_, 4..) => outer::<1, 4, _, _>(block, first, b, at, acc),
                (_, 2..) => outer::<1, 2, _, _>(block, first, b, at, acc),
                _ => outer::<1, 1, _, _>(block, first, b, at, acc),
            };
        }
        first += rows;
    }
}

/// R rows from `first` on and W registers from column `at` on; returns how many columns that is.
fn outer<const R: usize, const W: usize, I: Operand<A>, A: NeonVector>(
    block: Block<'_, I>,
    first: usize,
    b: &Panel<'_, A>,
    at: usize,
    acc: &mut [A],
) -> usize {
    let mut sums = [[A::splat(A::ZERO); W]; R];
    for (&col, tile) in block.cols.iter().zip(block.values.chunks_exact(block.br)) {
        let row = b.piece(col as usize, at, W * A::LANES);
        let right: [A::Register; W] = std::array::from_fn(|w| A::load(&row[w * A::LANES..]));
        let rows: Range<usize> = first..first + R;
        for (sums, value) in sums.iter_mut().zip(&tile[rows]) {
            let a = value.load().splat();
            for (sum, &right) in sums.iter_mut().zip(&right) {
                *sum = A::fmla(*sum, a, right);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        for (w, &sum) in sums.iter().enumerate() {
            A::store(sum, &mut acc[r * b.padded + at + w * A::LANES..]);
        }
    }
    W * A::LANES
}
