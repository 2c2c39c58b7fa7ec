//! COO: a list of (row, column, value), in any order, duplicates allowed.
//!
//! ```text
//! . a . b      rows_idx 2 0 0 0     (one triple per stored entry; (0, 1) occurs twice here
//! . . . .      cols_idx 0 1 3 1      and stands for a' + a'', summed exactly and rounded once)
//! c . . .      values   c a' b a''
//! ```
//!
//! What the repeated positions mean is decided on decoding, in [`Duplicates`](super::Duplicates).

use super::check::{check_length, check_shape};
use crate::refusal::{EncodingError, Refusal, check_u32};
use std::ops::Deref;

/// The arrays of a COO matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CooParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Row of each triple.
    pub row_idx: Vec<u32>,
    /// Column of each triple.
    pub col_idx: Vec<u32>,
    /// Value of each triple.
    pub values: Vec<T>,
}

super::fields::fields!(CooParts { rows: Extent, cols: Extent, row_idx: U32, col_idx: U32, values: Values });

/// A valid COO matrix: equal lengths, indices in range. Order is free and duplicates are legal.
#[derive(Clone, Debug, PartialEq)]
pub struct Coo<T>(CooParts<T>);

impl<T> Coo<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found: a dimension or count past u32, unequal lengths, an index out of range.
    pub fn try_new(parts: CooParts<T>) -> Result<Self, Refusal> {
        let CooParts { rows, cols, row_idx, col_idx, values } = &parts;
        check_shape(*rows, *cols)?;
        check_u32("nnz", values.len() as u128)?;
        for (field, index, limit) in [("row_idx", row_idx, *rows), ("col_idx", col_idx, *cols)] {
            check_length(field, values.len() as u128, index.len())?;
            if let Some(at) = index.iter().position(|&i| i as usize >= limit) {
                let (row, found) = (row_idx[at] as usize, u64::from(index[at]));
                return Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
                    field,
                    at,
                    row,
                    found,
                    limit: limit as u64,
                }));
            }
        }
        Ok(Coo(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> CooParts<T> {
        self.0
    }

    /// Number of triples, duplicates and explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }

    /// The same triples with other values.
    pub fn map<U>(&self, f: impl FnMut(&T) -> U) -> Coo<U> {
        Coo(CooParts {
            rows: self.0.rows,
            cols: self.0.cols,
            row_idx: self.0.row_idx.clone(),
            col_idx: self.0.col_idx.clone(),
            values: self.0.values.iter().map(f).collect(),
        })
    }
}

impl<T> Deref for Coo<T> {
    type Target = CooParts<T>;

    fn deref(&self) -> &CooParts<T> {
        &self.0
    }
}
