//! Formats of slots: ELL, BCSR, Blocked-ELL, SR-BCRS. A row is a stride through its slots.
//!
//! BCSR and Blocked-ELL give every slot inside the matrix, pads too, without looking at them; ELL and SR-BCRS skip pads.

use super::by_row::{ByRow, Out, Rowwise};
use super::{RowSource, opened};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::x86::lanes::Boxed;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Bcsr, BlockedEll, Ell, FormatKind, PAD, Sparse, SrBcrs};

/// Marks kernels for ELL.
#[derive(Debug)]
pub(in crate::x86) struct EllRows;

/// Marks kernels for BCSR.
#[derive(Debug)]
pub(in crate::x86) struct BcsrRows;

/// Marks kernels for Blocked-ELL.
#[derive(Debug)]
pub(in crate::x86) struct BlockedEllRows;

/// Marks kernels for SR-BCRS.
#[derive(Debug)]
pub(in crate::x86) struct SrBcrsRows;

/// The format of one variant of [`Sparse`], read row by row.
macro_rules! source {
    ($marker:ident, $variant:ident, $pads:expr) => {
        impl RowSource for $marker {
            const KIND: FormatKind = FormatKind::$variant;
            const PADS: Pads = $pads;

            fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
                let Sparse::$variant(m) = matrix else {
                    return Err(wrong_format("A", Self::KIND, matrix.kind()));
                };
                opened(Rowwise::try_new(m)?, m.cols, transpose)
            }
        }
    };
}
source!(EllRows, Ell, Pads::Skipped);
source!(BcsrRows, Bcsr, Pads::Multiplied);
source!(BlockedEllRows, BlockedEll, Pads::Multiplied);
source!(SrBcrsRows, SrBcrs, Pads::Skipped);

impl<T: Stored> ByRow<T> for &Ell<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        row * self.width
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let slots = row * self.width..(row + 1) * self.width;
        for (&col, &value) in self.col_idx[slots.clone()].iter().zip(&self.values[slots]) {
            if col == PAD {
                break;
            }
            out.push(col, value);
        }
    }
}

/// Appends one row of a block whose first column is `first`, without what lies past the last column.
#[inline]
fn push_block<T: Copy>(first: usize, cols: usize, slots: &[T], out: &mut Out<'_, T>) {
    let inside = slots.len().min(cols - first);
    out.cols.extend((first..first + inside).map(|col| col as u32));
    out.values.extend_from_slice(&slots[..inside]);
}

impl<T: Stored> ByRow<T> for &Bcsr<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        let (block_row, r) = (row / self.block_rows, row % self.block_rows);
        let start = self.block_row_ptr[block_row] as usize;
        let end = self.block_row_ptr.get(block_row + 1).map_or(start, |&end| end as usize);
        (start * self.block_rows + (end - start) * r) * self.block_cols
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let (block_row, r) = (row / self.block_rows, row % self.block_rows);
        let area = self.block_rows * self.block_cols;
        for block in self.block_row_ptr[block_row] as usize..self.block_row_ptr[block_row + 1] as usize {
            let slots = &self.values[block * area + r * self.block_cols..][..self.block_cols];
            let first = self.block_col[block] as usize * self.block_cols;
            push_block(first, self.cols, slots, &mut out);
        }
    }
}

impl<T: Stored> ByRow<T> for &BlockedEll<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        row * self.width * self.block_cols
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let (block_row, r) = (row / self.block_rows, row % self.block_rows);
        let area = self.block_rows * self.block_cols;
        for slot in block_row * self.width..(block_row + 1) * self.width {
            let col = self.block_col[slot];
            if col == PAD {
                break;
            }
            let slots = &self.values[slot * area + r * self.block_cols..][..self.block_cols];
            push_block(col as usize * self.block_cols, self.cols, slots, &mut out);
        }
    }
}

impl<T: Stored> ByRow<T> for &SrBcrs<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        let (window, r) = (row / self.v, row % self.v);
        let start = self.window_ptr[window] as usize;
        let end = self.window_ptr.get(window + 1).map_or(start, |&end| end as usize);
        start * self.v + (end - start) * r
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let (window, r) = (row / self.v, row % self.v);
        let vectors = self.window_ptr[window] as usize..self.window_ptr[window + 1] as usize;
        for group in vectors.step_by(self.stride) {
            let lane = &self.values[group * self.v + r * self.stride..][..self.stride];
            for (&col, &value) in self.vector_col[group..group + self.stride].iter().zip(lane) {
                // A pad of either kind: no column, or a slot without an entry.
                if !value.is_positive_zero() {
                    out.push(col, value);
                }
            }
        }
    }
}
