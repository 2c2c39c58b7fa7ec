//! RP-CSC (seeds/003): rows in groups, each group by columns with local row indices.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a RpCsc matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RpCscParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of row groups, at most 64.
    pub groups: usize,
    /// Columns that are non-empty in any group, ascending.
    pub col_idx: Vec<u32>,
    /// One per such column; bit g says that group g stores it.
    pub group_bitmap: Vec<u64>,
    /// `groups + 1` offsets into `col_len`.
    pub group_col_ptr: Vec<u32>,
    /// Entries of each stored column of each group.
    pub col_len: Vec<u8>,
    /// `groups + 1` offsets into `row_idx` and `values`.
    pub group_value_ptr: Vec<u32>,
    /// Row inside the group.
    pub row_idx: Vec<u16>,
    /// One per row index.
    pub values: Vec<T>,
}

fields!(RpCscParts {
    rows: Extent,
    cols: Extent,
    groups: Extent,
    col_idx: U32,
    group_bitmap: U64,
    group_col_ptr: U32,
    col_len: U8,
    group_value_ptr: U32,
    row_idx: U16,
    values: Values
});

/// A valid RpCsc matrix. Reads as its [`RpCscParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct RpCsc<T>(RpCscParts<T>);

impl<T: Scalar> RpCsc<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: RpCscParts<T>) -> Result<Self, Refusal> {
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

impl<T> RpCsc<T> {
    /// The arrays back.
    pub fn into_parts(self) -> RpCscParts<T> {
        self.0
    }
}

impl<T> Deref for RpCsc<T> {
    type Target = RpCscParts<T>;

    fn deref(&self) -> &RpCscParts<T> {
        &self.0
    }
}
