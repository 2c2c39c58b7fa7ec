//! ELL (being written).
use std::ops::Deref;

/// The arrays, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EllParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Slots per row.
    pub width: usize,
    /// Column of each slot, row-major, PAD for none.
    pub col_idx: Vec<u32>,
    /// Values.
    pub values: Vec<T>,
}

/// A valid matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Ell<T>(EllParts<T>);

impl<T> Deref for Ell<T> {
    type Target = EllParts<T>;

    fn deref(&self) -> &EllParts<T> {
        &self.0
    }
}

impl<T> Ell<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: EllParts<T>) -> Result<Self, crate::Refusal> {
        Ok(Ell(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> EllParts<T> {
        self.0
    }
}
