//! Where block layouts put the terms of a row along k, for kernels that hand whole blocks to a matrix unit.
//!
//! ```text
//! BCSR, blocks of width 4, a block row with block columns 0 and 3:     columns 0 1 2 3  12 13 14 15
//!                                                                      slots   0 1 2 3   4  5  6  7
//! ```
//!
//! The blocks of a block row follow one another, so that an instruction of k = 8 takes two of these.

use crate::arithmetic::Slot;
use crate::format::{Bcsr, Csr};
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
    let mut slots = slots.into_iter();
    let nowhere = Slot {
        in_tile: false,
        at: 0,
    };
    Some(positions.map(|_| slots.next().unwrap_or(nowhere)))
}
