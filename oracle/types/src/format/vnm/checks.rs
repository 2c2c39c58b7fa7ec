//! What the constructor of V:N:M checks of one column and of one row of a block.

use super::{KEPT, VnmParts, first};
use crate::refusal::EncodingError;
use crate::scalar::Scalar;

/// Checks one selected column; `row` is the first row of its block.
pub(super) fn check_column<T>(p: &VnmParts<T>, row: usize, at: usize) -> Result<(), EncodingError> {
    let found = u64::from(p.column[at]);
    if found >= p.m as u64 {
        return Err(EncodingError::IndexOutOfRange { field: "column", at, row, found, limit: p.m as u64 });
    }
    if !at.is_multiple_of(KEPT) && u64::from(p.column[at - 1]) >= found {
        return Err(EncodingError::Unsorted {
            field: "column",
            at,
            row,
            previous: u64::from(p.column[at - 1]),
            found,
        });
    }
    Ok(())
}

/// Checks that the positions of one row of a block ascend, and that no other bit is set.
pub(super) fn check_positions<T>(p: &VnmParts<T>, row: usize, lane: usize) -> Result<(), EncodingError> {
    let byte = p.index[lane];
    if let Some(bit) = (2 * p.n as u32..8).find(|&bit| byte >> bit & 1 == 1) {
        return Err(EncodingError::StrayBit { field: "index", at: lane, bit });
    }
    for j in 1..p.n {
        let (previous, found) = (byte >> (2 * j - 2) & 3, byte >> (2 * j) & 3);
        if previous >= found {
            return Err(EncodingError::Unsorted {
                field: "index",
                at: lane,
                row,
                previous: u64::from(previous),
                found: u64::from(found),
            });
        }
    }
    Ok(())
}

/// Checks that the slots of one row of a block that lie outside the matrix are pads.
pub(super) fn check_pads<T: Scalar>(
    p: &VnmParts<T>,
    across: usize,
    lane: usize,
) -> Result<(), EncodingError> {
    let (row, block_col) = (lane / across, lane % across);
    let dirty = |field, at| Err(EncodingError::DirtyPad { field, at, row });
    if row >= p.rows && p.index[lane] != first(p.n) {
        return dirty("index", lane);
    }
    let columns = (row / p.v * across + block_col) * KEPT;
    for j in 0..p.n {
        let position = usize::from(p.index[lane] >> (2 * j) & 3);
        let col = block_col * p.m + p.column[columns + position] as usize;
        let outside = row >= p.rows || col >= p.cols;
        if outside && !p.values[lane * p.n + j].is_positive_zero() {
            return dirty("values", lane * p.n + j);
        }
    }
    Ok(())
}
