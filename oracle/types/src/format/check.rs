//! What several constructors check alike: shapes, offset arrays, ascending lanes, block grids, squeezed windows; and
//! the limit that keeps an encoder from allocating out of proportion to what it is given.

use super::{BLOCK_AREA_LIMIT, PAD, SLOT_LIMIT};
use crate::refusal::{EncodingError, Limit, Refusal, RequestError, check_u32};

/// Checks that the shape of a matrix fits the index type.
pub fn check_shape(rows: usize, cols: usize) -> Result<(), RequestError> {
    check_u32("rows", rows as u128)?;
    check_u32("cols", cols as u128)?;
    Ok(())
}

/// Checks the length of an array; `expected` is computed wide, so that a shape cannot overflow it.
pub fn check_length(field: &'static str, expected: u128, found: usize) -> Result<(), EncodingError> {
    if expected == found as u128 {
        return Ok(());
    }
    let expected = usize::try_from(expected).unwrap_or(usize::MAX);
    Err(EncodingError::Length { field, expected, found })
}

/// Checks `majors + 1` offsets that start at 0, never decrease and end at `stored`.
pub fn check_offsets(
    field: &'static str,
    offsets: &[u32],
    majors: usize,
    stored: usize,
) -> Result<(), EncodingError> {
    check_length(field, majors as u128 + 1, offsets.len())?;
    if offsets[0] != 0 {
        return Err(EncodingError::FirstOffset { field, found: u64::from(offsets[0]) });
    }
    if let Some(i) = offsets.windows(2).position(|w| w[1] < w[0]) {
        let (previous, found) = (u64::from(offsets[i]), u64::from(offsets[i + 1]));
        return Err(EncodingError::Decreasing { field, at: i + 1, previous, found });
    }
    let last = u64::from(offsets[majors]);
    if last != stored as u64 {
        return Err(EncodingError::LastOffset { field, expected: stored as u64, found: last });
    }
    Ok(())
}

/// Checks that the indices of one major lane are strictly ascending and below `limit`; `start` is the offset of the
/// lane in the whole array, for the message.
pub fn check_ascending<I: Copy + Into<u64>>(
    field: &'static str,
    row: usize,
    start: usize,
    lane: &[I],
    limit: usize,
) -> Result<(), EncodingError> {
    let mut before = None;
    for (i, &index) in lane.iter().enumerate() {
        let (at, found): (usize, u64) = (start + i, index.into());
        if found >= limit as u64 {
            return Err(EncodingError::IndexOutOfRange { field, at, row, found, limit: limit as u64 });
        }
        if before == Some(found) {
            return Err(EncodingError::Duplicate { field, at, row, column: found as usize });
        }
        if let Some(previous) = before.filter(|&previous| previous > found) {
            return Err(EncodingError::Unsorted { field, at, row, previous, found });
        }
        before = Some(found);
    }
    Ok(())
}

/// Checks that an encoder may allocate `slots` elements for one array.
pub fn check_slots(field: &'static str, slots: u128) -> Result<usize, Refusal> {
    match usize::try_from(slots) {
        Ok(fits) if slots <= u128::from(SLOT_LIMIT) => Ok(fits),
        _ => Err(Limit { field, found: slots, limit: SLOT_LIMIT }.into()),
    }
}

/// How a matrix is cut into blocks; blocks of the last block row and column may hang over its edge.
///
/// ```text
/// 3 x 5 in blocks of 2 x 2:   a a b b c .       2 block rows, 3 block columns; '.' and the last line
///                             a a b b c .       are slots outside the matrix, always +0.0
///                             d d e e f .
///                             . . . . . .
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlockGrid {
    /// Number of block rows.
    pub rows: usize,
    /// Number of block columns.
    pub cols: usize,
    /// Elements of one block.
    pub area: usize,
}

impl BlockGrid {
    /// Checks the shape of the matrix and of its blocks.
    pub fn try_new(rows: usize, cols: usize, block_rows: usize, block_cols: usize) -> Result<Self, Refusal> {
        check_shape(rows, cols)?;
        for (field, extent) in [("block_rows", block_rows), ("block_cols", block_cols)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        let area = block_rows as u128 * block_cols as u128;
        if area > u128::from(BLOCK_AREA_LIMIT) {
            return Err(Refusal::Limit(Limit {
                field: "block_rows * block_cols",
                found: area,
                limit: BLOCK_AREA_LIMIT,
            }));
        }
        Ok(BlockGrid {
            rows: rows.div_ceil(block_rows),
            cols: cols.div_ceil(block_cols),
            area: area as usize,
        })
    }
}

/// What ME-TCF and BitTCF have in common: aligned windows of rows, whose distinct columns are cut into blocks of 8.
///
/// ```text
/// window 0: columns 2 5 6 9 11 12 13 20 | 21 30 P P P P P P     two blocks, the last one short: P = PAD
/// ```
pub struct SqueezedWindows<'a> {
    /// (rows, columns) of the matrix.
    pub shape: (usize, usize),
    /// Rows of a window.
    pub height: usize,
    /// Offsets in blocks, per window.
    pub row_window_offset: &'a [u32],
    /// Offsets in stored entries, per block.
    pub tc_offset: &'a [u32],
    /// 8 columns per block.
    pub sparse_a_to_b: &'a [u32],
    /// Whether `block_window` is there.
    pub balanced: bool,
    /// Window of each block; empty unless balanced.
    pub block_window: &'a [u32],
}

/// Columns of a block of TCF, ME-TCF and BitTCF.
pub const SQUEEZED_COLS: usize = 8;

impl SqueezedWindows<'_> {
    /// Checks shape, lengths, both offset arrays, the columns of each window and the window of each block; `stored`
    /// is the number of entries. Rows in refusals about columns are windows.
    pub fn check(&self, stored: usize) -> Result<(), Refusal> {
        check_shape(self.shape.0, self.shape.1)?;
        check_u32("nnz", stored as u128)?;
        let windows = self.shape.0.div_ceil(self.height);
        let blocks = self.tc_offset.len().saturating_sub(1);
        let slots = blocks as u128 * SQUEEZED_COLS as u128;
        check_u32("slots", slots)?;
        check_offsets("row_window_offset", self.row_window_offset, windows, blocks)?;
        check_offsets("tc_offset", self.tc_offset, blocks, stored)?;
        check_length("sparse_a_to_b", slots, self.sparse_a_to_b.len())?;
        for (window, ends) in self.row_window_offset.windows(2).enumerate() {
            self.check_columns(window, ends[0] as usize, ends[1] as usize)?;
        }
        self.check_block_window(if self.balanced { blocks } else { 0 })?;
        Ok(())
    }

    /// Columns ascend over the whole window; pads only after them, and fewer than a block holds.
    fn check_columns(&self, window: usize, first: usize, last: usize) -> Result<(), EncodingError> {
        if first == last {
            return Ok(());
        }
        let (start, end) = (first * SQUEEZED_COLS, last * SQUEEZED_COLS);
        let lane = &self.sparse_a_to_b[start..end];
        let least = lane.len() - SQUEEZED_COLS + 1;
        let real = lane.iter().position(|&c| c == PAD).unwrap_or(lane.len());
        let real = real.max(least);
        check_ascending("sparse_a_to_b", window, start, &lane[..real], self.shape.1)?;
        match lane[real..].iter().position(|&c| c != PAD) {
            None => Ok(()),
            Some(i) => {
                Err(EncodingError::DirtyPad { field: "sparse_a_to_b", at: start + real + i, row: window })
            }
        }
    }

    fn check_block_window(&self, blocks: usize) -> Result<(), EncodingError> {
        check_length("block_window", blocks as u128, self.block_window.len())?;
        let mut window = 0;
        for (at, &found) in self.block_window.iter().enumerate() {
            while self.row_window_offset[window + 1] as usize <= at {
                window += 1;
            }
            if found as usize != window {
                return Err(EncodingError::Unequal {
                    field: "block_window",
                    at,
                    expected: window as u64,
                    found: u64::from(found),
                });
            }
        }
        Ok(())
    }
}
