//! What a plan must be, whatever the windows.

use super::*;

const LIMITS: Limits = Limits { tiles: 4, piece: 3, rest: 5 };

fn window(first: u32, height: u32, tiles: Range<u32>, rest: [Range<u32>; WINDOW]) -> Window {
    Window {
        rows: std::array::from_fn(|r| if (r as u32) < height { first + r as u32 } else { NONE }),
        tiles,
        rest,
    }
}

/// Tiles that can be told apart.
fn planned(windows: &[Window], limits: Limits) -> WorkPlan {
    let count = windows.iter().map(|w| w.tiles.end).max().unwrap_or(0);
    let bitmap: Vec<u64> = (0..count).map(|tile| u64::from(tile) << 33 | 1).collect();
    let value_ptr: Vec<u32> = (0..count).map(|tile| 3 * tile).collect();
    let col: Vec<u32> = (0..8 * count).collect();
    let tiles = FormatTiles { bitmap: &bitmap, value_ptr: &value_ptr, col: &col };
    let plan = WorkPlan::new(windows.iter().cloned(), tiles, limits).expect("small");
    for words in plan.items.chunks(16).filter(|words| words[0] < words[1]) {
        let first = words[0];
        assert_eq!(words[4..7], [1, 2 * first, 3 * first]);
        assert_eq!(words[8..], (8 * first..8 * first + 8).collect::<Vec<u32>>());
    }
    plan
}

/// The slots of an item, written out where it has neighbouring rows.
fn slots_of(plan: &WorkPlan, words: &[u32]) -> Vec<RowSlot> {
    match words[7] {
        NONE => (0..words[3]).map(|r| [words[2] + r, 0, 0]).collect(),
        number => plan.slots[24 * number as usize..24 * (number as usize + 1)]
            .chunks(3)
            .map(|slot| [slot[0], slot[1], slot[2]])
            .collect(),
    }
}

/// Every tile and entry once, in pieces within their limits, and every row stored once.
fn check(windows: &[Window], limits: Limits) {
    let plan = planned(windows, limits);
    let mut stored: Vec<u32> = plan.cut_rows.chunks(5).map(|row| row[0]).collect();
    let (mut tiles, mut entries, mut partial) = (Vec::new(), Vec::new(), vec![None; plan.workspace_rows]);
    for (item, words) in plan.items.chunks(16).enumerate() {
        assert!(words[1] - words[0] <= limits.tiles);
        tiles.extend(words[0]..words[1]);
        for slot in slots_of(&plan, words) {
            entries.extend(slot[1]..slot[2]);
            match slot[0] {
                NONE => assert_eq!(slot[1], slot[2]),
                dest if dest & WORKSPACE != 0 => {
                    assert!(slot[2] - slot[1] <= limits.piece);
                    let at = (dest & !WORKSPACE) as usize;
                    assert_eq!(partial[at].replace((item, words[0], slot[1])), None, "written twice");
                }
                row => stored.push(row),
            }
        }
    }
    tiles.sort_unstable();
    entries.sort_unstable();
    stored.sort_unstable();
    let wanted: Vec<u32> = windows.iter().flat_map(|w| w.tiles.clone()).collect();
    assert_eq!(tiles, wanted);
    let wanted: Vec<u32> = windows.iter().flat_map(|w| w.rest.iter().cloned().flatten()).collect();
    assert_eq!(entries, wanted);
    let wanted: Vec<u32> = windows.iter().flat_map(|w| w.rows).filter(|&row| row != NONE).collect();
    assert_eq!(stored, wanted);
    // The second pass adds what was written, in ascending order.
    for row in plan.cut_rows.chunks(5) {
        let of_tiles = (0..row[2]).map(|i| partial[(row[1] + 8 * i) as usize].expect("written").1);
        assert!(of_tiles.collect::<Vec<u32>>().is_sorted());
        let of_rest = (0..row[4]).map(|i| partial[(row[3] + i) as usize].expect("written").2);
        assert!(of_rest.collect::<Vec<u32>>().is_sorted());
    }
}

#[test]
fn every_tile_and_entry_is_in_one_item_and_every_row_is_stored_once() {
    let none = || std::array::from_fn(|_| 0..0);
    let mut ends = 0;
    let rest = std::array::from_fn(|r| {
        let start = ends;
        ends += [0, 1, 7, 3, 12, 0, 6, 5][r];
        start..ends
    });
    let windows = [
        window(0, 8, 0..4, none()),
        window(8, 8, 4..13, none()),
        window(16, 8, 13..15, rest),
        window(24, 8, 15..15, none()),
        window(32, 3, 15..40, none()),
    ];
    check(&windows, LIMITS);
    let any = Limits { rest: u32::MAX, piece: u32::MAX, ..LIMITS };
    check(&windows, any);
    assert_eq!(planned(&windows, any).workspace_rows, 24 + 56);
}

#[test]
fn neighbouring_windows_take_the_same_segment_side_by_side() {
    let none = || std::array::from_fn(|_| 0..0);
    let windows: Vec<Window> = (0..6).map(|w| window(8 * w, 8, 8 * w..8 * w + 8, none())).collect();
    let plan = planned(&windows, LIMITS);
    let order: Vec<u32> = plan.items.chunks(16).map(|words| words[0]).collect();
    assert_eq!(order, [0, 8, 16, 24, 4, 12, 20, 28, 32, 40, 36, 44]);
}

#[test]
fn rows_that_are_no_neighbours_and_rests_need_slots() {
    let none = || std::array::from_fn(|_| 0..0);
    let slots = |window: &Window| planned(std::slice::from_ref(window), LIMITS).slots.len();
    assert_eq!(slots(&window(3, 8, 0..1, none())), 0);
    assert_eq!(slots(&window(3, 5, 0..1, none())), 0);
    let mut apart = window(3, 8, 0..1, none());
    apart.rows[4] = 9;
    assert_eq!(slots(&apart), 24);
    let mut rest = window(3, 8, 0..1, none());
    rest.rest[7] = 0..1;
    assert_eq!(slots(&rest), 24);
}

#[test]
fn a_matrix_without_rows_has_no_work() {
    let plan = planned(&[], LIMITS);
    assert_eq!((plan.items(), plan.workspace_rows), (0, 0));
}
