//! Vector-wise N:M (seeds/004): of each `m` row vectors of length `l`, `n` are kept.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a Nm matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NmParts<T> {
    /// Number of rows (k of the paper).
    pub rows: usize,
    /// Number of columns (n of the paper).
    pub cols: usize,
    /// Vectors kept in a window.
    pub n: usize,
    /// Rows of a window.
    pub m: usize,
    /// Columns of a window.
    pub l: usize,
    /// D: `w * ceil(cols / l)` row offsets inside the window, row-major, `w = ceil(rows / m) * n`.
    pub index: Vec<u32>,
    /// B': `w * ceil(cols / l) * l` values, row-major.
    pub values: Vec<T>,
}

fields!(NmParts {
    rows: Extent,
    cols: Extent,
    n: Extent,
    m: Extent,
    l: Extent,
    index: U32,
    values: Values
});

/// A valid Nm matrix. Reads as its [`NmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Nm<T>(NmParts<T>);

impl<T: Scalar> Nm<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: NmParts<T>) -> Result<Self, Refusal> {
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

impl<T> Nm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> NmParts<T> {
        self.0
    }
}

impl<T> Deref for Nm<T> {
    type Target = NmParts<T>;

    fn deref(&self) -> &NmParts<T> {
        &self.0
    }
}
