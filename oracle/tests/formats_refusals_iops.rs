//! Every defect by name, for every field of RP-CSC and CP-CSR: the constructor finds it and says which, where and why.

use crate::defects;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, too_large,
    unsorted,
};
use sparse_oracle::format::{CpCsr, CpCsrParts, RpCsc, RpCscParts};
use sparse_oracle::{EncodingError, Refusal, RequestError};

fn empty(field: &'static str, at: usize) -> Refusal {
    Refusal::Encoding(EncodingError::Empty { field, at })
}

fn stray(bit: u32, at: usize) -> Refusal {
    let field = "group_bitmap";
    Refusal::Encoding(EncodingError::StrayBit { field, at, bit })
}

fn unequal(field: &'static str, at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field, at, expected, found })
}

/// 5 x 4 in 4 groups of 2, 2, 1 and 0 rows: column 1 holds rows 0, 1 and 2; column 3 rows 1 and 4.
#[test]
#[rustfmt::skip]
fn rp_csc() {
    let valid = RpCscParts {
        rows: 5,
        cols: 4,
        groups: 4,
        col_idx: vec![1, 3],
        group_bitmap: vec![0b011, 0b101],
        group_col_ptr: vec![0, 2, 3, 4, 4],
        col_len: vec![2, 1, 1, 1],
        group_value_ptr: vec![0, 3, 4, 5, 5],
        row_idx: vec![0, 1, 1, 0, 0],
        values: vec![1.0f32, 2.0, 3.0, 4.0, 5.0],
    };
    refuses(
        &valid,
        RpCsc::try_new,
        vec![
            ("no groups", |p| p.groups = 0, Refusal::Request(RequestError::Zero { field: "groups" })),
            ("65 groups", |p| p.groups = 65, too_large("groups", 65, 64)),
            ("groups past everything", |p| p.groups = usize::MAX, too_large("groups", usize::MAX as u128, 64)),
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("cols past u16", |p| p.cols = (1 << 16) + 1, too_large("cols", (1 << 16) + 1, 1 << 16)),
            ("groups too tall", |p| p.rows = (4 << 16) + 1, too_large("rows of a group", (1 << 16) + 1, 1 << 16)),
            ("a bitmap missing", |p| p.group_bitmap.truncate(1), length("group_bitmap", 2, 1)),
            ("a column missing", |p| p.col_idx.truncate(1), length("group_bitmap", 1, 2)),
            ("column out of range", |p| p.col_idx[1] = 4, out_of_range("col_idx", 1, 0, 4, 4)),
            ("columns swapped", |p| p.col_idx.swap(0, 1), unsorted("col_idx", 1, 0, 3, 1)),
            ("column repeated", |p| p.col_idx[0] = 3, duplicate("col_idx", 1, 0, 3)),
            ("a column in no group", |p| p.group_bitmap[1] = 0, empty("group_bitmap", 1)),
            ("a bit past the groups", |p| p.group_bitmap[0] |= 1 << 63, stray(63, 0)),
            ("a bit of a group without rows", |p| p.group_bitmap[1] |= 1 << 3, stray(3, 1)),
            ("fewer rows", |p| p.rows = 2, stray(2, 1)),
            ("no rows", |p| p.rows = 0, stray(0, 0)),
            ("first column offset", |p| p.group_col_ptr[0] = 1, first("group_col_ptr", 1)),
            ("decreasing column offset", |p| p.group_col_ptr[1] = 4, decreasing("group_col_ptr", 2, 4, 3)),
            ("last column offset", |p| p.group_col_ptr[4] = 5, last("group_col_ptr", 4, 5)),
            ("a group's offset missing", |p| p.group_col_ptr.truncate(4), length("group_col_ptr", 5, 4)),
            ("columns moved between groups", |p| p.group_col_ptr[1] = 1, unequal("group_col_ptr", 1, 2, 1)),
            ("another bit", |p| p.group_bitmap[0] = 0b111, unequal("group_col_ptr", 3, 5, 4)),
            ("a bit moved to another group", |p| p.group_bitmap[0] = 0b101, unequal("group_col_ptr", 2, 2, 3)),
            ("a length missing", |p| p.col_len.truncate(3), last("group_col_ptr", 3, 4)),
            ("a column of no entries", |p| p.col_len[1] = 0, empty("col_len", 1)),
            ("a length too many", |p| p.col_len[2] = 2, unequal("group_value_ptr", 2, 5, 4)),
            ("a length of the last column", |p| p.col_len[3] = 255, unequal("group_value_ptr", 3, 259, 5)),
            ("first value offset", |p| p.group_value_ptr[0] = 1, first("group_value_ptr", 1)),
            ("decreasing value offset", |p| p.group_value_ptr[2] = 6, decreasing("group_value_ptr", 3, 6, 5)),
            ("last value offset", |p| p.group_value_ptr[4] = 6, last("group_value_ptr", 5, 6)),
            ("a value offset missing", |p| p.group_value_ptr.truncate(4), length("group_value_ptr", 5, 4)),
            ("values moved between groups", |p| p.group_value_ptr[1] = 2, unequal("group_value_ptr", 1, 3, 2)),
            ("a value missing", |p| p.values.truncate(4), last("group_value_ptr", 4, 5)),
            ("a row missing", |p| p.row_idx.truncate(4), length("row_idx", 5, 4)),
            ("row outside its group", |p| p.row_idx[1] = 2, out_of_range("row_idx", 1, 1, 2, 2)),
            ("row past the matrix", |p| p.row_idx[4] = 1, out_of_range("row_idx", 4, 3, 1, 1)),
            ("rows swapped", |p| p.row_idx.swap(0, 1), unsorted("row_idx", 1, 1, 1, 0)),
            ("row repeated", |p| p.row_idx[0] = 1, duplicate("row_idx", 1, 1, 1)),
        ],
    );
}

/// The transposed picture: 4 x 5 in 4 groups of 2, 2, 1 and 0 columns.
#[test]
#[rustfmt::skip]
fn cp_csr() {
    let valid = CpCsrParts {
        rows: 4,
        cols: 5,
        groups: 4,
        row_idx: vec![1, 3],
        group_bitmap: vec![0b011, 0b101],
        group_row_ptr: vec![0, 2, 3, 4, 4],
        row_len: vec![2, 1, 1, 1],
        group_value_ptr: vec![0, 3, 4, 5, 5],
        col_idx: vec![0, 1, 1, 0, 0],
        values: vec![1.0f32, 2.0, 3.0, 4.0, 5.0],
    };
    refuses(
        &valid,
        CpCsr::try_new,
        vec![
            ("no groups", |p| p.groups = 0, Refusal::Request(RequestError::Zero { field: "groups" })),
            ("65 groups", |p| p.groups = 65, too_large("groups", 65, 64)),
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("rows past u16", |p| p.rows = (1 << 16) + 1, too_large("rows", (1 << 16) + 1, 1 << 16)),
            ("groups too wide", |p| p.cols = (4 << 16) + 1, too_large("columns of a group", (1 << 16) + 1, 1 << 16)),
            ("a bitmap missing", |p| p.group_bitmap.truncate(1), length("group_bitmap", 2, 1)),
            ("row out of range", |p| p.row_idx[1] = 4, out_of_range("row_idx", 1, 0, 4, 4)),
            ("rows swapped", |p| p.row_idx.swap(0, 1), unsorted("row_idx", 1, 0, 3, 1)),
            ("row repeated", |p| p.row_idx[0] = 3, duplicate("row_idx", 1, 0, 3)),
            ("a row in no group", |p| p.group_bitmap[0] = 0, empty("group_bitmap", 0)),
            ("a bit past the groups", |p| p.group_bitmap[0] |= 1 << 4, stray(4, 0)),
            ("a bit of a group without columns", |p| p.group_bitmap[0] |= 1 << 3, stray(3, 0)),
            ("first row offset", |p| p.group_row_ptr[0] = 1, first("group_row_ptr", 1)),
            ("decreasing row offset", |p| p.group_row_ptr[1] = 4, decreasing("group_row_ptr", 2, 4, 3)),
            ("last row offset", |p| p.group_row_ptr[4] = 5, last("group_row_ptr", 4, 5)),
            ("rows moved between groups", |p| p.group_row_ptr[1] = 1, unequal("group_row_ptr", 1, 2, 1)),
            ("a length missing", |p| p.row_len.truncate(3), last("group_row_ptr", 3, 4)),
            ("a row of no entries", |p| p.row_len[3] = 0, empty("row_len", 3)),
            ("a length too many", |p| p.row_len[0] = 3, unequal("group_value_ptr", 1, 4, 3)),
            ("first value offset", |p| p.group_value_ptr[0] = 1, first("group_value_ptr", 1)),
            ("last value offset", |p| p.group_value_ptr[4] = 6, last("group_value_ptr", 5, 6)),
            ("values moved between groups", |p| p.group_value_ptr[1] = 4, unequal("group_value_ptr", 1, 3, 4)),
            ("a column missing", |p| p.col_idx.truncate(4), length("col_idx", 5, 4)),
            ("column outside its group", |p| p.col_idx[1] = 2, out_of_range("col_idx", 1, 1, 2, 2)),
            ("column past the matrix", |p| p.col_idx[4] = 1, out_of_range("col_idx", 4, 3, 1, 1)),
            ("columns swapped", |p| p.col_idx.swap(0, 1), unsorted("col_idx", 1, 1, 1, 0)),
            ("column repeated", |p| p.col_idx[0] = 1, duplicate("col_idx", 1, 1, 1)),
            ("column repeated in a later group", |p| {
                p.row_len[2] = 2;
                p.group_value_ptr[2..].iter_mut().for_each(|ptr| *ptr += 1);
                p.col_idx.insert(3, 0);
                p.values.insert(3, 9.0);
            }, duplicate("col_idx", 4, 1, 2)),
        ],
    );
}
