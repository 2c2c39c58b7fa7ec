//! CP-CSR, the mirror image of RP-CSC: columns in groups, each group stored by rows, with column indices that count
//! inside the group.
//!
//! ```text
//! group 0   group 1     row_idx          0 1 3          rows that any group stores, once for all groups
//! . a     | b .         group_bitmap   0b11 0b10 0b01   bit g: group g stores the row
//! . .     | . c         group_row_ptr    0 2 4          offsets into row_len, by group
//! . .     | . .         row_len          1 2 | 1 1      entries of each stored row of each group
//! d e     | . .         group_value_ptr  0 3 5          offsets into col_idx and values, by group
//!                       col_idx          1 0 1 | 0 1    column inside the group
//! 4 x 4, groups = 2     values           a d e | b c
//! ```
//!
//! IOPS, section 3.1.1. Groups have equal widths, `ceil(cols / groups)`; the last group that has columns may be
//! narrower, and groups after it have none. Only rows that hold an entry are stored, in `row_idx` as in each group.
//! Explicit zeros are kept. Field widths as in RP-CSC: at most 64 groups, 2^16 rows, 2^16 columns per group, 255 entries
//! in a row of a group.

use super::check::{check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use super::{EXTENT_LIMIT, GROUP_LIMIT};
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a CP-CSR matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpCsrParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of column groups, 1 to 64.
    pub groups: usize,
    /// Rows that are non-empty in any group, ascending.
    pub row_idx: Vec<u16>,
    /// One per such row; bit g (0 is the least significant) says that group g stores it.
    pub group_bitmap: Vec<u64>,
    /// `groups + 1` offsets into `row_len`.
    pub group_row_ptr: Vec<u32>,
    /// Entries of each stored row of each group, by group, then row; never 0.
    pub row_len: Vec<u8>,
    /// `groups + 1` offsets into `col_idx` and `values`.
    pub group_value_ptr: Vec<u32>,
    /// Column inside the group, by group, then row, then column.
    pub col_idx: Vec<u16>,
    /// One per column index.
    pub values: Vec<T>,
}

fields!(CpCsrParts {
    rows: Extent,
    cols: Extent,
    groups: Extent,
    row_idx: U16,
    group_bitmap: U64,
    group_row_ptr: U32,
    row_len: U8,
    group_value_ptr: U32,
    col_idx: U16,
    values: Values
});

/// A valid CP-CSR matrix. Reads as its [`CpCsrParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct CpCsr<T>(CpCsrParts<T>);

/// Checks the number of groups, the shape, and what 16-bit indices can count; returns the columns of a group.
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
    if rows > EXTENT_LIMIT {
        return Err(too_large("rows", rows, EXTENT_LIMIT));
    }
    let width = cols.div_ceil(groups);
    if width > EXTENT_LIMIT {
        return Err(too_large("columns of a group", width, EXTENT_LIMIT));
    }
    Ok(width)
}

impl<T: Scalar> CpCsr<T> {
    /// Checks the arrays. In refusals about `col_idx` the major index is the row.
    ///
    /// # Errors
    /// The first defect found: no group or more than 64; a dimension past u32, more than 2^16 rows or columns of a
    /// group; an array length; rows out of range or not strictly ascending; a bitmap without a bit, or with the bit of
    /// a group that has no columns; an offset that does not fit the bitmaps or the lengths; a row of no entries;
    /// columns outside their group or not strictly ascending.
    pub fn try_new(parts: CpCsrParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let width = check_extents(p.rows, p.cols, p.groups)?;
        check_u32("nnz", p.values.len() as u128)?;
        check_length("group_bitmap", p.row_idx.len() as u128, p.group_bitmap.len())?;
        check_ascending("row_idx", 0, 0, &p.row_idx, p.rows)?;
        check_bitmaps(p, width)?;
        check_offsets("group_row_ptr", &p.group_row_ptr, p.groups, p.row_len.len())?;
        check_offsets("group_value_ptr", &p.group_value_ptr, p.groups, p.values.len())?;
        check_length("col_idx", p.values.len() as u128, p.col_idx.len())?;
        for group in 0..p.groups {
            check_counts(p, group)?;
            check_group(p, group, width)?;
        }
        Ok(CpCsr(parts))
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }
}

/// Every stored row is in some group, and only in groups that have columns.
fn check_bitmaps<T>(p: &CpCsrParts<T>, width: usize) -> Result<(), EncodingError> {
    let field = "group_bitmap";
    for (at, &bitmap) in p.group_bitmap.iter().enumerate() {
        if bitmap == 0 {
            return Err(EncodingError::Empty { field, at });
        }
        let mut bits = (0..64).filter(|bit| bitmap >> bit & 1 == 1);
        if let Some(bit) = bits.find(|&bit| bit as usize * width >= p.cols) {
            return Err(EncodingError::StrayBit { field, at, bit });
        }
    }
    Ok(())
}

/// The offsets of a group agree with its bits and with the lengths of its rows, none of which is 0.
fn check_counts<T>(p: &CpCsrParts<T>, group: usize) -> Result<(), EncodingError> {
    let unequal = |field, start: u32, count: u64, end: u32| {
        let (expected, found) = (u64::from(start) + count, u64::from(end));
        if expected == found {
            return Ok(());
        }
        Err(EncodingError::Unequal { field, at: group + 1, expected, found })
    };
    let (start, end) = (p.group_row_ptr[group], p.group_row_ptr[group + 1]);
    let stored = p.group_bitmap.iter().filter(|&bits| bits >> group & 1 == 1);
    unequal("group_row_ptr", start, stored.count() as u64, end)?;
    let lengths = &p.row_len[start as usize..end as usize];
    if let Some(empty) = lengths.iter().position(|&length| length == 0) {
        return Err(EncodingError::Empty { field: "row_len", at: start as usize + empty });
    }
    let entries = lengths.iter().map(|&length| u64::from(length)).sum();
    let (first, last) = (p.group_value_ptr[group], p.group_value_ptr[group + 1]);
    unequal("group_value_ptr", first, entries, last)
}

/// The columns of each row of a group ascend and lie inside it.
fn check_group<T>(p: &CpCsrParts<T>, group: usize, width: usize) -> Result<(), EncodingError> {
    let first_col = group * width;
    let cols = width.min(p.cols.saturating_sub(first_col));
    let stored = p.row_idx.iter().zip(&p.group_bitmap);
    let rows = stored.filter(|(_, bits)| *bits >> group & 1 == 1);
    let mut at = p.group_value_ptr[group] as usize;
    for ((&row, _), &length) in rows.zip(&p.row_len[p.group_row_ptr[group] as usize..]) {
        let lane = &p.col_idx[at..at + usize::from(length)];
        check_ascending("col_idx", usize::from(row), at, lane, cols).map_err(|error| match error {
            // Columns count from the first of the group.
            EncodingError::Duplicate { field, at, row, column } => {
                EncodingError::Duplicate { field, at, row, column: first_col + column }
            }
            other => other,
        })?;
        at += lane.len();
    }
    Ok(())
}

impl<T> CpCsr<T> {
    /// The arrays back.
    pub fn into_parts(self) -> CpCsrParts<T> {
        self.0
    }
}

impl<T> Deref for CpCsr<T> {
    type Target = CpCsrParts<T>;

    fn deref(&self) -> &CpCsrParts<T> {
        &self.0
    }
}
