//! Libra for SpMM: the dense 8 x 1 vectors of each window as bitmap blocks for tensor cores, the rest as CSR for CUDA
//! cores.
//!
//! ```text
//! . a . . b .     window of 8 rows (3 here), kb = 4, at least 2 entries for the tensor part
//! . c d . e .
//! . f . g . .     columns 1 4: block_col 1 4 P P     bits (0,0) (0,1) (1,0) (1,1) (2,0), bit 4 r + c
//!                 bitmap 0x133                       values a b c e f, in the order of the bits
//!                 the rest: row_ptr 0 0 1 2, col_idx 2 3, rest_values d g
//! ```
//!
//! Seeds/002, sections 4.2 to 4.4; SEMANTICS section 8. A window is 8 rows from a multiple of 8 on. A vector goes to
//! the tensor part from `ceil(eta * 8)` entries on: at least, not more than (slip 4). With `fill`, the free columns of
//! a window's last block take the densest remaining vectors, equally dense ones by column. The columns of a window
//! then ascend, and are cut by `kb`; a window without a dense vector has no block, `fill` or not.
//!
//! A valid matrix may distribute its vectors otherwise, or cut one in two, and may hold columns and blocks without a bit:
//! what counts is that each position is stored once, that columns ascend in a window (the order of the terms), and that
//! there are as many blocks as those columns need. Explicit zeros are kept, pads are known by their column
//! [`PAD`](super::PAD).

mod blocks;

use super::check::check_slots;
use super::fields::fields;
use super::{Entries, Entry, FormatParams, PAD};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use blocks::words;
pub(super) use blocks::{Blocks, check_rest};
use std::cmp::Reverse;
use std::ops::Deref;

/// Rows of a window.
pub(super) const WINDOW: usize = 8;

/// Threshold when none is given, in 1/128: 0.375, the paper's.
const DEFAULT_ETA: u32 = 48;

/// The arrays of a `LibraSpmm` matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraSpmmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Columns of a block: 4, 8 or 16.
    pub kb: usize,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// One word per block, two when `kb` is 16, the lower bits first; bit `kb * r + c`.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// `kb` columns per block, ascending in a window, [`PAD`](super::PAD) at the end of a short last block.
    pub block_col: Vec<u32>,
    /// Stored values of the tensor part, block by block in ascending bit order.
    pub values: Vec<T>,
    /// CUDA-core part: `rows + 1` offsets.
    pub row_ptr: Vec<u32>,
    /// CUDA-core part: columns.
    pub col_idx: Vec<u32>,
    /// CUDA-core part: values.
    pub rest_values: Vec<T>,
}

fields!(LibraSpmmParts {
    rows: Extent,
    cols: Extent,
    kb: Extent,
    window_block_ptr: U32,
    bitmap: U64,
    block_value_ptr: U32,
    block_col: U32,
    values: Values,
    row_ptr: U32,
    col_idx: U32,
    rest_values: Values
});

/// A valid `LibraSpmm` matrix. Reads as its [`LibraSpmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSpmm<T>(LibraSpmmParts<T>);

impl<T: Scalar> LibraSpmm<T> {
    /// Checks the arrays. Rows of refusals about `block_col` count windows.
    ///
    /// # Errors
    /// The first defect found: another `kb` than 4, 8, 16; a dimension or a count past u32; an array length; a
    /// decreasing offset; columns out of range, not ascending, or after a pad; a pad in a block that is not the last of
    /// its window, or first in that; a bit over a pad or below the matrix; fewer or more values than bits; a position in both parts.
    pub fn try_new(parts: LibraSpmmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_kb(p.kb as u64)?;
        let tensor = p.tensor();
        tensor.check_frame()?;
        check_rest(p.rows, p.cols, &p.row_ptr, &p.col_idx, p.rest_values.len())?;
        check_u32("nnz", p.values.len() as u128 + p.col_idx.len() as u128)?;
        for window in 0..tensor.windows() {
            let real = tensor.check_pads(window)?;
            tensor.check_ascending(window, real)?;
            tensor.check_bits(window)?;
        }
        for row in 0..p.rows {
            for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
                let column = p.col_idx[at];
                if tensor.holds(row / WINDOW, row % WINDOW, column) {
                    return Err(Refusal::Duplicate { field: "col_idx", at, row, column: column as usize });
                }
            }
        }
        Ok(LibraSpmm(parts))
    }

    /// Encodes sorted entries. Reads `eta`, `kb` and `fill`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `eta` outside 1 to 128, another `kb` than 4, 8, 16; more than
    /// [`SLOT_LIMIT`](super::SLOT_LIMIT) row pointers.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
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
                p.push_block(inside, block);
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
        Ok(LibraSpmm(p))
    }

    /// Decodes: both parts, sorted.
    pub fn entries(&self) -> Entries<T> {
        let p = &self.0;
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
        Entries::sorted(p.rows, p.cols, list)
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len() + self.0.rest_values.len()
    }

    /// Parameters that encode the entries as they are encoded here: `eta` is not given where the default does, else the
    /// smallest that does; `fill` is set only where no threshold alone gives this encoding.
    ///
    /// The arrays do not tell more. For arrays that no encoder writes, `eta` is one above the densest vector of the
    /// CUDA-core part.
    pub fn params(&self) -> FormatParams {
        let tensor = self.0.tensor();
        // The densest vector left out, the sparsest taken, and the sparsest that decides how many blocks there are.
        let (mut left_out, mut taken, mut deciding) = (0, WINDOW, WINDOW);
        for window in 0..tensor.windows() {
            left_out = left_out.max(densest_left_out(&self.0, window));
            let columns = tensor.columns(window);
            let mut counts = vec![0; columns.iter().filter(|&&col| col != PAD).count()];
            let blocks = tensor.blocks(window);
            for block in blocks.clone() {
                for bit in tensor.bits(block) {
                    counts[(block - blocks.start) * self.0.kb + bit % self.0.kb] += 1;
                }
            }
            counts.sort_unstable_by_key(|&count| Reverse(count));
            taken = counts.last().map_or(taken, |&least| taken.min(least));
            let full = blocks.len().saturating_sub(1) * self.0.kb;
            deciding = counts.get(full).map_or(deciding, |&count| deciding.min(count));
        }
        let fill = taken <= left_out;
        let smallest = WINDOW.min(left_out + 1);
        let largest = if fill { deciding } else { taken };
        let default = DEFAULT_ETA.div_ceil(16) as usize;
        FormatParams {
            eta: (!(smallest..=largest).contains(&default)).then_some(16 * smallest as u32),
            kb: self.0.kb as u32,
            fill,
            ..FormatParams::default()
        }
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

impl<T> LibraSpmmParts<T> {
    fn tensor(&self) -> Blocks<'_> {
        Blocks {
            rows: self.rows,
            cols: self.cols,
            kb: self.kb,
            window_block_ptr: &self.window_block_ptr,
            bitmap: &self.bitmap,
            block_value_ptr: &self.block_value_ptr,
            block_col: &self.block_col,
            values: self.values.len(),
        }
    }
}

impl<T: Scalar> LibraSpmmParts<T> {
    /// Appends the block of these columns of a window; `inside` are the window's entries.
    fn push_block(&mut self, inside: &[Entry<T>], columns: &[u32]) {
        let first = self.bitmap.len();
        self.bitmap.resize(first + words(self.kb), 0);
        for (r, c) in (0..WINDOW).flat_map(|r| (0..columns.len()).map(move |c| (r, c))) {
            let position = |e: &Entry<T>| (e.row as usize % WINDOW, e.col);
            if let Ok(at) = inside.binary_search_by_key(&(r, columns[c]), position) {
                let bit = self.kb * r + c;
                self.bitmap[first + bit / 64] |= 1 << (bit % 64);
                self.values.push(inside[at].value);
            }
        }
        self.block_value_ptr.push(self.values.len() as u32);
        self.block_col.extend_from_slice(columns);
        self.block_col.resize((self.block_value_ptr.len() - 1) * self.kb, PAD);
    }
}

/// The threshold of the parameters, in 1/128.
pub(super) fn checked_eta(params: &FormatParams, default: u32) -> Result<u32, Refusal> {
    match params.eta.unwrap_or(default) {
        0 => Err(Refusal::Zero { field: "eta" }),
        eta @ 1..=128 => Ok(eta),
        eta => Err(Refusal::TooLarge { field: "eta", found: u128::from(eta), limit: 128 }),
    }
}

fn check_kb(kb: u64) -> Result<usize, Refusal> {
    match kb {
        4 | 8 | 16 => Ok(kb as usize),
        _ => Err(Refusal::Parameter { field: "kb", expected: "4, 8 or 16", found: kb }),
    }
}

impl<T> LibraSpmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSpmmParts<T> {
        self.0
    }

    /// Number of blocks of the tensor part.
    pub fn blocks(&self) -> usize {
        self.0.block_value_ptr.len() - 1
    }
}

impl<T> Deref for LibraSpmm<T> {
    type Target = LibraSpmmParts<T>;

    fn deref(&self) -> &LibraSpmmParts<T> {
        &self.0
    }
}
