//! Every defect by name, for every field of SR-BCRS: the constructor finds it and says which, where and why.
//!
//! ```text
//! 1 . 2 3     windows of 2 rows, groups of 2 vectors; the last window has one row, the last vector of both is a pad
//! 4 . . .
//! -------
//! . 5 . .
//! ```

use crate::defects;
use sparse_oracle::prelude::*;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, too_large,
    unsorted,
};
use sparse_oracle::format::{PAD, SrBcrs, SrBcrsParts};
use sparse_oracle::{EncodingError, Refusal, RequestError};

fn valid() -> SrBcrsParts<f32> {
    SrBcrsParts {
        rows: 3,
        cols: 4,
        v: 2,
        stride: 2,
        window_ptr: vec![0, 4, 6],
        vector_col: vec![0, 2, 3, PAD, 1, PAD],
        values: vec![1.0, 2.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0],
    }
}

fn dirty(field: &'static str, at: usize, row: usize) -> Refusal {
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

fn cut_group(at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field: "window_ptr", at, expected, found })
}

#[test]
#[rustfmt::skip]
fn sr_bcrs_shape() {
    refuses(
        &valid(),
        SrBcrs::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("vectors of no rows", |p| p.v = 0, Refusal::Request(RequestError::Zero { field: "v" })),
            ("groups of no vectors", |p| p.stride = 0, Refusal::Request(RequestError::Zero { field: "stride" })),
            ("a group too large", |p| p.stride = (1 << 15) + 1, too_large("v * stride", (1 << 16) + 2, 1 << 16)),
            ("a group past u64", |p| p.v = usize::MAX, too_large("v * stride", 2 * u128::from(u64::MAX), 1 << 16)),
            ("a window too many", |p| p.rows = 5, length("window_ptr", 4, 3)),
            ("rows that nothing backs up", |p| p.rows = PAST_U32 - 1, length("window_ptr", (1 << 31) + 1, 3)),
            ("a window too few", |p| p.rows = 2, length("window_ptr", 2, 3)),
            ("other vectors", |p| p.v = 1, length("window_ptr", 4, 3)),
            ("other columns", |p| p.cols = 3, out_of_range("vector_col", 2, 0, 3, 3)),
            ("longer groups", |p| p.stride = 4, cut_group(2, 8, 6)),
            ("groups of three", |p| p.stride = 3, cut_group(1, 6, 4)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn sr_bcrs_arrays() {
    refuses(
        &valid(),
        SrBcrs::try_new,
        vec![
            ("an offset missing", |p| { p.window_ptr.pop(); }, length("window_ptr", 3, 2)),
            ("first offset", |p| p.window_ptr[0] = 2, first("window_ptr", 2)),
            ("decreasing offset", |p| p.window_ptr[1] = 8, decreasing("window_ptr", 2, 8, 6)),
            ("last offset", |p| p.window_ptr[2] = 4, last("window_ptr", 6, 4)),
            ("a cut group", |p| p.window_ptr[1] = 3, cut_group(1, 4, 3)),
            ("a vector's column missing", |p| p.vector_col.truncate(5), last("window_ptr", 5, 6)),
            ("a value missing", |p| p.values.truncate(11), length("values", 12, 11)),
            ("a group too many", |p| p.values.extend([0.0; 4]), length("values", 12, 16)),
            ("column out of range", |p| p.vector_col[4] = 4, out_of_range("vector_col", 4, 1, 4, 4)),
            ("columns swapped", |p| p.vector_col.swap(0, 1), unsorted("vector_col", 1, 0, 2, 0)),
            ("column repeated", |p| p.vector_col[1] = 0, duplicate("vector_col", 1, 0, 0)),
            ("a pad before a column", |p| p.vector_col.swap(2, 3), dirty("vector_col", 3, 0)),
            ("a pad over entries", |p| p.vector_col[4] = PAD, dirty("values", 8, 2)),
            ("a value in a pad", |p| p.values[5] = 1.0, dirty("values", 5, 0)),
            ("minus zero in a pad", |p| p.values[7] = -0.0, dirty("values", 7, 1)),
            ("an entry below the last row", |p| p.values[10] = 1.0, dirty("values", 10, 3)),
            ("minus zero below the last row", |p| p.values[10] = -0.0, dirty("values", 10, 3)),
            ("a window moved into the next: columns 3, pad, 1, pad", |p| p.window_ptr[1] = 2, dirty("vector_col", 4, 1)),
        ],
    );
}

/// Whole groups of pads, vectors of pads, and columns that recur in the next window are no defects.
#[test]
fn what_looks_alike_but_is_valid() {
    let mut parts = valid();
    parts.window_ptr[2] = 8;
    parts.vector_col.extend([PAD; 2]);
    parts.values.extend([0.0; 4]);
    let matrix = SrBcrs::try_new(parts).expect("more pads than needed");
    assert_eq!((matrix.nnz(), matrix.windows()), (5, 2));
    let mut parts = valid();
    parts.values = vec![0.0; 12];
    parts.vector_col[4] = 0;
    let matrix = SrBcrs::try_new(parts).expect("pads only");
    assert_eq!((matrix.nnz(), matrix.entries().list.len()), (0, 0));
}
