//! Libra's load balance: figure 8 worked out by hand, every block and entry in exactly one piece, and atomic exactly where
//! two pieces meet.

use crate::defects;
use crate::libra;

use defects::{Defect, decreasing, first, last, length, out_of_range, refuses, unsorted};
use libra::{params, sddmm, spmm, two_windows};
use proptest::prelude::*;
use sparse_oracle::{EncodingError, Refusal, RequestError};
use sparse_schedules::libra::{Balance, BalanceParts, CutLimits, Sharing, Streams, Workload};

const MULTI: Sharing = Sharing::Spmm(Streams::Multi);
const SEQUENTIAL: Sharing = Sharing::Spmm(Streams::Sequential);

/// The limits of figure 8.
const FIGURE_8: CutLimits = CutLimits { ts: 4, cs: 5, short_len: 2 };

/// Five windows of two rows. As in figure 8: window 0 is cut in both parts, window 1 in its rows only, windows 2 and 3 hold
/// one part each and are not cut; window 4 holds both, and is not cut either.
const BLOCKS: [u32; 6] = [0, 6, 8, 11, 11, 12];
const ENTRIES: [u32; 11] = [0, 7, 8, 14, 14, 14, 14, 15, 18, 20, 20];

fn load() -> Workload<'static> {
    Workload::try_new(2, &BLOCKS, &ENTRIES).expect("offsets")
}

fn parts(sharing: Sharing) -> BalanceParts {
    // Segments and tiles of windows 0 and 1, which are cut; of windows 2 and 3; of window 4.
    let (segments, tiles) = ([0, 0, 1, 2, 4], [0, 0, 1, 2, 2, 6, 7, 8]);
    let of_window = |window: u32| match sharing {
        Sharing::Sddmm => false,
        SEQUENTIAL => window < 2,
        _ => window < 2 || window == 4,
    };
    BalanceParts {
        window_offset: vec![0, 4, 6, 8, 11, 12],
        cur_window: segments.to_vec(),
        row_offset: vec![0, 5, 7, 8, 13, 14, 15, 18, 20],
        cur_row: tiles.to_vec(),
        atomic: segments.into_iter().chain(tiles.map(|row| row / 2)).map(of_window).collect(),
    }
}

#[test]
fn figure_8_by_hand() {
    for sharing in [MULTI, SEQUENTIAL, Sharing::Sddmm] {
        let balance = Balance::of(load(), FIGURE_8, sharing).expect("legal limits");
        assert_eq!(balance.clone().into_parts(), parts(sharing), "{sharing:?}");
        let short: Vec<usize> = (0..8).filter(|&tile| balance.is_short(tile)).collect();
        assert_eq!(short, [2, 5], "rows 1 and 6 have one entry; the last tile of row 2 is none");
        assert_eq!(Balance::try_new(parts(sharing), load(), FIGURE_8, sharing), Ok(balance));
    }
    assert_eq!(parts(MULTI).atomic.iter().filter(|&&a| a).count(), 10);
    assert_eq!(parts(SEQUENTIAL).atomic.iter().filter(|&&a| a).count(), 8);
}

#[test]
fn published_limits() {
    let CutLimits { ts, cs, short_len } = CutLimits::PUBLISHED;
    assert_eq!((ts, cs, short_len), (16, 32, 3));
    // 17 blocks; rows of 2, 3, 32 and 33 entries.
    let load = Workload::try_new(8, &[0, 17], &[0, 2, 5, 37, 70]).expect("offsets");
    let balance = Balance::of(load, CutLimits::PUBLISHED, Sharing::Sddmm).expect("legal limits");
    assert_eq!(balance.window_offset, [0, 16, 17]);
    assert_eq!(balance.row_offset, [0, 2, 5, 37, 69, 70]);
    assert_eq!(balance.cur_row, [0, 1, 2, 3, 3]);
    assert_eq!([0, 1, 4].map(|tile| balance.is_short(tile)), [true, false, false]);
}

#[test]
fn a_short_row_is_one_tile_even_if_tiles_are_shorter() {
    let limits = CutLimits { ts: 1, cs: 2, short_len: 5 };
    let load = Workload::try_new(8, &[0, 0], &[0, 4, 9]).expect("offsets");
    let balance = Balance::of(load, limits, MULTI).expect("legal limits");
    assert_eq!(balance.row_offset, [0, 4, 6, 8, 9]);
    assert!(Balance::try_new(balance.clone().into_parts(), load, limits, MULTI).is_ok());
    // Cut in two it would no longer be known as short.
    let mut cut = balance.into_parts();
    cut.row_offset.insert(1, 2);
    cut.cur_row.insert(1, 0);
    cut.atomic.push(true);
    let refusal =
        Refusal::Encoding(EncodingError::Unequal { field: "row_offset", at: 1, expected: 4, found: 2 });
    assert_eq!(Balance::try_new(cut, load, limits, MULTI), Err(refusal));
}

fn owner(field: &'static str, at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field, at, expected, found })
}

#[test]
#[rustfmt::skip]
fn defects_are_named() {
    let table: Vec<Defect<BalanceParts>> = vec![
        ("a segment too many", |p| p.cur_window.push(4), length("window_offset", 7, 6)),
        ("no segments", |p| (p.window_offset, p.cur_window) = (vec![0], vec![]), last("window_offset", 12, 0)),
        ("no window offsets", |p| p.window_offset.clear(), length("window_offset", 6, 0)),
        ("first window offset", |p| p.window_offset[0] = 1, first("window_offset", 1)),
        ("decreasing window offset", |p| p.window_offset[1] = 7, decreasing("window_offset", 2, 7, 6)),
        ("last window offset", |p| p.window_offset[5] = 13, last("window_offset", 12, 13)),
        ("an empty segment", |p| p.window_offset[1] = 6, out_of_range("window_offset", 1, 0, 6, 5)),
        ("an empty segment elsewhere", |p| p.window_offset[3] = 6, unsorted("window_offset", 3, 1, 6, 6)),
        ("a segment of two windows", |p| p.window_offset[2] = 7, out_of_range("window_offset", 2, 0, 7, 7)),
        ("a segment too long", |p| p.window_offset[1] = 5, out_of_range("window_offset", 1, 0, 5, 5)),
        ("a segment of another window", |p| p.cur_window[3] = 3, owner("cur_window", 3, 2, 3)),
        ("a segment of no window", |p| p.cur_window[0] = u32::MAX, owner("cur_window", 0, 0, u64::from(u32::MAX))),
        ("a tile too few", |p| p.cur_row.truncate(7), length("row_offset", 8, 9)),
        ("a tile of two rows", |p| p.row_offset[2] = 8, out_of_range("row_offset", 2, 0, 8, 8)),
        ("a tile too long", |p| p.row_offset[4] = 14, out_of_range("row_offset", 4, 2, 14, 14)),
        ("a tile of an empty row", |p| p.cur_row[5] = 5, owner("cur_row", 5, 6, 5)),
        ("last row offset", |p| p.row_offset[8] = 19, last("row_offset", 20, 19)),
        ("a flag missing", |p| p.atomic.truncate(12), length("atomic", 13, 12)),
        ("a cut window that does not add atomically", |p| p.atomic[1] = false, owner("atomic", 1, 1, 0)),
        ("the other part of a cut window", |p| p.atomic[2] = false, owner("atomic", 2, 1, 0)),
        ("a short row of a cut window", |p| p.atomic[7] = false, owner("atomic", 7, 1, 0)),
        ("both parts on two streams", |p| p.atomic[4] = false, owner("atomic", 4, 1, 0)),
        ("a window of one part", |p| p.atomic[3] = true, owner("atomic", 3, 0, 1)),
    ];
    refuses(&parts(MULTI), |p| Balance::try_new(p, load(), FIGURE_8, MULTI), table);
}

#[test]
fn loads_and_limits_are_checked() {
    let refused = |window_rows, blocks: &[u32], entries: &[u32]| {
        Workload::try_new(window_rows, blocks, entries).expect_err("not a load")
    };
    assert_eq!(refused(0, &BLOCKS, &ENTRIES), Refusal::Request(RequestError::Zero { field: "window_rows" }));
    assert_eq!(refused(3, &BLOCKS, &ENTRIES), length("window_block_ptr", 5, 6));
    assert_eq!(refused(2, &BLOCKS, &[]), length("row_ptr", 1, 0));
    assert_eq!(refused(8, &[1, 1], &[0, 0]), first("window_block_ptr", 1));
    assert_eq!(refused(8, &[0, 1], &[0, 2, 1]), decreasing("row_ptr", 2, 2, 1));
    for (limits, field) in [(CutLimits { ts: 0, ..FIGURE_8 }, "ts"), (CutLimits { cs: 0, ..FIGURE_8 }, "cs")]
    {
        assert_eq!(Balance::of(load(), limits, MULTI), Err(Refusal::Request(RequestError::Zero { field })));
        let parts = parts(MULTI);
        assert_eq!(
            Balance::try_new(parts, load(), limits, MULTI),
            Err(Refusal::Request(RequestError::Zero { field }))
        );
    }
    let nothing = Workload::try_new(8, &[0], &[0]).expect("no rows");
    let balance = Balance::of(nothing, FIGURE_8, MULTI).expect("legal limits");
    assert_eq!(Balance::try_new(balance.clone().into_parts(), nothing, FIGURE_8, MULTI), Ok(balance));
}

#[test]
fn loads_of_both_formats() {
    let matrix = spmm(&two_windows(), params(48, 4, true));
    let balance = Balance::of(Workload::of_spmm(&matrix), CutLimits::PUBLISHED, MULTI).expect("legal limits");
    // One block and rows of one entry: both parts in the first window, one in the second.
    assert_eq!((&balance.cur_window[..], &balance.cur_row[..]), (&[0][..], &[2, 7, 8, 9][..]));
    assert_eq!(balance.atomic, [true, true, true, false, false]);
    let matrix = sddmm(&two_windows(), 10);
    let balance =
        Balance::of(Workload::of_sddmm(&matrix), CutLimits::PUBLISHED, Sharing::Sddmm).expect("legal limits");
    assert_eq!((balance.cur_window.len(), balance.cur_row.len()), (1, 2));
    assert_eq!(balance.atomic, [false; 3]);
}

fn offsets(counts: &[u32]) -> Vec<u32> {
    let sums = counts.iter().scan(0, |sum, &count| {
        *sum += count;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Which pieces write each row: (tensor segments of its window, tiles of the row, tiles of the window), counted piece by piece.
fn is_atomic_by_hand(p: &BalanceParts, window_rows: u32, window: u32, multi: bool) -> bool {
    let segments = p.cur_window.iter().filter(|&&w| w == window).count();
    let tiles: Vec<u32> = p.cur_row.iter().copied().filter(|row| row / window_rows == window).collect();
    let most_of_a_row = tiles.iter().map(|row| tiles.iter().filter(|r| *r == row).count()).max();
    let cut = segments > 1 || most_of_a_row.unwrap_or(0) > 1;
    cut || multi && segments > 0 && !tiles.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_block_and_entry_is_in_one_piece(
        rows in prop::collection::vec(0u32..20, 0..30),
        blocks in prop::collection::vec(0u32..12, 30),
        window_rows in 1u32..=8,
        (ts, cs, short_len) in (1u32..8, 1u32..8, 0u32..8),
        multi in any::<bool>(),
        damage in (0usize..5, any::<prop::sample::Index>(), 0u32..24),
    ) {
        let windows = rows.len().div_ceil(window_rows as usize);
        let (row_ptr, window_ptr) = (offsets(&rows), offsets(&blocks[..windows]));
        let load = Workload::try_new(window_rows as usize, &window_ptr, &row_ptr).expect("offsets");
        let limits = CutLimits { ts, cs, short_len };
        let sharing = if multi { MULTI } else { SEQUENTIAL };
        let balance = Balance::of(load, limits, sharing).expect("legal limits");
        for (offsets, owners, lanes) in [
            (&balance.window_offset, &balance.cur_window, &window_ptr),
            (&balance.row_offset, &balance.cur_row, &row_ptr),
        ] {
            // One owner for each element, and the one whose lane it lies in.
            let mut of_element = Vec::new();
            for (piece, &owner) in offsets.windows(2).zip(owners) {
                of_element.extend((piece[0]..piece[1]).map(|_| owner));
            }
            let mut expected = Vec::new();
            for (lane, ends) in (0u32..).zip(lanes.windows(2)) {
                expected.extend((ends[0]..ends[1]).map(|_| lane));
            }
            prop_assert_eq!(of_element, expected);
        }
        for (piece, &window) in balance.atomic.iter().zip(&balance.cur_window) {
            prop_assert_eq!(*piece, is_atomic_by_hand(&balance, window_rows, window, multi));
        }
        for (piece, &row) in balance.atomic[balance.cur_window.len()..].iter().zip(&balance.cur_row) {
            prop_assert_eq!(*piece, is_atomic_by_hand(&balance, window_rows, row / window_rows, multi));
        }
        let mut parts = balance.clone().into_parts();
        prop_assert_eq!(Balance::try_new(parts.clone(), load, limits, sharing), Ok(balance.clone()));
        // Damage is refused, or gives another way to cut that loses nothing.
        let (field, at, value) = damage;
        let list = [&mut parts.window_offset, &mut parts.cur_window, &mut parts.row_offset, &mut parts.cur_row];
        match list.into_iter().nth(field) {
            Some(list) if !list.is_empty() => *at.get_mut(list) = value,
            None if !parts.atomic.is_empty() => { let flag = at.get_mut(&mut parts.atomic); *flag = !*flag; }
            _ => {}
        }
        if let Ok(taken) = Balance::try_new(parts, load, limits, sharing) {
            prop_assert_eq!(&taken.cur_window, &balance.cur_window);
            prop_assert_eq!(&taken.cur_row, &balance.cur_row);
            prop_assert_eq!(&taken.atomic, &balance.atomic);
        }
    }
}
