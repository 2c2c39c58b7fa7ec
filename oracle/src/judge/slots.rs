//! Where block layouts put the terms of a row along k, for kernels that hand whole blocks to a matrix unit.
//!
//! ```text
//! BCSR, blocks of width 4, a block row with block columns 0 and 3:     columns 0 1 2 3  12 13 14 15
//!                                                                      slots   0 1 2 3   4  5  6  7
//! LOOPS, a block with tiles at columns 2, 5 and 9:                     columns 2  5  9
//!                                                                      slots   0  1  2
//! ```
//!
//! The blocks of a block row follow one another, so that an instruction of k = 8 takes two of these. So do the tiles of LOOPS: a
//! 2-way instruction takes tiles 2q and 2q + 1. Rows of its CSR part are not in tiles, their terms are counted from 0.

use crate::arithmetic::Slot;
use crate::format::{Bcsr, Csr, Loops};
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
        let (start, end) = (
            matrix.block_row_ptr[lane] as usize,
            matrix.block_row_ptr[lane + 1] as usize,
        );
        let blocks = &matrix.block_col[start..end];
        for &col in positions.row(i).0 {
            let width = matrix.block_cols as u32;
            let block = blocks.binary_search(&(col / width)).ok()?;
            let at = u32::try_from(block)
                .ok()?
                .checked_mul(width)?
                .checked_add(col % width)?;
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
        let (start, end) = (
            matrix.block_ptr[block] as usize,
            matrix.block_ptr[block + 1] as usize,
        );
        for col in cols {
            let tile = matrix.block_col[start..end].binary_search(col).ok()?;
            let at = u32::try_from(tile).ok()?;
            slots.push(Slot { in_tile: true, at });
        }
    }
    Some(placed(positions, slots))
}

/// One slot for each position, in stored order.
fn placed<U>(positions: &Csr<U>, slots: Vec<Slot>) -> Csr<Slot> {
    let mut slots = slots.into_iter();
    let nowhere = Slot {
        in_tile: false,
        at: 0,
    };
    positions.map(|_| slots.next().unwrap_or(nowhere))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Entries, Entry, FormatParams};

    #[test]
    fn tiles_of_loops_are_counted_within_their_block_and_terms_within_their_row() {
        // Boundary 1, br 2: row 0 in the CSR part; blocks of rows 1 and 2 (tiles at 0, 2, 4), and of row 3 (tile at 2).
        let at = [(0, 1), (0, 4), (1, 0), (1, 4), (2, 2), (3, 2)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        let entries = Entries {
            rows: 4,
            cols: 5,
            list,
        };
        let params = FormatParams {
            boundary: Some(1),
            br: 2,
            ..FormatParams::DEFAULT
        };
        let matrix = Loops::from_entries(&entries, &params).expect("legal");
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
}
