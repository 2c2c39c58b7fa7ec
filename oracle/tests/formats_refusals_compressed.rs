//! Every defect by name, for every field of COO, CSR, CSC, entries and dense matrices: the constructor finds it and
//! says which, where and why.

use crate::defects;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, too_large,
    unsorted,
};
use sparse_oracle::format::{
    Coo, CooParts, Csc, CscParts, Csr, CsrParts, Dense, Entries, Entry, Layout, PAD,
};
use sparse_oracle::{EncodingError, Refusal, RequestError};

#[test]
#[rustfmt::skip]
fn coo() {
    let valid =
        CooParts { rows: 3, cols: 4, row_idx: vec![2, 0, 0], col_idx: vec![0, 3, 1], values: vec![3.0f32, 2.0, 1.0] };
    refuses(
        &valid,
        Coo::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("a row index missing", |p| p.row_idx.truncate(2), length("row_idx", 3, 2)),
            ("a column index missing", |p| p.col_idx.truncate(1), length("col_idx", 3, 1)),
            ("a value missing", |p| p.values.truncate(2), length("row_idx", 2, 3)),
            ("row out of range", |p| p.row_idx[0] = 3, out_of_range("row_idx", 0, 3, 3, 3)),
            ("column out of range", |p| p.col_idx[1] = 4, out_of_range("col_idx", 1, 0, 4, 4)),
            ("too flat", |p| p.rows = 2, out_of_range("row_idx", 0, 2, 2, 2)),
            ("too narrow", |p| p.cols = 3, out_of_range("col_idx", 1, 0, 3, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn csr() {
    let valid = CsrParts {
        rows: 3,
        cols: 4,
        row_ptr: vec![0, 2, 2, 3],
        col_idx: vec![1, 3, 0],
        values: vec![1.0f32, 2.0, 3.0],
    };
    refuses(
        &valid,
        Csr::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("a row too many", |p| p.rows = 4, length("row_ptr", 5, 4)),
            ("a row too few", |p| p.rows = 2, length("row_ptr", 3, 4)),
            ("no row pointer", |p| p.row_ptr.clear(), length("row_ptr", 4, 0)),
            ("first offset", |p| p.row_ptr[0] = 1, first("row_ptr", 1)),
            ("decreasing offset", |p| p.row_ptr[2] = 1, decreasing("row_ptr", 2, 2, 1)),
            ("offset past the end", |p| p.row_ptr[1] = 9, decreasing("row_ptr", 2, 9, 2)),
            ("last offset short", |p| p.row_ptr[3] = 2, last("row_ptr", 3, 2)),
            ("last offset long", |p| p.row_ptr[3] = 4, last("row_ptr", 3, 4)),
            ("a column missing", |p| p.col_idx.truncate(2), length("col_idx", 3, 2)),
            ("a value missing", |p| p.values.truncate(2), last("row_ptr", 2, 3)),
            ("column out of range", |p| p.col_idx[1] = 4, out_of_range("col_idx", 1, 0, 4, 4)),
            ("the largest u32 as a column", |p| p.col_idx[2] = PAD, out_of_range("col_idx", 2, 2, u64::from(PAD), 4)),
            ("columns swapped", |p| p.col_idx.swap(0, 1), unsorted("col_idx", 1, 0, 3, 1)),
            ("column repeated", |p| p.col_idx[1] = 1, duplicate("col_idx", 1, 0, 1)),
            ("too narrow", |p| p.cols = 3, out_of_range("col_idx", 1, 0, 3, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn csc() {
    let valid = CscParts {
        rows: 3,
        cols: 4,
        col_ptr: vec![0, 1, 2, 2, 3],
        row_idx: vec![2, 0, 0],
        values: vec![3.0f32, 1.0, 2.0],
    };
    refuses(
        &valid,
        Csc::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("a column too many", |p| p.cols = 5, length("col_ptr", 6, 5)),
            ("a column too few", |p| p.cols = 3, length("col_ptr", 4, 5)),
            ("first offset", |p| p.col_ptr[0] = 1, first("col_ptr", 1)),
            ("decreasing offset", |p| p.col_ptr[2] = 0, decreasing("col_ptr", 2, 1, 0)),
            ("last offset", |p| p.col_ptr[4] = 4, last("col_ptr", 3, 4)),
            ("a row missing", |p| p.row_idx.truncate(2), length("row_idx", 3, 2)),
            ("a row too many", |p| p.row_idx.push(0), length("row_idx", 3, 4)),
            ("a value too many", |p| p.values.push(0.0), last("col_ptr", 4, 3)),
            ("row out of range", |p| p.row_idx[1] = 3, out_of_range("row_idx", 1, 1, 3, 3)),
            ("rows unsorted", |p| p.col_ptr = vec![0, 2, 2, 2, 3], unsorted("row_idx", 1, 0, 2, 0)),
            ("row repeated", |p| p.col_ptr = vec![0, 1, 3, 3, 3], duplicate("row_idx", 2, 0, 1)),
            ("too flat", |p| p.rows = 2, out_of_range("row_idx", 0, 0, 2, 2)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn entries() {
    let at = |row, col| Entry { row, col, value: 1.0f32 };
    let valid = Entries::try_new(3, 4, vec![at(0, 1), at(0, 3), at(2, 0)]).expect("sorted");
    refuses(
        &valid,
        |e: Entries<f32>| e.check(),
        vec![
            ("rows past u32", |e| e.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |e| e.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("row out of range", |e| e.list[2].row = 3, out_of_range("entries.row", 2, 3, 3, 3)),
            ("column out of range", |e| e.list[1].col = 4, out_of_range("entries.col", 1, 0, 4, 4)),
            ("rows unsorted", |e| e.list[0].row = 1, unsorted("entries.row", 1, 0, 1, 0)),
            ("columns unsorted", |e| e.list.swap(0, 1), unsorted("entries.col", 1, 0, 3, 1)),
            ("repeated", |e| e.list[1].col = 1, duplicate("entries", 1, 0, 1)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn dense() {
    type Shape = (usize, usize, usize, Layout, usize);
    let valid: Shape = (3, 4, 5, Layout::RowMajor, 15);
    let build = |(rows, cols, ld, layout, len): Shape| Dense::try_new(rows, cols, ld, layout, vec![0.0f32; len]);
    let short = |found, minimum| Refusal::Request(RequestError::LeadingDimension { field: "ld", found, minimum });
    let length = |expected, found| Refusal::Request(RequestError::Length { field: "data", expected, found });
    refuses(
        &valid,
        build,
        vec![
            ("rows past u32", |d| d.0 = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |d| d.1 = PAST_U32, past_u32("cols", 1 << 32)),
            ("leading dimension short", |d| d.2 = 3, short(3, 4)),
            ("leading dimension of the other layout", |d| (d.2, d.3) = (2, Layout::ColMajor), short(2, 3)),
            ("an element missing", |d| d.4 = 14, length(15, 14)),
            ("the other layout", |d| d.3 = Layout::ColMajor, length(20, 15)),
            ("leading dimension past all memory", |d| d.2 = usize::MAX, length(usize::MAX, 15)),
        ],
    );
}

#[test]
fn messages_say_what_where_and_the_other_side() {
    for (refusal, message) in [
        (out_of_range("col_idx", 5, 2, 9, 4), "col_idx[5] (major index 2) is 9, must be below 4"),
        (
            duplicate("row_idx", 2, 0, 1),
            "position (0, 1) is stored again at offset 2 of row_idx; sum or drop duplicates first",
        ),
        (
            Refusal::Encoding(EncodingError::DirtyPad { field: "values", at: 5, row: 2 }),
            "values[5] (row 2) lies in the padding but is not a pad",
        ),
        (decreasing("row_ptr", 2, 9, 2), "row_ptr[2] is 2, less than row_ptr[1] = 9"),
        (too_large("slots", 1 << 62, 7), "slots is 4611686018427387904, the limit is 7"),
    ] {
        assert_eq!(refusal.to_string(), message);
    }
}
