//! Squeezed windows: RS-Tile and BitTCF with one bitmap of 8 x 8 per block, ME-TCF with one byte per entry.
//!
//! ```text
//! bitmap of a block   row r is byte r            entries of row r: values from block_ptr + popcnt(bits below byte r) on
//!                     its set bits (tzcnt) are places among the 8 columns of the block
//! ```
//!
//! Rows are read straight from the stored arrays; no unset bit is looked at.

use super::by_row::{ByRow, Out, Rowwise};
use super::{RowSource, opened};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::x86::lanes::Boxed;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{BitTcf, FormatKind, MeTcf, PAD, RsTile, Sparse};

/// Marks kernels for RS-Tile.
#[derive(Debug)]
pub(in crate::x86) struct RsTileRows;

/// Marks kernels for BitTCF.
#[derive(Debug)]
pub(in crate::x86) struct BitTcfRows;

/// Marks kernels for ME-TCF.
#[derive(Debug)]
pub(in crate::x86) struct MeTcfRows;

/// Rows and columns of a bitmap.
const SIDE: usize = 8;

/// Rows of a window of ME-TCF.
const ME_TCF_ROWS: usize = 16;

/// Appends row `r` of a block of 8 x 8. `values` starts at the first value of the block.
#[inline(always)]
fn push_row<T: Copy>(bitmap: u64, r: usize, columns: &[u32], values: &[T], out: &mut Out<'_, T>) {
    let below = bitmap & ((1u64 << (SIDE * r)) - 1);
    let mut row = bitmap >> (SIDE * r) & 0xff;
    for &value in &values[below.count_ones() as usize..][..row.count_ones() as usize] {
        out.push(columns[row.trailing_zeros() as usize], value);
        row &= row - 1;
    }
}

/// Where a row of RS-Tile is stored.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In neither part: the row is empty.
    Nowhere,
    /// Row `r` of a window.
    Window { window: u32, r: u8 },
    /// A residual row.
    Residual(u32),
}

/// RS-Tile with the place of each row.
#[derive(Debug)]
struct Located<'a, T> {
    matrix: &'a RsTile<T>,
    places: Vec<Place>,
}

impl<'a, T: Stored> Located<'a, T> {
    fn new(matrix: &'a RsTile<T>) -> Self {
        let mut places = vec![Place::Nowhere; matrix.rows];
        for (window, &first) in matrix.window_row.iter().enumerate() {
            for (r, place) in places[first as usize..].iter_mut().take(SIDE).enumerate() {
                *place = Place::Window { window: window as u32, r: r as u8 };
            }
        }
        for (at, &row) in matrix.residual_row.iter().enumerate() {
            places[row as usize] = Place::Residual(at as u32);
        }
        Located { matrix, places }
    }
}

impl RowSource for RsTileRows {
    const KIND: FormatKind = FormatKind::RsTile;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::RsTile(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(Located::new(m))?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for Located<'_, T> {
    fn rows(&self) -> usize {
        self.matrix.rows
    }

    fn before(&self, row: usize) -> usize {
        let m = self.matrix;
        let window = m.window_row.partition_point(|&first| (first as usize) < row);
        let residual = m.residual_row.partition_point(|&other| (other as usize) < row);
        let block = m.window_block_ptr[window] as usize;
        m.block_value_ptr[block] as usize + residual * m.residual_width
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let m = self.matrix;
        match self.places[row] {
            Place::Nowhere => {}
            Place::Window { window, r } => {
                let ends = &m.window_block_ptr[window as usize..][..2];
                for block in ends[0] as usize..ends[1] as usize {
                    let columns = &m.block_col[SIDE * block..][..SIDE];
                    let values = &m.values[m.block_value_ptr[block] as usize..];
                    push_row(m.bitmap[block], usize::from(r), columns, values, &mut out);
                }
            }
            Place::Residual(at) => {
                let slots = at as usize * m.residual_width..(at as usize + 1) * m.residual_width;
                for (&col, &value) in m.residual_col[slots.clone()].iter().zip(&m.residual_values[slots]) {
                    if col == PAD {
                        break;
                    }
                    out.push(col, value);
                }
            }
        }
    }
}

impl RowSource for BitTcfRows {
    const KIND: FormatKind = FormatKind::BitTcf;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::BitTcf(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

/// Entries before a row, the entries of its window spread evenly over `height` rows.
fn before(offsets: &[u32], blocks: &[u32], row: usize, height: usize) -> usize {
    let (window, r) = (row / height, row % height);
    let start = blocks[offsets[window] as usize] as usize;
    let end = offsets.get(window + 1).map_or(start, |&end| blocks[end as usize] as usize);
    start + (end - start) * r / height
}

impl<T: Stored> ByRow<T> for &BitTcf<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        before(&self.row_window_offset, &self.tc_offset, row, SIDE)
    }

    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let ends = &self.row_window_offset[row / SIDE..][..2];
        for block in ends[0] as usize..ends[1] as usize {
            let columns = &self.sparse_a_to_b[SIDE * block..][..SIDE];
            let values = &self.values[self.tc_offset[block] as usize..];
            push_row(self.tc_local_bit[block], row % SIDE, columns, values, &mut out);
        }
    }
}

impl RowSource for MeTcfRows {
    const KIND: FormatKind = FormatKind::MeTcf;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::MeTcf(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(Rowwise::try_new(m)?, m.cols, transpose)
    }
}

impl<T: Stored> ByRow<T> for &MeTcf<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn before(&self, row: usize) -> usize {
        before(&self.row_window_offset, &self.tc_offset, row, ME_TCF_ROWS)
    }

    /// Ids ascend inside a block: those of one row are neighbours.
    #[inline]
    fn row(&self, row: usize, mut out: Out<'_, T>) {
        let ends = &self.row_window_offset[row / ME_TCF_ROWS..][..2];
        let first = (row % ME_TCF_ROWS * SIDE) as u8;
        for block in ends[0] as usize..ends[1] as usize {
            let entries = self.tc_offset[block] as usize..self.tc_offset[block + 1] as usize;
            let ids = &self.tc_local_id[entries.clone()];
            let columns = &self.sparse_a_to_b[SIDE * block..][..SIDE];
            let start = ids.partition_point(|&id| id < first);
            for (&id, &value) in ids[start..].iter().zip(&self.values[entries][start..]) {
                if id - first >= SIDE as u8 {
                    break;
                }
                out.push(columns[usize::from(id - first)], value);
            }
        }
    }
}
