//! CSC: compressed sparse columns.
//!
//! ```text
//! . a . b      col_ptr 0 1 2 2 3    (cols + 1 offsets into the next two)
//! . . . .      row_idx 2 0 0
//! c . . .      values  c a b
//! ```
//!
//! Canonical: rows strictly ascending inside a column, no duplicates; explicit zeros are kept.

use super::check::{check_ascending, check_length, check_offsets, check_shape};
use crate::refusal::{EncodingError, Refusal, check_u32};
use std::ops::Deref;

/// The arrays of a CSC matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CscParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `cols + 1` offsets: column `j` owns elements `col_ptr[j]..col_ptr[j + 1]`.
    pub col_ptr: Vec<u32>,
    /// Row of each stored element.
    pub row_idx: Vec<u32>,
    /// Value of each stored element.
    pub values: Vec<T>,
}

super::fields::fields!(CscParts { rows: Extent, cols: Extent, col_ptr: U32, row_idx: U32, values: Values });

/// A valid canonical CSC matrix. Reads as its [`CscParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Csc<T>(CscParts<T>);

impl<T> Csc<T> {
    /// Checks the arrays. In refusals the major index ("row" of the variant's field) is the column.
    ///
    /// # Errors
    /// The first defect found: a dimension past u32, an array length, a decreasing offset, a row out of range,
    /// rows that are not strictly ascending inside a column.
    pub fn try_new(parts: CscParts<T>) -> Result<Self, Refusal> {
        let CscParts { rows, cols, col_ptr, row_idx, values } = &parts;
        check_shape(*rows, *cols)?;
        check_u32("nnz", values.len() as u128)?;
        check_offsets("col_ptr", col_ptr, *cols, values.len())?;
        check_length("row_idx", values.len() as u128, row_idx.len())?;
        for col in 0..*cols {
            let (start, end) = (col_ptr[col] as usize, col_ptr[col + 1] as usize);
            check_ascending("row_idx", col, start, &row_idx[start..end], *rows).map_err(in_row_terms)?;
        }
        Ok(Csc(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> CscParts<T> {
        self.0
    }

    /// Number of stored elements, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }

    /// Rows and values of column `j`.
    pub fn col(&self, j: usize) -> (&[u32], &[T]) {
        let range = self.0.col_ptr[j] as usize..self.0.col_ptr[j + 1] as usize;
        (&self.0.row_idx[range.clone()], &self.0.values[range])
    }

    /// The same pattern with other values.
    pub fn map<U>(&self, f: impl FnMut(&T) -> U) -> Csc<U> {
        Csc(CscParts {
            rows: self.0.rows,
            cols: self.0.cols,
            col_ptr: self.0.col_ptr.clone(),
            row_idx: self.0.row_idx.clone(),
            values: self.0.values.iter().map(f).collect(),
        })
    }
}

/// A lane of CSC is a column: a repeated position is (index, lane), not (lane, index).
fn in_row_terms(error: EncodingError) -> EncodingError {
    match error {
        EncodingError::Duplicate { field, at, row: column, column: row } => {
            EncodingError::Duplicate { field, at, row, column }
        }
        other => other,
    }
}

impl<T> Deref for Csc<T> {
    type Target = CscParts<T>;

    fn deref(&self) -> &CscParts<T> {
        &self.0
    }
}
