//! Who touched memory last, and whether that is ordered before who touches it now.
//!
//! ```text
//! entry     stamp 35 | special 1 | sharing 2 | thread 10 | step 16          one for the last write, one for the last reads
//! granule   4 bytes; 2 or 1 from the first access of that width on
//! stamps    ... | earlier launches | earlier blocks of this launch | earlier eras of this block | this era
//!                 ordered            never ordered                   ordered (bar.sync)           by thread, warp, partial barriers
//! ```
//!
//! A stamp counts barriers of the whole device, in the order in which the machine runs them, so that 'before the last barrier of
//! the block' is one comparison. The order of running never makes two accesses ordered: blocks are unordered however they run, and
//! threads of a block only by barriers in which both took part. Of reads one entry is enough, because a read that is ordered
//! before another may be forgotten (what is ordered after the other is ordered after both), and unordered ones are counted as
//! 'several of a warp' or 'several of a block': without partial barriers no thread is ordered after just one of them. With partial
//! barriers (see [`Fine`]) all unordered readers are listed. So that a race can be told with a reader that does conflict, of several
//! readers one more is kept: of another thread than the last, and of another warp where there are several warps.
//!
//! Release and acquire (see [`heard`](super::heard)) order single threads of any blocks. Then one reader may stand for others that are not
//! ordered: a write after such a one is 'undecided', and the launch is played again with all readers listed.

use super::entry::{SHARING, SPECIAL};
use super::hazard::{Others, after_read, after_write, listed, readers};
use super::strong::{StrongKind, Strongs};
use super::{Clock, Conflict, Epoch, Fine, Given, Hazard};

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Epoch,
    read: Epoch,
}

/// The last accesses of a span, a cell a granule.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    cells: Vec<Cell>,
    /// Beside each cell whose reads are shared: who else reads it, and who of all readers did so by `ld.global.nc`.
    others: Vec<Others>,
    shift: u32,
    /// Strong accesses, by granule.
    strong: Strongs,
}

impl Shadow {
    /// Cells for a span of `len` bytes, fine enough for accesses of `width` bytes.
    #[inline]
    pub(crate) fn prepare(&mut self, len: usize, width: u32) {
        if self.cells.is_empty() {
            self.shift = 2;
            self.cells.resize(len.div_ceil(4), Cell::default());
            self.others.resize(self.cells.len(), Others::default());
        }
        while width < 1 << self.shift {
            self.shift -= 1;
            self.cells = self.cells.iter().flat_map(|&cell| [cell; 2]).collect();
            self.others = self.others.iter().flat_map(|&others| [others; 2]).collect();
            self.strong.halve();
        }
    }

    /// True where a granule is 4 bytes.
    #[inline]
    pub(crate) fn is_words(&self) -> bool {
        self.shift == 2
    }

    /// Accesses of 4 bytes by the lanes of a mask, the common case; `first` is the entry of lane 0.
    #[inline]
    pub(crate) fn words(
        &mut self,
        (mask, at, contiguous): (u32, &[u32; 32], bool),
        writes: bool,
        first: Epoch,
        clock: &Clock<'_>,
        conflicts: &mut Vec<Conflict>,
    ) {
        if contiguous
            && at[0].is_multiple_of(4)
            && self.strong.is_empty()
            && self.row(at[0] as usize >> 2, writes, first, clock)
        {
            return;
        }
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let offset = at[lane as usize & 31];
            let index = offset as usize >> 2;
            let (Some(cell), Some(others)) = (self.cells.get_mut(index), self.others.get_mut(index)) else {
                continue;
            };
            let now = Epoch(first.0 | u64::from(lane) << 16);
            let mut found = self.strong.beside(index, (now, writes), clock, None);
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, None, writes));
            }
            if writes {
                if cell.read >= clock.live {
                    found = found.or_else(|| after_read((cell.read, *others), now, clock, None));
                }
                *cell = Cell { write: now, read: Epoch::default() };
            } else {
                cell.read = readers(cell.read, others, now, clock);
            }
            if let Some((before, hazard)) = found {
                conflicts.push(Conflict { lane, at: offset, before, hazard });
            }
        }
    }

    /// The commonest case: all lanes, one word each, side by side, and nobody but the lane itself touched its word in this era.
    /// False, and nothing done, where that is not so.
    #[inline]
    fn row(&mut self, from: usize, writes: bool, first: Epoch, clock: &Clock<'_>) -> bool {
        let Some(cells) = self.cells.get_mut(from..from + 32) else { return false };
        let own = SPECIAL | SHARING | 1023 << 16;
        let quiet = |entry: Epoch, now: u64| {
            (entry < clock.live) | (entry >= clock.block) & ((entry.0 ^ now) & own == 0)
        };
        let mut all = !first.special();
        for (lane, cell) in (0..32u64).zip(cells.iter()) {
            let now = first.0 | lane << 16;
            all &= quiet(cell.write, now) & quiet(cell.read, now);
        }
        if all {
            for (lane, cell) in (0..32u64).zip(cells) {
                let now = Epoch(first.0 | lane << 16);
                *cell = if writes {
                    Cell { write: now, read: Epoch::default() }
                } else {
                    Cell { read: now, ..*cell }
                };
            }
        }
        all
    }

    /// Strong accesses count no more: another block begins, whose shared memory this is.
    pub(crate) fn forget_strong(&mut self) {
        self.strong.clear();
    }

    /// Nothing was touched.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.others.clear();
        self.strong.clear();
    }

    #[inline]
    fn range(&self, at: usize, bytes: usize) -> std::ops::Range<usize> {
        let end = (at + bytes).div_ceil(1 << self.shift).min(self.cells.len());
        (at >> self.shift).min(end)..end
    }

    /// A read of `bytes` bytes; the first hazard, if there is one.
    #[inline]
    pub(crate) fn read(
        &mut self,
        at: usize,
        bytes: usize,
        now: Epoch,
        clock: &Clock<'_>,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let range = self.range(at, bytes);
        if fine.is_some() {
            return self.read_finely(range, now, clock, fine);
        }
        let mut found = None;
        for index in range {
            let (cell, others) = (&mut self.cells[index], &mut self.others[index]);
            found = found.or_else(|| self.strong.beside(index, (now, false), clock, None));
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, None, false));
            }
            cell.read = readers(cell.read, others, now, clock);
        }
        found
    }

    /// A write of `bytes` bytes; the first hazard, if there is one.
    #[inline]
    pub(crate) fn write(
        &mut self,
        at: usize,
        bytes: usize,
        now: Epoch,
        clock: &Clock<'_>,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let range = self.range(at, bytes);
        let mut found = None;
        let mut fine = fine;
        for index in range {
            let cell = &mut self.cells[index];
            let known = fine.as_ref().map(|(fine, _)| &**fine);
            let beside = self.strong.beside(index, (now, true), clock, known);
            found = found.or(beside);
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, known, true));
            }
            if cell.read >= clock.live {
                found = found.or_else(|| after_read((cell.read, self.others[index]), now, clock, known));
                if let Some((fine, span)) = &mut fine
                    && (cell.read.shared() || fine.keeps)
                {
                    found = found.or_else(|| listed(fine, (*span, index as u32), now, clock));
                    fine.unlist((*span, index as u32));
                }
            }
            *cell = Cell { write: now, read: Epoch::default() };
        }
        found
    }

    /// The last write to each granule of these bytes.
    pub(crate) fn writes(&self, at: usize, bytes: usize) -> impl Iterator<Item = Epoch> + '_ {
        self.cells[self.range(at, bytes)].iter().map(|cell| cell.write)
    }

    /// A copy that was open is complete: an ordinary write of its thread from now on.
    pub(crate) fn settle(&mut self, at: usize, bytes: usize, now: Epoch) {
        let range = self.range(at, bytes);
        for cell in &mut self.cells[range] {
            if cell.write.special() && cell.write.same_thread(now) {
                cell.write = now;
            }
        }
    }

    #[cold]
    fn read_finely(
        &mut self,
        range: std::ops::Range<usize>,
        now: Epoch,
        clock: &Clock<'_>,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let (fine, span) = fine?;
        let mut found = None;
        for index in range {
            let cell = &mut self.cells[index];
            found = found.or_else(|| self.strong.beside(index, (now, false), clock, Some(fine)));
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, Some(fine), false));
            }
            let before = cell.read;
            cell.read = readers(before, &mut self.others[index], now, clock);
            if cell.read.shared() || fine.keeps {
                let fresh = !fine.keeps && (!before.shared() || before < clock.era);
                fine.list((span, index as u32), fresh.then_some(before), now, clock.block);
            }
        }
        found
    }

    /// A strong access of `bytes` bytes; the first hazard, if there is one.
    pub(crate) fn strong(
        &mut self,
        now: Epoch,
        kind: StrongKind,
        clock: &Clock<'_>,
        fine: Option<(&Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let mut found = None;
        for index in self.range(kind.place.0 as usize, usize::from(kind.place.1)) {
            let (cell, others) = (self.cells[index], self.others[index]);
            let known = fine.map(|(fine, _)| fine);
            let beside = self.strong.touch(index, now, kind, clock, known);
            found = found.or(beside);
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, known, kind.writes));
            }
            if kind.writes && cell.read >= clock.live {
                found = found.or_else(|| after_read((cell.read, others), now, clock, known));
                if let Some((fine, span)) = fine
                    && (cell.read.shared() || fine.keeps)
                {
                    // They stay: who writes next need not be ordered after this access.
                    found = found.or_else(|| listed(fine, (span, index as u32), now, clock));
                }
            }
        }
        found
    }

    /// What the place of a strong access was given, where it begins.
    pub(crate) fn given(&mut self, at: u32, live: Epoch) -> Option<&mut Given> {
        self.strong.given(at >> self.shift, live)
    }
}
