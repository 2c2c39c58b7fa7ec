//! N:M and V:N:M by hand: what a small matrix is encoded to, what is refused because it does not fit, what a claim of
//! size costs.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::{nm, picture, vnm};
use sparse_oracle::format::{Entries, Entry, FormatKind, FormatParams, Nm, NmParts, SLOT_LIMIT, Sparse, Vnm};
use sparse_oracle::{Limit, Refusal, RequestError};

fn encode(kind: FormatKind, params: FormatParams, entries: &Entries<f32>) -> Result<Sparse<f32>, Refusal> {
    Sparse::from_entries(kind, params, entries)
}

fn too_full(what: &'static str, row: usize, column: usize, found: u64, limit: u64) -> Refusal {
    Refusal::Request(RequestError::TooFull {
        what,
        row,
        column,
        found,
        limit,
        remedy: "prune the matrix first",
    })
}

/// 6 x 4 of the picture in the format's documentation.
fn six_by_four() -> Entries<f32> {
    picture(&["1 . . .", ". . . 2", ". . 5 .", "3 4 . .", ". . 6 7", "8 . . ."])
}

#[test]
fn nm_names_the_kept_rows_of_every_window() {
    let entries = six_by_four();
    let found = Nm::from_entries_with(&entries, &nm(2, 4, 2)).expect("fits");
    let expected = NmParts {
        rows: 6,
        cols: 4,
        n: 2,
        m: 4,
        l: 2,
        index: vec![0, 1, 3, 2, 0, 0, 1, 1],
        #[rustfmt::skip]
        values: vec![
            1.0f32, 0.0, 0.0, 2.0,
            3.0, 4.0, 5.0, 0.0,
            0.0, 0.0, 6.0, 7.0,
            8.0, 0.0, 0.0, 0.0,
        ],
    };
    assert_eq!(*found, expected);
    assert_eq!(found.entries(), entries);
    assert_eq!((found.nnz(), found.params()), (8, nm(2, 4, 2)));
    // Row u of B' is row floor(u / 2) * 4 + D of B.
    let rows: Vec<usize> = (0..4).flat_map(|u| [found.row(u, 0), found.row(u, 1)]).collect();
    assert_eq!(rows, [0, 1, 3, 2, 4, 4, 5, 5]);
}

#[test]
fn unused_vectors_name_the_lowest_free_rows() {
    // Three of five are kept: what is stored is 3; 1 and 4; 2, 3 and 4; nothing.
    let entries: Entries<f32> = picture(&[". . . .", ". 1 . .", ". . 1 .", "1 . 2 .", ". 2 3 ."]);
    let found = Nm::from_entries_with(&entries, &nm(3, 5, 1)).expect("fits");
    #[rustfmt::skip]
    assert_eq!(found.index, [
        0, 0, 2, 0,
        1, 1, 3, 1,
        3, 4, 4, 2,
    ]);
    #[rustfmt::skip]
    assert_eq!(found.values, [
        0.0, 0.0, 1.0, 0.0,
        0.0, 1.0, 2.0, 0.0,
        1.0, 2.0, 3.0, 0.0,
    ]);
}

#[test]
fn rows_past_the_end_are_named_only_where_a_window_lacks_real_ones() {
    // k mod m = 1 < n = 2: the last window names row 5, which does not exist.
    let entries: Entries<f32> = picture(&["1", ".", ".", ".", "2"]);
    let found = Nm::from_entries_with(&entries, &nm(2, 4, 1)).expect("fits");
    assert_eq!(found.index, [0, 1, 0, 1]);
    assert_eq!((found.row(2, 0), found.row(3, 0)), (4, 5));
    assert_eq!(found.values, [1.0, 0.0, 2.0, 0.0]);
    // Columns past the end are pads.
    let found = Nm::from_entries_with(&entries, &nm(1, 4, 3)).expect("fits");
    assert_eq!((&found.index[..], found.values.len()), (&[0, 0][..], 6));
    assert_eq!(found.entries(), entries);
}

#[test]
fn an_explicit_zero_is_stored_and_then_a_pad() {
    let mut entries: Entries<f32> = picture(&[".", ".", "1", "-1"]);
    entries.list[0].value = 0.0;
    entries.list[1].value = -0.0;
    let found = Nm::from_entries_with(&entries, &nm(2, 4, 1)).expect("fits");
    assert_eq!(found.index, [2, 3], "a zero names its row");
    assert_eq!(found.entries().bits(), entries.without_positive_zeros().bits());
    assert_eq!(found.nnz(), 1);
    let refused = Nm::from_entries_with(&entries, &nm(1, 4, 1));
    assert_eq!(refused, Err(too_full("an N:M window (row vectors)", 0, 0, 2, 1)), "zeros count");
}

#[test]
fn a_window_that_is_too_full_is_refused_and_the_first_one_named() {
    let entries: Entries<f32> =
        picture(&["1 . . . .", ". . . . 1", ". . 1 1 .", ". 1 . 1 .", "1 1 . . .", "1 . . . ."]);
    let found = |n, m, l| Nm::from_entries_with(&entries, &nm(n, m, l)).map(|_| ());
    let refused =
        |row, column, found, limit| Err(too_full("an N:M window (row vectors)", row, column, found, limit));
    assert_eq!(found(3, 3, 2), Ok(()));
    assert_eq!(found(2, 3, 2), refused(3, 0, 3, 2), "rows 3 to 5 of columns 0 and 1");
    assert_eq!(found(2, 6, 2), refused(0, 0, 4, 2));
    assert_eq!(found(3, 6, 1), Ok(()));
    assert_eq!(found(2, 6, 1), refused(0, 0, 3, 2));
    assert_eq!(found(1, 2, 5), refused(0, 0, 2, 1));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let entries = six_by_four();
    let zero = |field| Err(Refusal::Request(RequestError::Zero { field }));
    let large = |found, limit| Err(Refusal::Request(RequestError::TooLarge { field: "n", found, limit }));
    let nm_of = |n, m, l| Nm::from_entries_with(&entries, &nm(n, m, l)).map(|_| ());
    assert_eq!(nm_of(0, 4, 1), zero("n"));
    assert_eq!(nm_of(1, 0, 1), zero("m"));
    assert_eq!(nm_of(0, 0, 0), zero("n"));
    assert_eq!(nm_of(1, 4, 0), zero("l"));
    assert_eq!(nm_of(5, 4, 1), large(5, 4));
    assert_eq!(nm_of(u32::MAX, u32::MAX - 1, 1), large(u32::MAX.into(), u64::from(u32::MAX) - 1));
    let vnm_of = |v, n, m| Vnm::from_entries_with(&entries, &vnm(v, n, m)).map(|_| ());
    assert_eq!(vnm_of(0, 2, 4), zero("v"));
    assert_eq!(vnm_of(1, 0, 4), zero("n"));
    assert_eq!(vnm_of(1, 1, 0), zero("m"));
    assert_eq!(vnm_of(1, 5, 8), large(5, 4));
    for found in 1..4 {
        let (field, expected) = ("m", "at least 4");
        let refused = Err(Refusal::Request(RequestError::Parameter { field, expected, found: found.into() }));
        assert_eq!(vnm_of(1, 1, found), refused);
    }
}

#[test]
fn vnm_selects_four_columns_of_a_block_and_n_of_them_per_row() {
    let entries: Entries<f32> = picture(&[". 1 . . 2 . . . . .", "3 . . . 4 . 5 . . ."]);
    let found = Vnm::from_entries_with(&entries, &vnm(2, 2, 5)).expect("fits");
    assert_eq!(found.column, [0, 1, 2, 4, 0, 1, 2, 3]);
    // Positions, lowest bits first: {1, 3}, {0, 1}; {0, 3}, {0, 1}.
    assert_eq!(found.index, [0b11_01, 0b01_00, 0b11_00, 0b01_00]);
    assert_eq!(found.values, [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 5.0]);
    assert_eq!((found.entries(), found.nnz()), (entries, 5));
    assert_eq!(found.params(), vnm(2, 2, 5));
}

#[test]
fn vnm_names_the_lowest_free_columns_and_pads_rows_and_columns() {
    // One row of three, one column of two: block rows of two, blocks of four columns.
    let entries: Entries<f32> = picture(&[". .", ". .", ". 6"]);
    let found = Vnm::from_entries_with(&entries, &vnm(2, 1, 4)).expect("fits");
    assert_eq!(found.column, [0, 1, 2, 3, 0, 1, 2, 3], "columns 2 and 3 do not exist");
    assert_eq!((&found.index[..], &found.values[..]), (&[0, 0, 1, 0][..], &[0.0, 0.0, 6.0, 0.0][..]));
    let wide: Entries<f32> = picture(&[". . . . . 1 . . 2"]);
    let found = Vnm::from_entries_with(&wide, &vnm(1, 4, 9)).expect("fits");
    assert_eq!((&found.column[..], found.index[0]), (&[0, 1, 5, 8][..], 0b11_10_01_00));
    assert_eq!(found.values, [0.0, 0.0, 1.0, 2.0]);
    let found = Vnm::from_entries_with(&wide, &vnm(1, 3, 9)).expect("fits");
    assert_eq!((found.index[0], &found.values[..]), (0b11_10_00, &[0.0, 1.0, 2.0][..]));
}

#[test]
fn vnm_refuses_a_fifth_column_before_a_full_row() {
    let entries: Entries<f32> =
        picture(&["1 . . . . . 1 1 1 .", ". 1 1 . . . . . . .", ". . . 1 1 . . . . 1"]);
    let found = |v, n, m| Vnm::from_entries_with(&entries, &vnm(v, n, m)).map(|_| ());
    let columns = |row, column, found| Err(too_full("a V:N:M block (columns)", row, column, found, 4));
    let row = |row, column, found, limit| {
        Err(too_full("a row of a V:N:M block (values)", row, column, found, limit))
    };
    assert_eq!(found(3, 2, 5), columns(0, 0, 5));
    assert_eq!(found(3, 1, 5), columns(0, 0, 5), "though rows are too full as well");
    assert_eq!(found(2, 1, 5), row(1, 0, 2, 1), "the first block, though a row above has more in the second");
    assert_eq!(found(2, 2, 5), row(0, 5, 3, 2));
    assert_eq!(found(2, 3, 5), Ok(()));
    assert_eq!(found(1, 3, 10), Err(too_full("a row of a V:N:M block (values)", 0, 0, 4, 3)));
}

#[test]
fn a_tall_or_wide_matrix_of_few_entries_costs_little_or_is_refused() {
    let at = |row, col| Entry { row, col, value: 1.0f32 };
    let tall = Entries::try_new(1 << 31, 3, vec![at(0, 0), at((1 << 31) - 1, 2)]).expect("sorted");
    let wide = Entries::try_new(2, u32::MAX as usize, vec![at(0, 0), at(1, u32::MAX - 1)]).expect("sorted");
    let refused = |kind, params, entries| match encode(kind, params, entries) {
        Err(Refusal::Limit(Limit { field, found, limit })) => {
            assert_eq!(limit, SLOT_LIMIT);
            (field, found)
        }
        other => panic!("{other:?}"),
    };
    // 2^29 windows of 2 x 4 slots; columns past u32 once padded.
    assert_eq!(refused(FormatKind::Nm, nm(2, 4, 4), &tall), ("slots", 1 << 32));
    assert_eq!(refused(FormatKind::Nm, nm(1, 1, u32::MAX), &wide), ("slots", 2 * u128::from(u32::MAX)));
    assert_eq!(
        refused(FormatKind::Nm, nm(3, 3, u32::MAX - 1), &wide),
        ("slots", 6 * u128::from(u32::MAX - 1))
    );
    assert_eq!(refused(FormatKind::Vnm, vnm(8, 2, 4), &tall), ("column", 1 << 30));
    assert_eq!(refused(FormatKind::Vnm, vnm(1 << 30, 1, 4), &tall), ("slots", 1 << 31));
    assert_eq!(
        refused(FormatKind::Vnm, vnm(u32::MAX, 4, 1 << 30), &tall),
        ("slots", 4 * u128::from(u32::MAX))
    );
    // One window as tall as u32 goes costs one row of B'.
    for (kind, params, entries) in [
        (FormatKind::Nm, nm(1, 1 << 31, 1), &tall),
        (FormatKind::Nm, nm(1, 1 << 30, 2), &tall),
        (FormatKind::Vnm, vnm(1, 1, u32::MAX), &wide),
        (FormatKind::Vnm, vnm(2, 4, 1 << 31), &wide),
    ] {
        let matrix = encode(kind, params, entries).expect("in proportion to the entries");
        assert_eq!(&matrix.entries(), entries, "{kind:?}");
    }
}

#[test]
fn matrices_without_rows_or_columns_have_no_slots() {
    for (rows, cols) in [(0, 0), (0, 7), (7, 0), (1 << 31, 0), (0, u32::MAX as usize)] {
        let entries = Entries::<f32>::try_new(rows, cols, Vec::new()).expect("empty");
        for kind in [FormatKind::Nm, FormatKind::Vnm] {
            let matrix = encode(kind, nm(2, 4, 4), &entries).expect("nothing to store");
            assert_eq!((matrix.entries(), matrix.nnz()), (entries.clone(), 0));
        }
    }
}
