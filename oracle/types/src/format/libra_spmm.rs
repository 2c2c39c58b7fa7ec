//! Libra for SpMM: the dense 8 x 1 vectors of each window as bitmap blocks for tensor cores, the rest as CSR for CUDA
//! cores.
//!
//! ```text
//! . a . . b .     window of 8 rows (3 here), kb = 4, at least 2 entries for the tensor part
//! . c d . e .
//! . f . g . .     columns 1 4: block_col 1 4 P P     bits (0,0) (0,1) (1,0) (1,1) (2,0), bit 4 r + c
//!                 bitmap 0x133                       values a b c e f, in the order of the bits
//!                 the rest: row_ptr 0 0 1 2, col_idx 2 3, rest_values d g
//! ```
//!
//! Libra, sections 4.2 to 4.4; SEMANTICS section 8. A window is 8 rows from a multiple of 8 on. A vector goes to
//! the tensor part from `ceil(eta * 8)` entries on: at least, not more than (slip 4). With `fill`, the free columns of
//! a window's last block take the densest remaining vectors, equally dense ones by column. The columns of a window
//! then ascend, and are cut by `kb`; a window without a dense vector has no block, `fill` or not.
//!
//! A valid matrix may distribute its vectors otherwise, or cut one in two, and may hold columns and blocks without a bit:
//! what counts is that each position is stored once, that columns ascend in a window (the order of the terms), and that
//! there are as many blocks as those columns need. Explicit zeros are kept, pads are known by their column
//! [`PAD`](super::PAD).

mod blocks;
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
pub use blocks::{TensorBlocks, check_rest, words};
use std::ops::Deref;

/// Rows of a window.
pub const WINDOW: usize = 8;

/// The arrays of a `LibraSpmm` matrix, unchecked.
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
    /// One word per block, two when `kb` is 16, the lower bits first; bit `kb * r + c`.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// `kb` columns per block, ascending in a window, [`PAD`](super::PAD) at the end of a short last block.
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

/// A valid `LibraSpmm` matrix. Reads as its [`LibraSpmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSpmm<T>(LibraSpmmParts<T>);

impl<T: Scalar> LibraSpmm<T> {
    /// Checks the arrays. Rows of refusals about `block_col` count windows.
    ///
    /// # Errors
    /// The first defect found: another `kb` than 4, 8, 16; a dimension or a count past u32; an array length; a
    /// decreasing offset; columns out of range, not ascending, or after a pad; a pad in a block that is not the last of
    /// its window, or first in that; a bit over a pad or below the matrix; fewer or more values than bits; a position in both parts.
    pub fn try_new(parts: LibraSpmmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_kb(p.kb as u64)?;
        let tensor = p.tensor();
        tensor.check_frame()?;
        check_rest(p.rows, p.cols, &p.row_ptr, &p.col_idx, p.rest_values.len())?;
        check_u32("nnz", p.values.len() as u128 + p.col_idx.len() as u128)?;
        for window in 0..tensor.windows() {
            let real = tensor.check_pads(window)?;
            tensor.check_ascending(window, real)?;
            tensor.check_bits(window)?;
        }
        for row in 0..p.rows {
            for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
                let column = p.col_idx[at];
                if tensor.holds(row / WINDOW, row % WINDOW, column) {
                    return Err(Refusal::Encoding(EncodingError::Duplicate {
                        field: "col_idx",
                        at,
                        row,
                        column: column as usize,
                    }));
                }
            }
        }
        Ok(LibraSpmm(parts))
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len() + self.0.rest_values.len()
    }
}

impl<T> LibraSpmmParts<T> {
    /// The tensor part.
    pub fn tensor(&self) -> TensorBlocks<'_> {
        TensorBlocks {
            rows: self.rows,
            cols: self.cols,
            kb: self.kb,
            window_block_ptr: &self.window_block_ptr,
            bitmap: &self.bitmap,
            block_value_ptr: &self.block_value_ptr,
            block_col: &self.block_col,
            values: self.values.len(),
        }
    }
}

/// Checks the columns of a block: 4, 8 or 16.
///
/// # Errors
/// [`RequestError::Parameter`] for others.
pub fn check_kb(kb: u64) -> Result<usize, RequestError> {
    match kb {
        4 | 8 | 16 => Ok(kb as usize),
        _ => Err(RequestError::Parameter { field: "kb", expected: "4, 8 or 16", found: kb }),
    }
}

impl<T> LibraSpmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSpmmParts<T> {
        self.0
    }

    /// Number of blocks of the tensor part.
    pub fn blocks(&self) -> usize {
        self.0.block_value_ptr.len() - 1
    }
}

impl<T> Deref for LibraSpmm<T> {
    type Target = LibraSpmmParts<T>;

    fn deref(&self) -> &LibraSpmmParts<T> {
        &self.0
    }
}
