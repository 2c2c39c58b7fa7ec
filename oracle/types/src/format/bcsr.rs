//! BCSR: CSR of dense blocks.
//!
//! ```text
//! . a | . b      block_row_ptr  0 2 3            (offsets in blocks)
//! . . | . .      block_col      0       1       0
//! ----+----      values         0 a 0 0 0 b 0 0 c 0 0 0      (block_rows * block_cols per block, row-major)
//! c . | . .
//! _ _ | _ _      3 x 4 in blocks of 2 x 2: the slots marked _ lie outside the matrix and are +0.0
//! ```
//!
//! A slot without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 2): encoding
//! one creates its block, decoding drops it; -0.0 and every NaN survive. Block columns are strictly ascending inside
//! a block row. A stored block may hold pads only.

use super::check::{BlockGrid, check_ascending, check_length, check_offsets};
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a BCSR matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BcsrParts<T> {
    /// Number of rows of the matrix, in elements.
    pub rows: usize,
    /// Number of columns of the matrix, in elements.
    pub cols: usize,
    /// Rows of a block.
    pub block_rows: usize,
    /// Columns of a block.
    pub block_cols: usize,
    /// `ceil(rows / block_rows) + 1` offsets, in blocks.
    pub block_row_ptr: Vec<u32>,
    /// Block column of each block: its first column divided by `block_cols`.
    pub block_col: Vec<u32>,
    /// `block_rows * block_cols` values per block, row-major inside it.
    pub values: Vec<T>,
}

super::fields::fields!(BcsrParts {
    rows: Extent,
    cols: Extent,
    block_rows: Extent,
    block_cols: Extent,
    block_row_ptr: U32,
    block_col: U32,
    values: Values
});

/// A valid BCSR matrix. Reads as its [`BcsrParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bcsr<T>(BcsrParts<T>);

impl<T: Scalar> Bcsr<T> {
    /// Checks the arrays. Rows and offsets of refusals about `block_row_ptr` and `block_col` count blocks.
    ///
    /// # Errors
    /// The first defect found: a dimension, the number of blocks or of values past u32, an empty or too large
    /// block, an array length, a decreasing offset, block columns out of range or not strictly ascending, a slot
    /// outside the matrix that is not +0.0.
    pub fn try_new(parts: BcsrParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let grid = BlockGrid::try_new(p.rows, p.cols, p.block_rows, p.block_cols)?;
        let blocks = p.block_col.len();
        check_u32("blocks", blocks as u128)?;
        let slots = blocks as u128 * grid.area as u128;
        check_u32("slots", slots)?;
        check_offsets("block_row_ptr", &p.block_row_ptr, grid.rows, blocks)?;
        check_length("values", slots, p.values.len())?;
        for block_row in 0..grid.rows {
            let (start, end) = (p.block_row_ptr[block_row], p.block_row_ptr[block_row + 1]);
            let (start, end) = (start as usize, end as usize);
            check_ascending("block_col", block_row, start, &p.block_col[start..end], grid.cols)?;
            for block in start..end {
                check_overhang(p, grid.area, block_row, block)?;
            }
        }
        Ok(Bcsr(parts))
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }

    /// The same blocks with other values; a pad stays a pad, and an entry that becomes +0.0 turns into one.
    pub fn map<U: Scalar>(&self, mut f: impl FnMut(&T) -> U) -> Bcsr<U> {
        let values = self
            .0
            .values
            .iter()
            .map(|value| if value.is_positive_zero() { U::from_bits64(0) } else { f(value) });
        Bcsr(BcsrParts {
            rows: self.0.rows,
            cols: self.0.cols,
            block_rows: self.0.block_rows,
            block_cols: self.0.block_cols,
            block_row_ptr: self.0.block_row_ptr.clone(),
            block_col: self.0.block_col.clone(),
            values: values.collect(),
        })
    }
}

/// Checks that the slots of a block that lie outside the matrix are +0.0.
fn check_overhang<T: Scalar>(
    p: &BcsrParts<T>,
    area: usize,
    block_row: usize,
    block: usize,
) -> Result<(), EncodingError> {
    let rows_inside = p.rows - block_row * p.block_rows;
    let cols_inside = p.cols - p.block_col[block] as usize * p.block_cols;
    if rows_inside >= p.block_rows && cols_inside >= p.block_cols {
        return Ok(());
    }
    for r in 0..p.block_rows {
        for c in 0..p.block_cols {
            let at = block * area + r * p.block_cols + c;
            if (r >= rows_inside || c >= cols_inside) && !p.values[at].is_positive_zero() {
                let row = block_row * p.block_rows + r;
                return Err(EncodingError::DirtyPad { field: "values", at, row });
            }
        }
    }
    Ok(())
}

impl<T> Bcsr<T> {
    /// The arrays back.
    pub fn into_parts(self) -> BcsrParts<T> {
        self.0
    }

    /// Number of stored blocks.
    pub fn blocks(&self) -> usize {
        self.0.block_col.len()
    }

    /// Number of slots, pads included.
    pub fn stored(&self) -> usize {
        self.0.values.len()
    }

    /// The slots of stored block number `block`, row-major.
    pub fn block(&self, block: usize) -> &[T] {
        let area = self.0.block_rows * self.0.block_cols;
        &self.0.values[block * area..(block + 1) * area]
    }
}

impl<T> Deref for Bcsr<T> {
    type Target = BcsrParts<T>;

    fn deref(&self) -> &BcsrParts<T> {
        &self.0
    }
}
