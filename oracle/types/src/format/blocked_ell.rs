//! Blocked-ELL: the same number of dense blocks for every block row.
//!
//! ```text
//! . a | . b      width 2   block_col  0       1       0       P          P = PAD = u32::MAX, only after the real ones
//! . . | . .                values     0 a 0 0 0 b 0 0 c 0 0 0 0 0 0 0    (block_rows * block_cols per slot, row-major)
//! ----+----
//! c . | . .      3 x 4 in blocks of 2 x 2: the elements marked _ lie outside the matrix and are +0.0, as are all
//! _ _ | _ _      elements of a padding slot
//! ```
//!
//! As in BCSR an element without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS
//! section 2): encoding one creates its block, decoding drops it; -0.0 and every NaN survive.

use super::PAD;
use super::check::{BlockGrid, check_ascending, check_length};
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a Blocked-ELL matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedEllParts<T> {
    /// Number of rows of the matrix, in elements.
    pub rows: usize,
    /// Number of columns of the matrix, in elements.
    pub cols: usize,
    /// Rows of a block.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
    /// Slots (blocks) per block row.
    pub width: usize,
    /// `ceil(rows / block_rows) * width` block columns: slot `s` of block row `i` is element `i * width + s`;
    /// [`PAD`] marks an unused slot.
    pub block_col: Vec<u32>,
    /// `block_rows * block_cols` values per slot, row-major inside it; +0.0 in an unused slot.
    pub values: Vec<T>,
}

super::fields::fields!(BlockedEllParts {
    rows: Extent,
    cols: Extent,
    block_rows: Extent,
    block_cols: Extent,
    width: Extent,
    block_col: U32,
    values: Values
});

/// A valid Blocked-ELL matrix. Reads as its [`BlockedEllParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedEll<T>(BlockedEllParts<T>);

impl<T: Scalar> BlockedEll<T> {
    /// Checks the arrays. Rows and offsets of refusals about `block_col` count block rows and slots.
    ///
    /// # Errors
    /// The first defect found: a dimension, the width or the number of elements past u32, an empty or too large
    /// block, an array length, block columns out of range or not strictly ascending, a block after a pad, an
    /// element of a padding slot or outside the matrix that is not +0.0.
    pub fn try_new(parts: BlockedEllParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let grid = BlockGrid::try_new(p.rows, p.cols, p.block_rows, p.block_cols)?;
        check_u32("width", p.width as u128)?;
        // Both factors are below 2^32 by now; their product with the area, below 2^16, stays below 2^80.
        let blocks = grid.rows as u128 * p.width as u128;
        let slots = blocks * grid.area as u128;
        check_u32("slots", slots)?;
        check_length("block_col", blocks, p.block_col.len())?;
        check_length("values", slots, p.values.len())?;
        for (block_row, lane) in p.block_col.chunks(1.max(p.width)).enumerate() {
            let start = block_row * p.width;
            let real = lane.iter().position(|&c| c == PAD).unwrap_or(p.width);
            check_ascending("block_col", block_row, start, &lane[..real], grid.cols)?;
            for (s, &col) in lane.iter().enumerate() {
                if s >= real && col != PAD {
                    return Err(Refusal::Encoding(EncodingError::DirtyPad {
                        field: "block_col",
                        at: start + s,
                        row: block_row,
                    }));
                }
                check_pads(p, grid.area, block_row, start + s)?;
            }
        }
        Ok(BlockedEll(parts))
    }

    /// Number of entries: elements that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }

    /// The same blocks with other values; a pad stays a pad, and an entry that becomes +0.0 turns into one.
    pub fn map<U: Scalar>(&self, mut f: impl FnMut(&T) -> U) -> BlockedEll<U> {
        let values = self
            .0
            .values
            .iter()
            .map(|value| if value.is_positive_zero() { U::from_bits64(0) } else { f(value) });
        BlockedEll(BlockedEllParts {
            rows: self.0.rows,
            cols: self.0.cols,
            block_rows: self.0.block_rows,
            block_cols: self.0.block_cols,
            width: self.0.width,
            block_col: self.0.block_col.clone(),
            values: values.collect(),
        })
    }
}

/// Checks that the elements of a slot that face no position of the matrix are +0.0.
fn check_pads<T: Scalar>(
    p: &BlockedEllParts<T>,
    area: usize,
    block_row: usize,
    slot: usize,
) -> Result<(), EncodingError> {
    let first_row = block_row * p.block_rows;
    let cols_inside = match p.block_col[slot] {
        PAD => 0,
        col => p.cols - col as usize * p.block_cols,
    };
    for inside in 0..area {
        let (row, c) = (first_row + inside / p.block_cols, inside % p.block_cols);
        let at = slot * area + inside;
        if (row >= p.rows || c >= cols_inside) && !p.values[at].is_positive_zero() {
            return Err(EncodingError::DirtyPad { field: "values", at, row });
        }
    }
    Ok(())
}

impl<T> BlockedEll<T> {
    /// The arrays back.
    pub fn into_parts(self) -> BlockedEllParts<T> {
        self.0
    }

    /// Number of stored blocks, padding slots not counted.
    pub fn blocks(&self) -> usize {
        self.0.block_col.iter().filter(|&&c| c != PAD).count()
    }

    /// Number of elements, pads included.
    pub fn stored(&self) -> usize {
        self.0.values.len()
    }

    /// The elements of slot number `slot` (`block row * width + s`), row-major.
    pub fn block(&self, slot: usize) -> &[T] {
        let area = self.0.block_rows * self.0.block_cols;
        &self.0.values[slot * area..(slot + 1) * area]
    }
}

impl<T> Deref for BlockedEll<T> {
    type Target = BlockedEllParts<T>;

    fn deref(&self) -> &BlockedEllParts<T> {
        &self.0
    }
}
