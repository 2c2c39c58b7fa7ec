//! Encoder and decoder of V:N:M; the layout is that of [`VnmParts`](crate::format::VnmParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, Vnm, VnmParts};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::vnm::{Blocks, KEPT, first};
use std::collections::{BTreeMap, BTreeSet};

impl<T: Scalar> Codec<T> for Vnm<T> {
    /// Encodes sorted entries with the parameters `v`, `n` and `m`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; a parameter out of range; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT)
    /// columns or slots; [`RequestError::TooFull`] for the first block (by rows, then columns) that uses more than four
    /// columns, or else has a row that uses more than `n` of them.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
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
        Vnm::try_new(VnmParts { rows: entries.rows, cols: entries.cols, v, n, m, column, index, values })
    }

    /// Decodes: every slot that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
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

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        FormatParams { v: self.v as u32, n: self.n as u32, m: self.m as u32, ..FormatParams::DEFAULT }
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let across = self.cols.div_ceil(self.m);
        let mut slots = Vec::with_capacity(self.values.len());
        for (lane, &index) in self.index.iter().enumerate() {
            let (row, block_col) = (lane / across, lane % across);
            let block = row / self.v * across + block_col;
            for j in 0..self.n {
                let offset = self.column[4 * block + usize::from(index >> (2 * j) & 3)] as usize;
                slots.push((row as u32, (block_col * self.m + offset) as u32));
            }
        }
        slots
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let rows = entries.rows as u128 + u128::from(params.v);
        rows * (entries.cols as u128).div_ceil(u128::from(params.m.max(1))) * u128::from(params.n)
    }
}

/// The blocks that hold entries, in row-major order.
fn cut<T: Copy>(entries: &Entries<T>, v: usize, m: usize) -> BTreeMap<(usize, usize), VnmBlock<T>> {
    let mut blocks = BTreeMap::new();
    for &e in &entries.list {
        let (row, col) = (e.row as usize, e.col as usize);
        let block = blocks.entry((row / v, col / m)).or_insert_with(|| VnmBlock { rows: BTreeMap::new() });
        block.rows.entry(row).or_default().push(e);
    }
    blocks
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
        return Err(Refusal::Request(RequestError::TooFull {
            what: "a row of a V:N:M block (values)",
            row,
            column: first_col,
            found: offsets.len() as u64,
            limit: n as u64,
            remedy: "prune the matrix first",
        }));
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

/// The entries of one block, by row.
struct VnmBlock<T> {
    rows: BTreeMap<usize, Vec<Entry<T>>>,
}

impl<T> VnmBlock<T> {
    /// The four columns that the block names, as ascending offsets.
    fn columns(&self, first_row: usize, first_col: usize) -> Result<[u32; KEPT], Refusal> {
        let used = self.rows.values().flatten().map(|e| e.col - first_col as u32);
        let mut used: BTreeSet<u32> = used.collect();
        if used.len() > KEPT {
            return Err(Refusal::Request(RequestError::TooFull {
                what: "a V:N:M block (columns)",
                row: first_row,
                column: first_col,
                found: used.len() as u64,
                limit: KEPT as u64,
                remedy: "prune the matrix first",
            }));
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
