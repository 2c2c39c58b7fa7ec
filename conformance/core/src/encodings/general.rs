//! Loose encodings of the general formats: COO in any order, and blocks and slots for nothing.

use super::room::{Room, offsets};
use sparse_oracle::format::{
    BcsrParts, BlockedEllParts, CooParts, EllParts, Entries, Entry, FormatParams, PAD,
};
use sparse_oracle::scalar::Scalar;
use std::collections::BTreeMap;

/// Triples in an order of their own; half of them with rows ascending, as a kernel may look for.
pub(super) fn coo<T: Scalar>(entries: &Entries<T>, room: &mut Room) -> CooParts<T> {
    let mut list: Vec<&Entry<T>> = entries.list.iter().collect();
    room.random.shuffle(&mut list);
    if room.random.below(2) == 0 {
        list.sort_by_key(|e| e.row);
    }
    CooParts {
        rows: entries.rows,
        cols: entries.cols,
        row_idx: list.iter().map(|e| e.row).collect(),
        col_idx: list.iter().map(|e| e.col).collect(),
        values: list.iter().map(|e| e.value).collect(),
    }
}

/// Every row padded to more slots than it needs.
pub(super) fn ell<T: Scalar>(entries: &Entries<T>, room: &mut Room) -> EllParts<T> {
    let lanes = || entries.list.chunk_by(|a, b| a.row == b.row);
    let longest = lanes().map(<[_]>::len).max().unwrap_or(0);
    let more = room.random.between(1, 3) as usize;
    let width = longest + if room.spend(more * entries.rows) { more } else { 0 };
    let mut col_idx = vec![PAD; entries.rows * width];
    let mut values = vec![T::from_bits64(0); entries.rows * width];
    for lane in lanes() {
        for (slot, e) in lane.iter().enumerate() {
            col_idx[e.row as usize * width + slot] = e.col;
            values[e.row as usize * width + slot] = e.value;
        }
    }
    EllParts { rows: entries.rows, cols: entries.cols, width, col_idx, values }
}

/// Blocks by block row and block column, some of zeros only.
struct Blocks<T> {
    height: usize,
    width: usize,
    /// Block rows.
    down: usize,
    /// Elements of each block, row-major.
    blocks: BTreeMap<(usize, u32), Vec<T>>,
}

impl<T: Scalar> Blocks<T> {
    fn new(entries: &Entries<T>, params: &FormatParams, room: &mut Room) -> Blocks<T> {
        let (height, width) = (params.block_rows as usize, params.block_cols as usize);
        let (down, across) = (entries.rows.div_ceil(height), entries.cols.div_ceil(width));
        let empty = vec![T::from_bits64(0); height * width];
        let mut blocks: BTreeMap<(usize, u32), Vec<T>> = BTreeMap::new();
        for e in &entries.list {
            let (row, col) = (e.row as usize, e.col as usize);
            let block = blocks.entry((row / height, (col / width) as u32)).or_insert_with(|| empty.clone());
            block[row % height * width + col % width] = e.value;
        }
        for block_row in 0..down {
            for col in room.beside(Vec::new(), across as u64, 2, height * width) {
                blocks.entry((block_row, col)).or_insert_with(|| empty.clone());
            }
        }
        Blocks { height, width, down, blocks }
    }

    /// The block columns and elements of a block row.
    fn of_row(&self, block_row: usize) -> impl Iterator<Item = (u32, &Vec<T>)> {
        let range = (block_row, 0)..(block_row + 1, 0);
        self.blocks.range(range).map(|(&(_, col), block)| (col, block))
    }
}

/// Blocks of zeros among the others.
pub(super) fn bcsr<T: Scalar>(entries: &Entries<T>, params: &FormatParams, room: &mut Room) -> BcsrParts<T> {
    let all = Blocks::new(entries, params, room);
    BcsrParts {
        rows: entries.rows,
        cols: entries.cols,
        block_rows: all.height,
        block_cols: all.width,
        block_row_ptr: offsets((0..all.down).map(|row| all.of_row(row).count())),
        block_col: all.blocks.keys().map(|at| at.1).collect(),
        values: all.blocks.values().flatten().copied().collect(),
    }
}

/// Blocks of zeros among the others, and padding slots behind the longest block row.
pub(super) fn blocked_ell<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> BlockedEllParts<T> {
    let all = Blocks::new(entries, params, room);
    let area = all.height * all.width;
    let longest = (0..all.down).map(|row| all.of_row(row).count()).max().unwrap_or(0);
    let more = room.random.between(0, 2) as usize;
    let width = longest + if room.spend(more * all.down * area) { more } else { 0 };
    let mut block_col = Vec::with_capacity(all.down * width);
    let mut values = Vec::with_capacity(all.down * width * area);
    for row in 0..all.down {
        for (col, block) in all.of_row(row) {
            block_col.push(col);
            values.extend_from_slice(block);
        }
        block_col.resize((row + 1) * width, PAD);
        values.resize((row + 1) * width * area, T::from_bits64(0));
    }
    BlockedEllParts {
        rows: entries.rows,
        cols: entries.cols,
        block_rows: all.height,
        block_cols: all.width,
        width,
        block_col,
        values,
    }
}
