//! IOPS: tiles. Whatever their size, they hold every entry once and decode to the matrix; legal sizes are found for
//! matrices that one tile has no room for.

use proptest::prelude::*;
use sparse_oracle::format::{CpCsr, Entries, Entry, RpCsc};
use sparse_oracle::{Refusal, RequestError};
use sparse_schedules::iops::{Grouped, Tiling};
use std::collections::BTreeSet;

type Rows = Tiling<RpCsc<f64>>;
type Columns = Tiling<CpCsr<f64>>;

/// Entries at these positions, with values that tell them apart.
fn entries(rows: usize, cols: usize, at: impl IntoIterator<Item = (u32, u32)>) -> Entries<f64> {
    let at: BTreeSet<_> = at.into_iter().collect();
    let list = at.iter().enumerate().map(|(i, &(row, col))| Entry { row, col, value: i as f64 + 1.0 });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

fn column(col: u32, rows: std::ops::Range<u32>) -> impl Iterator<Item = (u32, u32)> {
    rows.map(move |row| (row, col))
}

/// The picture of `tiles.rs`: 3 x 5 in tiles of 2 x 4.
#[test]
fn tiles_of_a_picture() {
    let e = entries(3, 5, [(0, 0), (0, 1), (0, 2), (0, 4), (1, 2), (2, 4)]);
    let tiling = Rows::cut(&e, (2, 4), 2).expect("fits");
    let tiles: Vec<_> = tiling
        .tiles
        .iter()
        .map(|t| (t.row, t.col, t.matrix.rows, t.matrix.cols, t.matrix.values.clone()))
        .collect();
    assert_eq!(
        tiles,
        [(0, 0, 2, 4, vec![1.0, 2.0, 3.0, 5.0]), (0, 4, 2, 1, vec![4.0]), (2, 4, 1, 1, vec![6.0]),]
    );
    assert_eq!(tiling.entries(), e);
}

#[test]
fn what_no_tile_has_room_for_is_refused_with_its_place_in_the_matrix() {
    let e = entries(1000, 3, column(2, 400..700));
    for ((rows, cols), groups, refusal) in [
        ((0, 1), 1, Refusal::Request(RequestError::Zero { field: "tile_rows" })),
        ((1, 0), 1, Refusal::Request(RequestError::Zero { field: "tile_cols" })),
        ((1, 1), 0, Refusal::Request(RequestError::Zero { field: "groups" })),
        ((1, 1), 65, Refusal::Request(RequestError::TooLarge { field: "groups", found: 65, limit: 64 })),
        (
            (700, 2),
            2,
            Refusal::Request(RequestError::TooFull {
                what: "a column of a group (col_len)",
                row: 350,
                column: 2,
                found: 300,
                limit: 255,
                remedy: "use more groups, or cut the matrix into lower tiles",
            }),
        ),
    ] {
        assert_eq!(Rows::cut(&e, (rows, cols), groups), Err(refusal));
    }
    // Sizes are checked even where no entry is.
    let empty = entries(1, 1 << 17, []);
    let refusal =
        Refusal::Request(RequestError::TooLarge { field: "cols", found: (1 << 16) + 1, limit: 1 << 16 });
    assert_eq!(Rows::cut(&empty, (1, (1 << 16) + 1), 1), Err(refusal));
    let unsorted = Entries { rows: 1, cols: 1, list: vec![e.list[0]; 2] };
    let refusal = unsorted.check().expect_err("twice");
    assert_eq!(Rows::cut(&unsorted, (1, 1), 1), Err(refusal.clone()));
    assert_eq!(Rows::fit(&unsorted, 1), Err(refusal));
    assert_eq!(Rows::fit(&e, 0), Err(Refusal::Request(RequestError::Zero { field: "groups" })));
}

#[test]
fn a_matrix_wider_than_16_bits_is_cut_along_k() {
    let n = (1 << 17) + 5;
    let e = entries(10, n, [(0, 0), (3, 65535), (3, 65536), (9, n as u32 - 1)]);
    let a = Rows::fit(&e, 4).expect("legal tiles exist");
    assert_eq!((a.tile_rows, a.tile_cols), (12, 1 << 16));
    assert_eq!(a.tiles.iter().map(|t| t.col).collect::<Vec<_>>(), [0, 65536, 131072]);
    assert_eq!(a.entries(), e);
    let b = Columns::fit(&e.transpose(), 4).expect("legal tiles exist");
    assert_eq!((b.tile_rows, b.tile_cols), (1 << 16, 12));
    assert_eq!(b.entries(), e.transpose());
}

#[test]
fn a_column_too_long_for_a_group_halves_the_groups() {
    let e = entries(5000, 4, column(1, 0..5000).chain(column(3, 100..400)));
    let a = Rows::fit(&e, 2).expect("legal tiles exist");
    // 2500, 1250, 625, 313, 157: the first that is at most 255.
    assert_eq!((a.tile_rows, a.tile_cols), (314, 4));
    assert_eq!(a.entries(), e);
    let b = Columns::fit(&e.transpose(), 64).expect("legal tiles exist");
    assert_eq!((b.tile_rows, b.tile_cols), (4, 64 * 79));
    assert_eq!(b.entries(), e.transpose());
}

/// 2^32 - 1 rows and columns, three entries: as many tiles as hold one.
#[test]
fn the_largest_matrix_of_three_entries_has_three_tiles() {
    let n = u32::MAX as usize;
    let e = entries(n, n, [(0, 0), (0, u32::MAX - 1), (u32::MAX - 1, 7)]);
    let a = Rows::fit(&e, 64).expect("legal tiles exist");
    assert_eq!((a.tiles.len(), a.tile_rows, a.tile_cols), (3, 1 << 22, 1 << 16));
    assert_eq!(a.entries(), e);
    let b = Columns::fit(&e, 64).expect("legal tiles exist");
    assert_eq!((b.tiles.len(), b.entries()), (3, e));
}

/// Tiles lie on the grid, hold something, come in order, and hold every entry once.
fn covers_once<M: Grouped<f64>>(tiling: &Tiling<M>, e: &Entries<f64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(&tiling.entries(), e);
    let order: Vec<_> = tiling.tiles.iter().map(|t| (t.row, t.col)).collect();
    prop_assert!(order.windows(2).all(|w| w[0] < w[1]));
    let mut count = 0;
    for tile in &tiling.tiles {
        let part = tile.matrix.entries();
        prop_assert_eq!((tile.row % tiling.tile_rows, tile.col % tiling.tile_cols), (0, 0));
        prop_assert_eq!(
            (part.rows, part.cols),
            (tiling.tile_rows.min(e.rows - tile.row), tiling.tile_cols.min(e.cols - tile.col))
        );
        prop_assert!(part.nnz() > 0);
        count += part.nnz();
    }
    prop_assert_eq!(count, e.nnz());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn tiles_hold_every_entry_once(
        (rows, cols) in (1usize..60, 1usize..60),
        at in prop::collection::vec((any::<u32>(), any::<u32>()), 0..150),
        size in (1usize..70, 1usize..70),
        groups in 1u32..=64,
    ) {
        let e = entries(rows, cols, at.iter().map(|&(row, col)| (row % rows as u32, col % cols as u32)));
        covers_once(&Rows::cut(&e, size, groups).expect("small"), &e)?;
        covers_once(&Columns::cut(&e, size, groups).expect("small"), &e)?;
        covers_once(&Rows::fit(&e, groups).expect("small"), &e)?;
        covers_once(&Columns::fit(&e, groups).expect("small"), &e)?;
    }

    /// Runs of rows that are often too long for a group, at any place.
    #[test]
    fn legal_tiles_are_found(
        runs in prop::collection::vec((0u32..4, 0u32..2000, 1u32..900), 0..5),
        groups in 1u32..=8,
    ) {
        let runs = runs.iter().flat_map(|&(col, first, length)| column(col, first..(first + length).min(2000)));
        let e = entries(2000, 4, runs);
        covers_once(&Rows::fit(&e, groups).expect("legal tiles exist"), &e)?;
        covers_once(&Columns::fit(&e.transpose(), groups).expect("legal tiles exist"), &e.transpose())?;
    }
}
