//! V:N:M: of each `v` x `m` block four columns are kept, of which each row keeps `n`.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a Vnm matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VnmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a block.
    pub v: usize,
    /// Values kept per row of a block.
    pub n: usize,
    /// Columns of a block.
    pub m: usize,
    /// Four selected columns per block, as offsets inside the block.
    pub column: Vec<u32>,
    /// Which of the four each kept value stands in.
    pub index: Vec<u8>,
    /// Kept values.
    pub values: Vec<T>,
}

fields!(VnmParts {
    rows: Extent,
    cols: Extent,
    v: Extent,
    n: Extent,
    m: Extent,
    column: U32,
    index: U8,
    values: Values
});

/// A valid Vnm matrix. Reads as its [`VnmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Vnm<T>(VnmParts<T>);

impl<T: Scalar> Vnm<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: VnmParts<T>) -> Result<Self, Refusal> {
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

impl<T> Vnm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> VnmParts<T> {
        self.0
    }
}

impl<T> Deref for Vnm<T> {
    type Target = VnmParts<T>;

    fn deref(&self) -> &VnmParts<T> {
        &self.0
    }
}
