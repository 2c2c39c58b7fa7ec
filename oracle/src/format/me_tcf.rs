//! ME-TCF of DTC-SpMM: 16 x 8 blocks with one byte per entry.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a MeTcf matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeTcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Whether `block_window` is there.
    pub balanced: bool,
    /// `ceil(rows / 16) + 1` offsets, in blocks.
    pub row_window_offset: Vec<u32>,
    /// `blocks + 1` offsets into `values`.
    pub tc_offset: Vec<u32>,
    /// Position inside the block, `8 * r + c`, of each entry.
    pub tc_local_id: Vec<u8>,
    /// 8 columns per block, [`PAD`](super::PAD) at the end of a short last block.
    pub sparse_a_to_b: Vec<u32>,
    /// Balanced variant: window of each block.
    pub block_window: Vec<u32>,
    /// One per entry.
    pub values: Vec<T>,
}

fields!(MeTcfParts {
    rows: Extent,
    cols: Extent,
    balanced: Flag,
    row_window_offset: U32,
    tc_offset: U32,
    tc_local_id: U8,
    sparse_a_to_b: U32,
    block_window: U32,
    values: Values
});

/// A valid MeTcf matrix. Reads as its [`MeTcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeTcf<T>(MeTcfParts<T>);

impl<T: Scalar> MeTcf<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: MeTcfParts<T>) -> Result<Self, Refusal> {
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

impl<T> MeTcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> MeTcfParts<T> {
        self.0
    }
}

impl<T> Deref for MeTcf<T> {
    type Target = MeTcfParts<T>;

    fn deref(&self) -> &MeTcfParts<T> {
        &self.0
    }
}
