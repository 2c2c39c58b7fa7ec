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

fn planned(windows: &[Window], limits: Limits) -> WorkPlan {
    WorkPlan::new(windows.iter().cloned(), limits).expect("small")
}

/// Rows, size of the team, place in it.
fn how(words: &[u32]) -> (u32, u32, u32) {
    (words[3] & 15, words[3] >> 4 & 7, words[3] >> 7 & 3)
}

/// The slots of an item, written out where it has neighbouring rows.
fn slots_of(plan: &WorkPlan, words: &[u32]) -> Vec<RowSlot> {
    if words[3] & SLOTTED == 0 {
        return (0..how(words).0).map(|r| [words[2] + r, 0, 0]).collect();
    }
    let first = 24 * words[2] as usize;
    plan.slots[first..first + 24].chunks(3).map(|slot| [slot[0], slot[1], slot[2]]).collect()
}

/// The items of a team are in one block, in ascending order, and go to the same rows; all items of the block know of it.
fn check_teams(plan: &WorkPlan) {
    for block in plan.items.chunks(4 * WARPS) {
        let items: Vec<&[u32]> = block.chunks(4).collect();
        let teams = items.iter().filter(|words| words[3] & TEAM != 0).count();
        assert!(teams == 0 || teams == WARPS && items.len() == WARPS);
        for (warp, words) in items.iter().enumerate() {
            let (rows, size, at) = how(words);
            assert!(at < size && warp as u32 >= at && warp as u32 - at + size <= WARPS as u32);
            assert!(size == 1 || words[3] & (SLOTTED | TEAM) == TEAM);
            if at > 0 {
                let before = items[warp - 1];
                assert_eq!((rows, size, at), (how(before).0, how(before).1, how(before).2 + 1));
                assert_eq!((words[0], words[2]), (before[1], before[2]));
            }
        }
    }
}

/// Every tile and entry once, in pieces within their limits, and every row stored once.
fn check(windows: &[Window], limits: Limits) {
    let plan = planned(windows, limits);
    let mut stored: Vec<u32> = plan.cut_rows.chunks(5).map(|row| row[0]).collect();
    let (mut tiles, mut entries, mut partial) = (Vec::new(), Vec::new(), vec![None; plan.workspace_rows]);
    check_teams(&plan);
    for (item, words) in plan.items.chunks(4).enumerate() {
        assert!(words[1] - words[0] <= limits.tiles);
        tiles.extend(words[0]..words[1]);
        // A team stores once.
        for slot in slots_of(&plan, words).into_iter().filter(|_| how(words).2 == 0) {
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
        window(40, 8, 40..56, none()),
        window(48, 5, 56..62, none()),
    ];
    check(&windows, LIMITS);
    let any = Limits { rest: u32::MAX, piece: u32::MAX, ..LIMITS };
    check(&windows, any);
    // Windows of 9, 16 and 6 tiles are teams of 3, 4 and 2, that of 25 has two: of four chains, and of three.
    assert_eq!(planned(&windows, any).workspace_rows, 16);
    // The longest rest has 12 entries, in pieces of at most 3.
    assert_eq!((planned(&windows, any).longest_rest, planned(&windows, LIMITS).longest_rest), (12, 3));
    let sizes = |tiles| {
        planned(&[window(0, 8, 0..tiles, none())], any).items.chunks(4).map(|item| how(item).1).collect()
    };
    // Four chains, and one by itself.
    let sizes: Vec<u32> = sizes(17);
    assert_eq!(sizes, [4, 4, 4, 4, 1]);
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

#[test]
fn the_source_has_room_for_the_longest_chain() {
    let text = crate::cuda::source::Source::TilesSpmm.row().text;
    assert!(text.contains(&format!("MOST = {MOST};")) && text.contains(&format!("rings[{WARPS}];")));
}
