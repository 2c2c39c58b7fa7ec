//! V:N:M: of each `v` x `m` block four columns are kept, of which each row keeps `n` (VENOM, which NM-SpMM cites).
//!
//! ```text
//! 2 x 10, v = 2, n = 2, m = 5              column             index            values
//!  . a . . b | . . . . .     block (0, 0)  0 1 2 4 | 0 1 2 3  {1, 3} | {0, 1}  a b | . .
//!  c . . . d | . e . . .     block (0, 1)                     {0, 3} | {0, 1}  c d | . e
//! ```
//!
//! Rows are cut into block rows of `v`, columns into block columns of `m`, both padded up. A column of a block, or a
//! slot of a row, is used if it holds an entry, an explicit zero included. A block that uses more than four columns, or
//! a row of a block that uses more than `n`, is refused: pruning decides what to drop. What is not used names the lowest
//! free column, or the lowest free one of the four, so that both ascend and a matrix has one encoding. Columns past the
//! end are named only where the block has fewer than four real ones.
//!
//! A slot without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 2). One byte of
//! `index` per row of a block: with `n` = 2 its low half is the nibble that 2:4 hardware takes.

mod checks;
use super::check::{check_length, check_shape};
use super::fields::fields;
use crate::refusal::{Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use checks::{check_column, check_pads, check_positions};
use std::ops::Deref;

/// Columns that a block keeps.
pub const KEPT: usize = 4;

/// The arrays of a V:N:M matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VnmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a block.
    pub v: usize,
    /// Values kept per row of a block, at most 4.
    pub n: usize,
    /// Columns of a block, at least 4.
    pub m: usize,
    /// Four selected columns per block, as ascending offsets inside the block; blocks in row-major order.
    pub column: Vec<u32>,
    /// One byte per row and block column, rows padded to a multiple of `v`, row-major: which of the four kept value
    /// `j` stands in at bits `2j` and `2j + 1`, ascending; the other bits are 0.
    pub index: Vec<u8>,
    /// `n` values per element of `index`.
    pub values: Vec<T>,
}

fields!(VnmParts {
    rows: Extent,
    cols: Extent,
    v: Extent,
    n: Extent,
    m: Extent,
    column: U32,
    index: U8,
    values: Values
});

/// A valid V:N:M matrix. Reads as its [`VnmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Vnm<T>(VnmParts<T>);

/// How a matrix is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Number of block columns.
    pub across: u128,
    /// Elements of `column`.
    pub columns: u128,
    /// Elements of `index`.
    pub lanes: u128,
    /// Elements of `values`.
    pub slots: u128,
}

impl Blocks {
    /// Checks the shape of the matrix and of its blocks.
    pub fn try_new((rows, cols): (usize, usize), v: usize, n: usize, m: usize) -> Result<Self, Refusal> {
        check_shape(rows, cols)?;
        for (field, extent) in [("v", v), ("n", n), ("m", m)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
            check_u32(field, extent as u128)?;
        }
        if n > KEPT {
            return Err(RequestError::TooLarge { field: "n", found: n as u128, limit: KEPT as u64 }.into());
        }
        if m < KEPT {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "m",
                expected: "at least 4",
                found: m as u64,
            }));
        }
        let (down, across) = (rows.div_ceil(v) as u128, cols.div_ceil(m) as u128);
        let lanes = down * v as u128 * across;
        Ok(Blocks { across, columns: down * across * KEPT as u128, lanes, slots: lanes * n as u128 })
    }
}

/// The index of a row that stores nothing: it names the first `n` of the four.
pub const fn first(n: usize) -> u8 {
    (0b1110_0100u16 & ((1 << (2 * n)) - 1)) as u8
}

impl<T: Scalar> Vnm<T> {
    /// Checks the arrays. Offsets in refusals count elements of the array, rows count rows of the matrix.
    ///
    /// # Errors
    /// The first defect found: a dimension, a parameter or an array length past u32, a parameter out of range, an array
    /// length, a column that is not below `m` or not above its predecessor in the block, positions that do not ascend,
    /// bits above the `n` positions, a slot outside the matrix that is not +0.0, a row past the end that does not
    /// name the first `n` columns.
    pub fn try_new(parts: VnmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let blocks = Blocks::try_new((p.rows, p.cols), p.v, p.n, p.m)?;
        check_u32("column", blocks.columns)?;
        check_u32("slots", blocks.slots)?;
        check_length("column", blocks.columns, p.column.len())?;
        check_length("index", blocks.lanes, p.index.len())?;
        check_length("values", blocks.slots, p.values.len())?;
        let across = blocks.across as usize;
        for at in 0..p.column.len() {
            check_column(p, at / KEPT / across * p.v, at)?;
        }
        for lane in 0..p.index.len() {
            check_positions(p, lane / across, lane)?;
            check_pads(p, across, lane)?;
        }
        Ok(Vnm(parts))
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }
}

impl<T> Vnm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> VnmParts<T> {
        self.0
    }
}

impl<T> Deref for Vnm<T> {
    type Target = VnmParts<T>;

    fn deref(&self) -> &VnmParts<T> {
        &self.0
    }
}
