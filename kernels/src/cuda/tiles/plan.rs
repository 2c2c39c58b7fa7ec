//! The work of an SpMM on windows of 8 rows, cut into items: one warp each, for every slab of columns of B.
//!
//! ```text
//! window: 8 rows, tiles, a rest per row       short   one item; its rows are scaled and stored in C
//!                                             long    items of `tiles` tiles, and of 8 pieces of `piece` entries each, into
//!                                                     rows of a workspace; a second pass adds those in ascending order
//! ```
//!
//! The second pass fixes the order of the sums, so that results do not depend on which item comes first, as they would with
//! atomic additions. A chain of tiles is always cut after `tiles` of them, and a rest that has pieces after each: where a
//! window is *not* long, the same sums are formed in registers. So bits do not depend on what counts as long either.
//! Sources: RSH-SpMM, section 3.3.3 (super-long windows); Libra, section 4.3 (Ts, Cs, short and long tiles).

use std::ops::Range;

/// No row: nothing is stored.
pub(crate) const NONE: u32 = u32::MAX;

/// Set in a destination that is a row of the workspace.
pub(crate) const WORKSPACE: u32 = 1 << 31;

/// Rows of a window.
pub(crate) const WINDOW: usize = 8;

/// Where long windows are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most tiles of one chain.
    pub(crate) tiles: u32,
    /// Entries of one chain of a rest; `u32::MAX` for chains of any length.
    pub(crate) piece: u32,
    /// Most entries of a rest that one lane group walks through by itself; from there on a window is long.
    pub(crate) rest: u32,
}

/// Eight rows of C and what is added up for them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Rows of C; [`NONE`] past the last.
    pub(crate) rows: [u32; WINDOW],
    /// Tiles that all of them share.
    pub(crate) tiles: Range<u32>,
    /// Entries of each.
    pub(crate) rest: [Range<u32>; WINDOW],
}

/// `struct RowSlot` of the source: where a sum goes, and the entries of its rest.
pub(crate) type RowSlot = [u32; 3];

/// `struct CutRow` of the source: a row of C, the first of its sums of tiles in the workspace and their number (8 apart),
/// the first of its sums of pieces and their number.
pub(crate) type CutRow = [u32; 5];

#[derive(Clone, Debug)]
struct Item {
    tiles: Range<u32>,
    slots: [RowSlot; WINDOW],
}

/// Everything that the kernels are told about the order of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// First tile and the one past the last, per item.
    pub(crate) tiles: Vec<u32>,
    /// Eight [`RowSlot`]s per item.
    pub(crate) slots: Vec<u32>,
    /// [`CutRow`]s of long windows.
    pub(crate) cut_rows: Vec<u32>,
    /// Rows of the workspace.
    pub(crate) workspace_rows: usize,
}

const IDLE: RowSlot = [NONE, 0, 0];

impl Plan {
    /// Cuts the windows. `None` where the workspace has more rows than a destination can name.
    pub(crate) fn new(windows: impl Iterator<Item = Window>, limits: Limits) -> Option<Plan> {
        let mut cut = Cut::default();
        for window in windows {
            let longest = window.rest.iter().map(|r| r.end - r.start).max().unwrap_or(0);
            let long = window.tiles.end - window.tiles.start > limits.tiles || longest > limits.rest;
            if long {
                cut.long(&window, limits)?;
            } else {
                cut.short(&window);
            }
        }
        cut.flush();
        Some(cut.finish())
    }

    /// Items.
    pub(crate) fn items(&self) -> usize {
        self.tiles.len() / 2
    }
}

#[derive(Debug, Default)]
struct Cut {
    items: Vec<Item>,
    cut_rows: Vec<u32>,
    workspace: u32,
    /// Pieces of a rest that wait for their item to be full.
    pending: Vec<RowSlot>,
}

impl Cut {
    fn short(&mut self, window: &Window) {
        let slots = std::array::from_fn(|r| match window.rows[r] {
            NONE => IDLE,
            row => [row, window.rest[r].start, window.rest[r].end],
        });
        self.items.push(Item {
            tiles: window.tiles.clone(),
            slots,
        });
    }

    fn long(&mut self, window: &Window, limits: Limits) -> Option<()> {
        let first = self.workspace;
        let segments = window.tiles.clone().step_by(limits.tiles as usize);
        for start in segments.clone() {
            let base = self.take(WINDOW as u32)?;
            let end = window.tiles.end.min(start.saturating_add(limits.tiles));
            let slots = std::array::from_fn(|r| match window.rows[r] {
                NONE => IDLE,
                _ => [WORKSPACE | (base + r as u32), 0, 0],
            });
            self.items.push(Item {
                tiles: start..end,
                slots,
            });
        }
        for (r, &row) in window.rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            let pieces = window.rest[r].clone().step_by(limits.piece as usize);
            let rest = self.workspace;
            for start in pieces.clone() {
                let at = self.take(1)?;
                let end = window.rest[r].end.min(start.saturating_add(limits.piece));
                self.pending.push([WORKSPACE | at, start, end]);
                if self.pending.len() == WINDOW {
                    self.flush();
                }
            }
            let tiles = first + r as u32;
            let cut_row: CutRow = [row, tiles, segments.len() as u32, rest, pieces.len() as u32];
            self.cut_rows.extend(cut_row);
        }
        Some(())
    }

    /// The next rows of the workspace.
    fn take(&mut self, rows: u32) -> Option<u32> {
        let first = self.workspace;
        self.workspace = first.checked_add(rows).filter(|&end| end <= WORKSPACE)?;
        Some(first)
    }

    /// The pending pieces as an item.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let slots = std::array::from_fn(|r| self.pending.get(r).copied().unwrap_or(IDLE));
        self.pending.clear();
        self.items.push(Item { tiles: 0..0, slots });
    }

    /// Long items first, so that none of them is left over at the end; neighbours stay together otherwise.
    fn finish(mut self) -> Plan {
        self.items
            .sort_by_key(|item| std::cmp::Reverse(item.weight().ilog2()));
        let ends = |item: &Item| [item.tiles.start, item.tiles.end];
        Plan {
            tiles: self.items.iter().flat_map(ends).collect(),
            slots: self
                .items
                .iter()
                .flat_map(|item| item.slots.into_iter().flatten())
                .collect(),
            cut_rows: self.cut_rows,
            workspace_rows: self.workspace as usize,
        }
    }
}

impl Item {
    /// Steps of its warp, about: a tile is one, and so are two entries; lane groups take two rows one after the other.
    fn weight(&self) -> u32 {
        let pair = |pair: &[RowSlot]| pair.iter().map(|slot| slot[2] - slot[1]).sum::<u32>();
        let rest = self.slots.chunks(2).map(pair).max().unwrap_or(0);
        (self.tiles.end - self.tiles.start)
            .saturating_add(rest / 2)
            .max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        tiles: 4,
        piece: 3,
        rest: 5,
    };

    fn window(first: u32, height: u32, tiles: Range<u32>, rest: [Range<u32>; WINDOW]) -> Window {
        Window {
            rows: std::array::from_fn(|r| {
                if (r as u32) < height {
                    first + r as u32
                } else {
                    NONE
                }
            }),
            tiles,
            rest,
        }
    }

    /// Every tile and entry once, in pieces within their limits, and every row stored once.
    fn check(windows: &[Window], limits: Limits) {
        let plan = Plan::new(windows.iter().cloned(), limits).expect("small");
        let mut stored: Vec<u32> = plan.cut_rows.chunks(5).map(|row| row[0]).collect();
        let (mut tiles, mut entries, mut partial) = (Vec::new(), Vec::new(), vec![None; plan.workspace_rows]);
        for (item, (ends, slots)) in plan.tiles.chunks(2).zip(plan.slots.chunks(24)).enumerate() {
            assert!(ends[1] - ends[0] <= limits.tiles);
            tiles.extend(ends[0]..ends[1]);
            for slot in slots.chunks(3) {
                entries.extend(slot[1]..slot[2]);
                match slot[0] {
                    NONE => assert_eq!(slot[1], slot[2]),
                    dest if dest & WORKSPACE != 0 => {
                        assert!(slot[2] - slot[1] <= limits.piece);
                        partial[(dest & !WORKSPACE) as usize] = Some((item, ends[0], slot[1]));
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
        let wanted: Vec<u32> = windows
            .iter()
            .flat_map(|w| w.rest.iter().cloned().flatten())
            .collect();
        assert_eq!(entries, wanted);
        let wanted: Vec<u32> = windows
            .iter()
            .flat_map(|w| w.rows)
            .filter(|&row| row != NONE)
            .collect();
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
        let any = Limits {
            rest: u32::MAX,
            piece: u32::MAX,
            ..LIMITS
        };
        check(&windows, any);
        assert_eq!(
            Plan::new(windows.into_iter(), any).map(|p| p.workspace_rows),
            Some(24 + 56)
        );
    }

    #[test]
    fn a_matrix_without_rows_has_no_work() {
        let plan = Plan::new(std::iter::empty(), LIMITS).expect("nothing");
        assert_eq!((plan.items(), plan.workspace_rows), (0, 0));
    }
}
