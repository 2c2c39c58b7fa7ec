//! Encoder and decoder of LOOPS; the layout is that of [`LoopsParts`](crate::format::LoopsParts).

use super::tiles::placed;
use super::tiles::{distinct_blocks, filled, windows};
use crate::arithmetic::Slot;
use crate::format::check::check_slots;
use crate::format::{Codec, Csr, Entries, Entry, FormatParams, Loops, LoopsParts, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use sparse_types::format::loops::check_cut;

impl<T: Scalar> Codec<T> for Loops<T> {
    /// Encodes sorted entries: a tile for every column of a block that holds an entry, an explicit +0.0 included.
    /// Without a given boundary half the rows, rounded down, are the CSR part.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `br` 0 or past [`BLOCK_AREA_LIMIT`](crate::format::BLOCK_AREA_LIMIT); a boundary past the last row; more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) offsets of either part, or slots.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (rows, br) = (entries.rows, params.br as usize);
        let boundary = params.boundary.map_or(rows / 2, |given| given as usize);
        let blocks = check_cut(rows, boundary, br)?;
        let mut row_ptr = vec![0u32; check_slots("row_ptr", boundary as u128 + 1)?];
        let mut block_ptr = vec![0u32; check_slots("block_ptr", blocks as u128 + 1)?];
        let first_tiled = entries.list.partition_point(|e| (e.row as usize) < boundary);
        let (csr, tiled) = entries.list.split_at(first_tiled);
        for e in csr {
            row_ptr[e.row as usize + 1] += 1;
        }
        accumulate(&mut row_ptr);
        // (block, column) of every tile, in stored order.
        let tile_of = |e: &Entry<T>| ((e.row as usize - boundary) / br, e.col);
        let mut tiles: Vec<(usize, u32)> = tiled.iter().map(tile_of).collect();
        tiles.sort_unstable();
        tiles.dedup();
        for &(block, _) in &tiles {
            block_ptr[block + 1] += 1;
        }
        accumulate(&mut block_ptr);
        let slots = check_slots("slots", tiles.len() as u128 * br as u128)?;
        let mut values = vec![T::from_bits64(0); slots];
        for e in tiled {
            let tile = tiles.partition_point(|&t| t < tile_of(e));
            values[tile * br + (e.row as usize - boundary) % br] = e.value;
        }
        Loops::try_new(LoopsParts {
            rows,
            cols: entries.cols,
            boundary,
            br,
            row_ptr,
            col_idx: csr.iter().map(|e| e.col).collect(),
            csr_values: csr.iter().map(|e| e.value).collect(),
            block_ptr,
            block_col: tiles.iter().map(|&(_, col)| col).collect(),
            values,
        })
    }

    /// Decodes: every entry of the CSR part, and every slot of the tile part that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for row in 0..p.boundary {
            for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
                list.push(Entry { row: row as u32, col: p.col_idx[at], value: p.csr_values[at] });
            }
        }
        for (block, ends) in p.block_ptr.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
            let first_row = p.boundary + block * p.br;
            for r in 0..p.br.min(p.rows - first_row) {
                for tile in ends[0] as usize..ends[1] as usize {
                    let value = p.values[tile * p.br + r];
                    if !value.is_positive_zero() {
                        let (row, col) = ((first_row + r) as u32, p.block_col[tile]);
                        list.push(Entry { row, col, value });
                    }
                }
            }
        }
        Entries { rows: p.rows, cols: p.cols, list }
    }

    /// The parameters that the matrix was encoded with; the boundary is always given.
    fn params(&self) -> FormatParams {
        // The constructor has checked that both fit.
        FormatParams { boundary: Some(self.boundary as u32), br: self.br as u32, ..FormatParams::default() }
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (self.br, 1),
            count: self.block_col.len(),
            windows: filled(&self.block_ptr),
            entries: self.nnz() - self.csr_values.len(),
            is_hybrid: true,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        windows(&self.block_ptr, self.br, self.boundary, |tile| vec![self.block_col[tile]]).slots(self.rows)
    }

    /// The number of the tile within its block, or of the term within its row in the CSR part.
    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>> {
        if (positions.rows, positions.cols) != (self.rows, self.cols) {
            return None;
        }
        let mut slots = Vec::with_capacity(positions.nnz());
        for i in 0..positions.rows {
            let cols = positions.row(i).0;
            let Some(below) = i.checked_sub(self.boundary) else {
                slots.extend((0..cols.len() as u32).map(|at| Slot { in_tile: false, at }));
                continue;
            };
            let block = below / self.br;
            let (start, end) = (self.block_ptr[block] as usize, self.block_ptr[block + 1] as usize);
            for col in cols {
                let tile = self.block_col[start..end].binary_search(col).ok()?;
                let at = u32::try_from(tile).ok()?;
                slots.push(Slot { in_tile: true, at });
            }
        }
        Some(placed(positions, slots))
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        distinct_blocks(entries, params.br, 1).len() as u128 * u128::from(params.br)
    }
}

/// Turns counts, shifted by one, into offsets.
fn accumulate(offsets: &mut [u32]) {
    for i in 1..offsets.len() {
        offsets[i] += offsets[i - 1];
    }
}
