//! SR-BCRS: `v` x 1 vectors, each window padded to a multiple of `stride` vectors.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a SrBcrs matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SrBcrsParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a vector.
    pub v: usize,
    /// Vectors per group.
    pub stride: usize,
    /// `ceil(rows / v) + 1` offsets, in vectors, pads included.
    pub window_ptr: Vec<u32>,
    /// Column of each vector, [`PAD`](super::PAD) for padding vectors.
    pub vector_col: Vec<u32>,
    /// `v * stride` values per group, row-major inside it.
    pub values: Vec<T>,
}

fields!(SrBcrsParts {
    rows: Extent,
    cols: Extent,
    v: Extent,
    stride: Extent,
    window_ptr: U32,
    vector_col: U32,
    values: Values
});

/// A valid SrBcrs matrix. Reads as its [`SrBcrsParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct SrBcrs<T>(SrBcrsParts<T>);

impl<T: Scalar> SrBcrs<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: SrBcrsParts<T>) -> Result<Self, Refusal> {
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

impl<T> SrBcrs<T> {
    /// The arrays back.
    pub fn into_parts(self) -> SrBcrsParts<T> {
        self.0
    }
}

impl<T> Deref for SrBcrs<T> {
    type Target = SrBcrsParts<T>;

    fn deref(&self) -> &SrBcrsParts<T> {
        &self.0
    }
}
