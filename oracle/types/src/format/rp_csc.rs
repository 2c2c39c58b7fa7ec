//! RP-CSC: rows in groups, each group stored by columns, with row indices that count inside the group.
//!
//! ```text
//! group 0  . a . b      col_idx          1 2 3          columns that any group stores, once for all groups
//!          . c . .      group_bitmap   0b01 0b10 0b11   bit g: group g stores the column
//! group 1  . . d .      group_col_ptr    0 2 4          offsets into col_len, by group
//!          . . . e      col_len          2 1 | 1 1      entries of each stored column
//!                       group_value_ptr  0 3 5          offsets into row_idx and values, by group
//! 4 x 4, groups = 2     row_idx          0 1 0 | 0 1    row inside the group
//!                       values           a c b | d e
//! ```
//!
//! IOPS, section 3.1.1. Groups have equal heights, `ceil(rows / groups)`; where that does not divide the rows, the
//! last group that has rows is shorter, and groups after it have none (5 rows in 4 groups: 2, 2, 1, 0). Only columns
//! that hold an entry are stored, in `col_idx` as in each group. Explicit zeros are kept.
//!
//! The field widths are those of section 6.1 of the paper: 16 bits for locations, 8 bits for lengths, and one bitmap of
//! 64 bits. Hence at most 64 groups ([`GROUP_LIMIT`]), 2^16 columns and 2^16 rows per group ([`EXTENT_LIMIT`]), 255
//! entries in a column of a group ([`LANE_LIMIT`]); larger matrices are cut into tiles first (`iops` of `sparse-schedules`).
//! The paper has one buffer per group; here groups follow one another, and the two `ptr` arrays say where.

use super::check::{check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The most groups of RP-CSC and CP-CSR: bits of a group bitmap.
pub const GROUP_LIMIT: usize = 64;

/// The most rows or columns that a 16-bit index of RP-CSC and CP-CSR can count.
pub const EXTENT_LIMIT: usize = 1 << 16;

/// The most entries that an 8-bit length of RP-CSC and CP-CSR can count.
pub const LANE_LIMIT: usize = 255;

/// The arrays of an RP-CSC matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RpCscParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of row groups, 1 to 64.
    pub groups: usize,
    /// Columns that are non-empty in any group, ascending.
    pub col_idx: Vec<u16>,
    /// One per such column; bit g (0 is the least significant) says that group g stores it.
    pub group_bitmap: Vec<u64>,
    /// `groups + 1` offsets into `col_len`.
    pub group_col_ptr: Vec<u32>,
    /// Entries of each stored column of each group, by group, then column; never 0.
    pub col_len: Vec<u8>,
    /// `groups + 1` offsets into `row_idx` and `values`.
    pub group_value_ptr: Vec<u32>,
    /// Row inside the group, by group, then column, then row.
    pub row_idx: Vec<u16>,
    /// One per row index.
    pub values: Vec<T>,
}

fields!(RpCscParts {
    rows: Extent,
    cols: Extent,
    groups: Extent,
    col_idx: U16,
    group_bitmap: U64,
    group_col_ptr: U32,
    col_len: U8,
    group_value_ptr: U32,
    row_idx: U16,
    values: Values
});

/// A valid RP-CSC matrix. Reads as its [`RpCscParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct RpCsc<T>(RpCscParts<T>);

/// Checks the number of groups, the shape, and what 16-bit indices can count; returns the rows of a group.
pub fn check_extents(rows: usize, cols: usize, groups: usize) -> Result<usize, Refusal> {
    if groups == 0 {
        return Err(RequestError::Zero { field: "groups" }.into());
    }
    let too_large = |field, found: usize, limit: usize| {
        Refusal::Request(RequestError::TooLarge { field, found: found as u128, limit: limit as u64 })
    };
    if groups > GROUP_LIMIT {
        return Err(too_large("groups", groups, GROUP_LIMIT));
    }
    check_shape(rows, cols)?;
    if cols > EXTENT_LIMIT {
        return Err(too_large("cols", cols, EXTENT_LIMIT));
    }
    let height = rows.div_ceil(groups);
    if height > EXTENT_LIMIT {
        return Err(too_large("rows of a group", height, EXTENT_LIMIT));
    }
    Ok(height)
}

impl<T: Scalar> RpCsc<T> {
    /// Checks the arrays. In refusals about `row_idx` the major index is the column.
    ///
    /// # Errors
    /// The first defect found: no group or more than 64; a dimension past u32, more than 2^16 columns or rows of a
    /// group; an array length; columns out of range or not strictly ascending; a bitmap without a bit, or with the
    /// bit of a group that has no rows; an offset that does not fit the bitmaps or the lengths; a column of no
    /// entries; rows outside their group or not strictly ascending.
    pub fn try_new(parts: RpCscParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let height = check_extents(p.rows, p.cols, p.groups)?;
        check_u32("nnz", p.values.len() as u128)?;
        check_length("group_bitmap", p.col_idx.len() as u128, p.group_bitmap.len())?;
        check_ascending("col_idx", 0, 0, &p.col_idx, p.cols)?;
        check_bitmaps(p, height)?;
        check_offsets("group_col_ptr", &p.group_col_ptr, p.groups, p.col_len.len())?;
        check_offsets("group_value_ptr", &p.group_value_ptr, p.groups, p.values.len())?;
        check_length("row_idx", p.values.len() as u128, p.row_idx.len())?;
        for group in 0..p.groups {
            check_counts(p, group)?;
            check_group(p, group, height)?;
        }
        Ok(RpCsc(parts))
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }
}

/// Every stored column is in some group, and only in groups that have rows.
fn check_bitmaps<T>(p: &RpCscParts<T>, height: usize) -> Result<(), EncodingError> {
    let field = "group_bitmap";
    for (at, &bitmap) in p.group_bitmap.iter().enumerate() {
        if bitmap == 0 {
            return Err(EncodingError::Empty { field, at });
        }
        let mut bits = (0..64).filter(|bit| bitmap >> bit & 1 == 1);
        if let Some(bit) = bits.find(|&bit| bit as usize * height >= p.rows) {
            return Err(EncodingError::StrayBit { field, at, bit });
        }
    }
    Ok(())
}

/// The offsets of a group agree with its bits and with the lengths of its columns, none of which is 0.
fn check_counts<T>(p: &RpCscParts<T>, group: usize) -> Result<(), EncodingError> {
    let unequal = |field, start: u32, count: u64, end: u32| {
        let (expected, found) = (u64::from(start) + count, u64::from(end));
        if expected == found {
            return Ok(());
        }
        Err(EncodingError::Unequal { field, at: group + 1, expected, found })
    };
    let (start, end) = (p.group_col_ptr[group], p.group_col_ptr[group + 1]);
    let stored = p.group_bitmap.iter().filter(|&bits| bits >> group & 1 == 1);
    unequal("group_col_ptr", start, stored.count() as u64, end)?;
    let lengths = &p.col_len[start as usize..end as usize];
    if let Some(empty) = lengths.iter().position(|&length| length == 0) {
        return Err(EncodingError::Empty { field: "col_len", at: start as usize + empty });
    }
    let entries = lengths.iter().map(|&length| u64::from(length)).sum();
    let (first, last) = (p.group_value_ptr[group], p.group_value_ptr[group + 1]);
    unequal("group_value_ptr", first, entries, last)
}

/// The rows of each column of a group ascend and lie inside it.
fn check_group<T>(p: &RpCscParts<T>, group: usize, height: usize) -> Result<(), EncodingError> {
    let first_row = group * height;
    let rows = height.min(p.rows.saturating_sub(first_row));
    let stored = p.col_idx.iter().zip(&p.group_bitmap);
    let cols = stored.filter(|(_, bits)| *bits >> group & 1 == 1);
    let mut at = p.group_value_ptr[group] as usize;
    for ((&col, _), &length) in cols.zip(&p.col_len[p.group_col_ptr[group] as usize..]) {
        let lane = &p.row_idx[at..at + usize::from(length)];
        check_ascending("row_idx", usize::from(col), at, lane, rows).map_err(|error| match error {
            // A lane is a column here, and its rows count from the first of the group.
            EncodingError::Duplicate { field, at, row: column, column: row } => {
                EncodingError::Duplicate { field, at, row: first_row + row, column }
            }
            other => other,
        })?;
        at += lane.len();
    }
    Ok(())
}

impl<T> RpCsc<T> {
    /// The arrays back.
    pub fn into_parts(self) -> RpCscParts<T> {
        self.0
    }
}

impl<T> Deref for RpCsc<T> {
    type Target = RpCscParts<T>;

    fn deref(&self) -> &RpCscParts<T> {
        &self.0
    }
}
