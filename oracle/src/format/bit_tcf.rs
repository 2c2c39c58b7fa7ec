//! BitTCF of Acc-SpMM: 8 x 8 blocks with a bitmap.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a BitTcf matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitTcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Whether `block_window` is there.
    pub balanced: bool,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub row_window_offset: Vec<u32>,
    /// `blocks + 1` offsets into `values`.
    pub tc_offset: Vec<u32>,
    /// One per block; bit `8 * r + c`.
    pub tc_local_bit: Vec<u64>,
    /// 8 columns per block, [`PAD`](super::PAD) at the end of a short last block.
    pub sparse_a_to_b: Vec<u32>,
    /// Balanced variant: window of each block.
    pub block_window: Vec<u32>,
    /// Stored values, block by block in ascending bit order.
    pub values: Vec<T>,
}

fields!(BitTcfParts {
    rows: Extent,
    cols: Extent,
    balanced: Flag,
    row_window_offset: U32,
    tc_offset: U32,
    tc_local_bit: U64,
    sparse_a_to_b: U32,
    block_window: U32,
    values: Values
});

/// A valid BitTcf matrix. Reads as its [`BitTcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct BitTcf<T>(BitTcfParts<T>);

impl<T: Scalar> BitTcf<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: BitTcfParts<T>) -> Result<Self, Refusal> {
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

impl<T> BitTcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> BitTcfParts<T> {
        self.0
    }
}

impl<T> Deref for BitTcf<T> {
    type Target = BitTcfParts<T>;

    fn deref(&self) -> &BitTcfParts<T> {
        &self.0
    }
}
