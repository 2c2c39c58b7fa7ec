//! The index arrays of the windows.
//!
//! The entries of a window are one piece of the CSR arrays. Its columns are copied, sorted and freed of repetitions in
//! place; that gives the number of blocks, and with it where everything goes. Then every row walks along the columns of
//! its window and sets its bits.

use super::{CHUNK, SIDE, cut, each, starts};
use sparse_oracle::format::PAD;
use std::ops::Range;

/// Some windows, and where their entries lie among those of all windows.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) windows: Range<usize>,
    pub(super) values: Range<usize>,
}

/// The index arrays.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) window_block_ptr: Vec<u32>,
    pub(super) bitmap: Vec<u64>,
    pub(super) block_value_ptr: Vec<u32>,
    pub(super) block_col: Vec<u32>,
    pub(super) chunks: Vec<Chunk>,
}

impl Layout {
    pub(super) fn new(row_ptr: &[u32], col_idx: &[u32], window_row: &[u32]) -> Layout {
        let csr = Windows {
            row_ptr,
            col_idx,
            window_row,
        };
        let chunks = csr.chunks();
        let (columns, distinct) = csr.distinct_columns(&chunks);
        let mut window_block_ptr = Vec::with_capacity(window_row.len() + 1);
        window_block_ptr.push(0);
        let mut blocks = 0;
        for &count in &distinct {
            blocks += count.div_ceil(SIDE as u32);
            window_block_ptr.push(blocks);
        }
        let mut layout = Layout {
            window_block_ptr,
            bitmap: vec![0; blocks as usize],
            block_value_ptr: vec![0; blocks as usize + 1],
            block_col: vec![PAD; SIDE * blocks as usize],
            chunks,
        };
        layout.fill(&csr, &columns, &distinct);
        layout
    }

    /// The blocks of a window.
    pub(super) fn blocks(&self, window: usize) -> Range<usize> {
        self.window_block_ptr[window] as usize..self.window_block_ptr[window + 1] as usize
    }

    /// Entries of all windows.
    pub(super) fn values(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.values.end)
    }

    /// Columns, bits and value offsets, chunk by chunk.
    fn fill(&mut self, csr: &Windows<'_>, columns: &[u32], distinct: &[u32]) {
        let offsets = &self.window_block_ptr;
        let block_range =
            |windows: &Range<usize>| offsets[windows.start] as usize..offsets[windows.end] as usize;
        let blocks: Vec<usize> = self
            .chunks
            .iter()
            .map(|c| block_range(&c.windows).len())
            .collect();
        let bitmaps = cut(&mut self.bitmap, blocks.iter().copied());
        // Offset 0 stays 0; every block sets the offset behind it.
        let ends = cut(&mut self.block_value_ptr[1..], blocks.iter().copied());
        let cols = cut(&mut self.block_col, blocks.iter().map(|count| SIDE * count));
        let outputs = bitmaps.into_iter().zip(ends).zip(cols);
        let jobs = self.chunks.iter().zip(outputs);
        each(jobs.collect(), |(chunk, ((bitmaps, ends), cols))| {
            let mut values = chunk.values.start;
            for window in chunk.windows.clone() {
                let first_block = (offsets[window] - offsets[chunk.windows.start]) as usize;
                let own = &columns[values..values + distinct[window] as usize];
                cols[SIDE * first_block..SIDE * first_block + own.len()].copy_from_slice(own);
                csr.set_bits(window, own, &mut bitmaps[first_block..]);
                values += csr.entries(window).len();
            }
            let mut end = chunk.values.start as u32;
            for (&mut bitmap, offset) in bitmaps.iter_mut().zip(ends) {
                end += bitmap.count_ones();
                *offset = end;
            }
        });
    }
}

/// A CSR pattern and the first rows of its windows.
struct Windows<'a> {
    row_ptr: &'a [u32],
    col_idx: &'a [u32],
    window_row: &'a [u32],
}

impl Windows<'_> {
    /// Offsets of the entries of a window in the CSR arrays.
    fn entries(&self, window: usize) -> Range<usize> {
        let first = self.window_row[window] as usize;
        let last = (first + SIDE).min(self.row_ptr.len() - 1);
        self.row_ptr[first] as usize..self.row_ptr[last] as usize
    }

    /// Cuts the windows into chunks of at least [`CHUNK`] entries, the last one aside.
    fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let (mut start, mut from, mut to) = (0, 0, 0);
        for window in 0..self.window_row.len() {
            to += self.entries(window).len();
            if to - from >= CHUNK || window + 1 == self.window_row.len() {
                chunks.push(Chunk {
                    windows: start..window + 1,
                    values: from..to,
                });
                (start, from) = (window + 1, to);
            }
        }
        chunks
    }

    /// For each window its distinct columns, ascending, from where its values start on; and their number.
    fn distinct_columns(&self, chunks: &[Chunk]) -> (Vec<u32>, Vec<u32>) {
        let mut columns = vec![0; chunks.last().map_or(0, |chunk| chunk.values.end)];
        let mut distinct = vec![0; self.window_row.len()];
        let pieces = cut(&mut columns, chunks.iter().map(|c| c.values.len()));
        let counts = cut(&mut distinct, chunks.iter().map(|c| c.windows.len()));
        let jobs = chunks.iter().zip(pieces).zip(counts);
        each(jobs.collect(), |((chunk, columns), counts)| {
            let mut rest = columns;
            for (window, count) in chunk.windows.clone().zip(counts) {
                let entries = self.entries(window);
                let (own, behind) = rest.split_at_mut(entries.len());
                own.copy_from_slice(&self.col_idx[entries]);
                own.sort_unstable();
                *count = keep_first_of_equal(own);
                rest = behind;
            }
        });
        (columns, distinct)
    }

    /// Sets the bits of a window whose columns are `columns`.
    fn set_bits(&self, window: usize, columns: &[u32], bitmaps: &mut [u64]) {
        let first = self.window_row[window] as usize;
        let (from, to) = (starts(self.row_ptr, first), starts(self.row_ptr, first + 1));
        for r in 0..SIDE {
            let mut at = 0;
            for &col in &self.col_idx[from[r] as usize..to[r] as usize] {
                while columns[at] < col {
                    at += 1;
                }
                bitmaps[at / SIDE] |= 1 << (SIDE * r + at % SIDE);
                at += 1;
            }
        }
    }
}

/// Moves the first of each run of equal elements to the front; their number.
fn keep_first_of_equal(sorted: &mut [u32]) -> u32 {
    let mut kept = 0;
    for at in 0..sorted.len() {
        if kept == 0 || sorted[at] != sorted[kept - 1] {
            sorted[kept] = sorted[at];
            kept += 1;
        }
    }
    kept as u32
}
