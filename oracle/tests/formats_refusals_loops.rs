//! Every defect by name, for every field of LOOPS: the constructor finds it and says which, where and why.
//!
//! ```text
//! . 1 . 2     CSR part
//! . . . .
//! -------
//! 3 . . 4     tile part: a block of rows 2 and 3, and one of row 4 and a row that is not there
//! . . . 5
//! -------
//! . 6 . .
//! ```

use crate::defects;
use sparse_oracle::prelude::*;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, too_large,
    unsorted,
};
use sparse_oracle::format::{Loops, LoopsParts};
use sparse_oracle::{EncodingError, Refusal, RequestError};

fn valid() -> LoopsParts<f32> {
    LoopsParts {
        rows: 5,
        cols: 4,
        boundary: 2,
        br: 2,
        row_ptr: vec![0, 2, 2],
        col_idx: vec![1, 3],
        csr_values: vec![1.0, 2.0],
        block_ptr: vec![0, 2, 3],
        block_col: vec![0, 3, 1],
        values: vec![3.0, 0.0, 4.0, 5.0, 6.0, 0.0],
    }
}

fn dirty(at: usize, row: usize) -> Refusal {
    let field = "values";
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

#[test]
#[rustfmt::skip]
fn loops_shape() {
    refuses(
        &valid(),
        Loops::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("tiles of no rows", |p| p.br = 0, Refusal::Request(RequestError::Zero { field: "br" })),
            ("tiles too high", |p| p.br = (1 << 16) + 1, too_large("br", (1 << 16) + 1, 1 << 16)),
            ("tiles past u64", |p| p.br = usize::MAX, too_large("br", u128::from(u64::MAX), 1 << 16)),
            ("a boundary past the last row", |p| p.boundary = 6, too_large("boundary", 6, 5)),
            ("a boundary past u64", |p| p.boundary = usize::MAX, too_large("boundary", u128::from(u64::MAX), 5)),
            ("another boundary", |p| p.boundary = 3, length("row_ptr", 4, 3)),
            ("no CSR part", |p| p.boundary = 0, length("row_ptr", 1, 3)),
            ("two rows too many", |p| p.rows = 7, length("block_ptr", 4, 3)),
            ("rows that nothing backs up", |p| p.rows = PAST_U32 - 1, length("block_ptr", 1 << 31, 3)),
            ("a row too few", |p| p.rows = 4, length("block_ptr", 2, 3)),
            ("no tile part", |p| p.rows = 2, length("block_ptr", 1, 3)),
            ("other tiles, more blocks", |p| p.br = 1, length("block_ptr", 4, 3)),
            ("other tiles, fewer blocks", |p| p.br = 3, length("block_ptr", 2, 3)),
            ("other columns", |p| p.cols = 3, out_of_range("col_idx", 1, 0, 3, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn loops_csr_part() {
    refuses(
        &valid(),
        Loops::try_new,
        vec![
            ("no offset of the first row", |p| { p.row_ptr.remove(0); }, length("row_ptr", 3, 2)),
            ("no offsets", |p| p.row_ptr.clear(), length("row_ptr", 3, 0)),
            ("first offset", |p| p.row_ptr[0] = 1, first("row_ptr", 1)),
            ("decreasing offset", |p| p.row_ptr[1] = 3, decreasing("row_ptr", 2, 3, 2)),
            ("last offset", |p| p.row_ptr[2] = 3, last("row_ptr", 2, 3)),
            ("a column missing", |p| p.col_idx.truncate(1), last("row_ptr", 1, 2)),
            ("a value missing", |p| p.csr_values.truncate(1), length("csr_values", 2, 1)),
            ("a value too many", |p| p.csr_values.push(0.0), length("csr_values", 2, 3)),
            ("column out of range", |p| p.col_idx[0] = 4, out_of_range("col_idx", 0, 0, 4, 4)),
            ("columns swapped", |p| p.col_idx.swap(0, 1), unsorted("col_idx", 1, 0, 3, 1)),
            ("column repeated", |p| p.col_idx[1] = 1, duplicate("col_idx", 1, 0, 1)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn loops_tile_part() {
    refuses(
        &valid(),
        Loops::try_new,
        vec![
            ("an offset missing", |p| { p.block_ptr.pop(); }, length("block_ptr", 3, 2)),
            ("first offset", |p| p.block_ptr[0] = 2, first("block_ptr", 2)),
            ("decreasing offset", |p| p.block_ptr[1] = 4, decreasing("block_ptr", 2, 4, 3)),
            ("last offset", |p| p.block_ptr[2] = 2, last("block_ptr", 3, 2)),
            ("a tile's column missing", |p| p.block_col.truncate(2), last("block_ptr", 2, 3)),
            ("a value missing", |p| p.values.truncate(5), length("values", 6, 5)),
            ("a tile too many", |p| p.values.extend([0.0; 2]), length("values", 6, 8)),
            ("column out of range", |p| p.block_col[2] = 4, out_of_range("block_col", 2, 1, 4, 4)),
            ("the pad column", |p| p.block_col[1] = u32::MAX, out_of_range("block_col", 1, 0, u64::from(u32::MAX), 4)),
            ("tiles swapped", |p| p.block_col.swap(0, 1), unsorted("block_col", 1, 0, 3, 0)),
            ("a tile repeated", |p| p.block_col[1] = 0, duplicate("block_col", 1, 0, 0)),
            ("an entry below the last row", |p| p.values[5] = 1.0, dirty(5, 5)),
            ("minus zero below the last row", |p| p.values[5] = -0.0, dirty(5, 5)),
        ],
    );
}

/// The same columns in neighbouring rows and blocks are no defect, nor is a tile without entries.
#[test]
fn what_looks_alike_but_is_valid() {
    let mut parts = valid();
    parts.block_col = vec![0, 3, 0];
    assert!(Loops::try_new(parts.clone()).is_ok());
    parts.values = vec![0.0; 6];
    let matrix = Loops::try_new(parts).expect("pads only");
    assert_eq!((matrix.nnz(), matrix.blocks()), (2, 2));
    assert_eq!(matrix.entries().list.len(), 2);
}
