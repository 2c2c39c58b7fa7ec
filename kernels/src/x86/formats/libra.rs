//! Libra: windows of 8 rows, bitmap blocks of 4, 8 or 16 columns for the dense vectors, CSR for the rest.
//!
//! ```text
//! row r of a block of kb columns: bits kb * r .. kb * (r + 1), values from popcnt(bits below) on
//! ```
//!
//! A row's entries may be in both parts. Its sum is one chain in ascending column, so the parts are merged: by the columns
//! of both where the blocks ascend (SpMM), by a sort where they do not (SDDMM).

use super::by_row::{ByRow, Out, Rowwise};
use super::{RowSource, opened};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::x86::lanes::Boxed;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, LibraSddmm, LibraSpmm, Sparse};

/// Marks kernels for Libra's SpMM format.
#[derive(Debug)]
pub(in crate::x86) struct LibraSpmmRows;

/// Marks kernels for Libra's SDDMM format.
#[derive(Debug)]
pub(in crate::x86) struct LibraSddmmRows;

/// Rows of a window.
const WINDOW: usize = 8;

/// Columns of a block of the SDDMM format.
const SDDMM_COLS: usize = 16;

/// The bits of one row of a block, and how many bits of the block come before them.
#[inline(always)]
fn row_of(words: &[u64], kb: usize, r: usize) -> (u64, usize) {
    let (word, shift) = (kb * r / 64, kb * r % 64);
    let before: u32 = words[..word].iter().map(|word| word.count_ones()).sum();
    let below = (words[word] & ((1u64 << shift) - 1)).count_ones();
    (words[word] >> shift & ((1u64 << kb) - 1), (before + below) as usize)
}

/// Visits row `r` of the blocks of a window as (column, value), in their order.
#[inline(always)]
fn each_of_row<T: Copy>(
    (ends, bitmap, block_ptr): (&[u32], &[u64], &[u32]),
    (columns, values): (&[u32], &[T]),
    (kb, r): (usize, usize),
    mut visit: impl FnMut(u32, T),
) {
    let words = kb * WINDOW / 64 + usize::from(kb * WINDOW < 64);
    for block in ends[0] as usize..ends[1] as usize {
        let (mut row, before) = row_of(&bitmap[block * words..][..words], kb, r);
        let values = &values[block_ptr[block] as usize + before..][..row.count_ones() as usize];
        let columns = &columns[block * kb..][..kb];
        for &value in values {
            visit(columns[row.trailing_zeros() as usize], value);
            row &= row - 1;
        }
    }
}

/// Entries before a row: those of the rest exactly, those of the blocks spread evenly over the rows of their window.
fn before(ends: &[u32], block_ptr: &[u32], row_ptr: &[u32], row: usize) -> usize {
    let (window, r) = (row / WINDOW, row % WINDOW);
    let start = block_ptr[ends[window] as usize] as usize;
    let end = ends.get(window + 1).map_or(start, |&end| block_ptr[end as usize] as usize);
    start + (end - start) * r / WINDOW + row_ptr[row] as usize
}

impl RowSource for LibraSpmmRows {
    const KIND: FormatKind = FormatKind::LibraSpmm;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::LibraSpmm(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for &LibraSpmm<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        before(&self.window_block_ptr, &self.block_value_ptr, &self.row_ptr, row)
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let rest = self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize;
        let mut next = rest.start;
        each_of_row(
            (&self.window_block_ptr[row / WINDOW..][..2], &self.bitmap, &self.block_value_ptr),
            (&self.block_col, &self.values),
            (self.kb, row % WINDOW),
            |col, value| {
                while next < rest.end && self.col_idx[next] < col {
                    out.push(self.col_idx[next], self.rest_values[next]);
                    next += 1;
                }
                out.push(col, value);
            },
        );
        out.cols.extend_from_slice(&self.col_idx[next..rest.end]);
        out.values.extend_from_slice(&self.rest_values[next..rest.end]);
    }
}

impl RowSource for LibraSddmmRows {
    const KIND: FormatKind = FormatKind::LibraSddmm;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::LibraSddmm(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for &LibraSddmm<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        before(&self.window_block_ptr, &self.block_value_ptr, &self.row_ptr, row)
    }

    #[inline]
    fn row(&self, row: usize, out: Out<'_, T>) {
        let rest = self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize;
        let mut entries: Vec<(u32, T)> = Vec::with_capacity(rest.len());
        each_of_row(
            (&self.window_block_ptr[row / WINDOW..][..2], &self.bitmap, &self.block_value_ptr),
            (&self.block_col, &self.values),
            (SDDMM_COLS, row % WINDOW),
            |col, value| entries.push((col, value)),
        );
        let of_rest = self.col_idx[rest.clone()].iter().zip(&self.rest_values[rest]);
        entries.extend(of_rest.map(|(&col, &value)| (col, value)));
        entries.sort_unstable_by_key(|entry| entry.0);
        out.cols.extend(entries.iter().map(|entry| entry.0));
        out.values.extend(entries.iter().map(|entry| entry.1));
    }
}
