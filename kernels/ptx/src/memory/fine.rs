//! What barriers of only some threads order: thread by thread.

use super::{Epoch, Past};
use std::collections::HashMap;

/// Readers that are listed at most: of a block between two of its barriers, or where they are kept at all.
const MOST_READERS: usize = 1 << 22;

/// Knowledge that partial barriers give: of a warp only some lanes, of a block only some threads.
#[derive(Debug, Default)]
pub(crate) struct Fine {
    threads: usize,
    /// `known[t * threads + u]`: accesses of u before this are ordered before t. Empty until a partial barrier in this era.
    known: Vec<Epoch>,
    /// Unordered readers of a granule: (span, index).
    pub(super) readers: HashMap<(u32, u32), Vec<Epoch>>,
    /// How many are listed; beyond [`MOST_READERS`] no more are, so that memory stays bounded.
    listed: usize,
    /// Some were not.
    overflow: bool,
    /// Readers are listed for the whole launch, not only between two barriers of their block, because threads of other blocks may be
    /// ordered after some of them. Those of shared memory go with their block.
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
            (self.listed, self.overflow) = (0, false);
        }
    }

    /// Another block begins, whose shared memory has this number.
    pub(crate) fn begin(&mut self, shared: u32) {
        self.clear();
        let listed = &mut self.listed;
        self.readers.retain(|&(span, _), list| {
            *listed -= if span == shared { list.len() } else { 0 };
            span != shared
        });
    }

    /// One more reader of a granule; `first` begins a new list, and is on it. Those of this block, which began with this stamp, are last.
    pub(super) fn list(&mut self, key: (u32, u32), first: Option<Epoch>, now: Epoch, block: Epoch) {
        if self.listed >= MOST_READERS {
            self.overflow = true;
            return;
        }
        let list = self.readers.entry(key).or_default();
        self.listed -= list.len();
        if let Some(first) = first {
            list.clear();
            list.push(first);
        }
        let of_block = list.iter().rev().take_while(|reader| **reader >= block).count();
        let from = list.len() - of_block;
        if let Some(at) = list[from..].iter().position(|reader| reader.same_thread(now)) {
            list.remove(from + at);
        }
        list.push(now);
        self.listed += list.len();
    }

    /// A granule was written: its readers need to be known no more.
    pub(super) fn unlist(&mut self, key: (u32, u32)) {
        self.listed -= self.readers.remove(&key).map_or(0, |list| list.len());
    }

    /// Every reader of the launch is on a list.
    pub(super) fn lists_all(&self) -> bool {
        self.keeps && !self.overflow
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
