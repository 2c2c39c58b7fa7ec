//! The work of an SpMM on windows of 8 rows, cut into items: one warp each, for every slab of columns of B.
//!
//! ```text
//! window: 8 rows, tiles, a rest per row       short   one item; its rows are scaled and stored in C
//!                                             medium  a team: up to four items of one block, whose sums it adds
//!                                             long    teams of four items of `tiles` tiles, and items of 8 pieces of `piece`
//!                                                     entries, into rows of a workspace; a second pass adds those, ascending
//! ```
//!
//! The second pass fixes the order of the sums, so that results do not depend on which item comes first, as they would with
//! atomic additions. A chain of tiles is always cut after `tiles` of them, the sums of four chains are added to one, and a rest
//! that has pieces is cut after each: where a window is *not* long, the same sums are formed without a workspace. So bits do
//! not depend on what counts as long either.
//! Sources: RSH-SpMM, section 3.3.3 (long windows are split); Libra, section 4.3 (Ts, Cs). Neither paper's rule for which windows are
//! cut is followed: here all of them are cut alike.

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
    /// Most tiles of one chain, at most [`MOST`].
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

/// `struct Item` of the source: tiles, where the sums go, how.
pub(crate) type ItemWords = [u32; 4];

const _: () =
    assert!(size_of::<RowSlot>() == 12 && size_of::<CutRow>() == 20 && size_of::<ItemWords>() == 16);

/// Most tiles of one chain: as many as a warp has room to name (`MOST` of the source).
pub(crate) const MOST: u32 = 16;

/// Warps of a block, which take items that follow one another.
pub(crate) const WARPS: usize = 4;

/// Set in the last word of an item with slots, and of those of a block that has a team.
const SLOTTED: u32 = 1 << 16;
const TEAM: u32 = 1 << 17;

/// The tiles of a matrix, as the format has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatTiles<'a> {
    /// Per tile, bit `8 * row + slot`.
    pub(crate) bitmap: &'a [u64],
    /// Per tile, offset of its first value.
    pub(crate) value_ptr: &'a [u32],
    /// Eight per tile, `u32::MAX` in slots without a column.
    pub(crate) col: &'a [u32],
}

/// Where the sums of an item go.
#[derive(Clone, Debug)]
enum Destination {
    /// Neighbouring rows of C or of the workspace: the first, and their number.
    Rows(u32, u32),
    /// Eight rows in any place, each with the entries of its rest.
    Slots([RowSlot; WINDOW]),
}

#[derive(Clone, Debug)]
struct Item {
    tiles: Range<u32>,
    to: Destination,
    /// Its place in a team and the team's size, which is one for an item by itself. `None` for what fills the block of a team.
    team: Option<(u32, u32)>,
}

/// Everything that the kernels are told about the order of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkPlan {
    /// [`ItemWords`]; a block with a team has all of its four.
    pub(crate) items: Vec<u32>,
    /// Eight [`RowSlot`]s per item that has them.
    pub(crate) slots: Vec<u32>,
    /// [`CutRow`]s of long windows.
    pub(crate) cut_rows: Vec<u32>,
    /// Rows of the workspace.
    pub(crate) workspace_rows: usize,
    /// Most entries of a rest that a lane group walks through by itself.
    pub(crate) longest_rest: u32,
}

const IDLE: RowSlot = [NONE, 0, 0];

impl WorkPlan {
    /// Cuts the windows. `None` where the workspace has more rows than a destination can name.
    pub(crate) fn new(windows: impl Iterator<Item = Window>, limits: Limits) -> Option<WorkPlan> {
        let mut cut = PlanBuilder::default();
        for window in windows {
            let longest = window.rest.iter().map(|r| r.end - r.start).max().unwrap_or(0);
            let chains = (window.tiles.end - window.tiles.start).div_ceil(limits.tiles);
            match window.neighbours() {
                _ if chains <= 1 && longest <= limits.rest => cut.short(&window),
                Some(to) if chains as usize <= WARPS => cut.team(&window.tiles, &to, limits),
                _ => cut.long(&window, limits)?,
            }
        }
        cut.flush();
        Some(cut.finish())
    }

    /// Items.
    pub(crate) fn items(&self) -> usize {
        self.items.len() / 4
    }
}

#[derive(Debug, Default)]
struct PlanBuilder {
    items: Vec<Item>,
    /// Of two, of three and of four items, one team after another.
    teams: [Vec<Item>; 3],
    cut_rows: Vec<u32>,
    workspace: u32,
    /// Pieces of a rest that wait for their item to be full.
    pending: Vec<RowSlot>,
}

impl PlanBuilder {
    fn push(&mut self, tiles: Range<u32>, to: Destination) {
        self.items.push(Item { tiles, to, team: Some((0, 1)) });
    }

    fn short(&mut self, window: &Window) {
        let to = window.neighbours().unwrap_or_else(|| {
            Destination::Slots(std::array::from_fn(|r| match window.rows[r] {
                NONE => IDLE,
                row => [row, window.rest[r].start, window.rest[r].end],
            }))
        });
        self.push(window.tiles.clone(), to);
    }

    /// Up to four chains that are added in shared memory.
    fn team(&mut self, tiles: &Range<u32>, to: &Destination, limits: Limits) {
        let chains = segments(tiles, limits.tiles);
        let size = chains.len();
        if size <= 1 {
            return self.push(tiles.clone(), to.clone());
        }
        let team = (0..).zip(chains).map(|(at, tiles)| Item {
            tiles,
            to: to.clone(),
            team: Some((at, size as u32)),
        });
        self.teams[size - 2].extend(team);
    }

    fn long(&mut self, window: &Window, limits: Limits) -> Option<()> {
        let first = self.workspace;
        let teams = segments(&window.tiles, limits.tiles.saturating_mul(WARPS as u32));
        for tiles in teams.clone() {
            let base = self.take(WINDOW as u32)?;
            self.team(&tiles, &Destination::Rows(WORKSPACE | base, WINDOW as u32), limits);
        }
        for (r, &row) in window.rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            let pieces = segments(&window.rest[r], limits.piece);
            let rest = self.workspace;
            for piece in pieces.clone() {
                let at = self.take(1)?;
                self.pending.push([WORKSPACE | at, piece.start, piece.end]);
                if self.pending.len() == WINDOW {
                    self.flush();
                }
            }
            let tiles = first + r as u32;
            let cut_row: CutRow = [row, tiles, teams.len() as u32, rest, pieces.len() as u32];
            self.cut_rows.extend(cut_row);
        }
        Some(())
    }

    /// The next rows of the workspace: the highest bit of their numbers is free, and none of them is [`NONE`] with it.
    fn take(&mut self, rows: u32) -> Option<u32> {
        let first = self.workspace;
        self.workspace = first.checked_add(rows).filter(|&end| end < WORKSPACE)?;
        Some(first)
    }

    /// The pending pieces as an item.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let slots = std::array::from_fn(|r| self.pending.get(r).copied().unwrap_or(IDLE));
        self.pending.clear();
        self.push(0..0, Destination::Slots(slots));
    }

    /// Teams first, then long items, so that none of them is left over at the end.
    fn finish(mut self) -> WorkPlan {
        self.items.sort_by_key(|item| std::cmp::Reverse(item.weight().ilog2()));
        let mut plan = WorkPlan {
            cut_rows: self.cut_rows,
            workspace_rows: self.workspace as usize,
            longest_rest: self.items.iter().map(Item::longest_rest).max().unwrap_or(0),
            ..WorkPlan::default()
        };
        let beside = Item { tiles: 0..0, to: Destination::Rows(0, 0), team: None };
        let [of_two, of_three, of_four] = &self.teams;
        for block in of_four.chunks(WARPS).chain(of_three.chunks(3)).chain(of_two.chunks(WARPS)) {
            for item in block.iter().chain(std::iter::repeat(&beside)).take(WARPS) {
                let words = item.words(&mut plan.slots);
                plan.items.extend(words);
            }
        }
        for item in &self.items {
            let words = item.words(&mut plan.slots);
            plan.items.extend(words);
        }
        plan
    }
}

/// Consecutive ranges of at most `most`.
fn segments(all: &Range<u32>, most: u32) -> impl ExactSizeIterator<Item = Range<u32>> + Clone {
    let end = all.end;
    all.clone().step_by(most as usize).map(move |start| start..end.min(start.saturating_add(most)))
}

impl Window {
    /// The rows as a range, if they follow one another from the first slot on and none has a rest.
    fn neighbours(&self) -> Option<Destination> {
        let count = self.rows.iter().take_while(|&&row| row != NONE).count();
        let ascending = self.rows[..count].windows(2).all(|pair| pair[1] == pair[0] + 1);
        let nothing_after = self.rows[count..].iter().all(|&row| row == NONE);
        let rest = self.rest.iter().any(|rest| !rest.is_empty());
        (ascending && nothing_after && !rest).then_some(Destination::Rows(self.rows[0], count as u32))
    }
}

impl Item {
    /// About how many steps a warp takes for the item. A tile is one step; so are four entries in each of the two rows of a lane group.
    fn weight(&self) -> u32 {
        (self.tiles.end - self.tiles.start).saturating_add(self.longest_rest() / 4).max(1)
    }

    fn longest_rest(&self) -> u32 {
        match &self.to {
            Destination::Rows(..) => 0,
            Destination::Slots(slots) => slots.iter().map(|slot| slot[2] - slot[1]).max().unwrap_or(0),
        }
    }

    /// As the kernels read it; slots are appended to those before.
    fn words(&self, slots: &mut Vec<u32>) -> ItemWords {
        let (dest, rows) = match &self.to {
            Destination::Rows(first, count) => (*first, *count),
            Destination::Slots(own) => {
                slots.extend(own.iter().flatten());
                ((slots.len() / (3 * WINDOW) - 1) as u32, SLOTTED)
            }
        };
        let how = match self.team {
            Some((at, size)) => size << 4 | at << 7 | if size > 1 { TEAM } else { 0 },
            None => 1 << 4 | TEAM,
        };
        [self.tiles.start, self.tiles.end, dest, rows | how]
    }
}

#[cfg(test)]
mod tests;
