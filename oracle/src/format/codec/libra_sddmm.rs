//! Encoder and decoder of Libra for SDDMM; the layout is that of [`LibraSddmmParts`](crate::format::LibraSddmmParts).

use super::libra_spmm::checked_eta;
use super::tiles::{cut, filled, windows};
use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, LibraSddmm, LibraSddmmParts, PAD, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use sparse_types::format::libra_sddmm::COLS;
use sparse_types::format::libra_spmm::WINDOW;
use std::cmp::Reverse;

/// Threshold when none is given, in 1/128: 0.1875, the paper's.
const DEFAULT_ETA: u32 = 24;

impl<T: Scalar> Codec<T> for LibraSddmm<T> {
    /// Encodes sorted entries. Reads `eta`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `eta` outside 1 to 128; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) row
    /// pointers.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        // ceil(eta / 128 * 128)
        let least = checked_eta(params, DEFAULT_ETA)? as usize;
        let mut p = LibraSddmmParts {
            rows: entries.rows,
            cols: entries.cols,
            window_block_ptr: vec![0],
            block_value_ptr: vec![0],
            row_ptr: vec![0; check_slots("row_ptr", entries.rows as u128 + 1)?],
            ..LibraSddmmParts::default()
        };
        for window in 0..entries.rows.div_ceil(WINDOW) {
            let starts_before = |row: usize| entries.list.partition_point(|e| (e.row as usize) < row);
            let first = starts_before(WINDOW * window);
            let inside = &entries.list[first..starts_before(WINDOW * (window + 1))];
            let vectors = by_density(inside.iter().map(|e| e.col));
            let mut tensor: Vec<u32> = Vec::new();
            for block in vectors.chunks(COLS) {
                if block.iter().map(|v| v.1).sum::<usize>() >= least {
                    let columns: Vec<u32> = block.iter().map(|v| v.0).collect();
                    push_block(&mut p, inside, first, &columns);
                    tensor.extend(columns);
                }
            }
            p.window_block_ptr.push((p.block_value_ptr.len() - 1) as u32);
            tensor.sort_unstable();
            for (i, e) in inside.iter().enumerate() {
                if tensor.binary_search(&e.col).is_err() {
                    p.row_ptr[e.row as usize + 1] += 1;
                    p.col_idx.push(e.col);
                    p.rest_values.push(e.value);
                    p.rest_position.push((first + i) as u32);
                }
            }
        }
        for row in 0..entries.rows {
            p.row_ptr[row + 1] += p.row_ptr[row];
        }
        LibraSddmm::try_new(p)
    }

    /// Decodes: both parts, sorted. Does not read the positions.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for window in 0..p.window_block_ptr.len() - 1 {
            for block in p.window_block_ptr[window]..p.window_block_ptr[window + 1] {
                let block = block as usize;
                let mut at = p.block_value_ptr[block] as usize;
                for (r, c) in (0..WINDOW).flat_map(|r| (0..COLS).map(move |c| (r, c))) {
                    let bit = COLS * r + c;
                    if p.bitmap[2 * block + bit / 64] >> (bit % 64) & 1 == 1 {
                        let row = (WINDOW * window + r) as u32;
                        let (col, value) = (p.block_col[block * COLS + c], p.values[at]);
                        list.push(Entry { row, col, value });
                        at += 1;
                    }
                }
            }
        }
        for row in 0..p.rows {
            for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
                let (col, value) = (p.col_idx[at], p.rest_values[at]);
                let row = row as u32;
                list.push(Entry { row, col, value });
            }
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// Parameters that encode the entries as they are encoded here: `eta` is not given where the default does, else the
    /// smallest that does.
    ///
    /// The arrays do not tell more. For arrays that no encoder writes, `eta` is one above the entries of the densest 16
    /// vectors of any window's CUDA-core part.
    fn params(&self) -> FormatParams {
        let p = &**self;
        let blocks = p.block_value_ptr.windows(2).map(|ends| ends[1] - ends[0]);
        let taken = blocks.min().unwrap_or(128);
        let left_out = (0..p.rows).step_by(WINDOW).map(|first| {
            let last = p.rows.min(first + WINDOW);
            let columns = &p.col_idx[p.row_ptr[first] as usize..p.row_ptr[last] as usize];
            let densest = by_density(columns.iter().copied()).into_iter().take(COLS);
            densest.map(|v| v.1).sum::<usize>()
        });
        let smallest = 128.min(left_out.max().unwrap_or(0) as u32 + 1);
        FormatParams {
            eta: (!(smallest..=taken).contains(&DEFAULT_ETA)).then_some(smallest),
            ..FormatParams::default()
        }
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (WINDOW, COLS),
            count: self.block_value_ptr.len() - 1,
            windows: filled(&self.window_block_ptr),
            entries: self.values.len(),
            is_hybrid: true,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        windows(&self.window_block_ptr, 8, 0, |b| cut(&self.block_col, b, 16)).slots(self.rows)
    }
}

/// Columns with their number of entries, most first, equal ones by column.
fn by_density(columns: impl Iterator<Item = u32>) -> Vec<(u32, usize)> {
    let mut columns: Vec<u32> = columns.collect();
    columns.sort_unstable();
    let mut vectors: Vec<_> = columns.chunk_by(|a, b| a == b).map(|v| (v[0], v.len())).collect();
    vectors.sort_unstable_by_key(|&(col, nnz)| (Reverse(nnz), col));
    vectors
}

/// Appends the block of these columns of a window; `inside` are the window's entries, from entry `first` on.
fn push_block<T: Scalar>(p: &mut LibraSddmmParts<T>, inside: &[Entry<T>], first: usize, columns: &[u32]) {
    let mut bitmap = [0u64; 2];
    for (r, c) in (0..WINDOW).flat_map(|r| (0..columns.len()).map(move |c| (r, c))) {
        let position = |e: &Entry<T>| (e.row as usize % WINDOW, e.col);
        if let Ok(at) = inside.binary_search_by_key(&(r, columns[c]), position) {
            let bit = COLS * r + c;
            bitmap[bit / 64] |= 1 << (bit % 64);
            p.values.push(inside[at].value);
            p.position.push((first + at) as u32);
        }
    }
    p.bitmap.extend(bitmap);
    p.block_value_ptr.push(p.values.len() as u32);
    p.block_col.extend_from_slice(columns);
    p.block_col.resize((p.block_value_ptr.len() - 1) * COLS, PAD);
}
