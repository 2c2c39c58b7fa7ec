//! What several constructors check alike: shapes, offset arrays, ascending lanes, block grids; and the limit that
//! keeps an encoder from allocating out of proportion to what it is given.

use super::SLOT_LIMIT;
use crate::refusal::{Refusal, check_u32};

/// The most elements that one block of BCSR or Blocked-ELL may have (256 x 256, or any other shape of that area).
pub const BLOCK_AREA_LIMIT: u64 = 1 << 16;

/// Checks that the shape of a matrix fits the index type.
pub(super) fn check_shape(rows: usize, cols: usize) -> Result<(), Refusal> {
    check_u32("rows", rows as u128)?;
    check_u32("cols", cols as u128)?;
    Ok(())
}

/// Checks the length of an array; `expected` is computed wide, so that a shape cannot overflow it.
pub(super) fn check_length(field: &'static str, expected: u128, found: usize) -> Result<(), Refusal> {
    if expected == found as u128 {
        return Ok(());
    }
    let expected = usize::try_from(expected).unwrap_or(usize::MAX);
    Err(Refusal::Length {
        field,
        expected,
        found,
    })
}

/// Checks `majors + 1` offsets that start at 0, never decrease and end at `stored`.
pub(super) fn check_offsets(
    field: &'static str,
    offsets: &[u32],
    majors: usize,
    stored: usize,
) -> Result<(), Refusal> {
    check_length(field, majors as u128 + 1, offsets.len())?;
    if offsets[0] != 0 {
        return Err(Refusal::FirstOffset {
            field,
            found: u64::from(offsets[0]),
        });
    }
    if let Some(i) = offsets.windows(2).position(|w| w[1] < w[0]) {
        let (previous, found) = (u64::from(offsets[i]), u64::from(offsets[i + 1]));
        return Err(Refusal::Decreasing {
            field,
            at: i + 1,
            previous,
            found,
        });
    }
    let last = u64::from(offsets[majors]);
    if last != stored as u64 {
        return Err(Refusal::LastOffset {
            field,
            expected: stored as u64,
            found: last,
        });
    }
    Ok(())
}

/// Checks that the indices of one major lane are strictly ascending and below `limit`; `start` is the offset of the
/// lane in the whole array, for the message.
pub(super) fn check_ascending<I: Copy + Into<u64>>(
    field: &'static str,
    row: usize,
    start: usize,
    lane: &[I],
    limit: usize,
) -> Result<(), Refusal> {
    let mut before = None;
    for (i, &index) in lane.iter().enumerate() {
        let (at, found): (usize, u64) = (start + i, index.into());
        if found >= limit as u64 {
            return Err(Refusal::IndexOutOfRange {
                field,
                at,
                row,
                found,
                limit: limit as u64,
            });
        }
        if before == Some(found) {
            return Err(Refusal::Duplicate {
                field,
                at,
                row,
                column: found as usize,
            });
        }
        if let Some(previous) = before.filter(|&previous| previous > found) {
            return Err(Refusal::Unsorted {
                field,
                at,
                row,
                previous,
                found,
            });
        }
        before = Some(found);
    }
    Ok(())
}

/// Checks that an encoder may allocate `slots` elements for one array.
pub(super) fn check_slots(field: &'static str, slots: u128) -> Result<usize, Refusal> {
    match usize::try_from(slots) {
        Ok(fits) if slots <= u128::from(SLOT_LIMIT) => Ok(fits),
        _ => Err(Refusal::TooLarge {
            field,
            found: slots,
            limit: SLOT_LIMIT,
        }),
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
pub(super) struct BlockGrid {
    /// Number of block rows.
    pub(super) rows: usize,
    /// Number of block columns.
    pub(super) cols: usize,
    /// Elements of one block.
    pub(super) area: usize,
}

impl BlockGrid {
    /// Checks the shape of the matrix and of its blocks.
    pub(super) fn try_new(
        rows: usize,
        cols: usize,
        block_rows: usize,
        block_cols: usize,
    ) -> Result<Self, Refusal> {
        check_shape(rows, cols)?;
        for (field, extent) in [("block_rows", block_rows), ("block_cols", block_cols)] {
            if extent == 0 {
                return Err(Refusal::Zero { field });
            }
        }
        let area = block_rows as u128 * block_cols as u128;
        if area > u128::from(BLOCK_AREA_LIMIT) {
            return Err(Refusal::TooLarge {
                field: "block_rows * block_cols",
                found: area,
                limit: BLOCK_AREA_LIMIT,
            });
        }
        Ok(BlockGrid {
            rows: rows.div_ceil(block_rows),
            cols: cols.div_ceil(block_cols),
            area: area as usize,
        })
    }
}
