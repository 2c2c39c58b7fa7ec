//! RS-Tile by hand: the arrays of small matrices, element by element, and sizes at the edge of the index type.

use crate::drawings;
use sparse_oracle::prelude::*;

use drawings::{WORKED, drawn};
use sparse_oracle::format::{
    Entries, Entry, Fields, FormatParams, ImpactRule, PAD, RsTile, RsTileParts, SLOT_LIMIT,
};
use sparse_oracle::{Limit, Refusal};

const P: u32 = PAD;

fn tau(nnz: u32) -> FormatParams {
    FormatParams { tau_nnz: Some(nnz), ..FormatParams::default() }
}

/// Encoding gives exactly these arrays, they are valid, and they decode to the entries, sign of zero included.
fn encodes_as(entries: &Entries<f64>, params: FormatParams, parts: RsTileParts<f64>) {
    let encoded = RsTile::from_entries_with(entries, &params).expect("encodes");
    assert_eq!(encoded.into_parts(), parts);
    let matrix = RsTile::try_new(parts).expect("valid");
    assert_eq!(matrix.entries().bits(), entries.bits());
    assert_eq!(matrix.nnz(), entries.nnz());
}

#[test]
fn the_picture_of_the_format_file() {
    let picture = drawn(&[
        ".x..x.x", "x.....x", ".......", ".......", ".......", ".......", ".......", ".......", ".....x.",
        "..x....", "..xx...",
    ]);
    let parts = RsTileParts {
        rows: 11,
        cols: 7,
        window_row: vec![0, 9],
        window_block_ptr: vec![0, 1, 2],
        bitmap: vec![1 << 1 | 1 << 2 | 1 << 3 | 1 << 8 | 1 << 11, 1 << 0 | 1 << 8 | 1 << 9],
        block_value_ptr: vec![0, 5, 8],
        block_col: vec![0, 1, 4, 6, P, P, P, P, 2, 3, P, P, P, P, P, P],
        values: vec![2.0, 5.0, 7.0, 101.0, 107.0, 903.0, 1003.0, 1004.0],
        residual_row: vec![8],
        residual_width: 1,
        residual_col: vec![5],
        residual_values: vec![806.0],
    };
    encodes_as(&picture, FormatParams::default(), parts);
}

#[test]
fn the_worked_example() {
    let parts = RsTileParts {
        rows: 16,
        cols: 16,
        window_row: vec![2, 11],
        window_block_ptr: vec![0, 2, 3],
        // One byte per row, the first row in the lowest.
        bitmap: vec![0x0880_700c_0100_0207, 0x0001_0000_0200_0000, 0x0000_0006_0003_0001],
        block_value_ptr: vec![0, 12, 14, 19],
        block_col: vec![
            0, 1, 2, 5, 6, 7, 8, 9, //
            11, 15, P, P, P, P, P, P, //
            4, 10, 13, P, P, P, P, P,
        ],
        values: vec![
            201.0, 202.0, 203.0, 0.0, 501.0, 603.0, -0.0, 707.0, 708.0, 709.0, 810.0, 906.0, //
            516.0, 812.0, //
            1105.0, 1305.0, 1311.0, 1511.0, 1514.0,
        ],
        residual_row: vec![1, 10],
        residual_width: 2,
        residual_col: vec![3, 9, 14, P],
        residual_values: vec![104.0, 110.0, 0.0, 0.0],
    };
    encodes_as(&drawn(&WORKED), tau(2), parts);
}

#[test]
fn the_worked_example_as_printed() {
    // Rows 11 and 13 add 0 and 1 columns, fewer than tau_inc = tau_nnz = 2; row 15 adds 2.
    let printed = FormatParams { impact: ImpactRule::AsPrinted, ..tau(2) };
    let matrix = RsTile::from_entries_with(&drawn(&WORKED), &printed).expect("encodes");
    assert_eq!(matrix.window_row, [2, 15]);
    assert_eq!(matrix.residual_row, [1, 10, 11, 13]);
    assert_eq!(matrix.block_col[16..], [10, 13, P, P, P, P, P, P]);
    assert_eq!(matrix.residual_col, [3, 9, 14, P, 4, P, 4, 10]);
}

#[test]
fn without_a_threshold_every_window_starts_at_a_row_with_entries() {
    let matrix = RsTile::from_entries_with(&drawn(&WORKED), &tau(0)).expect("encodes");
    assert_eq!(matrix.window_row, [1, 9]);
    assert_eq!((matrix.residual_row.len(), matrix.residual_width), (0, 0));
    assert_eq!(matrix.window_block_ptr, [0, 2, 3]);
    assert_eq!(matrix.block_col[16..], [4, 5, 10, 13, 14, P, P, P]);
}

#[test]
fn nothing_is_encoded_as_no_windows() {
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (5, 5), (u32::MAX as usize, u32::MAX as usize)] {
        let entries = Entries::<f64>::try_new(rows, cols, Vec::new()).expect("a shape");
        let parts = RsTileParts {
            rows,
            cols,
            window_block_ptr: vec![0],
            block_value_ptr: vec![0],
            ..RsTileParts::default()
        };
        encodes_as(&entries, FormatParams::default(), parts);
    }
}

#[test]
fn a_ninth_column_starts_a_block() {
    for columns in [1, 7, 8, 9, 16, 17] {
        let matrix =
            RsTile::from_entries_with(&drawn(&["x".repeat(columns).as_str()]), &tau(0)).expect("encodes");
        assert_eq!(matrix.bitmap.len(), columns.div_ceil(8), "{columns}");
        let pads = matrix.block_col.iter().filter(|&&col| col == P).count();
        assert_eq!(pads, 8 * matrix.bitmap.len() - columns);
    }
}

fn far(rows: usize, cols: usize, at: &[(u32, u32)]) -> Entries<f64> {
    let one = |&(row, col): &(u32, u32)| Entry { row, col, value: 1.0 };
    Entries::try_new(rows, cols, at.iter().map(one).collect()).expect("sorted")
}

#[test]
fn the_largest_shape_costs_what_its_entries_cost() {
    let (most, last) = (u32::MAX as usize, u32::MAX - 1);
    let corners = far(most, most, &[(0, 0), (0, last), (1 << 31, 7), (last, 0), (last, last)]);
    for params in [tau(0), tau(1), tau(2), tau(u32::MAX)] {
        let matrix = RsTile::from_entries_with(&corners, &params).expect("five entries");
        assert_eq!(matrix.entries(), corners);
        assert_eq!(RsTile::try_new(matrix.clone().into_parts()), Ok(matrix.clone()));
        assert!(matrix.index_bytes() < 1000);
    }
    let windows = RsTile::from_entries_with(&corners, &tau(0)).expect("encodes");
    assert_eq!(windows.window_row, [0, 1 << 31, last], "the last window has one row");
    assert_eq!(windows.block_col[..2], [0, last], "the last column is not a pad");
}

#[test]
fn parameters_at_their_limits_are_legal() {
    let worked = drawn(&WORKED);
    for impact in [ImpactRule::AsDescribed, ImpactRule::AsPrinted] {
        for tau_nnz in [0, 1, u32::MAX] {
            for tau_inc in [0, 1, u32::MAX] {
                let params = FormatParams {
                    tau_nnz: Some(tau_nnz),
                    tau_inc: Some(tau_inc),
                    impact,
                    ..FormatParams::default()
                };
                let matrix = RsTile::from_entries_with(&worked, &params).expect("encodes");
                assert_eq!(matrix.entries().bits(), worked.bits());
                // Every row is below one of the two, or none is.
                let all_or_none = match impact {
                    ImpactRule::AsDescribed => tau_inc == 0,
                    ImpactRule::AsPrinted => tau_inc == u32::MAX,
                };
                if tau_nnz == u32::MAX && all_or_none {
                    assert_eq!((matrix.window_row.len(), matrix.residual_row.len()), (0, 12));
                }
                if tau_nnz == 0 {
                    assert_eq!(matrix.residual_row.len(), 0);
                }
            }
        }
    }
}

#[test]
fn a_long_residual_row_among_many_is_refused_before_it_is_allocated() {
    let (many, long) = (1u32 << 15, (1u32 << 13) + 1);
    let mut list: Vec<(u32, u32)> = (0..many).map(|row| (row, long + row)).collect();
    list.extend((0..long).map(|col| (many, col)));
    let entries = far(many as usize + 1, (long + many) as usize, &list);
    let slots = u128::from(many + 1) * u128::from(long);
    let refused = RsTile::from_entries_with(&entries, &tau(u32::MAX)).expect_err("too many slots");
    let expected = Refusal::Limit(Limit { field: "residual_slots", found: slots, limit: SLOT_LIMIT });
    assert_eq!(refused, expected);
    assert!(RsTile::from_entries_with(&entries, &tau(1)).is_ok(), "the long row is a window");
}
