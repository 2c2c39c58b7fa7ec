//! What is ordered by release and acquire: fences, atomics, and strong loads and stores.
//!
//! ```text
//! thread t of block 1:  writes x | fence | atom M          thread u of block 7:  atom M | fence | reads x
//!                                   \                                            ^
//!                                    M is given what t knows: 'block 1 up to its last barrier, t itself up to here'
//! ```
//!
//! A thread that releases gives the place that it writes all that it knows; one that reads the place and acquires knows that too. An atomic
//! that another thread does there hands on what the place had been given, any other store takes it away. A fence does for the strong
//! accesses behind it (release) and before it (acquire) what they do not do themselves.

use super::Epoch;
use crate::program::MemoryScope;
use std::collections::HashMap;
use std::sync::Arc;

/// A place in a list of pasts: a thread, or a warp.
type Who = u16;
const WARPS: Who = 1024;

/// What one block has done, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Its first stamp.
    block: Epoch,
    /// Accesses of all its threads before this.
    all: Epoch,
    /// Of single threads, and of warps, accesses before this.
    parts: Vec<(Who, Epoch)>,
}

/// What is known of all blocks of a launch, in the order in which they ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    blocks: Vec<Arc<Past>>,
}

impl Past {
    /// Of the block that began with this stamp, up to its last barrier.
    pub(crate) fn new(block: Epoch, all: Epoch) -> Past {
        Past { block, all, parts: Vec::new() }
    }

    /// And of a thread, before this.
    pub(crate) fn thread(&mut self, thread: u32, before: Epoch) {
        self.part(thread as Who, before);
    }

    /// And of the warp of a thread.
    pub(crate) fn warp_of(&mut self, thread: u32, before: Epoch) {
        self.part(WARPS + (thread / 32) as Who, before);
    }

    fn part(&mut self, who: Who, before: Epoch) {
        match self.parts.binary_search_by_key(&who, |&(who, _)| who) {
            Ok(at) => self.parts[at].1 = self.parts[at].1.max(before),
            Err(at) => self.parts.insert(at, (who, before)),
        }
    }

    fn knows(&self, who: Who, access: Epoch) -> bool {
        let at = self.parts.binary_search_by_key(&who, |&(who, _)| who);
        at.is_ok_and(|at| access < self.parts[at].1)
    }

    fn covers(&self, access: Epoch) -> bool {
        let thread = access.thread() as Who;
        access < self.all || self.knows(thread, access) || self.knows(WARPS + thread / 32, access)
    }

    fn merge(&mut self, other: &Past) {
        self.all = self.all.max(other.all);
        other.parts.iter().for_each(|&(who, before)| self.part(who, before));
    }
}

impl Known {
    /// Whether an access of this launch is among what is known.
    pub(crate) fn covers(&self, access: Epoch) -> bool {
        let after = self.blocks.partition_point(|past| past.block <= access);
        after.checked_sub(1).is_some_and(|at| self.blocks[at].covers(access))
    }

    /// One past more.
    fn learn(&mut self, past: &Arc<Past>) {
        match self.blocks.binary_search_by_key(&past.block, |past| past.block) {
            Ok(at) if Arc::ptr_eq(&self.blocks[at], past) => {}
            Ok(at) => Arc::make_mut(&mut self.blocks[at]).merge(past),
            Err(at) => self.blocks.insert(at, Arc::clone(past)),
        }
    }
}

/// Adds what another knows. Two that know the same often share it, and then nothing is copied.
fn join(known: &mut Option<Arc<Known>>, other: &Arc<Known>) {
    match known {
        None => *known = Some(Arc::clone(other)),
        Some(known) if Arc::ptr_eq(known, other) => {}
        Some(known) => {
            let known = Arc::make_mut(known);
            other.blocks.iter().for_each(|past| known.learn(past));
        }
    }
}

/// What a thread gives away when it releases.
#[derive(Clone, Debug)]
pub(crate) struct Released {
    known: Option<Arc<Known>>,
    own: Arc<Past>,
}

/// What a place was given by those who wrote it, one atomic after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Who wrote last: its block, and whom it meant.
    last: Option<(Epoch, MemoryScope)>,
    /// What was released for the whole device.
    device: Option<Arc<Known>>,
    /// What threads of one block, which began with this stamp, released for whomever.
    block: Option<(Epoch, Arc<Known>)>,
}

/// Whether two strong accesses of threads of these blocks mean each other.
pub(super) fn mutual(a: (Epoch, MemoryScope), b: (Epoch, MemoryScope)) -> bool {
    a.0 == b.0 || a.1.min(b.1) == MemoryScope::Device
}

impl Given {
    /// A strong store or atomic: whose, and what it and the fences before it release, for each scope. An atomic (`reads`) hands on
    /// what was given before.
    pub(crate) fn give(&mut self, by: (Epoch, MemoryScope), released: [Option<&Released>; 2], reads: bool) {
        if !reads || !self.last.is_some_and(|last| mutual(last, by)) {
            *self = Given::default();
        }
        self.last = Some(by);
        if let Some(released) = released[MemoryScope::Device as usize] {
            add(&mut self.device, released);
        }
        if let Some(released) = released[MemoryScope::Block as usize] {
            let mut known = self.block.take().filter(|(of, _)| *of == by.0).map(|(_, known)| known);
            add(&mut known, released);
            self.block = known.map(|known| (by.0, known));
        }
    }

    /// What a strong load or atomic is told, and in which scope that may be acquired.
    pub(crate) fn told(&self, by: (Epoch, MemoryScope)) -> impl Iterator<Item = (MemoryScope, &Arc<Known>)> {
        let sees = self.last.is_some_and(|last| mutual(last, by));
        let device = self.device.iter().map(|known| (MemoryScope::Device, known));
        let block = self
            .block
            .iter()
            .filter(move |(of, _)| *of == by.0)
            .map(|(_, known)| (MemoryScope::Block, known));
        device.chain(block).filter(move |_| sees)
    }
}

fn add(known: &mut Option<Arc<Known>>, released: &Released) {
    released.known.iter().for_each(|other| join(known, other));
    Arc::make_mut(known.get_or_insert_default()).learn(&released.own);
}

/// What a thread has read by strong accesses, and acquires at a fence of this scope; and what its fences released.
#[derive(Debug, Default)]
struct Fences {
    told: [Option<Arc<Known>>; 2],
    released: [Option<Released>; 2],
}

/// What the threads of the block that runs have heard from others.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// What all know.
    all: Option<Arc<Known>>,
    /// What single threads know, which includes what all knew when they heard it.
    threads: HashMap<u32, Arc<Known>>,
    fences: HashMap<u32, Fences>,
}

impl Heard {
    /// As before the first step of a block.
    pub(crate) fn clear(&mut self) {
        *self = Heard::default();
    }

    fn of(&self, thread: u32) -> Option<&Arc<Known>> {
        self.threads.get(&thread).or(self.all.as_ref())
    }

    /// Whether a thread has heard anything.
    #[inline]
    pub(crate) fn knows(&self, thread: u32) -> bool {
        self.all.is_some() || self.threads.contains_key(&thread)
    }

    /// Whether an access is ordered before what a thread does now.
    #[cold]
    pub(crate) fn covers(&self, thread: u32, access: Epoch) -> bool {
        self.of(thread).is_some_and(|known| known.covers(access))
    }

    /// What a thread knows, with what it has done itself.
    pub(crate) fn releases(&self, thread: u32, own: Past) -> Released {
        Released { known: self.of(thread).cloned(), own: Arc::new(own) }
    }

    /// A thread reads what a place was given, by an access that acquires in a scope, or by one that leaves that to a fence.
    pub(crate) fn hears(
        &mut self,
        thread: u32,
        (scope, known): (MemoryScope, &Arc<Known>),
        acquires: Option<MemoryScope>,
    ) {
        if acquires.is_some_and(|of| scope <= of) {
            let mut own = self.of(thread).cloned();
            join(&mut own, known);
            own.map(|own| self.threads.insert(thread, own));
        } else {
            join(&mut self.fences.entry(thread).or_default().told[scope as usize], known);
        }
    }

    /// A fence of a thread, which has done this until now.
    pub(crate) fn fence(&mut self, thread: u32, scope: MemoryScope, own: Past) {
        let scopes = if scope == MemoryScope::Device {
            &[MemoryScope::Block, MemoryScope::Device][..]
        } else {
            &[MemoryScope::Block]
        };
        for &scope in scopes {
            let told = self.fences.entry(thread).or_default().told[scope as usize].take();
            told.iter().for_each(|known| self.hears(thread, (scope, known), Some(scope)));
        }
        let released = self.releases(thread, own);
        let fences = self.fences.entry(thread).or_default();
        scopes.iter().for_each(|&scope| fences.released[scope as usize] = Some(released.clone()));
    }

    /// What the last fence of a thread released in this scope.
    pub(crate) fn fenced(&self, thread: u32, scope: MemoryScope) -> Option<&Released> {
        self.fences.get(&thread)?.released[scope as usize].as_ref()
    }

    /// All threads of the block have met.
    pub(crate) fn meet(&mut self) {
        for (_, known) in self.threads.drain() {
            join(&mut self.all, &known);
        }
    }

    /// These threads have met.
    pub(crate) fn meet_some(&mut self, members: impl Iterator<Item = u32> + Clone) {
        let mut all = None;
        members
            .clone()
            .filter_map(|thread| self.threads.get(&thread))
            .for_each(|known| join(&mut all, known));
        if let Some(all) = all {
            self.threads.extend(members.map(|thread| (thread, Arc::clone(&all))));
        }
    }
}
