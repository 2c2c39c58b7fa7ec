//! BCSR (being written).
use std::ops::Deref;

/// The arrays, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BcsrParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a block.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
    /// Offsets of block rows, in blocks.
    pub block_row_ptr: Vec<u32>,
    /// Block column of each block.
    pub block_col: Vec<u32>,
    /// Values.
    pub values: Vec<T>,
}

/// A valid matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Bcsr<T>(BcsrParts<T>);

impl<T> Deref for Bcsr<T> {
    type Target = BcsrParts<T>;

    fn deref(&self) -> &BcsrParts<T> {
        &self.0
    }
}

impl<T> Bcsr<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: BcsrParts<T>) -> Result<Self, crate::Refusal> {
        Ok(Bcsr(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> BcsrParts<T> {
        self.0
    }
}
