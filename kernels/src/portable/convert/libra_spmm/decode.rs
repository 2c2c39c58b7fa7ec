//! From the index arrays of both Libra formats back to the pattern of CSR, and where each value comes from.

use super::encode::{accumulate, cut, ranges, words};
use super::vectors::WINDOW;
use crate::portable::convert::jobs::with_scratch;
use std::ops::Range;

/// The index arrays of a valid encoding.
#[derive(Clone, Copy, Debug)]
pub(in crate::portable::convert) struct Encoding<'a> {
    pub(in crate::portable::convert) kb: usize,
    pub(in crate::portable::convert) window_block_ptr: &'a [u32],
    pub(in crate::portable::convert) bitmap: &'a [u64],
    pub(in crate::portable::convert) block_value_ptr: &'a [u32],
    pub(in crate::portable::convert) block_col: &'a [u32],
    pub(in crate::portable::convert) row_ptr: &'a [u32],
    pub(in crate::portable::convert) col_idx: &'a [u32],
    /// Places in CSR of the values of both parts, where the format has them; else columns ascend in each window.
    pub(in crate::portable::convert) positions: Option<(&'a [u32], &'a [u32])>,
}

/// A CSR pattern, and for each entry its offset in the values of the tensor part followed by those of the rest.
#[derive(Debug)]
pub(in crate::portable::convert) struct Pattern {
    pub(in crate::portable::convert) row_ptr: Vec<u32>,
    pub(in crate::portable::convert) col_idx: Vec<u32>,
    pub(in crate::portable::convert) source: Vec<u32>,
}

/// What a range of windows writes.
struct DecodedLanes<'a> {
    windows: Range<usize>,
    /// Offset in CSR of the first element.
    first: u32,
    col_idx: &'a mut [u32],
    source: &'a mut [u32],
}

impl Encoding<'_> {
    /// Decodes the pattern.
    pub(in crate::portable::convert) fn decode(&self) -> Pattern {
        let rows = self.row_ptr.len() - 1;
        let mut row_ptr = vec![0; rows + 1];
        self.count(&mut row_ptr[1..]);
        accumulate(&mut row_ptr);
        let nnz = row_ptr[rows] as usize;
        let (mut col_idx, mut source) = (vec![0; nnz], vec![0; nnz]);
        let (mut columns, mut sources) = (&mut col_idx[..], &mut source[..]);
        let tasks = ranges(&row_ptr).into_iter().map(|windows| {
            let (start, end) = (row_ptr[WINDOW * windows.start], row_ptr[rows.min(WINDOW * windows.end)]);
            DecodedLanes {
                windows,
                first: start,
                col_idx: cut(&mut columns, (end - start) as usize),
                source: cut(&mut sources, (end - start) as usize),
            }
        });
        let _: Vec<()> = with_scratch(tasks.collect(), |_: &mut (), mut task: DecodedLanes<'_>| {
            for window in task.windows.clone() {
                match self.positions {
                    Some(positions) => self.scatter(window, positions, &mut task),
                    None => self.merge(window, row_ptr[WINDOW * window], &mut task),
                }
            }
        });
        Pattern { row_ptr, col_idx, source }
    }

    fn rows(&self, window: usize) -> Range<usize> {
        WINDOW * window..(self.row_ptr.len() - 1).min(WINDOW * (window + 1))
    }

    fn blocks(&self, window: usize) -> Range<usize> {
        self.window_block_ptr[window] as usize..self.window_block_ptr[window + 1] as usize
    }

    /// Bits of row `r` of a block, and how many bits come before them.
    fn row(&self, block: usize, r: usize) -> (u64, u32) {
        let first = self.kb * r;
        let words = &self.bitmap[block * words(self.kb)..];
        let before = words[..first / 64].iter().map(|word| word.count_ones()).sum::<u32>();
        let word = words[first / 64];
        let below = (word & ((1 << (first % 64)) - 1)).count_ones();
        (word >> (first % 64) & ((1 << self.kb) - 1), before + below)
    }

    /// Entries of each row.
    fn count(&self, rows: &mut [u32]) {
        for (row, count) in rows.iter_mut().enumerate() {
            *count = self.row_ptr[row + 1] - self.row_ptr[row];
        }
        for window in 0..self.window_block_ptr.len() - 1 {
            let lanes = self.rows(window);
            for block in self.blocks(window) {
                for (r, count) in rows[lanes.clone()].iter_mut().enumerate() {
                    *count += self.row(block, r).0.count_ones();
                }
            }
        }
    }

    /// Merges the two parts of each row; `at` is the offset in CSR of the first entry.
    fn merge(&self, window: usize, at: u32, lanes: &mut DecodedLanes<'_>) {
        let values = self.block_value_ptr[self.block_value_ptr.len() - 1];
        let mut at = (at - lanes.first) as usize;
        let mut push = |col, source| {
            lanes.col_idx[at] = col;
            lanes.source[at] = source;
            at += 1;
        };
        for (r, row) in self.rows(window).enumerate() {
            let (mut rest, end) = (self.row_ptr[row], self.row_ptr[row + 1]);
            for block in self.blocks(window) {
                let (mut bits, before) = self.row(block, r);
                let mut source = self.block_value_ptr[block] + before;
                while bits != 0 {
                    let col = self.block_col[block * self.kb + bits.trailing_zeros() as usize];
                    bits &= bits - 1;
                    while rest < end && self.col_idx[rest as usize] < col {
                        push(self.col_idx[rest as usize], values + rest);
                        rest += 1;
                    }
                    push(col, source);
                    source += 1;
                }
            }
            for rest in rest..end {
                push(self.col_idx[rest as usize], values + rest);
            }
        }
    }

    /// Puts the entries of a window where their positions say.
    fn scatter(
        &self,
        window: usize,
        (position, rest_position): (&[u32], &[u32]),
        lanes: &mut DecodedLanes<'_>,
    ) {
        let values = position.len() as u32;
        let mut put = |place: u32, col, source| {
            let at = (place - lanes.first) as usize;
            lanes.col_idx[at] = col;
            lanes.source[at] = source;
        };
        for block in self.blocks(window) {
            let columns = &self.block_col[block * self.kb..(block + 1) * self.kb];
            let mut at = self.block_value_ptr[block];
            for r in 0..WINDOW {
                let mut bits = self.row(block, r).0;
                while bits != 0 {
                    let col = columns[bits.trailing_zeros() as usize];
                    put(position[at as usize], col, at);
                    bits &= bits - 1;
                    at += 1;
                }
            }
        }
        let rows = self.rows(window);
        for at in self.row_ptr[rows.start]..self.row_ptr[rows.end] {
            put(rest_position[at as usize], self.col_idx[at as usize], values + at);
        }
    }
}
