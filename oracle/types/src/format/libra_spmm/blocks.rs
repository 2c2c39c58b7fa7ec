//! What the validators of both Libra formats check alike: windows of 8 rows and their bitmap blocks, and a CUDA-core part by
//! itself.

use super::WINDOW;
use crate::format::PAD;
use crate::format::check::{check_ascending, check_length, check_offsets, check_shape};
use crate::refusal::{EncodingError, Refusal, check_u32};

/// The arrays of a tensor part.
#[derive(Clone, Copy, Debug)]
pub struct TensorBlocks<'a> {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Columns of a block, 4, 8 or 16.
    pub kb: usize,
    /// Offsets in blocks, per window.
    pub window_block_ptr: &'a [u32],
    /// Bits of the entries, [`words`] words per block.
    pub bitmap: &'a [u64],
    /// Offsets in values, per block.
    pub block_value_ptr: &'a [u32],
    /// `kb` columns per block, pads last.
    pub block_col: &'a [u32],
    /// Length of `values`.
    pub values: usize,
}

impl TensorBlocks<'_> {
    /// Checks lengths and offsets. Rows of refusals about `window_block_ptr` and `block_col` count windows.
    pub fn check_frame(&self) -> Result<(), Refusal> {
        check_shape(self.rows, self.cols)?;
        let blocks = self.block_value_ptr.len().saturating_sub(1);
        check_u32("blocks", blocks as u128)?;
        check_offsets("block_value_ptr", self.block_value_ptr, blocks, self.values)?;
        check_offsets("window_block_ptr", self.window_block_ptr, self.windows(), blocks)?;
        check_length("bitmap", blocks as u128 * self.words() as u128, self.bitmap.len())?;
        check_length("block_col", blocks as u128 * self.kb as u128, self.block_col.len())?;
        Ok(())
    }

    /// Checks the columns of a window: in range, pads only after the last real one, and fewer than a block holds. Returns
    /// how many are real.
    pub fn check_pads(&self, window: usize) -> Result<usize, EncodingError> {
        let lane = self.columns(window);
        let start = self.window_block_ptr[window] as usize * self.kb;
        // One column more than the full blocks hold, if there is a block at all.
        let least = lane.len() - lane.len().min(self.kb - 1);
        let pad = lane.iter().position(|&col| col == PAD);
        let real = pad.unwrap_or(lane.len()).max(least);
        for (i, &col) in lane.iter().enumerate() {
            let at = start + i;
            if i < real && col as usize >= self.cols {
                return Err(EncodingError::IndexOutOfRange {
                    field: "block_col",
                    at,
                    row: window,
                    found: u64::from(col),
                    limit: self.cols as u64,
                });
            }
            if i >= real && col != PAD {
                return Err(EncodingError::DirtyPad { field: "block_col", at, row: window });
            }
        }
        Ok(real)
    }

    /// Checks that the `real` columns of a window ascend.
    pub fn check_ascending(&self, window: usize, real: usize) -> Result<(), EncodingError> {
        let start = self.window_block_ptr[window] as usize * self.kb;
        let lane = &self.columns(window)[..real];
        check_ascending("block_col", window, start, lane, self.cols)
    }

    /// Checks that the bits of a window stand for positions that exist, and number as many as the values.
    pub fn check_bits(&self, window: usize) -> Result<(), EncodingError> {
        let rows = self.rows - window * WINDOW;
        for block in self.blocks(window) {
            let mut count = 0;
            for bit in self.bits(block) {
                let (r, c) = (bit / self.kb, bit % self.kb);
                // A word has bits that no position of a block of 4 columns stands for.
                let exists = r < WINDOW.min(rows) && self.block_col[block * self.kb + c] != PAD;
                if !exists {
                    return Err(EncodingError::StrayBit {
                        field: "bitmap",
                        at: block * self.words() + bit / 64,
                        bit: (bit % 64) as u32,
                    });
                }
                count += 1;
            }
            let (start, end) = (self.block_value_ptr[block], self.block_value_ptr[block + 1]);
            let expected = u64::from(start) + count;
            if expected != u64::from(end) {
                return Err(EncodingError::Unequal {
                    field: "block_value_ptr",
                    at: block + 1,
                    expected,
                    found: u64::from(end),
                });
            }
        }
        Ok(())
    }

    /// Whether column `col` of a window whose columns ascend holds an entry in row `r` of it.
    pub fn holds(&self, window: usize, r: usize, col: u32) -> bool {
        // Pads compare above every column.
        let Ok(i) = self.columns(window).binary_search(&col) else {
            return false;
        };
        let block = self.window_block_ptr[window] as usize + i / self.kb;
        let bit = r * self.kb + i % self.kb;
        self.bitmap[block * self.words() + bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Set bits of a block, ascending.
    pub fn bits(&self, block: usize) -> impl Iterator<Item = usize> {
        let words = self.bitmap[block * self.words()..(block + 1) * self.words()].iter();
        words.enumerate().flat_map(|(w, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * w + bit)
        })
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.rows.div_ceil(WINDOW)
    }

    /// The blocks of a window.
    pub fn blocks(&self, window: usize) -> std::ops::Range<usize> {
        self.window_block_ptr[window] as usize..self.window_block_ptr[window + 1] as usize
    }

    /// The columns of a window, pads included.
    pub fn columns(&self, window: usize) -> &[u32] {
        let blocks = self.blocks(window);
        &self.block_col[blocks.start * self.kb..blocks.end * self.kb]
    }

    /// Words of a bitmap.
    fn words(&self) -> usize {
        words(self.kb)
    }
}

/// Words that hold the 8 * `kb` bits of a block.
pub fn words(kb: usize) -> usize {
    (WINDOW * kb).div_ceil(64)
}

/// Checks a CUDA-core part by itself.
pub fn check_rest(
    rows: usize,
    cols: usize,
    row_ptr: &[u32],
    col_idx: &[u32],
    values: usize,
) -> Result<(), EncodingError> {
    check_offsets("row_ptr", row_ptr, rows, col_idx.len())?;
    check_length("rest_values", col_idx.len() as u128, values)?;
    for (row, ends) in row_ptr.windows(2).enumerate() {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        check_ascending("col_idx", row, start, &col_idx[start..end], cols)?;
    }
    Ok(())
}
