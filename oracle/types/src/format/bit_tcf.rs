//! BitTCF of Acc-SpMM: windows of 8 rows, squeezed into 8 x 8 blocks with one bitmap each.
//!
//! ```text
//! . a . b . . .      columns 1 3 6 of the window, one block (9 rows: the second window has one row)
//! . . . c . . d      row_window_offset  0 1 2           sparse_a_to_b  1 3 6 P P P P P   0 P P P P P P P
//! (6 empty rows)     tc_offset          0 4 5           tc_local_bit   bits 0 1 9 10     bit 0
//! e . . . . . .      values             a b c d   e     (P = PAD; bit 8 * r + c is position (r, c) of the block)
//! ```
//!
//! Windows start at multiples of 8; one without entries has no block. The distinct columns of a window, ascending, are
//! cut by 8; only the last block is short, its free columns are [`PAD`] and nothing is read for them. Bit 0
//! is the least significant one. A clear bit is no entry, so explicit zeros are kept. Source: Acc-SpMM, as RSH-SpMM
//! compares it (section 4.3.1).
//!
//! The load-balanced variant may cut the work at any block, so each block must know its window: `block_window`, one
//! u32 per block, as in [ME-TCF](super::MeTcf). How many blocks a thread block takes is a schedule and stored nowhere.
//!
//! A column that no entry uses, and a block without entries, are valid; encoding gives neither.

use super::PAD;
use super::check::{SQUEEZED_COLS, SqueezedWindows, check_length};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal};
use crate::scalar::Scalar;
use std::ops::Deref;

/// Rows of a window and of a block.
pub const HEIGHT: usize = 8;

/// The arrays of a BitTCF matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitTcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Whether `block_window` is there.
    pub balanced: bool,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub row_window_offset: Vec<u32>,
    /// `blocks + 1` offsets into `values`.
    pub tc_offset: Vec<u32>,
    /// One per block; bit `8 * r + c`.
    pub tc_local_bit: Vec<u64>,
    /// 8 columns per block, [`PAD`] at the end of a short last block.
    pub sparse_a_to_b: Vec<u32>,
    /// Balanced variant: window of each block; empty otherwise.
    pub block_window: Vec<u32>,
    /// Stored values, block by block in ascending bit order.
    pub values: Vec<T>,
}

fields!(BitTcfParts {
    rows: Extent,
    cols: Extent,
    balanced: Flag,
    row_window_offset: U32,
    tc_offset: U32,
    tc_local_bit: U64,
    sparse_a_to_b: U32,
    block_window: U32,
    values: Values
});

/// A valid BitTCF matrix. Reads as its [`BitTcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct BitTcf<T>(BitTcfParts<T>);

impl<T: Scalar> BitTcf<T> {
    /// Checks the arrays. Rows in refusals about columns are windows.
    ///
    /// # Errors
    /// The first defect found: a dimension, the number of entries or of column slots past u32, an array length, an
    /// offset array that does not start at 0, decreases or ends elsewhere, columns of a window out of range or not
    /// strictly ascending, a pad before a column, a block of pads only, a wrong window of a block, a bit outside the
    /// matrix or over a pad, a block whose offsets do not count its bits.
    pub fn try_new(parts: BitTcfParts<T>) -> Result<Self, Refusal> {
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
        let blocks = p.tc_offset.len() - 1;
        check_length("tc_local_bit", blocks as u128, p.tc_local_bit.len())?;
        for (window, ends) in p.row_window_offset.windows(2).enumerate() {
            for block in ends[0] as usize..ends[1] as usize {
                check_bits(p, window, block)?;
            }
        }
        Ok(BitTcf(parts))
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }
}

/// Checks that the bits of a block stand for positions that exist and are as many as its values.
fn check_bits<T>(p: &BitTcfParts<T>, window: usize, block: usize) -> Result<(), EncodingError> {
    let bits = p.tc_local_bit[block];
    let columns = &p.sparse_a_to_b[block * SQUEEZED_COLS..(block + 1) * SQUEEZED_COLS];
    let rows = p.rows - window * HEIGHT;
    for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
        if bit / SQUEEZED_COLS >= rows || columns[bit % SQUEEZED_COLS] == PAD {
            return Err(EncodingError::StrayBit { field: "tc_local_bit", at: block, bit: bit as u32 });
        }
    }
    let expected = u64::from(p.tc_offset[block]) + u64::from(bits.count_ones());
    let found = u64::from(p.tc_offset[block + 1]);
    if found == expected {
        return Ok(());
    }
    Err(EncodingError::Unequal { field: "tc_offset", at: block + 1, expected, found })
}

impl<T> BitTcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> BitTcfParts<T> {
        self.0
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.0.tc_local_bit.len()
    }
}

impl<T> Deref for BitTcf<T> {
    type Target = BitTcfParts<T>;

    fn deref(&self) -> &BitTcfParts<T> {
        &self.0
    }
}
