//! RP-CSC and CP-CSR: encodings written out by hand, groups that do not divide the matrix, and the widths of the fields:
//! what just fits is encoded, what is one more is refused by name and place.

use sparse_oracle::format::{
    CpCsr, CpCsrParts, EXTENT_LIMIT, Entries, Entry, Fields, FormatKind, FormatParams, GROUP_LIMIT,
    LANE_LIMIT, RpCsc, RpCscParts, Sparse,
};
use sparse_oracle::prelude::*;
use sparse_oracle::{Refusal, RequestError};

fn entries(rows: usize, cols: usize, list: &[(u32, u32, f64)]) -> Entries<f64> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

fn groups(groups: u32) -> FormatParams {
    FormatParams { groups, ..FormatParams::default() }
}

fn too_large(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Request(RequestError::TooLarge { field, found, limit })
}

/// The picture of `rp_csc.rs`.
#[test]
fn rp_csc_of_a_picture() {
    let e = entries(4, 4, &[(0, 1, 1.0), (0, 3, 2.0), (1, 1, 3.0), (2, 2, 4.0), (3, 3, 5.0)]);
    let by_hand = RpCscParts {
        rows: 4,
        cols: 4,
        groups: 2,
        col_idx: vec![1, 2, 3],
        group_bitmap: vec![0b01, 0b10, 0b11],
        group_col_ptr: vec![0, 2, 4],
        col_len: vec![2, 1, 1, 1],
        group_value_ptr: vec![0, 3, 5],
        row_idx: vec![0, 1, 0, 0, 1],
        values: vec![1.0, 3.0, 2.0, 4.0, 5.0],
    };
    let encoded = RpCsc::from_entries_with(&e, &groups(2)).expect("fits");
    assert_eq!(*encoded, by_hand);
    assert_eq!(RpCsc::try_new(by_hand).map(|m| m.entries()), Ok(e));
    assert_eq!((encoded.nnz(), encoded.params().groups), (5, 2));
    // 16-bit locations, 8-bit lengths, 64-bit bitmaps; the offsets are ours.
    assert_eq!(encoded.index_bytes(), 3 * 2 + 3 * 8 + 4 + 5 * 2 + 2 * 3 * 4);
}

/// The picture of `cp_csr.rs`.
#[test]
fn cp_csr_of_a_picture() {
    let e = entries(4, 4, &[(0, 1, 1.0), (0, 2, 2.0), (1, 3, 3.0), (3, 0, 4.0), (3, 1, 5.0)]);
    let by_hand = CpCsrParts {
        rows: 4,
        cols: 4,
        groups: 2,
        row_idx: vec![0, 1, 3],
        group_bitmap: vec![0b11, 0b10, 0b01],
        group_row_ptr: vec![0, 2, 4],
        row_len: vec![1, 2, 1, 1],
        group_value_ptr: vec![0, 3, 5],
        col_idx: vec![1, 0, 1, 0, 1],
        values: vec![1.0, 4.0, 5.0, 2.0, 3.0],
    };
    let encoded = CpCsr::from_entries_with(&e, &groups(2)).expect("fits");
    assert_eq!(*encoded, by_hand);
    assert_eq!(CpCsr::try_new(by_hand).map(|m| m.entries()), Ok(e));
}

/// 5 rows in 4 groups: heights 2, 2, 1 and 0. A group is `row / ceil(rows / groups)`, not `row * groups / rows`.
#[test]
fn groups_have_equal_heights_and_the_last_may_be_short_or_empty() {
    let column: Vec<_> = (0..5).map(|row| (row, 0, f64::from(row + 1))).collect();
    let m = RpCsc::from_entries_with(&entries(5, 1, &column), &groups(4)).expect("fits");
    assert_eq!((&m.group_bitmap[..], &m.col_len[..]), (&[0b0111][..], &[2, 2, 1][..]));
    assert_eq!((&m.group_col_ptr[..], &m.group_value_ptr[..]), (&[0, 1, 2, 3, 3][..], &[0, 2, 4, 5, 5][..]));
    assert_eq!(m.row_idx, [0, 1, 0, 1, 0]);
    let row: Vec<_> = (0..5).map(|col| (0, col, f64::from(col + 1))).collect();
    let m = CpCsr::from_entries_with(&entries(1, 5, &row), &groups(4)).expect("fits");
    assert_eq!((&m.group_bitmap[..], &m.row_len[..]), (&[0b0111][..], &[2, 2, 1][..]));
    assert_eq!(m.col_idx, [0, 1, 0, 1, 0]);
}

#[test]
fn all_64_groups_have_a_bit() {
    let e = entries(64, 2, &[(0, 1, 1.0), (31, 1, 2.0), (63, 1, 3.0)]);
    let m = RpCsc::from_entries_with(&e, &groups(64)).expect("fits");
    assert_eq!(m.group_bitmap, [1 | 1 << 31 | 1 << 63]);
    assert_eq!(m.entries(), e);
    let m = CpCsr::from_entries_with(&e.transpose(), &groups(64)).expect("fits");
    assert_eq!(m.group_bitmap, [1 | 1 << 31 | 1 << 63]);
    assert_eq!(m.entries(), e.transpose());
}

#[test]
fn matrices_without_rows_columns_or_entries_are_legal() {
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (3, 3)] {
        for kind in [FormatKind::RpCsc, FormatKind::CpCsr] {
            for count in [1, 3, 64] {
                let e = entries(rows, cols, &[]);
                let m = Sparse::from_entries(kind, groups(count), &e).expect("legal");
                assert_eq!((m.entries(), m.nnz()), (e, 0), "{kind:?} {count}");
                let parts = sparse_oracle::format::Parts::from(m.clone());
                assert_eq!(parts.check(), Ok(m));
            }
        }
    }
}

/// The first defect counts: groups, then the shape, then the smallest column in its first group.
#[test]
fn the_number_of_groups_is_checked_before_the_shape() {
    assert_eq!((GROUP_LIMIT, EXTENT_LIMIT, LANE_LIMIT), (64, 1 << 16, 255));
    let wide = entries(1, EXTENT_LIMIT + 1, &[]);
    for (count, refusal) in [
        (0, Refusal::Request(RequestError::Zero { field: "groups" })),
        (65, too_large("groups", 65, 64)),
        (u32::MAX, too_large("groups", u128::from(u32::MAX), 64)),
    ] {
        let params = groups(count);
        assert_eq!(RpCsc::from_entries_with(&wide, &params), Err(refusal.clone()));
        assert_eq!(CpCsr::from_entries_with(&wide.transpose(), &params), Err(refusal));
    }
}

#[test]
fn indices_of_16_bits_count_to_65536_and_no_further() {
    // k: columns of A, rows of B.
    let corner = entries(1, 1 << 16, &[(0, 65535, 1.0)]);
    let past = entries(1, (1 << 16) + 1, &[(0, 65536, 1.0)]);
    let a = RpCsc::from_entries_with(&corner, &groups(1)).expect("fits");
    assert_eq!((&a.col_idx[..], a.entries()), (&[65535][..], corner.clone()));
    let b = CpCsr::from_entries_with(&corner.transpose(), &groups(1)).expect("fits");
    assert_eq!((&b.row_idx[..], b.entries()), (&[65535][..], corner.transpose()));
    assert_eq!(RpCsc::from_entries_with(&past, &groups(1)), Err(too_large("cols", 65537, 65536)));
    assert_eq!(CpCsr::from_entries_with(&past.transpose(), &groups(1)), Err(too_large("rows", 65537, 65536)));
    // Rows and columns inside a group.
    let rows = 2 << 16;
    let tall = entries(rows, 1, &[(rows as u32 - 1, 0, 1.0)]);
    let taller = entries(rows + 1, 1, &[(rows as u32, 0, 1.0)]);
    let a = RpCsc::from_entries_with(&tall, &groups(2)).expect("fits");
    assert_eq!((&a.row_idx[..], a.entries()), (&[65535][..], tall.clone()));
    let b = CpCsr::from_entries_with(&tall.transpose(), &groups(2)).expect("fits");
    assert_eq!((&b.col_idx[..], b.entries()), (&[65535][..], tall.transpose()));
    assert_eq!(
        RpCsc::from_entries_with(&taller, &groups(2)),
        Err(too_large("rows of a group", 65537, 65536))
    );
    assert_eq!(
        CpCsr::from_entries_with(&taller.transpose(), &groups(2)),
        Err(too_large("columns of a group", 65537, 65536))
    );
}

/// A column of `length` entries from `first` on.
fn run(list: &mut Vec<(u32, u32, f64)>, col: u32, first: u32, length: u32) {
    list.extend((first..first + length).map(|row| (row, col, f64::from(row + 1))));
}

#[test]
fn a_length_of_8_bits_counts_to_255_and_no_further() {
    let mut list = Vec::new();
    run(&mut list, 0, 0, 255);
    run(&mut list, 0, 300, 255);
    let full = entries(600, 1, &list);
    let a = RpCsc::from_entries_with(&full, &groups(2)).expect("255 in each group");
    assert_eq!((&a.col_len[..], a.entries()), (&[255, 255][..], full.clone()));
    let b = CpCsr::from_entries_with(&full.transpose(), &groups(2)).expect("255 in each group");
    assert_eq!((&b.row_len[..], b.entries()), (&[255, 255][..], full.transpose()));

    // Column 3 is too long in group 0, column 1 in groups 1 and 2: the smallest column, then its first group.
    let mut list = Vec::new();
    run(&mut list, 3, 0, 256);
    run(&mut list, 1, 300, 300);
    run(&mut list, 1, 600, 256);
    list.sort_by_key(|&(row, col, _)| (row, col));
    let e = entries(900, 5, &list);
    let refused = |what, row, column, remedy| {
        Refusal::Request(RequestError::TooFull { what, row, column, found: 300, limit: 255, remedy })
    };
    assert_eq!(
        RpCsc::from_entries_with(&e, &groups(3)),
        Err(refused(
            "a column of a group (col_len)",
            300,
            1,
            "use more groups, or cut the matrix into lower tiles"
        ))
    );
    assert_eq!(
        CpCsr::from_entries_with(&e.transpose(), &groups(3)),
        Err(refused(
            "a row of a group (row_len)",
            1,
            300,
            "use more groups, or cut the matrix into narrower tiles"
        ))
    );
    // The remedy helps.
    assert_eq!(RpCsc::from_entries_with(&e, &groups(9)).map(|m| m.entries()), Ok(e.clone()));
    assert_eq!(CpCsr::from_entries_with(&e.transpose(), &groups(9)).map(|m| m.entries()), Ok(e.transpose()));
}

/// 2^22 rows of 64 groups with three entries: memory in proportion to the entries. 2^31 rows are refused.
#[test]
fn tall_matrices_of_three_entries_cost_little_or_are_refused() {
    let tall = |rows: usize| {
        let last = rows as u32 - 1;
        entries(rows, 3, &[(0, 0, 1.0), (0, 2, 2.0), (last, 2, 3.0)])
    };
    let fits = tall(1 << 22);
    let m = RpCsc::from_entries_with(&fits, &groups(64)).expect("fits");
    assert_eq!((m.col_idx.len(), m.col_len.len(), m.entries()), (2, 3, fits.clone()));
    let m = CpCsr::from_entries_with(&fits.transpose(), &groups(64)).expect("fits");
    assert_eq!(m.entries(), fits.transpose());
    let past = tall(1 << 31);
    assert_eq!(
        RpCsc::from_entries_with(&past, &groups(64)),
        Err(too_large("rows of a group", 1 << 25, 1 << 16))
    );
    assert_eq!(
        CpCsr::from_entries_with(&past.transpose(), &groups(64)),
        Err(too_large("columns of a group", 1 << 25, 1 << 16))
    );
}
