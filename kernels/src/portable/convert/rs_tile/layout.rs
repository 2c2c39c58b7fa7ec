//! The index arrays of the windows.
//!
//! ```text
//! entries of a window, as column * 8 + row, sorted:   4.0 4.2 4.5 | 9.1 | 12.0 12.1
//! columns 4 9 12, one byte each:                      00100101      00000010  00000011      (bit r: row r has it)
//! eight such bytes, turned by 8 x 8 bits:             the bitmap, bit 8 * r + c
//! ```
//!
//! The first pass finds columns and bytes, and with them how many blocks there are and where everything goes; the second
//! fills the arrays.

use super::{CHUNK, SIDE, cut, starts};
use crate::portable::convert::jobs::each;
use sparse_types::format::PAD;
use std::ops::Range;

/// Some windows, and where their entries lie among those of all windows.
#[derive(Debug)]
pub(super) struct WindowChunk {
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
    pub(super) chunks: Vec<WindowChunk>,
}

impl Layout {
    pub(super) fn new(row_ptr: &[u32], col_idx: &[u32], window_row: &[u32]) -> Layout {
        let csr = CsrWindows { row_ptr, col_idx, window_row };
        let chunks = csr.chunks();
        let columns = csr.columns(&chunks);
        let mut window_block_ptr = Vec::with_capacity(window_row.len() + 1);
        window_block_ptr.push(0);
        let mut blocks = 0;
        for &count in &columns.count {
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
        layout.fill(&csr, &columns);
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
    fn fill(&mut self, csr: &CsrWindows<'_>, columns: &Columns) {
        let offsets = &self.window_block_ptr;
        let block_range =
            |windows: &Range<usize>| offsets[windows.start] as usize..offsets[windows.end] as usize;
        let blocks: Vec<usize> = self.chunks.iter().map(|c| block_range(&c.windows).len()).collect();
        let bitmaps = cut(&mut self.bitmap, blocks.iter().copied());
        // Offset 0 stays 0; every block sets the offset behind it.
        let ends = cut(&mut self.block_value_ptr[1..], blocks.iter().copied());
        let cols = cut(&mut self.block_col, blocks.iter().map(|count| SIDE * count));
        let outputs = bitmaps.into_iter().zip(ends).zip(cols);
        let jobs = self.chunks.iter().zip(outputs);
        each(jobs.collect(), |(chunk, ((bitmaps, ends), cols))| {
            let mut values = chunk.values.start;
            for window in chunk.windows.clone() {
                let block = (offsets[window] - offsets[chunk.windows.start]) as usize;
                let own = values..values + columns.count[window] as usize;
                cols[SIDE * block..SIDE * block + own.len()].copy_from_slice(&columns.id[own.clone()]);
                for (bytes, bitmap) in columns.rows[own].chunks(SIDE).zip(&mut bitmaps[block..]) {
                    let mut eight = [0; SIDE];
                    eight[..bytes.len()].copy_from_slice(bytes);
                    *bitmap = turned(u64::from_le_bytes(eight));
                }
                values += csr.span(window).len();
            }
            let mut end = chunk.values.start as u32;
            for (&mut bitmap, offset) in bitmaps.iter_mut().zip(ends) {
                end += bitmap.count_ones();
                *offset = end;
            }
        });
    }
}

/// The distinct columns of every window, ascending, from where its values start on.
struct Columns {
    id: Vec<u32>,
    /// Which rows of the window have the column.
    rows: Vec<u8>,
    /// Number of columns of each window.
    count: Vec<u32>,
}

/// A CSR pattern and the first rows of its windows.
struct CsrWindows<'a> {
    row_ptr: &'a [u32],
    col_idx: &'a [u32],
    window_row: &'a [u32],
}

impl CsrWindows<'_> {
    /// Offsets of the entries of a window in the CSR arrays.
    fn span(&self, window: usize) -> Range<usize> {
        let first = self.window_row[window] as usize;
        let last = (first + SIDE).min(self.row_ptr.len() - 1);
        self.row_ptr[first] as usize..self.row_ptr[last] as usize
    }

    /// Cuts the windows into chunks of at least [`CHUNK`] entries, the last one aside.
    fn chunks(&self) -> Vec<WindowChunk> {
        let mut chunks = Vec::new();
        let (mut start, mut from, mut to) = (0, 0, 0);
        for window in 0..self.window_row.len() {
            to += self.span(window).len();
            if to - from >= CHUNK || window + 1 == self.window_row.len() {
                chunks.push(WindowChunk { windows: start..window + 1, values: from..to });
                (start, from) = (window + 1, to);
            }
        }
        chunks
    }

    fn columns(&self, chunks: &[WindowChunk]) -> Columns {
        let entries = chunks.last().map_or(0, |chunk| chunk.values.end);
        let mut columns =
            Columns { id: vec![0; entries], rows: vec![0; entries], count: vec![0; self.window_row.len()] };
        let lengths = || chunks.iter().map(|c| c.values.len());
        let pieces = cut(&mut columns.id, lengths()).into_iter();
        let pieces = pieces.zip(cut(&mut columns.rows, lengths()));
        let counts = cut(&mut columns.count, chunks.iter().map(|c| c.windows.len()));
        let jobs = chunks.iter().zip(pieces).zip(counts);
        each(jobs.collect(), |((chunk, (ids, rows)), counts)| {
            let (mut sorted, mut at) = (Vec::new(), 0);
            for (window, count) in chunk.windows.clone().zip(counts) {
                self.sort(window, &mut sorted);
                *count = gather(&sorted, &mut ids[at..], &mut rows[at..]);
                at += sorted.len();
            }
        });
        columns
    }

    /// The entries of a window as column * 8 + row, ascending.
    fn sort(&self, window: usize, sorted: &mut Vec<u64>) {
        let first = self.window_row[window] as usize;
        let (from, to) = (starts(self.row_ptr, first), starts(self.row_ptr, first + 1));
        sorted.clear();
        for r in 0..SIDE {
            let cols = &self.col_idx[from[r] as usize..to[r] as usize];
            sorted.extend(cols.iter().map(|&col| u64::from(col) << 3 | r as u64));
        }
        sorted.sort_unstable();
    }
}

/// Takes sorted entries apart into columns and the rows that have them; the number of columns.
fn gather(sorted: &[u64], ids: &mut [u32], rows: &mut [u8]) -> u32 {
    let mut count = 0;
    for &entry in sorted {
        let (col, row) = ((entry >> 3) as u32, 1 << (entry & 7));
        if count > 0 && ids[count - 1] == col {
            rows[count - 1] |= row;
        } else {
            (ids[count], rows[count]) = (col, row);
            count += 1;
        }
    }
    count as u32
}

/// Rows and columns of 8 x 8 bits exchanged: in squares of 1, then of 2, then of 4.
fn turned(bits: u64) -> u64 {
    let squares = [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)];
    squares.into_iter().fold(bits, |bits, (distance, mask)| {
        let differ = (bits ^ bits >> distance) & mask;
        bits ^ differ ^ differ << distance
    })
}
