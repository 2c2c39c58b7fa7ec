//! RS-Tile to CSR: how long each row is, and its columns.
//!
//! A chunk is a range of rows that ends where no window does reach over; it owns one piece of the result, and the
//! windows and residual rows of its range.

use super::{CHUNK, SIDE, bits_by_row, cut, starts};
use crate::portable::convert::jobs::each;
use sparse_types::format::PAD;
use std::ops::Range;

/// The index arrays of an RS-Tile matrix.
#[derive(Debug)]
pub(super) struct RsTileIndex<'a> {
    pub(super) rows: usize,
    pub(super) window_row: &'a [u32],
    pub(super) window_block_ptr: &'a [u32],
    pub(super) bitmap: &'a [u64],
    pub(super) block_col: &'a [u32],
    pub(super) residual_row: &'a [u32],
    pub(super) residual_width: usize,
    pub(super) residual_col: &'a [u32],
}

/// The pattern in CSR, and the chunks in which values can follow.
#[derive(Debug)]
pub(super) struct RowMap {
    pub(super) row_ptr: Vec<u32>,
    pub(super) col_idx: Vec<u32>,
    pub(super) chunks: Vec<RowChunk>,
}

/// A range of rows by what it holds.
#[derive(Debug)]
pub(super) struct RowChunk {
    pub(super) windows: Range<usize>,
    pub(super) residual: Range<usize>,
    /// Offsets in the result.
    pub(super) entries: Range<usize>,
}

impl RowMap {
    pub(super) fn new(index: &RsTileIndex<'_>) -> RowMap {
        let row_ptr = index.row_ptr();
        let chunks = index.chunks(&row_ptr);
        let col_idx = index.columns(&row_ptr, &chunks);
        RowMap { row_ptr, col_idx, chunks }
    }
}

impl RsTileIndex<'_> {
    fn blocks(&self, window: usize) -> Range<usize> {
        self.window_block_ptr[window] as usize..self.window_block_ptr[window + 1] as usize
    }

    /// The columns of a residual row, without pads.
    fn lane(&self, residual: usize) -> &[u32] {
        let start = residual * self.residual_width;
        let lane = &self.residual_col[start..start + self.residual_width];
        &lane[..lane.partition_point(|&col| col != PAD)]
    }

    fn row_ptr(&self) -> Vec<u32> {
        let mut ptr = vec![0u32; self.rows + 1];
        for (window, &first) in self.window_row.iter().enumerate() {
            let first = first as usize;
            let lengths = &mut ptr[first + 1..self.rows.min(first + SIDE) + 1];
            for &bitmap in &self.bitmap[self.blocks(window)] {
                for (length, bits) in lengths.iter_mut().zip(bits_by_row(bitmap)) {
                    *length += bits as u32;
                }
            }
        }
        for (residual, &row) in self.residual_row.iter().enumerate() {
            ptr[row as usize + 1] = self.lane(residual).len() as u32;
        }
        let mut end = 0;
        for offset in &mut ptr {
            end += *offset;
            *offset = end;
        }
        ptr
    }

    /// Cuts the rows into chunks of about [`CHUNK`] entries; a row or window of more is not cut.
    fn chunks(&self, row_ptr: &[u32]) -> Vec<RowChunk> {
        let entries = row_ptr[self.rows] as usize;
        let (mut chunks, mut start) = (Vec::new(), 0);
        let (mut windows, mut residual) = (0, 0);
        while start < self.rows {
            let wanted = row_ptr[start] as usize + CHUNK;
            let mut end = self.rows;
            if wanted < entries {
                let row = row_ptr.partition_point(|&offset| (offset as usize) < wanted);
                end = self.end_of_window(row.max(start + 1));
            }
            let last_window = self.window_row.partition_point(|&row| (row as usize) < end);
            let last_residual = self.residual_row.partition_point(|&row| (row as usize) < end);
            chunks.push(RowChunk {
                windows: windows..last_window,
                residual: residual..last_residual,
                entries: row_ptr[start] as usize..row_ptr[end] as usize,
            });
            (start, windows, residual) = (end, last_window, last_residual);
        }
        chunks
    }

    /// `row`, or the end of the window that it lies in.
    fn end_of_window(&self, row: usize) -> usize {
        let above = self.window_row.partition_point(|&first| (first as usize) < row);
        let last = self.window_row[..above].last();
        let end = last.map_or(row, |&first| row.max(first as usize + SIDE));
        end.min(self.rows)
    }

    fn columns(&self, row_ptr: &[u32], chunks: &[RowChunk]) -> Vec<u32> {
        let mut col_idx = vec![0; row_ptr[self.rows] as usize];
        let jobs = cut(&mut col_idx, chunks.iter().map(|c| c.entries.len()));
        let jobs = jobs.into_iter().zip(chunks);
        each(jobs.collect(), |(out, chunk)| {
            let base = chunk.entries.start;
            for window in chunk.windows.clone() {
                let mut cursors = starts(row_ptr, self.window_row[window] as usize);
                for block in self.blocks(window) {
                    let cols = &self.block_col[SIDE * block..SIDE * (block + 1)];
                    for (mut byte, cursor) in self.bitmap[block].to_le_bytes().into_iter().zip(&mut cursors) {
                        while byte != 0 {
                            out[*cursor as usize - base] = cols[byte.trailing_zeros() as usize];
                            *cursor += 1;
                            byte &= byte - 1;
                        }
                    }
                }
            }
            for residual in chunk.residual.clone() {
                let (row, lane) = (self.residual_row[residual] as usize, self.lane(residual));
                let to = row_ptr[row] as usize - base;
                out[to..to + lane.len()].copy_from_slice(lane);
            }
        });
        col_idx
    }
}
