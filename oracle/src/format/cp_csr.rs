//! CP-CSR (seeds/003), the mirror image of RP-CSC: columns in groups, each group by rows.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a CpCsr matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpCsrParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of column groups, at most 64.
    pub groups: usize,
    /// Rows that are non-empty in any group, ascending.
    pub row_idx: Vec<u32>,
    /// One per such row; bit g says that group g stores it.
    pub group_bitmap: Vec<u64>,
    /// `groups + 1` offsets into `row_len`.
    pub group_row_ptr: Vec<u32>,
    /// Entries of each stored row of each group.
    pub row_len: Vec<u8>,
    /// `groups + 1` offsets into `col_idx` and `values`.
    pub group_value_ptr: Vec<u32>,
    /// Column inside the group.
    pub col_idx: Vec<u16>,
    /// One per column index.
    pub values: Vec<T>,
}

fields!(CpCsrParts {
    rows: Extent,
    cols: Extent,
    groups: Extent,
    row_idx: U32,
    group_bitmap: U64,
    group_row_ptr: U32,
    row_len: U8,
    group_value_ptr: U32,
    col_idx: U16,
    values: Values
});

/// A valid CpCsr matrix. Reads as its [`CpCsrParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct CpCsr<T>(CpCsrParts<T>);

impl<T: Scalar> CpCsr<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: CpCsrParts<T>) -> Result<Self, Refusal> {
        let _ = &parts;
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; parameters out of range.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        let _ = (entries, params);
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Decodes.
    pub fn entries(&self) -> Entries<T> {
        Entries {
            rows: self.0.rows,
            cols: self.0.cols,
            list: Vec::new(),
        }
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        0
    }

    /// The parameters that the matrix was encoded with.
    pub fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}

impl<T> CpCsr<T> {
    /// The arrays back.
    pub fn into_parts(self) -> CpCsrParts<T> {
        self.0
    }
}

impl<T> Deref for CpCsr<T> {
    type Target = CpCsrParts<T>;

    fn deref(&self) -> &CpCsrParts<T> {
        &self.0
    }
}
