//! Libra for SDDMM: the densest vectors of each window as 8 x 16 bitmap blocks for tensor cores, the rest as CSR for
//! CUDA cores.
//!
//! ```text
//! . a . . b .     window of 8 rows (3 here), columns by density: 1 (3 entries), 4 (2), 2, 3
//! . c d . e .     one block of 16 columns: block_col 1 4 2 3 P .. P
//! . f . g . .     bits (0,0) (0,1) (1,0) (1,1) (1,2) (2,0) (2,3), bit 16 r + c
//!
//!                 bitmap 0x0000000900070003 0        values   a b c e d f g, in the order of the bits
//!                                                    position 0 1 2 4 3 5 6, each one's place in CSR
//! ```
//!
//! Libra, sections 4.2 to 4.4; SEMANTICS section 8. A window is 8 rows from a multiple of 8 on. Its vectors are
//! sorted by entries, most first, equal ones by column, and cut by 16 in that order. A block, the short last one too,
//! goes to the tensor part from `ceil(eta * 128)` entries on, so the tensor part is the front of that order; the vectors
//! behind it are the CUDA-core part, in the order of CSR. `position` and `rest_position` put the results of both parts
//! back into that of the whole matrix.
//!
//! A valid matrix may distribute and order its vectors otherwise, for no result depends on the order, and may hold
//! columns and blocks without a bit. Demanded are: no column twice in a window, no position in both parts, positions that
//! are right, and as many blocks as the columns need. Explicit zeros are kept, pads are known by their column
//! [`PAD`](super::PAD).

use super::check::check_length;
use super::fields::fields;
use super::libra_spmm::{TensorBlocks, WINDOW, check_rest};
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// Columns of a block.
pub const COLS: usize = 16;

/// The arrays of a `LibraSddmm` matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraSddmmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// Two words per block, the lower bits first; bit `16 * r + c`.
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

/// A valid `LibraSddmm` matrix. Reads as its [`LibraSddmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSddmm<T>(LibraSddmmParts<T>);

impl<T: Scalar> LibraSddmm<T> {
    /// Checks the arrays. Rows of refusals about `block_col` count windows. Allocates in proportion to the entries of
    /// one window.
    ///
    /// # Errors
    /// The first defect found: a dimension or a count past u32; an array length; a decreasing offset; columns out of
    /// range, repeated in a window, or after a pad; a pad in a block that is not the last of its window, or first in that; a bit over a pad
    /// or below the matrix; fewer or more values than bits; a position in both parts; an offset that is not the one in
    /// the CSR order of the whole matrix.
    pub fn try_new(parts: LibraSddmmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let tensor = p.tensor();
        tensor.check_frame()?;
        check_rest(p.rows, p.cols, &p.row_ptr, &p.col_idx, p.rest_values.len())?;
        check_u32("nnz", p.values.len() as u128 + p.col_idx.len() as u128)?;
        check_length("position", p.values.len() as u128, p.position.len())?;
        check_length("rest_position", p.col_idx.len() as u128, p.rest_position.len())?;
        let mut before = 0;
        for window in 0..tensor.windows() {
            let real = tensor.check_pads(window)?;
            check_distinct(&tensor, window, real)?;
            tensor.check_bits(window)?;
            before += p.check_positions(&tensor, window, before)?;
        }
        Ok(LibraSddmm(parts))
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len() + self.0.rest_values.len()
    }
}

/// Checks that no column is twice among the `real` ones of a window.
fn check_distinct(tensor: &TensorBlocks<'_>, window: usize, real: usize) -> Result<(), EncodingError> {
    let start = tensor.blocks(window).start * COLS;
    let columns = tensor.columns(window)[..real].iter().copied();
    let mut sorted: Vec<(u32, usize)> = columns.zip(start..).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => Err(EncodingError::Duplicate {
            field: "block_col",
            at: pair[1].1,
            row: window,
            column: pair[1].0 as usize,
        }),
    }
}

impl<T> LibraSddmmParts<T> {
    /// The tensor part.
    pub fn tensor(&self) -> TensorBlocks<'_> {
        TensorBlocks {
            rows: self.rows,
            cols: self.cols,
            kb: COLS,
            window_block_ptr: &self.window_block_ptr,
            bitmap: &self.bitmap,
            block_value_ptr: &self.block_value_ptr,
            block_col: &self.block_col,
            values: self.values.len(),
        }
    }

    /// Checks that no position of a window is in both parts, and that its positions are those in CSR order, `before` of
    /// which are those of earlier windows. Returns the number of its entries.
    fn check_positions(
        &self,
        tensor: &TensorBlocks<'_>,
        window: usize,
        before: usize,
    ) -> Result<usize, EncodingError> {
        // Row, column, whether of the CUDA-core part, offset there. Columns were found distinct, bits to be values.
        let mut all: Vec<(usize, u32, bool, usize)> = Vec::new();
        for block in tensor.blocks(window) {
            let first = self.block_value_ptr[block] as usize;
            for (at, bit) in (first..).zip(tensor.bits(block)) {
                let (r, c) = (bit / COLS, bit % COLS);
                all.push((WINDOW * window + r, self.block_col[COLS * block + c], false, at));
            }
        }
        for row in WINDOW * window..self.rows.min(WINDOW * (window + 1)) {
            for at in self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize {
                all.push((row, self.col_idx[at], true, at));
            }
        }
        all.sort_unstable();
        for (i, &(row, col, rest, at)) in all.iter().enumerate() {
            if i > 0 && (all[i - 1].0, all[i - 1].1) == (row, col) {
                return Err(EncodingError::Duplicate { field: "col_idx", at, row, column: col as usize });
            }
            let (field, found) = if rest {
                ("rest_position", self.rest_position[at])
            } else {
                ("position", self.position[at])
            };
            if found as usize != before + i {
                return Err(EncodingError::Unequal {
                    field,
                    at,
                    expected: (before + i) as u64,
                    found: u64::from(found),
                });
            }
        }
        Ok(all.len())
    }
}

impl<T> LibraSddmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSddmmParts<T> {
        self.0
    }

    /// Number of blocks of the tensor part.
    pub fn blocks(&self) -> usize {
        self.0.block_value_ptr.len() - 1
    }
}

impl<T> Deref for LibraSddmm<T> {
    type Target = LibraSddmmParts<T>;

    fn deref(&self) -> &LibraSddmmParts<T> {
        &self.0
    }
}
