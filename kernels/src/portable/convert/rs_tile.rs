//! CSR to RS-Tile, and back.
//!
//! ```text
//! scan      row by row: which rows start a window, which are residual            in order, touches short rows only
//! layout    per window: columns, bits, offsets                                   windows in parallel
//! values    per block and row: as many values as bits, from where the row stands  windows in parallel
//! ```
//!
//! Only the last step knows the element type. Work is cut into chunks of windows with about as many entries; a small
//! matrix is one chunk and never leaves the thread.

mod layout;
mod rows;
mod scan;

use crate::portable::convert::jobs::each;
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use layout::Layout;
use rows::RowMap;
use scan::RowSplit;
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, PAD, Parts, RsTile, RsTileParts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// Rows of a window, and rows and columns of a block.
const SIDE: usize = 8;

/// Entries of a chunk, at least; a matrix of fewer is one chunk.
const CHUNK: usize = 1 << 14;

/// CSR to RS-Tile.
#[derive(Debug)]
pub(crate) struct CsrToRsTile;

/// RS-Tile to CSR.
#[derive(Debug)]
pub(crate) struct RsTileToCsr;

impl Move for CsrToRsTile {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::RsTile);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let split = RowSplit::new(&m.row_ptr, &m.col_idx, &params);
        let residual_slots =
            check_slots("residual_slots", split.residual_row.len() as u128 * split.residual_width as u128)?;
        let layout = Layout::new(&m.row_ptr, &m.col_idx, &split.window_row);
        let values = window_values(m, &split.window_row, &layout);
        let (residual_col, residual_values) = residual(m, &split, residual_slots);
        encoded(Parts::RsTile(RsTileParts {
            rows: m.rows,
            cols: m.cols,
            window_row: split.window_row,
            window_block_ptr: layout.window_block_ptr,
            bitmap: layout.bitmap,
            block_value_ptr: layout.block_value_ptr,
            block_col: layout.block_col,
            values,
            residual_row: split.residual_row,
            residual_width: split.residual_width,
            residual_col,
            residual_values,
        }))
    }
}

/// The values of all blocks.
fn window_values<T: Stored>(m: &Csr<T>, window_row: &[u32], layout: &Layout) -> Vec<T> {
    let mut values = vec![T::default(); layout.values()];
    let lengths = layout.chunks.iter().map(|chunk| chunk.values.len());
    let jobs = cut(&mut values, lengths).into_iter().zip(&layout.chunks);
    each(jobs.collect(), |(out, chunk)| {
        let mut at = 0;
        for window in chunk.windows.clone() {
            let first = window_row[window] as usize;
            let mut cursors = starts(&m.row_ptr, first);
            for &bitmap in &layout.bitmap[layout.blocks(window)] {
                for (count, cursor) in bits_by_row(bitmap).into_iter().zip(&mut cursors) {
                    let from = *cursor as usize;
                    out[at..at + count].copy_from_slice(&m.values[from..from + count]);
                    *cursor += count as u32;
                    at += count;
                }
            }
        }
    });
    values
}

/// The slots of the residual part.
fn residual<T: Stored>(m: &Csr<T>, split: &RowSplit, slots: usize) -> (Vec<u32>, Vec<T>) {
    let (mut cols, mut values) = (vec![PAD; slots], vec![T::from_bits64(0); slots]);
    let width = split.residual_width.max(1);
    let lanes = cols.chunks_exact_mut(width).zip(values.chunks_exact_mut(width));
    for (&row, (lane_cols, lane_values)) in split.residual_row.iter().zip(lanes) {
        let (from_cols, from_values) = m.row(row as usize);
        lane_cols[..from_cols.len()].copy_from_slice(from_cols);
        lane_values[..from_values.len()].copy_from_slice(from_values);
    }
    (cols, values)
}

impl Move for RsTileToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::RsTile;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::RsTile(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let map = RowMap::new(&rows::RsTileIndex {
            rows: m.rows,
            window_row: &m.window_row,
            window_block_ptr: &m.window_block_ptr,
            bitmap: &m.bitmap,
            block_col: &m.block_col,
            residual_row: &m.residual_row,
            residual_width: m.residual_width,
            residual_col: &m.residual_col,
        });
        let values = row_values(m, &map);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), (map.row_ptr, map.col_idx, values)))
    }
}

/// The values of all rows.
fn row_values<T: Stored>(m: &RsTile<T>, map: &RowMap) -> Vec<T> {
    let mut values = vec![T::default(); map.col_idx.len()];
    let lengths = map.chunks.iter().map(|chunk| chunk.entries.len());
    let jobs = cut(&mut values, lengths).into_iter().zip(&map.chunks);
    each(jobs.collect(), |(out, chunk)| {
        let base = chunk.entries.start;
        for window in chunk.windows.clone() {
            let blocks = m.window_block_ptr[window] as usize..m.window_block_ptr[window + 1] as usize;
            let mut from = m.block_value_ptr[blocks.start] as usize;
            let mut cursors = starts(&map.row_ptr, m.window_row[window] as usize);
            for &bitmap in &m.bitmap[blocks] {
                for (count, cursor) in bits_by_row(bitmap).into_iter().zip(&mut cursors) {
                    let to = *cursor as usize - base;
                    out[to..to + count].copy_from_slice(&m.values[from..from + count]);
                    *cursor += count as u32;
                    from += count;
                }
            }
        }
        for lane in chunk.residual.clone() {
            let row = m.residual_row[lane] as usize;
            let to = map.row_ptr[row] as usize..map.row_ptr[row + 1] as usize;
            let from = lane * m.residual_width;
            out[to.start - base..to.end - base].copy_from_slice(&m.residual_values[from..from + to.len()]);
        }
    });
    values
}

/// Where the rows of the window at `first` start; the last offset for those past the matrix.
fn starts(row_ptr: &[u32], first: usize) -> [u32; SIDE] {
    let last = row_ptr.len() - 1;
    std::array::from_fn(|r| row_ptr[last.min(first + r)])
}

/// Number of bits in each row of a block.
fn bits_by_row(bitmap: u64) -> [usize; SIDE] {
    bitmap.to_le_bytes().map(|byte| byte.count_ones() as usize)
}

/// Cuts a slice into pieces of these lengths.
fn cut<X>(mut slice: &mut [X], lengths: impl Iterator<Item = usize>) -> Vec<&mut [X]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = slice.split_at_mut(length);
        pieces.push(piece);
        slice = rest;
    }
    pieces
}
