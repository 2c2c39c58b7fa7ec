//! Encoder and decoder of BCSR; the layout is that of [`BcsrParts`](crate::format::BcsrParts).

use super::tiles::placed;
use super::tiles::{across, distinct_blocks, filled, windows};
use crate::arithmetic::Slot;
use crate::format::check::{BlockGrid, check_slots};
use crate::format::{Bcsr, BcsrParts, Codec, Csr, Entries, Entry, FormatParams, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;

impl<T: Scalar> Codec<T> for Bcsr<T> {
    /// Decodes: every slot that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let area = p.block_rows * p.block_cols;
        let mut list = Vec::with_capacity(self.nnz());
        for row in 0..p.rows {
            let (block_row, r) = (row / p.block_rows, row % p.block_rows);
            for block in p.block_row_ptr[block_row]..p.block_row_ptr[block_row + 1] {
                let block = block as usize;
                let first_col = p.block_col[block] as usize * p.block_cols;
                for c in 0..p.block_cols {
                    let value = p.values[block * area + r * p.block_cols + c];
                    if !value.is_positive_zero() {
                        list.push(Entry { row: row as u32, col: (first_col + c) as u32, value });
                    }
                }
            }
        }
        Entries { rows: p.rows, cols: p.cols, list }
    }

    /// Encodes sorted entries: a block for every position that holds an entry, an explicit +0.0 included.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`], an empty or too large block, more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) block row pointers or slots.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (block_rows, block_cols) = (params.block_rows as usize, params.block_cols as usize);
        let grid = BlockGrid::try_new(entries.rows, entries.cols, block_rows, block_cols)?;
        // (block row, block column) of every stored block, in stored order.
        let block_of = |e: &Entry<T>| (e.row as usize / block_rows, e.col as usize / block_cols);
        let mut blocks: Vec<(usize, usize)> = entries.list.iter().map(block_of).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let slots = check_slots("slots", blocks.len() as u128 * grid.area as u128)?;
        let mut block_row_ptr = vec![0u32; check_slots("block_row_ptr", grid.rows as u128 + 1)?];
        for &(block_row, _) in &blocks {
            block_row_ptr[block_row + 1] += 1;
        }
        for i in 0..grid.rows {
            block_row_ptr[i + 1] += block_row_ptr[i];
        }
        let mut values = vec![T::from_bits64(0); slots];
        for e in &entries.list {
            let block = blocks.partition_point(|&b| b < block_of(e));
            let (r, c) = (e.row as usize % block_rows, e.col as usize % block_cols);
            values[block * grid.area + r * block_cols + c] = e.value;
        }
        Bcsr::try_new(BcsrParts {
            rows: entries.rows,
            cols: entries.cols,
            block_rows,
            block_cols,
            block_row_ptr,
            block_col: blocks.iter().map(|&(_, col)| col as u32).collect(),
            values,
        })
    }

    /// The sides of its blocks, which fit: their area is at most [`BLOCK_AREA_LIMIT`](crate::format::BLOCK_AREA_LIMIT).
    fn params(&self) -> FormatParams {
        FormatParams::blocks(self.block_rows as u32, self.block_cols as u32)
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (self.block_rows, self.block_cols),
            count: self.block_col.len(),
            windows: filled(&self.block_row_ptr),
            entries: self.nnz(),
            is_hybrid: false,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let width = self.block_cols as u32;
        windows(&self.block_row_ptr, self.block_rows, 0, |block| across(self.block_col[block], width))
            .slots(self.rows)
    }

    /// The blocks of a block row follow one another, so that an instruction of k = 8 takes two blocks of width 4.
    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>> {
        if (positions.rows, positions.cols) != (self.rows, self.cols) {
            return None;
        }
        let mut slots = Vec::with_capacity(positions.nnz());
        for i in 0..positions.rows {
            let lane = i / self.block_rows;
            let (start, end) = (self.block_row_ptr[lane] as usize, self.block_row_ptr[lane + 1] as usize);
            let blocks = &self.block_col[start..end];
            for &col in positions.row(i).0 {
                let width = self.block_cols as u32;
                let block = blocks.binary_search(&(col / width)).ok()?;
                let at = u32::try_from(block).ok()?.checked_mul(width)?.checked_add(col % width)?;
                slots.push(Slot { in_tile: true, at });
            }
        }
        Some(placed(positions, slots))
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let (h, w) = (params.block_rows.max(1), params.block_cols.max(1));
        distinct_blocks(entries, h, w).len() as u128 * u128::from(h) * u128::from(w)
    }
}
