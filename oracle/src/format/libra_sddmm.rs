//! Libra for SDDMM (seeds/002): 8 x 16 blocks of the densest vectors, the rest as CSR.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a LibraSddmm matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraSddmmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// Two words per block; bit `16 * r + c`.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// 16 columns per block in the order of the sort, [`PAD`](super::PAD) at the end of a short block.
    pub block_col: Vec<u32>,
    /// Stored values of the tensor part, block by block in ascending bit order.
    pub values: Vec<T>,
    /// Offset in the CSR order of the whole matrix of each element of `values`.
    pub position: Vec<u32>,
    /// CUDA-core part: `rows + 1` offsets.
    pub row_ptr: Vec<u32>,
    /// CUDA-core part: columns.
    pub col_idx: Vec<u32>,
    /// CUDA-core part: values.
    pub rest_values: Vec<T>,
    /// Offset in the CSR order of the whole matrix of each element of `rest_values`.
    pub rest_position: Vec<u32>,
}

fields!(LibraSddmmParts {
    rows: Extent,
    cols: Extent,
    window_block_ptr: U32,
    bitmap: U64,
    block_value_ptr: U32,
    block_col: U32,
    values: Values,
    position: U32,
    row_ptr: U32,
    col_idx: U32,
    rest_values: Values,
    rest_position: U32
});

/// A valid LibraSddmm matrix. Reads as its [`LibraSddmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSddmm<T>(LibraSddmmParts<T>);

impl<T: Scalar> LibraSddmm<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: LibraSddmmParts<T>) -> Result<Self, Refusal> {
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

impl<T> LibraSddmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSddmmParts<T> {
        self.0
    }
}

impl<T> Deref for LibraSddmm<T> {
    type Target = LibraSddmmParts<T>;

    fn deref(&self) -> &LibraSddmmParts<T> {
        &self.0
    }
}
