//! Libra for SpMM (seeds/002): dense 8 x 1 vectors as 8 x `kb` bitmap blocks, the rest as CSR.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a LibraSpmm matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraSpmmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Columns of a block: 4, 8 or 16.
    pub kb: usize,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// One word per block, two when `kb` is 16; bit `kb * r + c`.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// `kb` columns per block, ascending, [`PAD`](super::PAD) at the end of a short last block.
    pub block_col: Vec<u32>,
    /// Stored values of the tensor part, block by block in ascending bit order.
    pub values: Vec<T>,
    /// CUDA-core part: `rows + 1` offsets.
    pub row_ptr: Vec<u32>,
    /// CUDA-core part: columns.
    pub col_idx: Vec<u32>,
    /// CUDA-core part: values.
    pub rest_values: Vec<T>,
}

fields!(LibraSpmmParts {
    rows: Extent,
    cols: Extent,
    kb: Extent,
    window_block_ptr: U32,
    bitmap: U64,
    block_value_ptr: U32,
    block_col: U32,
    values: Values,
    row_ptr: U32,
    col_idx: U32,
    rest_values: Values
});

/// A valid LibraSpmm matrix. Reads as its [`LibraSpmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSpmm<T>(LibraSpmmParts<T>);

impl<T: Scalar> LibraSpmm<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: LibraSpmmParts<T>) -> Result<Self, Refusal> {
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

impl<T> LibraSpmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSpmmParts<T> {
        self.0
    }
}

impl<T> Deref for LibraSpmm<T> {
    type Target = LibraSpmmParts<T>;

    fn deref(&self) -> &LibraSpmmParts<T> {
        &self.0
    }
}
