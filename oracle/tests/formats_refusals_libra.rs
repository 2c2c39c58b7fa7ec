//! Every defect by name, for every field of both Libra formats: the constructor finds it and says which, where and why.
//!
//! ```text
//! rows 0 to 7: columns 4 (rows 0 1 2), 8 (0 7), 10 (1 5), 1 (3), 11 (7) in the tensor part, 6 (2) in the other
//! rows 8, 9:   columns 0 (8) and 2 (9) in the tensor part
//! ```

use crate::defects;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, unsorted,
};
use sparse_oracle::format::{LibraSddmm, LibraSddmmParts, LibraSpmm, LibraSpmmParts, PAD};
use sparse_oracle::{EncodingError, Refusal, RequestError};

fn dirty(at: usize, row: usize) -> Refusal {
    let field = "block_col";
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

fn stray(at: usize, bit: u32) -> Refusal {
    let field = "bitmap";
    Refusal::Encoding(EncodingError::StrayBit { field, at, bit })
}

fn unequal(field: &'static str, at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field, at, expected, found })
}

fn kb(found: u64) -> Refusal {
    Refusal::Request(RequestError::Parameter { field: "kb", expected: "4, 8 or 16", found })
}

/// Two blocks in the first window, one in the second.
fn spmm_parts() -> LibraSpmmParts<f32> {
    LibraSpmmParts {
        rows: 10,
        cols: 12,
        kb: 4,
        window_block_ptr: vec![0, 2, 3],
        bitmap: vec![0x4080_12a6, 0x1000_0000, 0x21],
        block_value_ptr: vec![0, 8, 9, 11],
        block_col: vec![1, 4, 8, 10, 11, PAD, PAD, PAD, 0, 2, PAD, PAD],
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
        row_ptr: vec![0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        col_idx: vec![6],
        rest_values: vec![6.0],
    }
}

#[test]
#[rustfmt::skip]
fn spmm_frame() {
    refuses(
        &spmm_parts(),
        LibraSpmm::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("blocks without columns", |p| p.kb = 0, kb(0)),
            ("blocks of 5 columns", |p| p.kb = 5, kb(5)),
            ("blocks of usize::MAX columns", |p| p.kb = usize::MAX, kb(u64::MAX)),
            ("blocks of 8 columns", |p| p.kb = 8, length("block_col", 24, 12)),
            ("blocks of 16 columns", |p| p.kb = 16, length("bitmap", 6, 3)),
            ("a window too many", |p| p.rows = 17, length("window_block_ptr", 4, 3)),
            ("as many rows as u32 holds", |p| p.rows = u32::MAX as usize, length("window_block_ptr", (1 << 29) + 1, 3)),
            ("a row too many", |p| p.rows = 11, length("row_ptr", 12, 11)),
            ("no block offsets", |p| p.block_value_ptr.clear(), length("block_value_ptr", 1, 0)),
            ("first window offset", |p| p.window_block_ptr[0] = 1, first("window_block_ptr", 1)),
            ("decreasing window offset", |p| p.window_block_ptr[1] = 4, decreasing("window_block_ptr", 2, 4, 3)),
            ("last window offset", |p| p.window_block_ptr[2] = 2, last("window_block_ptr", 3, 2)),
            ("first block offset", |p| p.block_value_ptr[0] = 1, first("block_value_ptr", 1)),
            ("decreasing block offset", |p| p.block_value_ptr[1] = 10, decreasing("block_value_ptr", 2, 10, 9)),
            ("last block offset", |p| p.block_value_ptr[3] = 12, last("block_value_ptr", 11, 12)),
            ("a value missing", |p| p.values.truncate(10), last("block_value_ptr", 10, 11)),
            ("a bitmap missing", |p| p.bitmap.truncate(2), length("bitmap", 3, 2)),
            ("a column missing", |p| p.block_col.truncate(11), length("block_col", 12, 11)),
            ("first row offset", |p| p.row_ptr[0] = 1, first("row_ptr", 1)),
            ("decreasing row offset", |p| p.row_ptr[9] = 0, decreasing("row_ptr", 9, 1, 0)),
            ("last row offset", |p| p.row_ptr[10] = 2, last("row_ptr", 1, 2)),
            ("a remaining value too many", |p| p.rest_values.push(1.0), length("rest_values", 1, 2)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn spmm_contents() {
    refuses(
        &spmm_parts(),
        LibraSpmm::try_new,
        vec![
            ("column out of range", |p| p.cols = 11, out_of_range("block_col", 4, 0, 11, 11)),
            ("column out of range in the second window", |p| p.block_col[9] = 12, out_of_range("block_col", 9, 1, 12, 12)),
            ("columns swapped", |p| p.block_col.swap(1, 2), unsorted("block_col", 2, 0, 8, 4)),
            ("columns that descend between blocks", |p| p.block_col[4] = 9, unsorted("block_col", 4, 0, 10, 9)),
            ("a column repeated", |p| p.block_col[4] = 10, duplicate("block_col", 4, 0, 10)),
            ("a pad in a block that is not the last", |p| p.block_col[3] = PAD, out_of_range("block_col", 3, 0, u64::from(PAD), 12)),
            ("a column after a pad", |p| p.block_col[6] = 11, dirty(6, 0)),
            ("a column after a pad in the second window", |p| p.block_col.swap(9, 10), dirty(10, 1)),
            ("a block without a column", |p| p.block_col[4] = PAD, out_of_range("block_col", 4, 0, u64::from(PAD), 12)),
            ("an entry over a pad", |p| p.block_col[9] = PAD, stray(2, 5)),
            ("a bit over a pad", |p| p.bitmap[1] |= 1 << 2, stray(1, 2)),
            ("a bit below the matrix", |p| p.bitmap[2] |= 1 << 8, stray(2, 8)),
            ("a bit past a block of 4 columns", |p| p.bitmap[0] |= 1 << 32, stray(0, 32)),
            ("the last bit of a word", |p| p.bitmap[2] |= 1 << 63, stray(2, 63)),
            ("an entry without a bit", |p| p.bitmap[2] = 0x20, unequal("block_value_ptr", 3, 10, 11)),
            ("a bit too many", |p| p.bitmap[0] |= 1, unequal("block_value_ptr", 1, 9, 8)),
            ("a value of another block", |p| p.block_value_ptr[2] = 10, unequal("block_value_ptr", 2, 9, 10)),
            ("a remaining column out of range", |p| p.col_idx[0] = 12, out_of_range("col_idx", 0, 2, 12, 12)),
            ("an entry in both parts", |p| p.col_idx[0] = 4, duplicate("col_idx", 0, 2, 4)),
            (
                "remaining columns swapped",
                |p| {
                    (p.col_idx, p.rest_values) = (vec![7, 6], vec![1.0, 6.0]);
                    p.row_ptr[3..].fill(2);
                },
                unsorted("col_idx", 1, 2, 7, 6),
            ),
            (
                "a remaining column repeated",
                |p| {
                    (p.col_idx, p.rest_values) = (vec![6, 6], vec![1.0, 6.0]);
                    p.row_ptr[3..].fill(2);
                },
                duplicate("col_idx", 1, 2, 6),
            ),
            (
                "an entry of the second window in both parts",
                |p| {
                    (p.col_idx, p.rest_values) = (vec![6, 2], vec![6.0, 1.0]);
                    p.row_ptr[10] = 2;
                },
                duplicate("col_idx", 1, 9, 2),
            ),
        ],
    );
}

/// Blocks of 16 columns: the second word of a bitmap.
#[test]
#[rustfmt::skip]
fn spmm_two_words() {
    let valid = LibraSpmmParts {
        rows: 5,
        cols: 3,
        kb: 16,
        window_block_ptr: vec![0, 1],
        bitmap: vec![1, 1 << 2],
        block_value_ptr: vec![0, 2],
        block_col: [&[0, 1, 2][..], &[PAD; 13]].concat(),
        values: vec![1.0f32, 2.0],
        row_ptr: vec![0, 0, 0, 0, 0, 1],
        col_idx: vec![1],
        rest_values: vec![3.0],
    };
    refuses(
        &valid,
        LibraSpmm::try_new,
        vec![
            ("a bit below the matrix", |p| p.bitmap[1] |= 1 << 16, stray(1, 16)),
            ("a bit over a pad", |p| p.bitmap[1] |= 1 << 3, stray(1, 3)),
            ("a word too many", |p| p.bitmap.push(0), length("bitmap", 2, 3)),
            ("a bit too many", |p| p.bitmap[1] |= 1 << 1, unequal("block_value_ptr", 1, 3, 2)),
            ("an entry in both parts", |p| p.col_idx[0] = 2, duplicate("col_idx", 0, 4, 2)),
        ],
    );
}

/// One block in each window, columns in no order; 6 and 11 remain.
fn sddmm_parts() -> LibraSddmmParts<f32> {
    let columns = |real: &[u32]| [real, &vec![PAD; 16 - real.len()]].concat();
    LibraSddmmParts {
        rows: 10,
        cols: 12,
        window_block_ptr: vec![0, 1, 2],
        bitmap: vec![1 | 1 << 1 | 1 << 16 | 1 << 18 | 1 << 32 | 1 << 51, 1 << 18 | 1 << 49, 1 | 1 << 17, 0],
        block_value_ptr: vec![0, 8, 10],
        block_col: [columns(&[4, 8, 10, 1]), columns(&[0, 2])].concat(),
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0, 11.0, 12.0],
        position: vec![0, 1, 2, 3, 4, 6, 7, 8, 10, 11],
        row_ptr: vec![0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
        col_idx: vec![6, 11],
        rest_values: vec![6.0, 10.0],
        rest_position: vec![5, 9],
    }
}

#[test]
#[rustfmt::skip]
fn sddmm_frame() {
    refuses(
        &sddmm_parts(),
        LibraSddmm::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("a window too many", |p| p.rows = 17, length("window_block_ptr", 4, 3)),
            ("a row too many", |p| p.rows = 11, length("row_ptr", 12, 11)),
            ("no block offsets", |p| p.block_value_ptr.clear(), length("block_value_ptr", 1, 0)),
            ("first window offset", |p| p.window_block_ptr[0] = 1, first("window_block_ptr", 1)),
            ("decreasing window offset", |p| p.window_block_ptr[1] = 3, decreasing("window_block_ptr", 2, 3, 2)),
            ("last window offset", |p| p.window_block_ptr[2] = 1, last("window_block_ptr", 2, 1)),
            ("first block offset", |p| p.block_value_ptr[0] = 1, first("block_value_ptr", 1)),
            ("decreasing block offset", |p| p.block_value_ptr[1] = 11, decreasing("block_value_ptr", 2, 11, 10)),
            ("a value missing", |p| p.values.truncate(9), last("block_value_ptr", 9, 10)),
            ("one word per block", |p| p.bitmap.truncate(2), length("bitmap", 4, 2)),
            ("a column missing", |p| p.block_col.truncate(31), length("block_col", 32, 31)),
            ("last row offset", |p| p.row_ptr[10] = 3, last("row_ptr", 2, 3)),
            ("a remaining value missing", |p| p.rest_values.truncate(1), length("rest_values", 2, 1)),
            ("a position missing", |p| p.position.truncate(9), length("position", 10, 9)),
            ("a remaining position too many", |p| p.rest_position.push(12), length("rest_position", 2, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn sddmm_contents() {
    refuses(
        &sddmm_parts(),
        LibraSddmm::try_new,
        vec![
            ("column out of range", |p| p.block_col[17] = 12, out_of_range("block_col", 17, 1, 12, 12)),
            ("a column repeated", |p| p.block_col[2] = 4, duplicate("block_col", 2, 0, 4)),
            ("a column repeated far away", |p| p.block_col[3] = 4, duplicate("block_col", 3, 0, 4)),
            ("a column after a pad", |p| p.block_col.swap(17, 18), dirty(18, 1)),
            ("an entry over a pad", |p| p.block_col[17] = PAD, stray(2, 17)),
            ("a bit over a pad", |p| p.bitmap[1] |= 1 << 4, stray(1, 4)),
            ("a bit below the matrix", |p| p.bitmap[2] |= 1 << 32, stray(2, 32)),
            ("a bit below the matrix, in the second word", |p| p.bitmap[3] |= 1, stray(3, 0)),
            ("an entry without a bit", |p| p.bitmap[1] = 1 << 18, unequal("block_value_ptr", 1, 7, 8)),
            ("a value of another block", |p| p.block_value_ptr[1] = 9, unequal("block_value_ptr", 1, 8, 9)),
            ("a remaining column out of range", |p| p.col_idx[1] = 12, out_of_range("col_idx", 1, 7, 12, 12)),
            ("an entry in both parts", |p| p.col_idx[1] = 8, duplicate("col_idx", 1, 7, 8)),
            // Column 3 comes before 4 in row 1, where 10 came after it.
            ("an entry of another column", |p| p.block_col[2] = 3, unequal("position", 3, 2, 3)),
            ("positions swapped", |p| p.position.swap(0, 1), unequal("position", 0, 0, 1)),
            ("a position twice", |p| p.position[9] = 10, unequal("position", 9, 11, 10)),
            ("a position of the other part", |p| p.position[5] = 5, unequal("position", 5, 6, 5)),
            ("a position past the end", |p| p.position[7] = u32::MAX, unequal("position", 7, 8, u64::from(u32::MAX))),
            ("a remaining position too small", |p| p.rest_position[1] = 8, unequal("rest_position", 1, 9, 8)),
            ("remaining positions swapped", |p| p.rest_position.swap(0, 1), unequal("rest_position", 0, 5, 9)),
        ],
    );
}

/// Two blocks in one window.
#[test]
#[rustfmt::skip]
fn sddmm_blocks_of_one_window() {
    let valid = LibraSddmmParts {
        rows: 1,
        cols: 17,
        window_block_ptr: vec![0, 2],
        bitmap: vec![0xffff, 0, 1, 0],
        block_value_ptr: vec![0, 16, 17],
        block_col: [&(1..17).collect::<Vec<u32>>()[..], &[0], &[PAD; 15]].concat(),
        values: vec![1.0f32; 17],
        position: [&(1..17).collect::<Vec<u32>>()[..], &[0]].concat(),
        row_ptr: vec![0, 0],
        ..LibraSddmmParts::default()
    };
    refuses(
        &valid,
        LibraSddmm::try_new,
        vec![
            ("a column of two blocks", |p| p.block_col[16] = 9, duplicate("block_col", 16, 0, 9)),
            ("a pad in a block that is not the last", |p| p.block_col[15] = PAD, {
                out_of_range("block_col", 15, 0, u64::from(PAD), 17)
            }),
            ("a block without a column", |p| p.block_col[16] = PAD, out_of_range("block_col", 16, 0, u64::from(PAD), 17)),
            ("a column after a pad", |p| p.block_col[18] = 0, dirty(18, 0)),
        ],
    );
}
