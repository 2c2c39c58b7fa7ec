//! V:N:M: of each `v` x `m` block four columns are kept, of which each row keeps `n` (VENOM, cited as [19] in NM-SpMM).
//!
//! ```text
//! 2 x 10, v = 2, n = 2, m = 5              column             index            values
//!  . a . . b | . . . . .     block (0, 0)  0 1 2 4 | 0 1 2 3  {1, 3} | {0, 1}  a b | . .
//!  c . . . d | . e . . .     block (0, 1)                     {0, 3} | {0, 1}  c d | . e
//! ```
//!
//! Rows are cut into block rows of `v`, columns into block columns of `m`, both padded up. A column of a block, or a
//! slot of a row, is used if it holds an entry, an explicit zero included. A block that uses more than four columns, or
//! a row of a block that uses more than `n`, is refused: pruning decides what to drop. What is not used names the lowest
//! free column, or the lowest free one of the four, so that both ascend and a matrix has one encoding. Columns past the
//! end are named only where the block has fewer than four real ones.
//!
//! A slot without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 2). One byte of
//! `index` per row of a block: with `n` = 2 its low half is the nibble that 2:4 hardware takes.

mod checks;

use super::check::{check_length, check_shape, check_slots};
use super::fields::fields;
use super::{Entries, Entry, FormatParams};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use checks::{check_column, check_pads, check_positions};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// Columns that a block keeps.
pub(crate) const KEPT: usize = 4;

/// The arrays of a V:N:M matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VnmParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a block.
    pub v: usize,
    /// Values kept per row of a block, at most 4.
    pub n: usize,
    /// Columns of a block, at least 4.
    pub m: usize,
    /// Four selected columns per block, as ascending offsets inside the block; blocks in row-major order.
    pub column: Vec<u32>,
    /// One byte per row and block column, rows padded to a multiple of `v`, row-major: which of the four kept value
    /// `j` stands in at bits `2j` and `2j + 1`, ascending; the other bits are 0.
    pub index: Vec<u8>,
    /// `n` values per element of `index`.
    pub values: Vec<T>,
}

fields!(VnmParts {
    rows: Extent,
    cols: Extent,
    v: Extent,
    n: Extent,
    m: Extent,
    column: U32,
    index: U8,
    values: Values
});

/// A valid V:N:M matrix. Reads as its [`VnmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Vnm<T>(VnmParts<T>);

/// How a matrix is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    /// Number of block columns.
    across: u128,
    /// Elements of `column`.
    columns: u128,
    /// Elements of `index`.
    lanes: u128,
    /// Elements of `values`.
    slots: u128,
}

impl Blocks {
    /// Checks the shape of the matrix and of its blocks.
    pub(crate) fn try_new(
        (rows, cols): (usize, usize),
        v: usize,
        n: usize,
        m: usize,
    ) -> Result<Self, Refusal> {
        check_shape(rows, cols)?;
        for (field, extent) in [("v", v), ("n", n), ("m", m)] {
            if extent == 0 {
                return Err(Refusal::Zero { field });
            }
            check_u32(field, extent as u128)?;
        }
        if n > KEPT {
            return Err(Refusal::TooLarge { field: "n", found: n as u128, limit: KEPT as u64 });
        }
        if m < KEPT {
            return Err(Refusal::Parameter { field: "m", expected: "at least 4", found: m as u64 });
        }
        let (down, across) = (rows.div_ceil(v) as u128, cols.div_ceil(m) as u128);
        let lanes = down * v as u128 * across;
        Ok(Blocks { across, columns: down * across * KEPT as u128, lanes, slots: lanes * n as u128 })
    }
}

/// The index of a row that stores nothing: it names the first `n` of the four.
const fn first(n: usize) -> u8 {
    (0b1110_0100u16 & ((1 << (2 * n)) - 1)) as u8
}

impl<T: Scalar> Vnm<T> {
    /// Checks the arrays. Offsets in refusals count elements of the array, rows count rows of the matrix.
    ///
    /// # Errors
    /// The first defect found: a dimension, a parameter or an array length past u32, a parameter out of range, an array
    /// length, a column that is not below `m` or not above its predecessor in the block, positions that do not ascend,
    /// bits above the `n` positions, a slot outside the matrix that is not +0.0, a row past the end that does not
    /// name the first `n` columns.
    pub fn try_new(parts: VnmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let blocks = Blocks::try_new((p.rows, p.cols), p.v, p.n, p.m)?;
        check_u32("column", blocks.columns)?;
        check_u32("slots", blocks.slots)?;
        check_length("column", blocks.columns, p.column.len())?;
        check_length("index", blocks.lanes, p.index.len())?;
        check_length("values", blocks.slots, p.values.len())?;
        let across = blocks.across as usize;
        for at in 0..p.column.len() {
            check_column(p, at / KEPT / across * p.v, at)?;
        }
        for lane in 0..p.index.len() {
            check_positions(p, lane / across, lane)?;
            check_pads(p, across, lane)?;
        }
        Ok(Vnm(parts))
    }

    /// Encodes sorted entries with the parameters `v`, `n` and `m`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; a parameter out of range; more than [`SLOT_LIMIT`](super::SLOT_LIMIT)
    /// columns or slots; [`Refusal::TooFull`] for the first block (by rows, then columns) that uses more than four
    /// columns, or else has a row that uses more than `n` of them.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (v, n, m) = (params.v as usize, params.n as usize, params.m as usize);
        let blocks = Blocks::try_new((entries.rows, entries.cols), v, n, m)?;
        let columns = check_slots("column", blocks.columns)?;
        let slots = check_slots("slots", blocks.slots)?;
        let across = blocks.across as usize;
        let mut column: Vec<u32> = (0..columns).map(|at| (at % KEPT) as u32).collect();
        let mut index = vec![first(n); blocks.lanes as usize];
        let mut values = vec![T::from_bits64(0); slots];
        for ((block_row, block_col), block) in cut(entries, v, m) {
            let first_row = block_row * v;
            let selected = block.columns(first_row, block_col * m)?;
            let at = (block_row * across + block_col) * KEPT;
            column[at..at + KEPT].copy_from_slice(&selected);
            for (row, list) in &block.rows {
                let lane = row * across + block_col;
                let kept = positions(list, &selected, n, (*row, block_col * m))?;
                index[lane] = kept.iter().enumerate().fold(0, |byte, (j, &q)| byte | q << (2 * j));
                for e in list {
                    let before = |&&q: &&u8| (selected[usize::from(q)] as usize) < e.col as usize % m;
                    values[lane * n + kept.iter().filter(before).count()] = e.value;
                }
            }
        }
        Ok(Vnm(VnmParts { rows: entries.rows, cols: entries.cols, v, n, m, column, index, values }))
    }

    /// Decodes: every slot that is not bitwise +0.0.
    pub fn entries(&self) -> Entries<T> {
        let p = &self.0;
        let across = p.cols.div_ceil(p.m);
        let mut list = Vec::with_capacity(self.nnz());
        for (lane, (&index, slots)) in p.index.iter().zip(p.values.chunks_exact(p.n)).enumerate() {
            let (row, block_col) = (lane / across, lane % across);
            let block = row / p.v * across + block_col;
            for (j, &value) in slots.iter().enumerate() {
                if !value.is_positive_zero() {
                    let position = usize::from(index >> (2 * j) & 3);
                    let offset = p.column[block * KEPT + position] as usize;
                    list.push(Entry { row: row as u32, col: (block_col * p.m + offset) as u32, value });
                }
            }
        }
        Entries { rows: p.rows, cols: p.cols, list }
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }

    /// The parameters that the matrix was encoded with.
    pub fn params(&self) -> FormatParams {
        FormatParams { v: self.0.v as u32, n: self.0.n as u32, m: self.0.m as u32, ..FormatParams::DEFAULT }
    }
}

/// The entries of one block, by row.
struct Block<T> {
    rows: BTreeMap<usize, Vec<Entry<T>>>,
}

/// The blocks that hold entries, in row-major order.
fn cut<T: Copy>(entries: &Entries<T>, v: usize, m: usize) -> BTreeMap<(usize, usize), Block<T>> {
    let mut blocks = BTreeMap::new();
    for &e in &entries.list {
        let (row, col) = (e.row as usize, e.col as usize);
        let block = blocks.entry((row / v, col / m)).or_insert_with(|| Block { rows: BTreeMap::new() });
        block.rows.entry(row).or_default().push(e);
    }
    blocks
}

impl<T> Block<T> {
    /// The four columns that the block names, as ascending offsets.
    fn columns(&self, first_row: usize, first_col: usize) -> Result<[u32; KEPT], Refusal> {
        let used = self.rows.values().flatten().map(|e| e.col - first_col as u32);
        let mut used: BTreeSet<u32> = used.collect();
        if used.len() > KEPT {
            return Err(Refusal::TooFull {
                what: "a V:N:M block (columns)",
                row: first_row,
                column: first_col,
                found: used.len() as u64,
                limit: KEPT as u64,
                remedy: "prune the matrix first",
            });
        }
        for offset in 0..KEPT as u32 {
            if used.len() < KEPT {
                used.insert(offset);
            }
        }
        let mut selected = [0; KEPT];
        for (slot, offset) in selected.iter_mut().zip(used) {
            *slot = offset;
        }
        Ok(selected)
    }
}

/// Which of the selected columns a row of a block names, ascending.
fn positions<T>(
    list: &[Entry<T>],
    selected: &[u32; KEPT],
    n: usize,
    (row, first_col): (usize, usize),
) -> Result<BTreeSet<u8>, Refusal> {
    let offsets: BTreeSet<u32> = list.iter().map(|e| e.col - first_col as u32).collect();
    if offsets.len() > n {
        return Err(Refusal::TooFull {
            what: "a row of a V:N:M block (values)",
            row,
            column: first_col,
            found: offsets.len() as u64,
            limit: n as u64,
            remedy: "prune the matrix first",
        });
    }
    let mut kept: BTreeSet<u8> =
        (0..KEPT as u8).filter(|&q| offsets.contains(&selected[usize::from(q)])).collect();
    for q in 0..KEPT as u8 {
        if kept.len() < n {
            kept.insert(q);
        }
    }
    Ok(kept)
}

impl<T> Vnm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> VnmParts<T> {
        self.0
    }
}

impl<T> Deref for Vnm<T> {
    type Target = VnmParts<T>;

    fn deref(&self) -> &VnmParts<T> {
        &self.0
    }
}
