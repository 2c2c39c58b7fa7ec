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

use super::entry::{BLOCK_SHARED, SHARING, SPECIAL, WARP_SHARED};
use super::fine::MOST_READERS;
use super::{Clock, Conflict, Epoch, Fine, Hazard};

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
}

/// Threads and steps, as the low bits of an [`Epoch`] have them: they lie apart from the cells, which the common case keeps small.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    reader: u32,
    special: u32,
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
        clock: &Clock,
        conflicts: &mut Vec<Conflict>,
    ) {
        if contiguous && at[0].is_multiple_of(4) && self.row(at[0] as usize >> 2, writes, first, clock) {
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
            let mut found = None;
            if cell.write >= clock.live {
                found = after_write(cell.write, now, clock, None, writes);
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
    fn row(&mut self, from: usize, writes: bool, first: Epoch, clock: &Clock) -> bool {
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

    /// Nothing was touched.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.others.clear();
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
        clock: &Clock,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let range = self.range(at, bytes);
        if fine.is_some() {
            return self.read_finely(range, now, clock, fine);
        }
        let mut found = None;
        for (cell, others) in self.cells[range.clone()].iter_mut().zip(&mut self.others[range]) {
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
        clock: &Clock,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let range = self.range(at, bytes);
        let mut found = None;
        let mut fine = fine;
        for index in range {
            let cell = &mut self.cells[index];
            let known = fine.as_ref().map(|(fine, _)| &**fine);
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, known, true));
            }
            if cell.read >= clock.live {
                found = found.or_else(|| after_read((cell.read, self.others[index]), now, clock, known));
                if cell.read.shared()
                    && let Some((fine, span)) = &mut fine
                {
                    found = found.or_else(|| listed(fine, (*span, index as u32), now, clock));
                }
            }
            *cell = Cell { write: now, read: Epoch::default() };
        }
        found
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
        clock: &Clock,
        fine: Option<(&mut Fine, u32)>,
    ) -> Option<(Epoch, Hazard)> {
        let (fine, span) = fine?;
        let mut found = None;
        for index in range {
            let cell = &mut self.cells[index];
            if cell.write >= clock.live {
                found = found.or_else(|| after_write(cell.write, now, clock, Some(fine), false));
            }
            let before = cell.read;
            cell.read = readers(before, &mut self.others[index], now, clock);
            if cell.read.shared() && fine.listed < MOST_READERS {
                fine.listed += 1;
                let fresh = !before.shared() || before < clock.era;
                let list = fine.readers.entry((span, index as u32)).or_default();
                if fresh {
                    list.clear();
                    list.push(before);
                }
                list.retain(|reader| !reader.same_thread(now));
                list.push(now);
            }
        }
        found
    }
}

/// The hazard of an access after a live write.
#[inline]
fn after_write(
    before: Epoch,
    now: Epoch,
    clock: &Clock,
    fine: Option<&Fine>,
    writes: bool,
) -> Option<(Epoch, Hazard)> {
    if before.special() && before >= clock.block {
        return Some((before, Hazard::OpenCopy));
    }
    if !clock.ordered(before, now, fine) {
        return Some((before, if writes { Hazard::WriteAfterWrite } else { Hazard::ReadAfterWrite }));
    }
    (!writes && now.special()).then_some((before, Hazard::ReadOnlyWritten))
}

/// The hazard of a write after live reads, with a reader that conflicts.
#[inline]
fn after_read(
    (before, others): (Epoch, Others),
    now: Epoch,
    clock: &Clock,
    fine: Option<&Fine>,
) -> Option<(Epoch, Hazard)> {
    let several = before >= clock.era && before.shared();
    let ordered = if several {
        // All that is known is how many they are; in the fine mode they are listed.
        fine.is_some() || before.0 & BLOCK_SHARED == 0 && before.same_warp(now) && before < clock.warp
    } else {
        clock.ordered(before, now, fine)
    };
    if ordered {
        return before.special().then(|| (before.by(others.special), Hazard::WrittenReadOnly));
    }
    // The last reader may be the thread that writes, or one of its warp that a barrier orders before it: then the other is not.
    let innocent = before.same_thread(now) || before.0 & BLOCK_SHARED != 0 && before.same_warp(now);
    let partner = if several && innocent { before.by(others.reader) } else { before };
    Some((partner, Hazard::WriteAfterRead))
}

/// The hazard of a write after listed readers.
#[cold]
fn listed(fine: &mut Fine, key: (u32, u32), now: Epoch, clock: &Clock) -> Option<(Epoch, Hazard)> {
    let list = fine.readers.remove(&key)?;
    let live = |reader: &Epoch| *reader >= clock.live;
    let unordered = list.into_iter().filter(live).find(|&reader| !clock.ordered(reader, now, Some(fine)));
    unordered.map(|reader| (reader, Hazard::WriteAfterRead))
}

/// What is kept of reads when one more is added.
#[inline]
fn readers(before: Epoch, others: &mut Others, now: Epoch, clock: &Clock) -> Epoch {
    if now.special() {
        others.special = now.who();
    }
    if before < clock.live {
        return now;
    }
    // A special read stays known: it matters to writes that are ordered after it as well.
    let now = Epoch(now.0 | before.0 & SPECIAL);
    if before < clock.block {
        // A reader of another block conflicts with every writer that can still come.
        return Epoch(before.0 | now.0 & SPECIAL);
    }
    if before < clock.era || !before.shared() && before.same_thread(now) {
        return now;
    }
    if !before.same_warp(now) {
        others.reader = before.who();
        return Epoch(now.0 | BLOCK_SHARED);
    }
    if before.0 & BLOCK_SHARED != 0 {
        // The other one is of another warp than the last, and so than this.
        return Epoch(now.0 | BLOCK_SHARED);
    }
    if before < clock.warp {
        return now;
    }
    if !before.same_thread(now) {
        others.reader = before.who();
    }
    Epoch(now.0 | WARP_SHARED)
}
