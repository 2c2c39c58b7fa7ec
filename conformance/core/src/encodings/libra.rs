//! Loose encodings of both Libra formats: vectors go to either part by chance.
//!
//! Constructors allow that a vector is cut in two, one part of its entries on each side. That is done for conversions only: in a product a
//! slot of the tensor part would face the row of B that an entry of the CUDA-core part meets at the same position, and clause 2.7 of
//! SEMANTICS.md speaks of slots that hold no entry.

use super::room::{Room, at, of_rows, offsets};
use sparse_oracle::format::{Entries, Entry, FormatParams, LibraSddmmParts, LibraSpmmParts, PAD};
use sparse_oracle::scalar::Scalar;

/// Rows of a window.
const WINDOW: usize = 8;

/// The tensor part as it grows.
struct Tensor<T> {
    /// Columns of a block.
    width: usize,
    blocks_of_window: Vec<usize>,
    bitmap: Vec<u64>,
    block_value_ptr: Vec<u32>,
    block_col: Vec<u32>,
    values: Vec<T>,
    /// Row and column of each value.
    positions: Vec<(u32, u32)>,
}

impl<T: Scalar> Tensor<T> {
    fn new(width: usize) -> Tensor<T> {
        Tensor {
            width,
            blocks_of_window: Vec::new(),
            bitmap: Vec::new(),
            block_value_ptr: vec![0],
            block_col: Vec::new(),
            values: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Appends the window at row `first` with these columns, all entries of which it takes.
    fn push_window(&mut self, first: usize, inside: &[Entry<T>], columns: &[u32]) {
        for lane in columns.chunks(self.width) {
            let words = (WINDOW * self.width).div_ceil(64);
            let start = self.bitmap.len();
            self.bitmap.resize(start + words, 0);
            for bit in 0..WINDOW * self.width {
                let (row, c) = (first + bit / self.width, bit % self.width);
                let stored = lane.get(c).and_then(|&col| Some((col, at(inside, row, col)?)));
                if let Some((col, value)) = stored {
                    self.bitmap[start + bit / 64] |= 1 << (bit % 64);
                    self.values.push(value);
                    self.positions.push((row as u32, col));
                }
            }
            self.block_value_ptr.push(self.values.len() as u32);
            self.block_col.extend_from_slice(lane);
            let blocks = self.block_value_ptr.len() - 1;
            self.block_col.resize(blocks * self.width, PAD);
        }
        self.blocks_of_window.push(columns.len().div_ceil(self.width));
    }
}

/// Cuts entries into a tensor part, whose columns `arrange` puts in order, and the rest.
fn cut<T: Scalar>(
    entries: &Entries<T>,
    width: usize,
    room: &mut Room,
    arrange: impl Fn(&mut Vec<u32>, &mut Room),
) -> (Tensor<T>, Vec<Entry<T>>) {
    let mut tensor = Tensor::new(width);
    let mut rest = Vec::new();
    for first in (0..entries.rows).step_by(WINDOW) {
        let inside = of_rows(&entries.list, first..first + WINDOW);
        let mut used: Vec<u32> = inside.iter().map(|e| e.col).collect();
        used.sort_unstable();
        used.dedup();
        // Some windows go to one part wholly.
        let (all, none) = (room.one_in(6), room.one_in(6));
        let mut taken = used.clone();
        taken.retain(|_| all || (!none && room.one_in(2)));
        let most = width as i64 + 3;
        let columns = room.beside(taken.clone(), entries.cols as u64, most as u64, WINDOW);
        // A column that was drawn beside may be one that the other part holds: it stays there.
        let mut columns: Vec<u32> = columns
            .into_iter()
            .filter(|col| taken.binary_search(col).is_ok() || used.binary_search(col).is_err())
            .collect();
        arrange(&mut columns, room);
        let cut_here = room.apart && room.one_in(2);
        let in_tensor = |e: &Entry<T>| {
            let other_half = cut_here && e.row % 2 == 1;
            taken.binary_search(&e.col).is_ok() && !other_half
        };
        let (ours, others): (Vec<Entry<T>>, Vec<Entry<T>>) = inside.iter().copied().partition(in_tensor);
        tensor.push_window(first, &ours, &columns);
        rest.extend(others);
    }
    (tensor, rest)
}

/// Offsets of the rest's rows.
fn row_ptr<T>(rows: usize, rest: &[Entry<T>]) -> Vec<u32> {
    offsets((0..rows).map(|row| of_rows(rest, row..row + 1).len()))
}

/// Any vectors in the tensor part; columns without a bit among them.
pub(super) fn spmm<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> LibraSpmmParts<T> {
    let kb = params.kb as usize;
    let (tensor, rest) = cut(entries, kb, room, |_, _| {});
    LibraSpmmParts {
        rows: entries.rows,
        cols: entries.cols,
        kb,
        window_block_ptr: offsets(tensor.blocks_of_window.into_iter()),
        bitmap: tensor.bitmap,
        block_value_ptr: tensor.block_value_ptr,
        block_col: tensor.block_col,
        values: tensor.values,
        row_ptr: row_ptr(entries.rows, &rest),
        col_idx: rest.iter().map(|e| e.col).collect(),
        rest_values: rest.iter().map(|e| e.value).collect(),
    }
}

/// Any vectors in the tensor part, in any order; columns without a bit among them.
pub(super) fn sddmm<T: Scalar>(entries: &Entries<T>, room: &mut Room) -> LibraSddmmParts<T> {
    let shuffle = |columns: &mut Vec<u32>, room: &mut Room| room.random.shuffle(columns);
    let (tensor, rest) = cut(entries, 16, room, shuffle);
    let place = |row: u32, col: u32| {
        let before = entries.list.partition_point(|e| (e.row, e.col) < (row, col));
        before as u32
    };
    LibraSddmmParts {
        rows: entries.rows,
        cols: entries.cols,
        window_block_ptr: offsets(tensor.blocks_of_window.into_iter()),
        bitmap: tensor.bitmap,
        block_value_ptr: tensor.block_value_ptr,
        block_col: tensor.block_col,
        values: tensor.values,
        position: tensor.positions.iter().map(|at| place(at.0, at.1)).collect(),
        row_ptr: row_ptr(entries.rows, &rest),
        col_idx: rest.iter().map(|e| e.col).collect(),
        rest_position: rest.iter().map(|e| place(e.row, e.col)).collect(),
        rest_values: rest.into_iter().map(|e| e.value).collect(),
    }
}
