//! Every defect by name, for every field of ELL, BCSR and Blocked-ELL: the constructor finds it and says which, where
//! and why. A pad that is not one, -0.0 included, is a defect like any other.

use crate::defects;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, unsorted,
};
use sparse_oracle::format::{Bcsr, BcsrParts, BlockedEll, BlockedEllParts, Ell, EllParts, PAD};
use sparse_oracle::{EncodingError, Limit, Refusal, RequestError};

fn dirty(field: &'static str, at: usize, row: usize) -> Refusal {
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

#[test]
#[rustfmt::skip]
fn ell() {
    let valid = EllParts {
        rows: 3,
        cols: 4,
        width: 2,
        col_idx: vec![1, 3, PAD, PAD, 0, PAD],
        values: vec![1.0f32, 2.0, 0.0, 0.0, 3.0, 0.0],
    };
    refuses(
        &valid,
        Ell::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("width past u32", |p| p.width = PAST_U32, past_u32("width", 1 << 32)),
            ("slots past u32", |p| (p.rows, p.width) = (1 << 31, 1 << 31), past_u32("slots", 1 << 62)),
            ("a row too many", |p| p.rows = 4, length("col_idx", 8, 6)),
            ("another width", |p| p.width = 3, length("col_idx", 9, 6)),
            ("no width", |p| p.width = 0, length("col_idx", 0, 6)),
            ("a column missing", |p| p.col_idx.truncate(5), length("col_idx", 6, 5)),
            ("a value missing", |p| p.values.truncate(5), length("values", 6, 5)),
            ("column out of range", |p| p.col_idx[4] = 4, out_of_range("col_idx", 4, 2, 4, 4)),
            ("columns swapped", |p| p.col_idx.swap(0, 1), unsorted("col_idx", 1, 0, 3, 1)),
            ("column repeated", |p| p.col_idx[1] = 1, duplicate("col_idx", 1, 0, 1)),
            ("a pad before a column", |p| p.col_idx[0] = PAD, dirty("values", 0, 0)),
            ("a column after a pad", |p| p.col_idx[3] = 2, dirty("col_idx", 3, 1)),
            ("a value in a pad", |p| p.values[5] = 1.0, dirty("values", 5, 2)),
            ("minus zero in a pad", |p| p.values[2] = -0.0, dirty("values", 2, 1)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn bcsr() {
    let valid = BcsrParts {
        rows: 3,
        cols: 4,
        block_rows: 2,
        block_cols: 2,
        block_row_ptr: vec![0, 2, 3],
        block_col: vec![0, 1, 0],
        values: vec![0.0f32, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0],
    };
    refuses(
        &valid,
        Bcsr::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("block of no rows", |p| p.block_rows = 0, Refusal::Request(RequestError::Zero { field: "block_rows" })),
            ("block of no columns", |p| p.block_cols = 0, Refusal::Request(RequestError::Zero { field: "block_cols" })),
            ("block too large", |p| p.block_rows = 1 << 16, Refusal::Limit(Limit { field: "block_rows * block_cols", found: 1 << 17, limit: 1 << 16 })),
            ("block area past usize", |p| (p.block_rows, p.block_cols) = (usize::MAX, 2), {
                Refusal::Limit(Limit { field: "block_rows * block_cols", found: usize::MAX as u128 * 2, limit: 1 << 16 })
            }),
            ("a block row too many", |p| p.rows = 5, length("block_row_ptr", 4, 3)),
            ("other block height", |p| p.block_rows = 1, length("block_row_ptr", 4, 3)),
            ("other block width", |p| p.block_cols = 1, length("values", 6, 12)),
            ("first offset", |p| p.block_row_ptr[0] = 1, first("block_row_ptr", 1)),
            ("decreasing offset", |p| p.block_row_ptr[1] = 4, decreasing("block_row_ptr", 2, 4, 3)),
            ("last offset", |p| p.block_row_ptr[2] = 2, last("block_row_ptr", 3, 2)),
            ("a block column missing", |p| p.block_col.truncate(2), last("block_row_ptr", 2, 3)),
            ("a value missing", |p| p.values.truncate(11), length("values", 12, 11)),
            ("block column out of range", |p| p.block_col[1] = 2, out_of_range("block_col", 1, 0, 2, 2)),
            ("block columns swapped", |p| p.block_col.swap(0, 1), unsorted("block_col", 1, 0, 1, 0)),
            ("block column repeated", |p| p.block_col[1] = 0, duplicate("block_col", 1, 0, 0)),
            ("below the matrix", |p| p.values[11] = 1.0, dirty("values", 11, 3)),
            ("minus zero below the matrix", |p| p.values[10] = -0.0, dirty("values", 10, 3)),
            ("right of the matrix", |p| p.cols = 3, dirty("values", 5, 0)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn blocked_ell() {
    let mut values = vec![0.0f32; 16];
    (values[1], values[5], values[8]) = (1.0, 2.0, 3.0);
    let valid = BlockedEllParts {
        rows: 3,
        cols: 4,
        block_rows: 2,
        block_cols: 2,
        width: 2,
        block_col: vec![0, 1, 0, PAD],
        values,
    };
    refuses(
        &valid,
        BlockedEll::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("width past u32", |p| p.width = PAST_U32, past_u32("width", 1 << 32)),
            ("block of no rows", |p| p.block_rows = 0, Refusal::Request(RequestError::Zero { field: "block_rows" })),
            ("block of no columns", |p| p.block_cols = 0, Refusal::Request(RequestError::Zero { field: "block_cols" })),
            ("block too large", |p| p.block_cols = 1 << 16, Refusal::Limit(Limit { field: "block_rows * block_cols", found: 1 << 17, limit: 1 << 16 })),
            ("elements past u32", |p| (p.rows, p.width) = (1 << 31, 1 << 31), past_u32("slots", 1 << 63)),
            ("a block row too many", |p| p.rows = 5, length("block_col", 6, 4)),
            ("another width", |p| p.width = 1, length("block_col", 2, 4)),
            ("other block width", |p| p.block_cols = 4, length("values", 32, 16)),
            ("a block column missing", |p| p.block_col.truncate(3), length("block_col", 4, 3)),
            ("a value missing", |p| p.values.truncate(15), length("values", 16, 15)),
            ("block column out of range", |p| p.block_col[1] = 2, out_of_range("block_col", 1, 0, 2, 2)),
            ("block columns swapped", |p| p.block_col.swap(0, 1), unsorted("block_col", 1, 0, 1, 0)),
            ("block column repeated", |p| p.block_col[1] = 0, duplicate("block_col", 1, 0, 0)),
            ("a pad before a block", |p| p.block_col[0] = PAD, dirty("values", 1, 0)),
            ("a block after a pad", |p| (p.block_col[2], p.block_col[3]) = (PAD, 0), dirty("values", 8, 2)),
            (
                "an empty block after a pad",
                |p| {
                    p.block_col[2..].copy_from_slice(&[PAD, 0]);
                    p.values[8] = 0.0;
                },
                dirty("block_col", 3, 1),
            ),
            ("a value in a padding slot", |p| p.values[12] = 1.0, dirty("values", 12, 2)),
            ("minus zero in a padding slot", |p| p.values[12] = -0.0, dirty("values", 12, 2)),
            ("below the matrix", |p| p.values[10] = 1.0, dirty("values", 10, 3)),
            ("right of the matrix", |p| p.cols = 3, dirty("values", 5, 0)),
        ],
    );
}
