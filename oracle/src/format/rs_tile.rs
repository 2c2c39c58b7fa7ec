//! RS-Tile (seeds/001): windows of 8 rows cut into 8 x 8 bitmap blocks, and short rows apart.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a RsTile matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RsTileParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// First row of each window.
    pub window_row: Vec<u32>,
    /// `windows + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// One per block; bit `8 * r + c` says that (r, c) is stored.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// 8 columns per block, [`PAD`](super::PAD) at the end of a short last block.
    pub block_col: Vec<u32>,
    /// Stored values, block by block in ascending bit order.
    pub values: Vec<T>,
    /// Row of each residual row, ascending.
    pub residual_row: Vec<u32>,
    /// Slots per residual row.
    pub residual_width: usize,
    /// `residual_width` columns per residual row, unused ones [`PAD`](super::PAD).
    pub residual_col: Vec<u32>,
    /// As many values, +0.0 in unused slots.
    pub residual_values: Vec<T>,
}

fields!(RsTileParts {
    rows: Extent,
    cols: Extent,
    window_row: U32,
    window_block_ptr: U32,
    bitmap: U64,
    block_value_ptr: U32,
    block_col: U32,
    values: Values,
    residual_row: U32,
    residual_width: Extent,
    residual_col: U32,
    residual_values: Values
});

/// A valid RsTile matrix. Reads as its [`RsTileParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct RsTile<T>(RsTileParts<T>);

impl<T: Scalar> RsTile<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: RsTileParts<T>) -> Result<Self, Refusal> {
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

impl<T> RsTile<T> {
    /// The arrays back.
    pub fn into_parts(self) -> RsTileParts<T> {
        self.0
    }
}

impl<T> Deref for RsTile<T> {
    type Target = RsTileParts<T>;

    fn deref(&self) -> &RsTileParts<T> {
        &self.0
    }
}
