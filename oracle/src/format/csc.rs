//! CSC (being written).
use std::ops::Deref;

/// The arrays, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CscParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// cols + 1 offsets.
    pub col_ptr: Vec<u32>,
    /// Row of each element.
    pub row_idx: Vec<u32>,
    /// Values.
    pub values: Vec<T>,
}

/// A valid matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Csc<T>(CscParts<T>);

impl<T> Deref for Csc<T> {
    type Target = CscParts<T>;

    fn deref(&self) -> &CscParts<T> {
        &self.0
    }
}

impl<T> Csc<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: CscParts<T>) -> Result<Self, crate::Refusal> {
        Ok(Csc(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> CscParts<T> {
        self.0
    }
}
