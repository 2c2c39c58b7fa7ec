//! What barriers of only some threads order: thread by thread.

use super::{Epoch, Past};
use std::collections::HashMap;

/// Readers that are listed at most, of a block between two of its barriers.
pub(super) const MOST_READERS: usize = 1 << 22;

/// Knowledge that partial barriers give: of a warp only some lanes, of a block only some threads.
#[derive(Debug, Default)]
pub(crate) struct Fine {
    threads: usize,
    /// `known[t * threads + u]`: accesses of u before this are ordered before t. Empty until a partial barrier in this era.
    known: Vec<Epoch>,
    /// Unordered readers of a granule: (span, index).
    pub(super) readers: HashMap<(u32, u32), Vec<Epoch>>,
    /// How many were listed in this era; beyond [`MOST_READERS`] no more are, so that memory stays bounded.
    pub(super) listed: usize,
    /// Readers are listed for the whole launch, because threads of other blocks may be ordered after some of them.
    pub(super) keeps: bool,
}

impl Fine {
    /// Of a block with so many threads; `keeps` where readers are listed across blocks.
    pub(crate) fn new(threads: usize, keeps: bool) -> Fine {
        Fine { threads, keeps, ..Fine::default() }
    }

    /// A barrier of the whole block: everything before is ordered in it.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        if !self.keeps {
            self.readers.clear();
            self.listed = 0;
        }
    }

    /// Adds what partial barriers order before a thread to its past.
    pub(crate) fn past(&self, thread: u32, past: &mut Past) {
        let row = self.known.get(thread as usize * self.threads..).unwrap_or_default();
        for (other, &before) in (0..).zip(row.iter().take(self.threads)) {
            if before != Epoch::default() {
                past.thread(other, before);
            }
        }
    }

    /// True where joins have to be recorded.
    pub(crate) fn is_active(&self) -> bool {
        !self.known.is_empty()
    }

    /// These threads have met: each knows now what any knew, and all that the others did before `now`.
    /// With each thread comes the floor of its warp, before which its neighbours are ordered by barriers of the whole warp.
    pub(crate) fn join(&mut self, members: &[(u32, Epoch)], now: Epoch) {
        self.known.resize(self.threads * self.threads, Epoch::default());
        let mut all = vec![Epoch::default(); self.threads];
        for &(t, floor) in members {
            let row = &self.known[t as usize * self.threads..][..self.threads];
            all.iter_mut().zip(row).for_each(|(all, &known)| *all = (*all).max(known));
            let neighbours = all.iter_mut().skip(t as usize / 32 * 32).take(32);
            neighbours.for_each(|all| *all = (*all).max(floor));
        }
        for &(t, _) in members {
            all[t as usize] = now;
        }
        for &(t, _) in members {
            self.known[t as usize * self.threads..][..self.threads].copy_from_slice(&all);
        }
    }

    pub(super) fn orders(&self, before: Epoch, now: Epoch) -> bool {
        let at = now.thread() as usize * self.threads + before.thread() as usize;
        self.known.get(at).is_some_and(|&known| before < known)
    }
}
