//! Encoder and decoder of RS-Tile; the layout is that of [`RsTileParts`](crate::format::RsTileParts).

mod partition;
mod recover;
use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, PAD, RsTile, RsTileParts};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
pub use partition::{Partition, Thresholds, WINDOW, estimate_tau_nnz, partition};
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
        let thresholds = Thresholds::new(entries.rows, entries.nnz(), params);
        let Partition { windows, residual } = partition(entries, &thresholds);
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
        let wanted = Partition { windows: self.window_row.clone(), residual: self.residual_row.clone() };
        recover(&self.entries(), &wanted).unwrap_or_default()
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
    for lane in columns.chunks(SIDE) {
        let mut bitmap = 0;
        for bit in 0..64 {
            let row = u64::from(first) + bit / 8;
            let Some(&col) = lane.get(bit as usize % 8) else {
                continue;
            };
            if let Ok(at) = inside.binary_search_by_key(&(row, col), |e| (u64::from(e.row), e.col)) {
                bitmap |= 1 << bit;
                p.values.push(inside[at].value);
            }
        }
        p.bitmap.push(bitmap);
        p.block_value_ptr.push(p.values.len() as u32);
        p.block_col.extend_from_slice(lane);
        p.block_col.resize(SIDE * p.bitmap.len(), PAD);
    }
    p.window_block_ptr.push(p.bitmap.len() as u32);
}
