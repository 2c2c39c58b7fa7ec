//! Where block layouts put the terms of a row along k, for kernels that hand whole blocks to a matrix unit.
//!
//! ```text
//! BCSR, blocks of width 4, a block row with block columns 0 and 3:     columns 0 1 2 3  12 13 14 15
//!                                                                      slots   0 1 2 3   4  5  6  7
//! LOOPS, a block with tiles at columns 2, 5 and 9:                     columns 2  5  9
//! RS-Tile and Libra, a window whose tiles have these columns:          slots   0  1  2
//! ```
//!
//! The blocks of a block row follow one another, so that an instruction of k = 8 takes two of these. So do the tiles of LOOPS: a
//! 2-way instruction takes tiles 2q and 2q + 1. Rows of its CSR part are not in tiles, their terms are counted from 0. Tiles of
//! RS-Tile and Libra likewise: column `c` of tile `q` has slot `q * breadth + c`, and what is not in tiles is counted from 0.

use crate::arithmetic::Slot;
use crate::format::{Bcsr, Csr, LibraSpmm, Loops, RsTile};
use crate::scalar::Scalar;

/// The slots of positions in stored blocks of a BCSR matrix. `None` if a position is in none, or a slot is past u32.
#[must_use]
pub fn bcsr_slots<T: Scalar, U>(matrix: &Bcsr<T>, positions: &Csr<U>) -> Option<Csr<Slot>> {
    if (positions.rows, positions.cols) != (matrix.rows, matrix.cols) {
        return None;
    }
    let mut slots = Vec::with_capacity(positions.nnz());
    for i in 0..positions.rows {
        let lane = i / matrix.block_rows;
        let (start, end) = (matrix.block_row_ptr[lane] as usize, matrix.block_row_ptr[lane + 1] as usize);
        let blocks = &matrix.block_col[start..end];
        for &col in positions.row(i).0 {
            let width = matrix.block_cols as u32;
            let block = blocks.binary_search(&(col / width)).ok()?;
            let at = u32::try_from(block).ok()?.checked_mul(width)?.checked_add(col % width)?;
            slots.push(Slot { in_tile: true, at });
        }
    }
    Some(placed(positions, slots))
}

/// The slots of positions of a LOOPS matrix: the number of the tile within its block, or of the term within its row in the CSR
/// part. `None` if a position below the boundary is in no tile, or the shapes differ.
#[must_use]
pub fn loops_slots<T: Scalar, U>(matrix: &Loops<T>, positions: &Csr<U>) -> Option<Csr<Slot>> {
    if (positions.rows, positions.cols) != (matrix.rows, matrix.cols) {
        return None;
    }
    let mut slots = Vec::with_capacity(positions.nnz());
    for i in 0..positions.rows {
        let cols = positions.row(i).0;
        let Some(below) = i.checked_sub(matrix.boundary) else {
            slots.extend((0..cols.len() as u32).map(|at| Slot { in_tile: false, at }));
            continue;
        };
        let block = below / matrix.br;
        let (start, end) = (matrix.block_ptr[block] as usize, matrix.block_ptr[block + 1] as usize);
        for col in cols {
            let tile = matrix.block_col[start..end].binary_search(col).ok()?;
            let at = u32::try_from(tile).ok()?;
            slots.push(Slot { in_tile: true, at });
        }
    }
    Some(placed(positions, slots))
}

/// The slots of positions of an RS-Tile matrix: the place of the column in its window, or the number of the entry in its residual
/// row. `None` if a position is in neither, or the shapes differ.
#[must_use]
pub fn rs_tile_slots<T: Scalar, U>(matrix: &RsTile<T>, positions: &Csr<U>) -> Option<Csr<Slot>> {
    if (positions.rows, positions.cols) != (matrix.rows, matrix.cols) {
        return None;
    }
    let mut slots = Vec::with_capacity(positions.nnz());
    for i in 0..positions.rows {
        let above = matrix.window_row.partition_point(|&first| first as usize <= i);
        let window = above.checked_sub(1).filter(|&window| i < matrix.window_row[window] as usize + 8);
        let (in_tile, columns) = match window {
            Some(window) => {
                let ends = &matrix.window_block_ptr[window..=window + 1];
                (true, &matrix.block_col[8 * ends[0] as usize..8 * ends[1] as usize])
            }
            None => {
                let width = matrix.residual_width;
                let found = matrix.residual_row.binary_search(&(i as u32));
                let lane = found.map_or(0..0, |at| at * width..(at + 1) * width);
                (false, &matrix.residual_col[lane])
            }
        };
        for col in positions.row(i).0 {
            // Columns ascend; pads, past every column, are at the end.
            let at = u32::try_from(columns.binary_search(col).ok()?).ok()?;
            slots.push(Slot { in_tile, at });
        }
    }
    Some(placed(positions, slots))
}

/// The slots of positions of a Libra matrix: the number of the entry in the CUDA-core part of its row if it is there, else the
/// place of the column in its window. `None` if a position is in neither, or the shapes differ.
#[must_use]
pub fn libra_spmm_slots<T: Scalar, U>(matrix: &LibraSpmm<T>, positions: &Csr<U>) -> Option<Csr<Slot>> {
    if (positions.rows, positions.cols) != (matrix.rows, matrix.cols) {
        return None;
    }
    let mut slots = Vec::with_capacity(positions.nnz());
    for i in 0..positions.rows {
        let ends = &matrix.window_block_ptr[i / 8..=i / 8 + 1];
        let tiles = &matrix.block_col[matrix.kb * ends[0] as usize..matrix.kb * ends[1] as usize];
        let rest = &matrix.col_idx[matrix.row_ptr[i] as usize..matrix.row_ptr[i + 1] as usize];
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

/// One slot for each position, in stored order.
fn placed<U>(positions: &Csr<U>, slots: Vec<Slot>) -> Csr<Slot> {
    let mut slots = slots.into_iter();
    let nowhere = Slot { in_tile: false, at: 0 };
    positions.map(|_| slots.next().unwrap_or(nowhere))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Entries, Entry, FormatParams, PAD, RsTileParts};
    use crate::prelude::*;

    #[test]
    fn tiles_of_loops_are_counted_within_their_block_and_terms_within_their_row() {
        // Boundary 1, br 2: row 0 in the CSR part; blocks of rows 1 and 2 (tiles at 0, 2, 4), and of row 3 (tile at 2).
        let at = [(0, 1), (0, 4), (1, 0), (1, 4), (2, 2), (3, 2)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        let entries = Entries { rows: 4, cols: 5, list };
        let params = FormatParams { boundary: Some(1), br: 2, ..FormatParams::DEFAULT };
        let matrix = Loops::from_entries_with(&entries, &params).expect("legal");
        let positions = Csr::from_entries(&entries).expect("legal");
        let slots = loops_slots(&matrix, &positions).expect("all are stored");
        let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
        let (rest, tile) = (|at| (false, at), |at| (true, at));
        assert_eq!(found, [rest(0), rest(1), tile(0), tile(2), tile(1), tile(0)]);

        let mut elsewhere = entries;
        elsewhere.list[5].col = 3;
        let positions = Csr::from_entries(&elsewhere).expect("legal");
        assert!(loops_slots(&matrix, &positions).is_none(), "(3, 3) is in no tile");
    }

    /// A window of rows 0 to 7 with columns 1, 4 and 6, and row 8, which has two entries and stands apart in both formats.
    fn windowed() -> Entries<f64> {
        let at = [(0, 1), (0, 4), (1, 1), (1, 4), (2, 1), (2, 6), (3, 6), (4, 4), (5, 6), (8, 0), (8, 5)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        Entries { rows: 9, cols: 7, list }
    }

    #[test]
    fn columns_of_tiles_are_counted_within_their_window_and_the_rest_within_its_row() {
        let entries = windowed();
        let positions = Csr::from_entries(&entries).expect("legal");
        let wanted = [0, 1, 0, 1, 0, 2, 2, 1, 2].map(|at| (true, at));
        let parts = RsTileParts {
            rows: 9,
            cols: 7,
            window_row: vec![0],
            window_block_ptr: vec![0, 1],
            bitmap: vec![0x0402_0405_0303],
            block_value_ptr: vec![0, 9],
            block_col: vec![1, 4, 6, PAD, PAD, PAD, PAD, PAD],
            values: vec![1.0; 9],
            residual_row: vec![8],
            residual_width: 3,
            residual_col: vec![0, 5, PAD],
            residual_values: vec![1.0, 1.0, 0.0],
        };
        let matrix = RsTile::try_new(parts).expect("legal");
        assert_eq!(matrix.entries(), entries);
        let slots = rs_tile_slots(&matrix, &positions).expect("all are stored");
        let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
        assert_eq!(found, [&wanted[..], &[(false, 0), (false, 1)]].concat());

        // Three of eight make a vector dense: columns 1, 4 and 6 are, and both of row 8 are not.
        for kb in [4, 8, 16] {
            let params = FormatParams { kb, ..FormatParams::DEFAULT };
            let matrix = LibraSpmm::from_entries_with(&entries, &params).expect("legal");
            let slots = libra_spmm_slots(&matrix, &positions).expect("all are stored");
            let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
            assert_eq!(found, [&wanted[..], &[(false, 0), (false, 1)]].concat());
        }

        let mut elsewhere = windowed();
        elsewhere.list[10].col = 6;
        let positions = Csr::from_entries(&elsewhere).expect("legal");
        assert!(rs_tile_slots(&matrix, &positions).is_none(), "(8, 6) is in neither part");
    }
}
