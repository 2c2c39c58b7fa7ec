//! Strong accesses of a granule: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release`.
//!
//! They lie beside the cells of the shadow, which know weak accesses, because they are few and because none may be forgotten: strong
//! accesses do not race with one another, so that many may be unordered. A weak access races with each of them that conflicts and
//! is not ordered before it. What a thread reads there comes after what it reads (also by way of other atomics), and so does all
//! that the thread does next:
//!
//! ```text
//! atom (block 0)   atom (block 1)   atom (block 2, the last)   st [M], 0 (block 2)      no race: the third has seen the first two
//! ```

use super::heard::{Given, mutual};
use super::{Clock, Epoch, Fine, Hazard};
use crate::program::MemoryScope;
use std::collections::{HashMap, HashSet};

/// Accesses of a granule that one access is compared with, the latest ones: enough for right programs, where the latest has mostly seen
/// the others, and a bound for wrong ones. Twice as many are kept at most.
const MOST_COMPARED: usize = 1 << 12;

/// Who has read a granule since the last write: where the latest of these reads is, and whether that is the first (1) or another one (2).
type Reads = HashMap<(u32, StrongKind), (usize, u8)>;

/// What a strong access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StrongKind {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// The first stamp of the block, and whom the access means.
    pub(crate) by: (Epoch, MemoryScope),
    /// Where it begins, and its bytes: two that overlap and are not at the same place are not strong to one another.
    pub(crate) place: (u32, u8),
}

#[derive(Clone, Copy, Debug)]
struct StrongTouch {
    epoch: Epoch,
    kind: StrongKind,
}

/// The strong accesses of a granule, in the order in which they happened.
#[derive(Clone, Debug, Default)]
struct Granule {
    touches: Vec<StrongTouch>,
    reads: Option<Box<Reads>>,
    /// Not all begin at the same place and have as many bytes.
    places: bool,
    /// They are of several blocks, and there are some that mean their block alone.
    blocks: [bool; 2],
    given: Given,
}

/// The granules of a span that have some.
#[derive(Debug, Default)]
pub(super) struct Strongs {
    places: HashMap<u32, Granule>,
}

impl Strongs {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Strongs::default();
    }

    /// Granules become half as large.
    pub(super) fn halve(&mut self) {
        let halves = |(at, place): (u32, Granule)| [(2 * at, place.clone()), (2 * at + 1, place)];
        self.places = std::mem::take(&mut self.places).into_iter().flat_map(halves).collect();
    }

    /// The hazard of a weak access. What a write orders behind it needs to be known no more.
    #[inline]
    pub(super) fn beside(
        &mut self,
        index: usize,
        (now, writes): (Epoch, bool),
        clock: &Clock<'_>,
        fine: Option<&Fine>,
    ) -> Option<(Epoch, Hazard)> {
        // Most memory has none, and each access asks.
        if self.places.is_empty() { None } else { self.beside_those(index, (now, writes), clock, fine) }
    }

    fn beside_those(
        &mut self,
        index: usize,
        (now, writes): (Epoch, bool),
        clock: &Clock<'_>,
        fine: Option<&Fine>,
    ) -> Option<(Epoch, Hazard)> {
        let index = index as u32;
        let granule = self.places.get_mut(&index)?;
        granule.forget(clock.live);
        let found = granule.hazard(now, (None, writes), clock, fine).or_else(|| {
            let written = granule.touches.iter().rev().find(|touch| touch.kind.writes);
            written
                .filter(|_| !writes && now.special() && !clock.is_shared())
                .map(|touch| (touch.epoch, Hazard::ReadOnlyWritten))
        });
        if writes || granule.touches.is_empty() {
            self.places.remove(&index);
        }
        found
    }

    /// Enters a strong access; its hazard with another that is strong as well.
    pub(super) fn touch(
        &mut self,
        index: usize,
        now: Epoch,
        kind: StrongKind,
        clock: &Clock<'_>,
        fine: Option<&Fine>,
    ) -> Option<(Epoch, Hazard)> {
        let place = self.places.entry(index as u32).or_default();
        let found = place.conflict(now, kind, clock, fine);
        place.enter(now, kind);
        found
    }

    pub(super) fn given(&mut self, index: u32, live: Epoch) -> Option<&mut Given> {
        let place = self.places.get_mut(&index)?;
        place.forget(live);
        Some(&mut place.given)
    }
}

impl Granule {
    /// What was done in earlier launches counts no more.
    fn forget(&mut self, live: Epoch) {
        if self.touches.first().is_some_and(|touch| touch.epoch < live) {
            *self = Granule::default();
        }
    }

    /// The hazard of an access with an earlier one that is not ordered before it: of a weak access, or of a strong one with one that is
    /// not strong to it, being at another place or leaving its block out.
    fn hazard(
        &self,
        now: Epoch,
        (strong, writes): (Option<StrongKind>, bool),
        clock: &Clock<'_>,
        fine: Option<&Fine>,
    ) -> Option<(Epoch, Hazard)> {
        // The one that has seen what comes before it here, and is ordered before this access.
        let mut seen: Option<StrongKind> = None;
        // And whose accesses it has seen: what such a thread did here before that comes before as well.
        let mut before = HashSet::new();
        for StrongTouch { epoch, kind } in
            self.touches.iter().rev().take(MOST_COMPARED).take_while(|touch| touch.epoch >= clock.live)
        {
            if clock.live == clock.block && *epoch < clock.era {
                // Shared memory: a barrier of the block orders this one and all before it.
                break;
            }
            let read = kind.reads.then_some(*kind);
            let who = (kind.by.0, epoch.thread());
            if clock.ordered(*epoch, now, fine) {
                seen = read;
            } else if kind.writes && seen.is_some_and(|by| mutual(by.by, kind.by)) {
                seen = read;
                before.insert(who);
            } else if before.contains(&who) {
                seen = seen.filter(|_| !kind.writes);
            } else if kind.writes || writes {
                let hazard = match strong {
                    Some(strong) if strong.place != kind.place => Hazard::Overlap,
                    Some(strong) if !mutual(strong.by, kind.by) => Hazard::Scope,
                    Some(_) => continue,
                    None if !kind.writes => Hazard::WriteAfterRead,
                    None if writes => Hazard::WriteAfterWrite,
                    None => Hazard::ReadAfterWrite,
                };
                return Some((*epoch, hazard));
            }
        }
        None
    }

    /// The hazard of a strong access with one that is not strong to it.
    fn conflict(
        &mut self,
        now: Epoch,
        kind: StrongKind,
        clock: &Clock<'_>,
        fine: Option<&Fine>,
    ) -> Option<(Epoch, Hazard)> {
        self.forget(clock.live);
        if let Some(first) = self.touches.first() {
            self.places |= first.kind.place != kind.place;
            self.blocks[0] |= first.kind.by.0 != kind.by.0;
        }
        self.blocks[1] |= kind.by.1 == MemoryScope::Block;
        let strong_to_all = !self.places && self.blocks != [true; 2];
        if strong_to_all { None } else { self.hazard(now, (Some(kind), kind.writes), clock, fine) }
    }

    /// Enters an access. Where a thread does the same again, reads until the next write as a loop that waits does, or writes with nothing
    /// in between, the first and the last are kept: if one between them is ordered before something, so is the first, and if one is not,
    /// neither is the last.
    fn enter(&mut self, now: Epoch, kind: StrongKind) {
        if self.touches.len() >= 2 * MOST_COMPARED {
            self.touches.drain(..MOST_COMPARED);
            self.reads = None;
        }
        if kind.writes {
            self.reads = None;
            let again = |touch: &StrongTouch| touch.kind == kind && touch.epoch.same_thread(now);
            if let [.., first, last] = self.touches.as_mut_slice()
                && again(first)
                && again(last)
            {
                last.epoch = now;
                return;
            }
        } else {
            let reads = self.reads.get_or_insert_default();
            let (last, count) = reads.entry((now.thread(), kind)).or_default();
            if *count == 2
                && let Some(touch) = self.touches.get_mut(*last)
            {
                touch.epoch = now;
                return;
            }
            (*last, *count) = (self.touches.len(), *count + 1);
        }
        self.touches.push(StrongTouch { epoch: now, kind });
    }
}
