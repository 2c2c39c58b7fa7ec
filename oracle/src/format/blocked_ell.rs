//! Blocked-ELL (being written).
use std::ops::Deref;

/// The arrays, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedEllParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a block.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
    /// Blocks per block row.
    pub width: usize,
    /// Block column of each slot, PAD for none.
    pub block_col: Vec<u32>,
    /// Values.
    pub values: Vec<T>,
}

/// A valid matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedEll<T>(BlockedEllParts<T>);

impl<T> Deref for BlockedEll<T> {
    type Target = BlockedEllParts<T>;

    fn deref(&self) -> &BlockedEllParts<T> {
        &self.0
    }
}

impl<T> BlockedEll<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: BlockedEllParts<T>) -> Result<Self, crate::Refusal> {
        Ok(BlockedEll(parts))
    }

    /// The arrays back.
    pub fn into_parts(self) -> BlockedEllParts<T> {
        self.0
    }
}
