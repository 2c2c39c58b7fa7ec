//! Encoder and decoder of Blocked-ELL; the layout is that of [`BlockedEllParts`](crate::format::BlockedEllParts).

use super::tiles::{TileLines, TileList, across, distinct_blocks};
use crate::format::check::{BlockGrid, check_slots};
use crate::format::{BlockedEll, BlockedEllParts, Codec, Entries, Entry, FormatParams, PAD, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;

impl<T: Scalar> Codec<T> for BlockedEll<T> {
    /// Decodes: every element that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let area = p.block_rows * p.block_cols;
        let mut list = Vec::with_capacity(self.nnz());
        for (at, &value) in p.values.iter().enumerate() {
            if value.is_positive_zero() {
                continue;
            }
            let (slot, inside) = (at / area, at % area);
            let row = slot / p.width * p.block_rows + inside / p.block_cols;
            let col = p.block_col[slot] as usize * p.block_cols + inside % p.block_cols;
            list.push(Entry { row: row as u32, col: col as u32, value });
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// Encodes sorted entries; the width is that of the longest block row. An explicit +0.0 creates its block.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`], an empty or too large block, more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) elements (`block rows * width * area`).
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (block_rows, block_cols) = (params.block_rows as usize, params.block_cols as usize);
        let grid = BlockGrid::try_new(entries.rows, entries.cols, block_rows, block_cols)?;
        // (block row, block column) of every stored block, ascending.
        let mut blocks: Vec<(u32, u32)> =
            entries.list.iter().map(|e| block_of(e, block_rows, block_cols)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let lanes = || blocks.chunk_by(|a, b| a.0 == b.0);
        let width = lanes().map(<[_]>::len).max().unwrap_or(0);
        let slots = grid.rows as u128 * width as u128;
        let elements = check_slots("slots", slots * grid.area as u128)?;
        let mut block_col = vec![PAD; slots as usize];
        let mut values = vec![T::from_bits64(0); elements];
        for lane in lanes() {
            for (s, &(block_row, col)) in lane.iter().enumerate() {
                block_col[block_row as usize * width + s] = col;
            }
        }
        for e in &entries.list {
            let (block_row, col) = block_of(e, block_rows, block_cols);
            let start = block_row as usize * width;
            let slot = start + block_col[start..start + width].partition_point(|&c| c < col);
            let (r, c) = (e.row as usize % block_rows, e.col as usize % block_cols);
            values[slot * grid.area + r * block_cols + c] = e.value;
        }
        BlockedEll::try_new(BlockedEllParts {
            rows: entries.rows,
            cols: entries.cols,
            block_rows,
            block_cols,
            width,
            block_col,
            values,
        })
    }

    /// The sides of its blocks, which fit: their area is at most [`BLOCK_AREA_LIMIT`](crate::format::BLOCK_AREA_LIMIT).
    fn params(&self) -> FormatParams {
        FormatParams::blocks(self.block_rows as u32, self.block_cols as u32)
    }

    fn tiling(&self) -> Option<Tiling> {
        let is_real = |col: &&u32| **col != PAD;
        let rows = self.block_col.chunks(self.width.max(1));
        Some(Tiling {
            shape: (self.block_rows, self.block_cols),
            count: self.block_col.iter().filter(is_real).count(),
            windows: rows.filter(|row| row.iter().any(|&col| col != PAD)).count(),
            entries: self.nnz(),
            is_hybrid: false,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let (h, w) = (self.block_rows, self.block_cols as u32);
        let top = |at: usize| at / self.width * h;
        let tile = |(at, &col): (usize, &u32)| TileLines { rows: top(at)..top(at) + h, cols: across(col, w) };
        TileList(self.block_col.iter().enumerate().map(tile).collect()).slots(self.rows)
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let (h, w) = (params.block_rows.max(1), params.block_cols.max(1));
        let blocks = distinct_blocks(entries, h, w);
        let width = blocks.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(0);
        (entries.rows as u128).div_ceil(u128::from(h)) * width as u128 * u128::from(h) * u128::from(w)
    }
}

/// (block row, block column) of an entry.
fn block_of<T>(e: &Entry<T>, block_rows: usize, block_cols: usize) -> (u32, u32) {
    let (row, col) = (e.row as usize / block_rows, e.col as usize / block_cols);
    (row as u32, col as u32)
}
