//! RS-Tile: windows of 8 rows cut into 8 x 8 bitmap blocks, and short rows apart.
//!
//! ```text
//! row  0  . a . . b . c      window_row        0 9                (a window may start at any row)
//! row  1  d . . . . . e      window_block_ptr  0 1 2              (offsets in blocks)
//! rows 2..8 empty            block_col         0 1 4 6 P P P P    2 3 P P P P P P        P = PAD = u32::MAX
//! row  8  . . . . . f .      bitmap            bits 1 2 3, 8 11   bits 0 8 9             (bit 8 * r + c)
//! row  9  . . g . . . .      block_value_ptr   0 5 8
//! row 10  . . h i . . .      values            a b c d e          g h i                  (ascending bits)
//!                            residual_row 8, residual_width 1, residual_col 5, residual_values f
//! ```
//!
//! Source: RSH-SpMM, section 3.2; the partition is `format::rs_partition` of `sparse-oracle`. The distinct columns
//! of a window, ascending, are cut by 8. Pads are known by their column, so explicit zeros are kept. A row before a window
//! that is in neither part is empty; a window holds all entries of its rows, and runs past the last row where it must.
//!
//! A *block without a bit* and a *column without a bit* are valid, though no encoder writes them: they say nothing, and a
//! kernel multiplies by zeros. A *window without blocks* and a *block without a column* are refused: a pipelined kernel
//! loads the first block before it asks whether there is one, and the number of blocks is that of the columns, by 8.
//! The parameters of the partition are not stored; the oracle finds some that lead to it.

use super::PAD;
use super::check::{check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::{Deref, Range};

/// Rows of a window, and rows and columns of a block.
pub const SIDE: usize = 8;

/// The arrays of an RS-Tile matrix, unchecked.
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
    /// 8 columns per block, [`PAD`] at the end of a short last block.
    pub block_col: Vec<u32>,
    /// Stored values, block by block in ascending bit order.
    pub values: Vec<T>,
    /// Row of each residual row, ascending.
    pub residual_row: Vec<u32>,
    /// Slots per residual row; may exceed the longest of them.
    pub residual_width: usize,
    /// `residual_width` columns per residual row, unused ones [`PAD`].
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

/// A valid RS-Tile matrix. Reads as its [`RsTileParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct RsTile<T>(RsTileParts<T>);

impl<T: Scalar> RsTile<T> {
    /// Checks the arrays. Rows of refusals are those of the matrix: the first row of a window, or a residual row.
    ///
    /// # Errors
    /// The first defect found: a dimension, the width or a count past u32, an array length, a decreasing offset, rows
    /// out of range or not ascending, windows that overlap one another or a residual row, a window without blocks, a
    /// block without a column, columns of a window or residual row out of range or not strictly ascending, a column
    /// after a pad, a bit over a pad or past the last row, bits that are not as many as values, a value in a pad.
    pub fn try_new(parts: RsTileParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_shape(p.rows, p.cols)?;
        check_lengths(p)?;
        check_rows(p)?;
        for window in 0..p.window_row.len() {
            check_window(p, window)?;
        }
        for (at, &row) in p.residual_row.iter().enumerate() {
            check_residual(p, at, row as usize)?;
        }
        let used = p.residual_col.iter().filter(|&&col| col != PAD).count();
        check_u32("nnz", p.values.len() as u128 + used as u128)?;
        Ok(RsTile(parts))
    }
}

/// Checks everything that needs no element of the matrix but the offsets.
fn check_lengths<T>(p: &RsTileParts<T>) -> Result<(), Refusal> {
    let blocks = p.bitmap.len();
    check_u32("blocks", blocks as u128)?;
    check_u32("values", p.values.len() as u128)?;
    check_offsets("window_block_ptr", &p.window_block_ptr, p.window_row.len(), blocks)?;
    check_offsets("block_value_ptr", &p.block_value_ptr, blocks, p.values.len())?;
    check_length("block_col", SIDE as u128 * blocks as u128, p.block_col.len())?;
    check_u32("residual_width", p.residual_width as u128)?;
    let slots = p.residual_row.len() as u128 * p.residual_width as u128;
    check_u32("residual_slots", slots)?;
    check_length("residual_col", slots, p.residual_col.len())?;
    check_length("residual_values", slots, p.residual_values.len())?;
    Ok(())
}

/// Checks that no row belongs to two windows, or to a window and the residual part.
fn check_rows<T>(p: &RsTileParts<T>) -> Result<(), EncodingError> {
    let windows = &p.window_row;
    check_ascending("window_row", 0, 0, windows, p.rows)?;
    check_ascending("residual_row", 0, 0, &p.residual_row, p.rows)?;
    let outside = |field, at, row: u32, window: Option<&u32>| match window {
        Some(&first) if u64::from(row) < u64::from(first) + SIDE as u64 => {
            Err(EncodingError::Overlap { field, at, window: u64::from(first), found: u64::from(row) })
        }
        _ => Ok(()),
    };
    for at in 1..windows.len() {
        outside("window_row", at, windows[at], windows.get(at - 1))?;
    }
    for (at, &row) in p.residual_row.iter().enumerate() {
        let above = windows.partition_point(|&first| first <= row);
        outside("residual_row", at, row, windows[..above].last())?;
    }
    Ok(())
}

/// Checks columns and bits of one window.
fn check_window<T>(p: &RsTileParts<T>, window: usize) -> Result<(), EncodingError> {
    let row = p.window_row[window] as usize;
    let (start, end) = (p.window_block_ptr[window], p.window_block_ptr[window + 1]);
    let blocks = start as usize..end as usize;
    let empty = |field, at| Err(EncodingError::Empty { field, at });
    if blocks.is_empty() {
        return empty("window_block_ptr", window);
    }
    let lane = &p.block_col[SIDE * blocks.start..SIDE * blocks.end];
    let used = lane.iter().position(|&col| col == PAD).unwrap_or(lane.len());
    check_ascending("block_col", row, SIDE * blocks.start, &lane[..used], p.cols)?;
    if let Some(beyond) = lane[used..].iter().position(|&col| col != PAD) {
        return Err(EncodingError::DirtyPad {
            field: "block_col",
            at: SIDE * blocks.start + used + beyond,
            row,
        });
    }
    if used.div_ceil(SIDE) < blocks.len() {
        return empty("block_col", SIDE * (blocks.start + used.div_ceil(SIDE)));
    }
    let height = SIDE.min(p.rows - row) as u32;
    for block in blocks.clone() {
        let breadth = SIDE.min(used - SIDE * (block - blocks.start)) as u32;
        check_bits(p, block, |bit| bit / 8 < height && bit % 8 < breadth)?;
    }
    Ok(())
}

/// Checks that bits stand where entries may be, and are as many as values.
fn check_bits<T>(
    p: &RsTileParts<T>,
    block: usize,
    inside: impl Fn(u32) -> bool,
) -> Result<(), EncodingError> {
    let bitmap = p.bitmap[block];
    if let Some(bit) = (0..64).find(|&bit| bitmap >> bit & 1 == 1 && !inside(bit)) {
        return Err(EncodingError::StrayBit { field: "bitmap", at: block, bit });
    }
    let expected = u64::from(p.block_value_ptr[block]) + u64::from(bitmap.count_ones());
    let found = u64::from(p.block_value_ptr[block + 1]);
    if expected == found {
        return Ok(());
    }
    Err(EncodingError::Unequal { field: "block_value_ptr", at: block + 1, expected, found })
}

/// Checks columns and pads of residual row number `at`.
fn check_residual<T: Scalar>(p: &RsTileParts<T>, at: usize, row: usize) -> Result<(), EncodingError> {
    let start = at * p.residual_width;
    let lane = &p.residual_col[start..start + p.residual_width];
    let used = lane.iter().position(|&col| col == PAD).unwrap_or(lane.len());
    check_ascending("residual_col", row, start, &lane[..used], p.cols)?;
    for at in start + used..start + lane.len() {
        let field = if p.residual_col[at] != PAD {
            "residual_col"
        } else if !p.residual_values[at].is_positive_zero() {
            "residual_values"
        } else {
            continue;
        };
        return Err(EncodingError::DirtyPad { field, at, row });
    }
    Ok(())
}

impl<T> RsTile<T> {
    /// The arrays back.
    pub fn into_parts(self) -> RsTileParts<T> {
        self.0
    }

    /// Number of stored entries, explicit zeros included, pads not.
    pub fn nnz(&self) -> usize {
        self.0.values.len() + self.0.residual_col.iter().filter(|&&col| col != PAD).count()
    }

    /// The numbers of the blocks of window number `window`.
    pub fn blocks_of(&self, window: usize) -> Range<usize> {
        self.0.window_block_ptr[window] as usize..self.0.window_block_ptr[window + 1] as usize
    }
}

impl<T> Deref for RsTile<T> {
    type Target = RsTileParts<T>;

    fn deref(&self) -> &RsTileParts<T> {
        &self.0
    }
}
