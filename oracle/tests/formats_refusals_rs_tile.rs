//! Every defect by name, for every field of RS-Tile: the constructor finds it and says which, where and why. And what
//! looks odd, but is valid.

use crate::defects;
use sparse_oracle::prelude::*;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, unsorted,
};
use sparse_oracle::format::{Fields, PAD, RsTile, RsTileParts};
use sparse_oracle::{EncodingError, Refusal};

const P: u32 = PAD;

/// Windows at rows 0 and 10, the second cut off by the end; residual rows 8 and 9.
fn valid() -> RsTileParts<f32> {
    RsTileParts {
        rows: 12,
        cols: 20,
        window_row: vec![0, 10],
        window_block_ptr: vec![0, 2, 3],
        bitmap: vec![0x80 | 1, 1 << 57, 1 << 1 | 1 << 8],
        block_value_ptr: vec![0, 2, 3, 5],
        block_col: vec![
            0, 1, 2, 3, 4, 5, 6, 7, //
            8, 9, P, P, P, P, P, P, //
            4, 19, P, P, P, P, P, P,
        ],
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0],
        residual_row: vec![8, 9],
        residual_width: 2,
        residual_col: vec![3, P, 0, 19],
        residual_values: vec![6.0, 0.0, 7.0, 8.0],
    }
}

fn dirty(field: &'static str, at: usize, row: usize) -> Refusal {
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

fn stray(at: usize, bit: u32) -> Refusal {
    Refusal::Encoding(EncodingError::StrayBit { field: "bitmap", at, bit })
}

fn empty(field: &'static str, at: usize) -> Refusal {
    Refusal::Encoding(EncodingError::Empty { field, at })
}

fn overlap(field: &'static str, at: usize, window: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Overlap { field, at, window, found })
}

fn unequal(at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field: "block_value_ptr", at, expected, found })
}

#[test]
#[rustfmt::skip]
fn shapes_and_lengths() {
    refuses(
        &valid(),
        RsTile::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("rows at the end of usize", |p| p.rows = usize::MAX, past_u32("rows", usize::MAX as u128)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("width past u32", |p| p.residual_width = PAST_U32, past_u32("residual_width", 1 << 32)),
            ("slots past u32", |p| p.residual_width = 1 << 31, past_u32("residual_slots", 1 << 32)),
            ("another width", |p| p.residual_width = 1, length("residual_col", 2, 4)),
            ("no width", |p| p.residual_width = 0, length("residual_col", 0, 4)),
            ("a window missing", |p| p.window_row.truncate(1), length("window_block_ptr", 2, 3)),
            ("a window too many", |p| p.window_row.push(11), length("window_block_ptr", 4, 3)),
            ("no offsets of windows", |p| p.window_block_ptr.clear(), length("window_block_ptr", 3, 0)),
            ("first offset of windows", |p| p.window_block_ptr[0] = 1, first("window_block_ptr", 1)),
            ("decreasing offset of windows", |p| p.window_block_ptr[1] = 4, decreasing("window_block_ptr", 2, 4, 3)),
            ("last offset of windows", |p| p.window_block_ptr[2] = 2, last("window_block_ptr", 3, 2)),
            ("a bitmap missing", |p| p.bitmap.truncate(2), last("window_block_ptr", 2, 3)),
            ("no offsets of blocks", |p| p.block_value_ptr.clear(), length("block_value_ptr", 4, 0)),
            ("an offset of blocks too many", |p| p.block_value_ptr.push(5), length("block_value_ptr", 4, 5)),
            ("first offset of blocks", |p| p.block_value_ptr[0] = 1, first("block_value_ptr", 1)),
            ("decreasing offset of blocks", |p| p.block_value_ptr[1] = 4, decreasing("block_value_ptr", 2, 4, 3)),
            ("last offset of blocks", |p| p.block_value_ptr[3] = u32::MAX, last("block_value_ptr", 5, u64::from(u32::MAX))),
            ("a value missing", |p| p.values.truncate(4), last("block_value_ptr", 4, 5)),
            ("a value too many", |p| p.values.push(9.0), last("block_value_ptr", 6, 5)),
            ("a column missing", |p| p.block_col.truncate(23), length("block_col", 24, 23)),
            ("a column too many", |p| p.block_col.push(P), length("block_col", 24, 25)),
            ("a residual row missing", |p| p.residual_row.truncate(1), length("residual_col", 2, 4)),
            ("a residual column missing", |p| p.residual_col.truncate(3), length("residual_col", 4, 3)),
            ("a residual value missing", |p| p.residual_values.truncate(3), length("residual_values", 4, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn rows() {
    refuses(
        &valid(),
        RsTile::try_new,
        vec![
            ("a window past the matrix", |p| p.window_row[1] = 12, out_of_range("window_row", 1, 0, 12, 12)),
            ("too flat for a window", |p| p.rows = 10, out_of_range("window_row", 1, 0, 10, 10)),
            ("windows swapped", |p| p.window_row.swap(0, 1), unsorted("window_row", 1, 0, 10, 0)),
            ("a window twice", |p| p.window_row[1] = 0, duplicate("window_row", 1, 0, 0)),
            ("windows that overlap", |p| p.window_row[1] = 7, overlap("window_row", 1, 0, 7)),
            ("a residual row past the matrix", |p| p.residual_row[1] = 12, out_of_range("residual_row", 1, 0, 12, 12)),
            ("residual rows swapped", |p| p.residual_row.swap(0, 1), unsorted("residual_row", 1, 0, 9, 8)),
            ("a residual row twice", |p| p.residual_row[1] = 8, duplicate("residual_row", 1, 0, 8)),
            ("a residual row that starts a window", |p| p.residual_row[0] = 0, overlap("residual_row", 0, 0, 0)),
            ("a residual row that ends a window", |p| p.residual_row[0] = 7, overlap("residual_row", 0, 0, 7)),
            ("a residual row in a cut window", |p| p.residual_row[1] = 11, overlap("residual_row", 1, 10, 11)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn blocks() {
    refuses(
        &valid(),
        RsTile::try_new,
        vec![
            ("a window without blocks", |p| p.window_block_ptr[1] = 0, empty("window_block_ptr", 0)),
            (
                "the last window without blocks",
                |p| {
                    p.window_block_ptr[1] = 3;
                    p.block_col[8..18].copy_from_slice(&[8, 9, 10, 11, 12, 13, 14, 15, 16, 19]);
                },
                empty("window_block_ptr", 1),
            ),
            ("a block without columns", |p| p.block_col[16..18].fill(P), empty("block_col", 16)),
            ("a last block without columns", |p| p.block_col[8..10].fill(P), empty("block_col", 8)),
            ("a pad inside a full block", |p| p.block_col[3] = P, dirty("block_col", 4, 0)),
            ("a pad at the end of a full block", |p| p.block_col[7] = P, dirty("block_col", 8, 0)),
            ("a column after a pad", |p| p.block_col[15] = 11, dirty("block_col", 15, 0)),
            ("column out of range", |p| p.block_col[17] = 20, out_of_range("block_col", 17, 10, 20, 20)),
            ("almost a pad", |p| p.block_col[18] = P - 1, out_of_range("block_col", 18, 10, u64::from(P - 1), 20)),
            ("too narrow", |p| p.cols = 9, out_of_range("block_col", 9, 0, 9, 9)),
            ("columns swapped", |p| p.block_col.swap(0, 1), unsorted("block_col", 1, 0, 1, 0)),
            ("a column twice in a block", |p| p.block_col[1] = 0, duplicate("block_col", 1, 0, 0)),
            ("a column twice in a window", |p| p.block_col[8] = 7, duplicate("block_col", 8, 0, 7)),
            ("columns descend from block to block", |p| p.block_col[8] = 6, unsorted("block_col", 8, 0, 7, 6)),
            ("a bit over a pad", |p| p.bitmap[1] = 1 << 58, stray(1, 58)),
            ("a bit over the last pad", |p| p.bitmap[2] = 1 << 7 | 1, stray(2, 7)),
            ("a bit past the last row", |p| p.bitmap[2] = 1 << 16 | 1, stray(2, 16)),
            ("the last bit past the last row", |p| p.bitmap[2] = 1 << 57 | 1, stray(2, 57)),
            ("a row less", |p| (p.rows, p.residual_row[1]) = (11, 9), stray(2, 8)),
            ("a bit too many", |p| p.bitmap[0] |= 2, unequal(1, 3, 2)),
            ("a bit too few", |p| p.bitmap[2] = 2, unequal(3, 4, 5)),
            ("a value of the next block", |p| p.block_value_ptr[1] = 3, unequal(1, 2, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn residual_slots() {
    refuses(
        &valid(),
        RsTile::try_new,
        vec![
            ("column out of range", |p| p.residual_col[0] = 20, out_of_range("residual_col", 0, 8, 20, 20)),
            ("columns swapped", |p| p.residual_col.swap(2, 3), unsorted("residual_col", 3, 9, 19, 0)),
            ("a column twice", |p| p.residual_col[3] = 0, duplicate("residual_col", 3, 9, 0)),
            ("a pad before a column", |p| p.residual_col[2] = P, dirty("residual_values", 2, 9)),
            ("a column after a pad", |p| (p.residual_col[2], p.residual_values[2]) = (P, 0.0), dirty("residual_col", 3, 9)),
            ("a value in a pad", |p| p.residual_values[1] = 1.0, dirty("residual_values", 1, 8)),
            ("minus zero in a pad", |p| p.residual_values[1] = -0.0, dirty("residual_values", 1, 8)),
        ],
    );
}

/// Takes the arrays, and says how many entries they hold.
fn takes(damage: impl Fn(&mut RsTileParts<f32>)) -> usize {
    let mut parts = valid();
    damage(&mut parts);
    let matrix = RsTile::try_new(parts).expect("odd, but valid");
    assert_eq!(matrix.entries().check(), Ok(()));
    assert_eq!(matrix.entries().nnz(), matrix.nnz());
    matrix.nnz()
}

#[test]
fn what_no_encoder_writes_is_valid_all_the_same() {
    assert_eq!(takes(|_| {}), 8);
    let no_bits = |p: &mut RsTileParts<f32>| {
        p.bitmap[1] = 0;
        p.block_value_ptr[2..].copy_from_slice(&[2, 4]);
        p.values.pop();
    };
    assert_eq!(takes(no_bits), 7, "a block without a bit");
    assert_eq!(takes(|p| p.bitmap[0] = 3), 8, "columns without a bit");
    assert_eq!(takes(|p| p.bitmap[0] = 3 << 8), 8, "a window that starts with an empty row");
    let wide = |p: &mut RsTileParts<f32>| {
        p.residual_width = 3;
        p.residual_col = vec![3, P, P, 0, 19, P];
        p.residual_values = vec![6.0, 0.0, 0.0, 7.0, 8.0, 0.0];
    };
    assert_eq!(takes(wide), 8, "slots beyond the longest residual row");
    let vacant = |p: &mut RsTileParts<f32>| {
        p.residual_col[0] = P;
        p.residual_values[0] = 0.0;
    };
    assert_eq!(takes(vacant), 7, "a residual row without entries");
    let none = |p: &mut RsTileParts<f32>| {
        p.residual_row.clear();
        p.residual_col.clear();
        p.residual_values.clear();
        p.residual_width = u32::MAX as usize;
    };
    assert_eq!(takes(none), 5, "a width, but no residual row");
    assert_eq!(takes(|p| p.values[0] = 0.0), 8, "an explicit zero");
    assert_eq!(takes(|p| p.rows = u32::MAX as usize), 8, "empty rows behind the last window");
}

#[test]
fn the_tables_break_every_field() {
    // One line at least for each field; a field that is added to the format needs its own.
    let fields: Vec<&str> = valid().fields().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        fields,
        [
            "rows",
            "cols",
            "window_row",
            "window_block_ptr",
            "bitmap",
            "block_value_ptr",
            "block_col",
            "values",
            "residual_row",
            "residual_width",
            "residual_col",
            "residual_values",
        ]
    );
}
