//! What is wrong about a weak access after those before it, and what is kept of several reads as one.

use super::entry::{BLOCK_SHARED, SPECIAL, WARP_SHARED};
use super::{Clock, Epoch, Fine, Hazard};

/// Threads and steps, as the low bits of an [`Epoch`] have them: they lie apart from the cells, which the common case keeps small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    pub(super) reader: u32,
    pub(super) special: u32,
}

/// The hazard of an access after a live write.
#[inline]
pub(super) fn after_write(
    before: Epoch,
    now: Epoch,
    clock: &Clock<'_>,
    fine: Option<&Fine>,
    writes: bool,
) -> Option<(Epoch, Hazard)> {
    if before.special() && before >= clock.block {
        return Some((before, Hazard::OpenCopy));
    }
    if !clock.ordered(before, now, fine) {
        return Some((before, if writes { Hazard::WriteAfterWrite } else { Hazard::ReadAfterWrite }));
    }
    (!writes && now.special() && !clock.is_shared()).then_some((before, Hazard::ReadOnlyWritten))
}

/// The hazard of a write after live reads, with a reader that conflicts.
#[inline]
pub(super) fn after_read(
    (before, others): (Epoch, Others),
    now: Epoch,
    clock: &Clock<'_>,
    fine: Option<&Fine>,
) -> Option<(Epoch, Hazard)> {
    let several = before >= clock.era && before.shared();
    // One that is ordered may stand for others that are not, or whom only hearsay orders.
    if clock.heard.is_some_and(|heard| heard.knows(now.thread()))
        && !fine.is_some_and(|fine| fine.keeps)
        && (several || before < clock.block)
        && clock.ordered(before, now, fine)
    {
        return Some((before, Hazard::Undecided));
    }
    let ordered = if fine.is_some_and(Fine::lists_all) {
        // The lists say it.
        true
    } else if several {
        // All that is known is how many they are; in the fine mode they are listed.
        let own = before < clock.warp || clock.is_of_own_product(before, now);
        fine.is_some() || before.0 & BLOCK_SHARED == 0 && before.same_warp(now) && own
    } else {
        clock.ordered(before, now, fine) || clock.is_of_own_product(before, now)
    };
    if ordered {
        let read_only = before.special() && !clock.is_shared();
        return read_only.then(|| (before.by(others.special), Hazard::WrittenReadOnly));
    }
    // The last reader may be the thread that writes, or one of its warp that a barrier orders before it: then the other is not.
    let innocent = before.same_thread(now) || before.0 & BLOCK_SHARED != 0 && before.same_warp(now);
    let partner = if several && innocent { before.by(others.reader) } else { before };
    Some((partner, Hazard::WriteAfterRead))
}

/// The hazard of a write after listed readers.
#[cold]
pub(super) fn listed(fine: &Fine, key: (u32, u32), now: Epoch, clock: &Clock<'_>) -> Option<(Epoch, Hazard)> {
    let live = |reader: &&Epoch| **reader >= clock.live;
    let mut list = fine.readers.get(&key)?.iter().filter(live);
    let ordered = |reader| clock.ordered(reader, now, Some(fine)) || clock.is_of_own_product(reader, now);
    let unordered = list.find(|&&reader| !ordered(reader));
    unordered.map(|&reader| (reader, Hazard::WriteAfterRead))
}

/// What is kept of reads when one more is added.
#[inline]
pub(super) fn readers(before: Epoch, others: &mut Others, now: Epoch, clock: &Clock<'_>) -> Epoch {
    if now.special() {
        others.special = now.who();
    }
    if before < clock.live {
        return now;
    }
    if clock.is_shared()
        && let Some(kept) = beside_product(before, now, clock)
    {
        return kept;
    }
    // `ld.global.nc` stays known: it matters to writes that are ordered after it as well.
    let now = if clock.is_shared() { now } else { Epoch(now.0 | before.0 & SPECIAL) };
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

/// What is kept in shared memory of two reads of a warp, one of which may be for a product of matrices, which is over for all of its lanes;
/// nothing where both are ordinary.
fn beside_product(before: Epoch, now: Epoch, clock: &Clock<'_>) -> Option<Epoch> {
    let unordered = before >= clock.era && before >= clock.warp;
    if before.0 & BLOCK_SHARED != 0 || !before.same_warp(now) || !unordered {
        return None;
    }
    match (before.special(), now.special()) {
        (true, _) => Some(now),
        // As if who read before had read now: other warps must be ordered behind both, lanes of this one behind that.
        (false, true) => Some(Epoch(now.by(before.who()).0 & !SPECIAL | before.0 & WARP_SHARED)),
        (false, false) => None,
    }
}
