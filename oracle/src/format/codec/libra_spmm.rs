//! Encoder and decoder of Libra for SpMM; the layout is that of [`LibraSpmmParts`](crate::format::LibraSpmmParts).

use super::tiles::placed;
use super::tiles::{cut, filled, windows};
use crate::arithmetic::Slot;
use crate::format::check::check_slots;
use crate::format::{Codec, Csr, Entries, Entry, FormatParams, LibraSpmm, LibraSpmmParts, PAD, Tiling};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::libra_spmm::{WINDOW, check_kb, words};
use std::cmp::Reverse;

/// Threshold when none is given, in 1/128: 0.375, the paper's.
const DEFAULT_ETA: u32 = 48;

impl<T: Scalar> Codec<T> for LibraSpmm<T> {
    /// Encodes sorted entries. Reads `eta`, `kb` and `fill`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `eta` outside 1 to 128, another `kb` than 4, 8, 16; more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) row pointers.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        // ceil(eta / 128 * 8)
        let least = checked_eta(params, DEFAULT_ETA)?.div_ceil(16) as usize;
        let kb = check_kb(u64::from(params.kb))?;
        let mut p = LibraSpmmParts {
            rows: entries.rows,
            cols: entries.cols,
            kb,
            window_block_ptr: vec![0],
            block_value_ptr: vec![0],
            row_ptr: vec![0; check_slots("row_ptr", entries.rows as u128 + 1)?],
            ..LibraSpmmParts::default()
        };
        for window in 0..entries.rows.div_ceil(WINDOW) {
            let starts_before = |row: usize| entries.list.partition_point(|e| (e.row as usize) < row);
            let inside = &entries.list[starts_before(WINDOW * window)..starts_before(WINDOW * (window + 1))];
            let columns = tensor_columns(inside, least, params.fill.then_some(kb));
            for block in columns.chunks(kb) {
                push_block(&mut p, inside, block);
            }
            p.window_block_ptr.push((p.block_value_ptr.len() - 1) as u32);
            for e in inside.iter().filter(|e| columns.binary_search(&e.col).is_err()) {
                p.row_ptr[e.row as usize + 1] += 1;
                p.col_idx.push(e.col);
                p.rest_values.push(e.value);
            }
        }
        for row in 0..entries.rows {
            p.row_ptr[row + 1] += p.row_ptr[row];
        }
        LibraSpmm::try_new(p)
    }

    /// Decodes: both parts, sorted.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for window in 0..p.window_block_ptr.len() - 1 {
            for block in p.window_block_ptr[window]..p.window_block_ptr[window + 1] {
                let block = block as usize;
                let mut at = p.block_value_ptr[block] as usize;
                for (r, c) in (0..WINDOW).flat_map(|r| (0..p.kb).map(move |c| (r, c))) {
                    let bit = p.kb * r + c;
                    if p.bitmap[block * words(p.kb) + bit / 64] >> (bit % 64) & 1 == 1 {
                        let row = (WINDOW * window + r) as u32;
                        let (col, value) = (p.block_col[block * p.kb + c], p.values[at]);
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
    /// smallest that does; `fill` is set only where no threshold alone gives this encoding.
    ///
    /// The arrays do not tell more. For arrays that no encoder writes, `eta` is one above the densest vector of the
    /// CUDA-core part.
    fn params(&self) -> FormatParams {
        let tensor = self.tensor();
        // The densest vector left out, the sparsest taken, and the sparsest that decides how many blocks there are.
        let (mut left_out, mut taken, mut deciding) = (0, WINDOW, WINDOW);
        for window in 0..tensor.windows() {
            left_out = left_out.max(densest_left_out(self, window));
            let columns = tensor.columns(window);
            let mut counts = vec![0; columns.iter().filter(|&&col| col != PAD).count()];
            let blocks = tensor.blocks(window);
            for block in blocks.clone() {
                for bit in tensor.bits(block) {
                    counts[(block - blocks.start) * self.kb + bit % self.kb] += 1;
                }
            }
            counts.sort_unstable_by_key(|&count| Reverse(count));
            taken = counts.last().map_or(taken, |&least| taken.min(least));
            let full = blocks.len().saturating_sub(1) * self.kb;
            deciding = counts.get(full).map_or(deciding, |&count| deciding.min(count));
        }
        let fill = taken <= left_out;
        let smallest = WINDOW.min(left_out + 1);
        let largest = if fill { deciding } else { taken };
        let default = DEFAULT_ETA.div_ceil(16) as usize;
        FormatParams {
            eta: (!(smallest..=largest).contains(&default)).then_some(16 * smallest as u32),
            kb: self.kb as u32,
            fill,
            ..FormatParams::default()
        }
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (WINDOW, self.kb),
            count: self.block_value_ptr.len() - 1,
            windows: filled(&self.window_block_ptr),
            entries: self.values.len(),
            is_hybrid: true,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        windows(&self.window_block_ptr, 8, 0, |b| cut(&self.block_col, b, self.kb)).slots(self.rows)
    }

    /// The number of the entry in the CUDA-core part of its row if it is there, else the place of the column in its window.
    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>> {
        if (positions.rows, positions.cols) != (self.rows, self.cols) {
            return None;
        }
        let mut slots = Vec::with_capacity(positions.nnz());
        for i in 0..positions.rows {
            let ends = &self.window_block_ptr[i / 8..=i / 8 + 1];
            let tiles = &self.block_col[self.kb * ends[0] as usize..self.kb * ends[1] as usize];
            let rest = &self.col_idx[self.row_ptr[i] as usize..self.row_ptr[i + 1] as usize];
            for col in positions.row(i).0 {
                let (in_tile, at) = match rest.binary_search(col) {
                    Ok(at) => (false, at),
                    Err(_) => (true, tiles.binary_search(col).ok()?),
                };
                let at = u32::try_from(at).ok()?;
                slots.push(Slot { in_tile, at });
            }
        }
        Some(placed(positions, slots))
    }
}

/// Columns of a window that go to the tensor part, ascending: those with at least `least` entries, and with `fill` as
/// many of the others as blocks of that many columns have room for, the densest first.
fn tensor_columns<T>(inside: &[Entry<T>], least: usize, fill: Option<usize>) -> Vec<u32> {
    let mut all: Vec<u32> = inside.iter().map(|e| e.col).collect();
    all.sort_unstable();
    let vectors = || all.chunk_by(|a, b| a == b).map(|v| (v[0], v.len()));
    let mut columns: Vec<u32> = vectors().filter(|v| v.1 >= least).map(|v| v.0).collect();
    if let Some(kb) = fill {
        let mut others: Vec<(u32, usize)> = vectors().filter(|v| v.1 < least).collect();
        others.sort_unstable_by_key(|&(col, nnz)| (Reverse(nnz), col));
        let free = columns.len().next_multiple_of(kb) - columns.len();
        columns.extend(others.iter().take(free).map(|v| v.0));
    }
    columns.sort_unstable();
    columns
}

/// Entries of the densest vector of a window's CUDA-core part.
fn densest_left_out<T>(p: &LibraSpmmParts<T>, window: usize) -> usize {
    let (first, last) = (WINDOW * window, p.rows.min(WINDOW * (window + 1)));
    let mut columns = p.col_idx[p.row_ptr[first] as usize..p.row_ptr[last] as usize].to_vec();
    columns.sort_unstable();
    columns.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
}

/// Appends the block of these columns of a window; `inside` are the window's entries.
fn push_block<T: Scalar>(p: &mut LibraSpmmParts<T>, inside: &[Entry<T>], columns: &[u32]) {
    let first = p.bitmap.len();
    p.bitmap.resize(first + words(p.kb), 0);
    for (r, c) in (0..WINDOW).flat_map(|r| (0..columns.len()).map(move |c| (r, c))) {
        let position = |e: &Entry<T>| (e.row as usize % WINDOW, e.col);
        if let Ok(at) = inside.binary_search_by_key(&(r, columns[c]), position) {
            let bit = p.kb * r + c;
            p.bitmap[first + bit / 64] |= 1 << (bit % 64);
            p.values.push(inside[at].value);
        }
    }
    p.block_value_ptr.push(p.values.len() as u32);
    p.block_col.extend_from_slice(columns);
    p.block_col.resize((p.block_value_ptr.len() - 1) * p.kb, PAD);
}

/// The threshold of the parameters, in 1/128.
pub(super) fn checked_eta(params: &FormatParams, default: u32) -> Result<u32, Refusal> {
    match params.eta.unwrap_or(default) {
        0 => Err(RequestError::Zero { field: "eta" }.into()),
        eta @ 1..=128 => Ok(eta),
        eta => Err(RequestError::TooLarge { field: "eta", found: u128::from(eta), limit: 128 }.into()),
    }
}
