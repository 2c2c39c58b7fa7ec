//! Encoder and decoder of RS-Tile; the layout is that of [`RsTileParts`](crate::format::RsTileParts).

mod partition;
mod recover;
use super::tiles::placed;
use super::tiles::{TileLines, TileList};
use crate::arithmetic::Slot;
use crate::format::check::check_slots;
use crate::format::{Codec, Csr, Entries, Entry, FormatParams, PAD, RsTile, RsTileParts, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
pub use partition::{RsTilePartition, RsTileThresholds, WINDOW, estimate_tau_nnz, partition};
pub use recover::recover;
use sparse_types::format::rs_tile::SIDE;

impl<T: Scalar> Codec<T> for RsTile<T> {
    /// Encodes sorted entries. Reads `tau_nnz`, `tau_inc` and `impact`; any value of them is legal.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) slots in the residual part (one
    /// long row among many, under a large `tau_nnz`).
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let thresholds = RsTileThresholds::new(entries.rows, entries.nnz(), params);
        let RsTilePartition { windows, residual } = partition(entries, &thresholds);
        let mut p = RsTileParts {
            rows: entries.rows,
            cols: entries.cols,
            window_block_ptr: vec![0],
            block_value_ptr: vec![0],
            ..RsTileParts::default()
        };
        for &first in &windows {
            encode_window(&mut p, first, rows_of(entries, first, SIDE));
        }
        p.window_row = windows;
        let lanes: Vec<&[Entry<T>]> = residual.iter().map(|&row| rows_of(entries, row, 1)).collect();
        p.residual_width = lanes.iter().map(|lane| lane.len()).max().unwrap_or(0);
        let slots = check_slots("residual_slots", lanes.len() as u128 * p.residual_width as u128)?;
        p.residual_col = vec![PAD; slots];
        p.residual_values = vec![T::from_bits64(0); slots];
        for (at, lane) in lanes.iter().enumerate() {
            for (s, e) in lane.iter().enumerate() {
                p.residual_col[at * p.residual_width + s] = e.col;
                p.residual_values[at * p.residual_width + s] = e.value;
            }
        }
        p.residual_row = residual;
        RsTile::try_new(p)
    }

    /// Decodes: every set bit, and every residual slot that is not a pad; explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for (window, &first) in p.window_row.iter().enumerate() {
            for block in self.blocks_of(window) {
                let values = &p.values[p.block_value_ptr[block] as usize..];
                let bits = (0..64u32).filter(|bit| p.bitmap[block] >> bit & 1 == 1);
                list.extend(bits.zip(values).map(|(bit, &value)| Entry {
                    row: first + bit / 8,
                    col: p.block_col[SIDE * block + bit as usize % 8],
                    value,
                }));
            }
        }
        for (at, (&col, &value)) in p.residual_col.iter().zip(&p.residual_values).enumerate() {
            if col != PAD {
                let row = p.residual_row[at / p.residual_width];
                list.push(Entry { row, col, value });
            }
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// Parameters that lead to these windows and residual rows: the default where it does, else the tightest of a rule
    /// ([`recover`]). The default too where none do, which no encoder writes. Costs up to five scans of the entries.
    fn params(&self) -> FormatParams {
        let wanted =
            RsTilePartition { windows: self.window_row.clone(), residual: self.residual_row.clone() };
        recover(&self.entries(), &wanted).unwrap_or_default()
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (SIDE, SIDE),
            count: self.bitmap.len(),
            windows: self.window_row.len(),
            entries: self.values.len(),
            is_hybrid: true,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let blocks = self.window_block_ptr.windows(2).zip(&self.window_row);
        let of = |(ends, &first): (&[u32], &u32)| TileLines {
            rows: first as usize..first as usize + 8,
            cols: self.block_col[8 * ends[0] as usize..8 * ends[1] as usize].to_vec(),
        };
        TileList(blocks.map(of).collect()).slots(self.rows)
    }

    /// The place of the column in its window, or the number of the entry in its residual row.
    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>> {
        if (positions.rows, positions.cols) != (self.rows, self.cols) {
            return None;
        }
        let mut slots = Vec::with_capacity(positions.nnz());
        for i in 0..positions.rows {
            let above = self.window_row.partition_point(|&first| first as usize <= i);
            let window = above.checked_sub(1).filter(|&window| i < self.window_row[window] as usize + 8);
            let (in_tile, columns) = match window {
                Some(window) => {
                    let ends = &self.window_block_ptr[window..=window + 1];
                    (true, &self.block_col[8 * ends[0] as usize..8 * ends[1] as usize])
                }
                None => {
                    let width = self.residual_width;
                    let found = self.residual_row.binary_search(&(i as u32));
                    let lane = found.map_or(0..0, |at| at * width..(at + 1) * width);
                    (false, &self.residual_col[lane])
                }
            };
            // Columns and positions ascend; pads, past every column, are at the end.
            let mut at = 0;
            for col in positions.row(i).0 {
                while columns.get(at).is_some_and(|column| column < col) {
                    at += 1;
                }
                if columns.get(at) != Some(col) {
                    return None;
                }
                slots.push(Slot { in_tile, at: u32::try_from(at).ok()? });
            }
        }
        Some(placed(positions, slots))
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let thresholds = RsTileThresholds::new(entries.rows, entries.nnz(), params);
        let residual = partition(entries, &thresholds).residual;
        let longest = residual.iter().map(|&row| rows_of(entries, row, 1).len()).max().unwrap_or(0);
        residual.len() as u128 * longest as u128
    }
}

/// The entries of rows `first..first + height`.
fn rows_of<T>(entries: &Entries<T>, first: u32, height: usize) -> &[Entry<T>] {
    let before = |row: u64| entries.list.partition_point(|e| u64::from(e.row) < row);
    &entries.list[before(u64::from(first))..before(u64::from(first) + height as u64)]
}

/// Appends the blocks of the window at row `first`, which holds `inside`.
fn encode_window<T: Scalar>(p: &mut RsTileParts<T>, first: u32, inside: &[Entry<T>]) {
    let mut columns: Vec<u32> = inside.iter().map(|e| e.col).collect();
    columns.sort_unstable();
    columns.dedup();
    // What is left of each row: its entries from the block's first column on.
    let mut rows = [&inside[..0]; SIDE];
    for row in inside.chunk_by(|a, b| a.row == b.row) {
        rows[(row[0].row - first) as usize] = row;
    }
    for lane in columns.chunks(SIDE) {
        let mut bitmap = 0;
        for (at, row) in rows.iter_mut().enumerate() {
            let (here, rest) = row.split_at(row.iter().take_while(|e| lane.last() >= Some(&e.col)).count());
            for entry in here {
                bitmap |= 1 << (SIDE * at + lane.partition_point(|&col| col < entry.col));
                p.values.push(entry.value);
            }
            *row = rest;
        }
        p.bitmap.push(bitmap);
        p.block_value_ptr.push(p.values.len() as u32);
        p.block_col.extend_from_slice(lane);
        p.block_col.resize(SIDE * p.bitmap.len(), PAD);
    }
    p.window_block_ptr.push(p.bitmap.len() as u32);
}
