//! CSR: compressed sparse rows.
//!
//! ```text
//! . a . b      row_ptr 0 2 2 3      (rows + 1 offsets into the next two)
//! . . . .      col_idx 1 3 0
//! c . . .      values  a b c
//! ```
//!
//! Canonical: columns strictly ascending inside a row, no duplicates; explicit zeros are kept.

use super::check::{check_ascending, check_length, check_offsets, check_shape};
use crate::refusal::{Refusal, check_u32};
use std::ops::Deref;

/// The arrays of a CSR matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsrParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows + 1` offsets: row `i` owns elements `row_ptr[i]..row_ptr[i + 1]`.
    pub row_ptr: Vec<u32>,
    /// Column of each stored element.
    pub col_idx: Vec<u32>,
    /// Value of each stored element.
    pub values: Vec<T>,
}

super::fields::fields!(CsrParts { rows: Extent, cols: Extent, row_ptr: U32, col_idx: U32, values: Values });

/// A valid canonical CSR matrix. Reads as its [`CsrParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T>(CsrParts<T>);

impl<T> Csr<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found: a dimension past u32, an array length, a decreasing offset, a column out of range,
    /// columns that are not strictly ascending inside a row.
    pub fn try_new(parts: CsrParts<T>) -> Result<Self, Refusal> {
        let CsrParts { rows, cols, row_ptr, col_idx, values } = &parts;
        check_shape(*rows, *cols)?;
        check_u32("nnz", values.len() as u128)?;
        check_offsets("row_ptr", row_ptr, *rows, values.len())?;
        check_length("col_idx", values.len() as u128, col_idx.len())?;
        for row in 0..*rows {
            let (start, end) = (row_ptr[row] as usize, row_ptr[row + 1] as usize);
            check_ascending("col_idx", row, start, &col_idx[start..end], *cols)?;
        }
        Ok(Csr(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> CsrParts<T> {
        self.0
    }

    /// Number of stored elements, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.0.row_ptr[i] as usize..self.0.row_ptr[i + 1] as usize;
        (&self.0.col_idx[range.clone()], &self.0.values[range])
    }

    /// The same pattern with other values.
    pub fn map<U>(&self, f: impl FnMut(&T) -> U) -> Csr<U> {
        Csr(CsrParts {
            rows: self.0.rows,
            cols: self.0.cols,
            row_ptr: self.0.row_ptr.clone(),
            col_idx: self.0.col_idx.clone(),
            values: self.0.values.iter().map(f).collect(),
        })
    }
}

/// The matrix without rows and columns.
impl<T> Default for Csr<T> {
    fn default() -> Self {
        Csr(CsrParts { rows: 0, cols: 0, row_ptr: vec![0], col_idx: Vec::new(), values: Vec::new() })
    }
}

impl<T> Deref for Csr<T> {
    type Target = CsrParts<T>;

    fn deref(&self) -> &CsrParts<T> {
        &self.0
    }
}
