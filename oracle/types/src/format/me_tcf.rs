//! ME-TCF of DTC-SpMM: windows of 16 rows, squeezed into 16 x 8 blocks with one byte per entry.
//!
//! ```text
//! . a . b . . .      columns 1 3 6 of the window, one block (17 rows: the second window has one row)
//! . . . c . . d      row_window_offset  0 1 2           sparse_a_to_b  1 3 6 P P P P P   0 P P P P P P P
//! (14 empty rows)    tc_offset          0 4 5           tc_local_id    0 1 9 10          0
//! e . . . . . .      values             a b c d   e     (P = PAD; id 8 * r + c is position (r, c) of the block)
//! ```
//!
//! Windows start at multiples of 16; one without entries has no block. The distinct columns of a window, ascending, are
//! cut by 8; only the last block is short, its free columns are [`PAD`] and nothing is read for them. Ids
//! ascend strictly inside a block, i.e. entries are row-major: the format is published without an order, one is fixed here so
//! that a matrix has one encoding and a repeated position is seen. Explicit zeros are kept. Source: DTC-SpMM, as RSH-SpMM
//! compares it (section 4.3.1).
//!
//! The load-balanced variant may cut the work at any block, so each block must know its window: `block_window`, one
//! u32 per block. That is all that DTC-SpMM's balanced kernel reads besides the other arrays (`TCblock_rowid` there); how
//! many blocks a thread block takes is a constant of the kernel. Beside 36 bytes per block, one per entry and a share of the
//! window offsets, 4 bytes are 7 % at 15 to 20 entries per block, and the paper measures 7.24 %.
//!
//! A column that no entry uses, and a block without entries, are valid; encoding gives neither.

use super::PAD;
use super::check::{SQUEEZED_COLS, SqueezedWindows, check_length};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal};
use crate::scalar::Scalar;
use std::ops::Deref;

/// Rows of a window and of a block.
pub const HEIGHT: usize = 16;

/// The arrays of an ME-TCF matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeTcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Whether `block_window` is there.
    pub balanced: bool,
    /// `ceil(rows / 16) + 1` offsets, in blocks.
    pub row_window_offset: Vec<u32>,
    /// `blocks + 1` offsets into `values`.
    pub tc_offset: Vec<u32>,
    /// Position inside the block, `8 * r + c`, of each entry; strictly ascending inside a block.
    pub tc_local_id: Vec<u8>,
    /// 8 columns per block, [`PAD`] at the end of a short last block.
    pub sparse_a_to_b: Vec<u32>,
    /// Balanced variant: window of each block; empty otherwise.
    pub block_window: Vec<u32>,
    /// One per entry, block by block in ascending local id.
    pub values: Vec<T>,
}

fields!(MeTcfParts {
    rows: Extent,
    cols: Extent,
    balanced: Flag,
    row_window_offset: U32,
    tc_offset: U32,
    tc_local_id: U8,
    sparse_a_to_b: U32,
    block_window: U32,
    values: Values
});

/// A valid ME-TCF matrix. Reads as its [`MeTcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeTcf<T>(MeTcfParts<T>);

impl<T: Scalar> MeTcf<T> {
    /// Checks the arrays. Rows in refusals are windows, in those about `tc_local_id` blocks.
    ///
    /// # Errors
    /// The first defect found: a dimension, the number of entries or of column slots past u32, an array length, an
    /// offset array that does not start at 0, decreases or ends elsewhere, columns of a window out of range or not
    /// strictly ascending, a pad before a column, a block of pads only, a wrong window of a block, local ids of a
    /// block out of range (below the matrix too), not strictly ascending, or over a pad.
    pub fn try_new(parts: MeTcfParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let windows = SqueezedWindows {
            shape: (p.rows, p.cols),
            height: HEIGHT,
            row_window_offset: &p.row_window_offset,
            tc_offset: &p.tc_offset,
            sparse_a_to_b: &p.sparse_a_to_b,
            balanced: p.balanced,
            block_window: &p.block_window,
        };
        windows.check(p.values.len())?;
        check_length("tc_local_id", p.values.len() as u128, p.tc_local_id.len())?;
        for (window, ends) in p.row_window_offset.windows(2).enumerate() {
            for block in ends[0] as usize..ends[1] as usize {
                check_ids(p, window, block)?;
            }
        }
        Ok(MeTcf(parts))
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }
}

/// Checks that the local ids of a block stand for positions that exist, each once and in order.
fn check_ids<T>(p: &MeTcfParts<T>, window: usize, block: usize) -> Result<(), EncodingError> {
    let field = "tc_local_id";
    let columns = &p.sparse_a_to_b[block * SQUEEZED_COLS..(block + 1) * SQUEEZED_COLS];
    let limit = (p.rows - window * HEIGHT).min(HEIGHT) * SQUEEZED_COLS;
    let (start, end) = (p.tc_offset[block] as usize, p.tc_offset[block + 1] as usize);
    for at in start..end {
        let id = p.tc_local_id[at];
        if usize::from(id) >= limit {
            return Err(EncodingError::IndexOutOfRange {
                field,
                at,
                row: block,
                found: u64::from(id),
                limit: limit as u64,
            });
        }
        if at > start && p.tc_local_id[at - 1] >= id {
            return Err(EncodingError::Unsorted {
                field,
                at,
                row: block,
                previous: u64::from(p.tc_local_id[at - 1]),
                found: u64::from(id),
            });
        }
        if columns[usize::from(id) % SQUEEZED_COLS] == PAD {
            return Err(EncodingError::DirtyPad {
                field,
                at,
                row: window * HEIGHT + usize::from(id) / SQUEEZED_COLS,
            });
        }
    }
    Ok(())
}

impl<T> MeTcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> MeTcfParts<T> {
        self.0
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.0.tc_offset.len() - 1
    }
}

impl<T> Deref for MeTcf<T> {
    type Target = MeTcfParts<T>;

    fn deref(&self) -> &MeTcfParts<T> {
        &self.0
    }
}
