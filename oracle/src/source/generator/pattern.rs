//! A pattern under construction, row by row, and the fingerprint of a finished one.

use super::spec::Shape;
use crate::format::{Csr, CsrParts};
use crate::refusal::Refusal;
use crate::source::random::fnv1a;

/// Rows appended so far. Columns of a row are pushed in ascending order, then the row is ended.
#[derive(Debug)]
pub struct Pattern {
    rows: usize,
    cols: usize,
    row_ptr: Vec<u32>,
    col_idx: Vec<u32>,
}

impl Pattern {
    /// An empty pattern with room for what `shape` promises, which the caller has checked against its limit.
    #[must_use]
    pub fn new(shape: Shape) -> Pattern {
        let (rows, cols) = (shape.rows as usize, shape.cols as usize);
        let mut row_ptr = Vec::with_capacity(rows + 1);
        row_ptr.push(0);
        let col_idx = Vec::with_capacity(shape.nnz_at_most as usize);
        Pattern { rows, cols, row_ptr, col_idx }
    }

    /// Number of rows the finished pattern has.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> u64 {
        self.cols as u64
    }

    /// Stores column `col` in the current row.
    pub fn push(&mut self, col: u64) {
        self.col_idx.push(col as u32);
    }

    /// Stores several columns in the current row.
    pub fn extend(&mut self, cols: impl IntoIterator<Item = u64>) {
        self.col_idx.extend(cols.into_iter().map(|col| col as u32));
    }

    /// The columns stored so far, for a generator that appends a row in place.
    pub fn columns(&mut self) -> &mut Vec<u32> {
        &mut self.col_idx
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.row_ptr.push(self.col_idx.len() as u32);
    }

    /// Stores all rows at once from ascending cell numbers `row * cols + col`.
    pub fn cells(&mut self, cells: &[u64]) {
        let mut rest = cells.iter().copied().peekable();
        for row in 0..self.rows() {
            let (start, cols) = (row * self.cols(), self.cols());
            while let Some(cell) = rest.next_if(|&cell| cell - start < cols) {
                self.push(cell - start);
            }
            self.end_row();
        }
    }

    /// Checks the result.
    ///
    /// # Errors
    /// Whatever [`Csr::try_new`] finds, should a generator break its own rules.
    pub fn finish(self) -> Result<Csr<()>, Refusal> {
        let values = vec![(); self.col_idx.len()];
        Csr::try_new(CsrParts {
            rows: self.rows,
            cols: self.cols,
            row_ptr: self.row_ptr,
            col_idx: self.col_idx,
            values,
        })
    }
}

/// A 64-bit fingerprint of a pattern: FNV-1a over rows, columns, row pointers and column indices, little-endian.
#[must_use]
pub fn fingerprint<T>(pattern: &Csr<T>) -> u64 {
    let shape = [pattern.rows as u32, pattern.cols as u32];
    let words = shape.iter().chain(&pattern.row_ptr).chain(&pattern.col_idx);
    fnv1a(words.flat_map(|word| word.to_le_bytes()))
}
