//! Structured sparsity: vector-wise N:M, 2:4 and V:N:M. A row finds its slots by the stored indices; a slot that is +0.0 bit
//! for bit is no entry and is skipped.

use super::by_row::{ByRow, Out, Rowwise};
use super::{RowSource, opened};
use crate::portable::convert::two_four::{ROWS, TwoFourCut};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::x86::lanes::Boxed;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, Nm, Sparse, TwoFour, Vnm};

/// Marks kernels for vector-wise N:M.
#[derive(Debug)]
pub(in crate::x86) struct NmRows;

/// Marks kernels for 2:4.
#[derive(Debug)]
pub(in crate::x86) struct TwoFourRows;

/// Marks kernels for V:N:M.
#[derive(Debug)]
pub(in crate::x86) struct VnmRows;

/// Columns that a block of V:N:M selects.
const SELECTED: usize = 4;

impl RowSource for NmRows {
    const KIND: FormatKind = FormatKind::Nm;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Nm(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for &Nm<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        row * self.n / self.m * self.cols
    }

    /// A window names at most one vector of a row in each group of columns.
    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let (window, r) = (row / self.m, (row % self.m) as u32);
        let groups = self.cols.div_ceil(self.l);
        for group in 0..groups {
            let kept = (window * self.n..(window + 1) * self.n).map(|u| u * groups + group);
            let Some(vector) = { kept }.find(|&at| self.index[at] == r) else {
                continue;
            };
            for (&value, col) in self.values[vector * self.l..][..self.l].iter().zip(group * self.l..) {
                if !value.is_positive_zero() {
                    out.push(col as u32, value);
                }
            }
        }
    }
}

/// 2:4 and how its instruction cuts a row.
#[derive(Debug)]
struct Chunked<'a, T> {
    matrix: &'a TwoFour<T>,
    cut: TwoFourCut,
}

impl RowSource for TwoFourRows {
    const KIND: FormatKind = FormatKind::TwoFour;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::TwoFour(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        let cut = TwoFourCut::new::<T>(m.cols, m.short_k)?;
        opened(Rowwise::try_new(Chunked { matrix: m, cut })?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for Chunked<'_, T> {
    fn rows(&self) -> usize {
        self.matrix.rows
    }

    fn before(&self, row: usize) -> usize {
        row * self.cut.stride()
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let (cut, stride, kept) = (self.cut, self.cut.stride(), self.cut.chunk / 2);
        let words = &self.matrix.metadata[row / ROWS * cut.words()..];
        let slots = &self.matrix.values[row * stride..(row + 1) * stride];
        for (chunk, slots) in slots.chunks_exact(kept).enumerate() {
            let (word, shift) = cut.nibble(row % ROWS, chunk);
            let nibble = words[word] >> shift & 15;
            for (j, &value) in slots.iter().enumerate() {
                // One index of a pair of columns, or two of four columns.
                let offset = if kept == 1 { nibble >> 3 } else { nibble >> (2 * j) & 3 };
                if !value.is_positive_zero() {
                    out.push((chunk * cut.chunk) as u32 + offset, value);
                }
            }
        }
    }
}

impl RowSource for VnmRows {
    const KIND: FormatKind = FormatKind::Vnm;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Vnm(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for &Vnm<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        row * self.cols.div_ceil(self.m) * self.n
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let across = self.cols.div_ceil(self.m);
        let stride = across * self.n;
        let slots = &self.values[row * stride..(row + 1) * stride];
        for (block, slots) in slots.chunks_exact(self.n).enumerate() {
            let selected = &self.column[(row / self.v * across + block) * SELECTED..][..SELECTED];
            let index = self.index[row * across + block];
            for (j, &value) in slots.iter().enumerate() {
                let offset = selected[usize::from(index >> (2 * j) & 3)];
                if !value.is_positive_zero() {
                    out.push((block * self.m) as u32 + offset, value);
                }
            }
        }
    }
}
