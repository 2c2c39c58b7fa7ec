//! Libra for SDDMM: the densest vectors of each window as 8 x 16 bitmap blocks for tensor cores, the rest as CSR for
//! CUDA cores.
//!
//! ```text
//! . a . . b .     window of 8 rows (3 here), columns by density: 1 (3 entries), 4 (2), 2, 3
//! . c d . e .     one block of 16 columns: block_col 1 4 2 3 P .. P
//! . f . g . .     bits (0,0) (0,1) (1,0) (1,1) (1,2) (2,0) (2,3), bit 16 r + c
//!
//!                 bitmap 0x0000000900070003 0        values   a b c e d f g, in the order of the bits
//!                                                    position 0 1 2 4 3 5 6, each one's place in CSR
//! ```
//!
//! Seeds/002, sections 4.2 to 4.4; SEMANTICS section 8. A window is 8 rows from a multiple of 8 on. Its vectors are
//! sorted by entries, most first, equal ones by column, and cut by 16 in that order. A block, the short last one too,
//! goes to the tensor part from `ceil(eta * 128)` entries on, so the tensor part is the front of that order; the vectors
//! behind it are the CUDA-core part, in the order of CSR. `position` and `rest_position` put the results of both parts
//! back into that of the whole matrix.
//!
//! A valid matrix may distribute and order its vectors otherwise, for no result depends on the order, and may hold
//! columns and blocks without a bit. Demanded are: no column twice in a window, no position in both parts, positions that
//! are right, and as many blocks as the columns need. Explicit zeros are kept, pads are known by their column
//! [`PAD`](super::PAD).

use super::check::{check_length, check_slots};
use super::fields::fields;
use super::libra_spmm::{Blocks, WINDOW, check_rest, checked_eta};
use super::{Entries, Entry, FormatParams, PAD};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use std::cmp::Reverse;
use std::ops::Deref;

/// Columns of a block.
const COLS: usize = 16;

/// Threshold when none is given, in 1/128: 0.1875, the paper's.
const DEFAULT_ETA: u32 = 24;

/// The arrays of a `LibraSddmm` matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraSddmmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `ceil(rows / 8) + 1` offsets, in blocks.
    pub window_block_ptr: Vec<u32>,
    /// Two words per block, the lower bits first; bit `16 * r + c`.
    pub bitmap: Vec<u64>,
    /// `blocks + 1` offsets into `values`.
    pub block_value_ptr: Vec<u32>,
    /// 16 columns per block in the order of the sort, [`PAD`](super::PAD) at the end of a short block.
    pub block_col: Vec<u32>,
    /// Stored values of the tensor part, block by block in ascending bit order.
    pub values: Vec<T>,
    /// Offset in the CSR order of the whole matrix of each element of `values`.
    pub position: Vec<u32>,
    /// CUDA-core part: `rows + 1` offsets.
    pub row_ptr: Vec<u32>,
    /// CUDA-core part: columns.
    pub col_idx: Vec<u32>,
    /// CUDA-core part: values.
    pub rest_values: Vec<T>,
    /// Offset in the CSR order of the whole matrix of each element of `rest_values`.
    pub rest_position: Vec<u32>,
}

fields!(LibraSddmmParts {
    rows: Extent,
    cols: Extent,
    window_block_ptr: U32,
    bitmap: U64,
    block_value_ptr: U32,
    block_col: U32,
    values: Values,
    position: U32,
    row_ptr: U32,
    col_idx: U32,
    rest_values: Values,
    rest_position: U32
});

/// A valid `LibraSddmm` matrix. Reads as its [`LibraSddmmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct LibraSddmm<T>(LibraSddmmParts<T>);

impl<T: Scalar> LibraSddmm<T> {
    /// Checks the arrays. Rows of refusals about `block_col` count windows. Allocates in proportion to the entries of
    /// one window.
    ///
    /// # Errors
    /// The first defect found: a dimension or a count past u32; an array length; a decreasing offset; columns out of
    /// range, repeated in a window, or after a pad; a pad in a block that is not the last of its window, or first in that; a bit over a pad
    /// or below the matrix; fewer or more values than bits; a position in both parts; an offset that is not the one in
    /// the CSR order of the whole matrix.
    pub fn try_new(parts: LibraSddmmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let tensor = p.tensor();
        tensor.check_frame()?;
        check_rest(p.rows, p.cols, &p.row_ptr, &p.col_idx, p.rest_values.len())?;
        check_u32("nnz", p.values.len() as u128 + p.col_idx.len() as u128)?;
        check_length("position", p.values.len() as u128, p.position.len())?;
        check_length("rest_position", p.col_idx.len() as u128, p.rest_position.len())?;
        let mut before = 0;
        for window in 0..tensor.windows() {
            let real = tensor.check_pads(window)?;
            check_distinct(&tensor, window, real)?;
            tensor.check_bits(window)?;
            before += p.check_positions(&tensor, window, before)?;
        }
        Ok(LibraSddmm(parts))
    }

    /// Encodes sorted entries. Reads `eta`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `eta` outside 1 to 128; more than [`SLOT_LIMIT`](super::SLOT_LIMIT) row
    /// pointers.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
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
                    p.push_block(inside, first, &columns);
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
        Ok(LibraSddmm(p))
    }

    /// Decodes: both parts, sorted. Does not read the positions.
    pub fn entries(&self) -> Entries<T> {
        let p = &self.0;
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
        Entries::sorted(p.rows, p.cols, list)
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len() + self.0.rest_values.len()
    }

    /// Parameters that encode the entries as they are encoded here: `eta` is not given where the default does, else the
    /// smallest that does.
    ///
    /// The arrays do not tell more. For arrays that no encoder writes, `eta` is one above the entries of the densest 16
    /// vectors of any window's CUDA-core part.
    pub fn params(&self) -> FormatParams {
        let p = &self.0;
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
}

/// Columns with their number of entries, most first, equal ones by column.
fn by_density(columns: impl Iterator<Item = u32>) -> Vec<(u32, usize)> {
    let mut columns: Vec<u32> = columns.collect();
    columns.sort_unstable();
    let mut vectors: Vec<_> = columns.chunk_by(|a, b| a == b).map(|v| (v[0], v.len())).collect();
    vectors.sort_unstable_by_key(|&(col, nnz)| (Reverse(nnz), col));
    vectors
}

/// Checks that no column is twice among the `real` ones of a window.
fn check_distinct(tensor: &Blocks<'_>, window: usize, real: usize) -> Result<(), Refusal> {
    let start = tensor.blocks(window).start * COLS;
    let columns = tensor.columns(window)[..real].iter().copied();
    let mut sorted: Vec<(u32, usize)> = columns.zip(start..).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => Err(Refusal::Duplicate {
            field: "block_col",
            at: pair[1].1,
            row: window,
            column: pair[1].0 as usize,
        }),
    }
}

impl<T> LibraSddmmParts<T> {
    fn tensor(&self) -> Blocks<'_> {
        Blocks {
            rows: self.rows,
            cols: self.cols,
            kb: COLS,
            window_block_ptr: &self.window_block_ptr,
            bitmap: &self.bitmap,
            block_value_ptr: &self.block_value_ptr,
            block_col: &self.block_col,
            values: self.values.len(),
        }
    }

    /// Checks that no position of a window is in both parts, and that its positions are those in CSR order, `before` of
    /// which are those of earlier windows. Returns the number of its entries.
    fn check_positions(&self, tensor: &Blocks<'_>, window: usize, before: usize) -> Result<usize, Refusal> {
        // Row, column, whether of the CUDA-core part, offset there. Columns were found distinct, bits to be values.
        let mut all: Vec<(usize, u32, bool, usize)> = Vec::new();
        for block in tensor.blocks(window) {
            let first = self.block_value_ptr[block] as usize;
            for (at, bit) in (first..).zip(tensor.bits(block)) {
                let (r, c) = (bit / COLS, bit % COLS);
                all.push((WINDOW * window + r, self.block_col[COLS * block + c], false, at));
            }
        }
        for row in WINDOW * window..self.rows.min(WINDOW * (window + 1)) {
            for at in self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize {
                all.push((row, self.col_idx[at], true, at));
            }
        }
        all.sort_unstable();
        for (i, &(row, col, rest, at)) in all.iter().enumerate() {
            if i > 0 && (all[i - 1].0, all[i - 1].1) == (row, col) {
                return Err(Refusal::Duplicate { field: "col_idx", at, row, column: col as usize });
            }
            let (field, found) = if rest {
                ("rest_position", self.rest_position[at])
            } else {
                ("position", self.position[at])
            };
            if found as usize != before + i {
                return Err(Refusal::Unequal {
                    field,
                    at,
                    expected: (before + i) as u64,
                    found: u64::from(found),
                });
            }
        }
        Ok(all.len())
    }
}

impl<T: Scalar> LibraSddmmParts<T> {
    /// Appends the block of these columns of a window; `inside` are the window's entries, from entry `first` on.
    fn push_block(&mut self, inside: &[Entry<T>], first: usize, columns: &[u32]) {
        let mut bitmap = [0u64; 2];
        for (r, c) in (0..WINDOW).flat_map(|r| (0..columns.len()).map(move |c| (r, c))) {
            let position = |e: &Entry<T>| (e.row as usize % WINDOW, e.col);
            if let Ok(at) = inside.binary_search_by_key(&(r, columns[c]), position) {
                let bit = COLS * r + c;
                bitmap[bit / 64] |= 1 << (bit % 64);
                self.values.push(inside[at].value);
                self.position.push((first + at) as u32);
            }
        }
        self.bitmap.extend(bitmap);
        self.block_value_ptr.push(self.values.len() as u32);
        self.block_col.extend_from_slice(columns);
        self.block_col.resize((self.block_value_ptr.len() - 1) * COLS, PAD);
    }
}

impl<T> LibraSddmm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LibraSddmmParts<T> {
        self.0
    }

    /// Number of blocks of the tensor part.
    pub fn blocks(&self) -> usize {
        self.0.block_value_ptr.len() - 1
    }
}

impl<T> Deref for LibraSddmm<T> {
    type Target = LibraSddmmParts<T>;

    fn deref(&self) -> &LibraSddmmParts<T> {
        &self.0
    }
}
