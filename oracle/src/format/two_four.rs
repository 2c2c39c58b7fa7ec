//! 2:4 (1:2 for tf32) hardware sparsity: half the columns and the metadata words of `mma.sp`.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a TwoFour matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwoFourParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Metadata words, in the order of the instruction's lanes.
    pub metadata: Vec<u32>,
    /// Kept values.
    pub values: Vec<T>,
}

fields!(TwoFourParts {
    rows: Extent,
    cols: Extent,
    metadata: U32,
    values: Values
});

/// A valid TwoFour matrix. Reads as its [`TwoFourParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct TwoFour<T>(TwoFourParts<T>);

impl<T: Scalar> TwoFour<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: TwoFourParts<T>) -> Result<Self, Refusal> {
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

impl<T> TwoFour<T> {
    /// The arrays back.
    pub fn into_parts(self) -> TwoFourParts<T> {
        self.0
    }
}

impl<T> Deref for TwoFour<T> {
    type Target = TwoFourParts<T>;

    fn deref(&self) -> &TwoFourParts<T> {
        &self.0
    }
}
