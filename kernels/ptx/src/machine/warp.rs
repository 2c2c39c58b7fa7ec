//! A warp: its registers, and the fragments that it has come apart into.

use super::copy::Copies;
use super::group::Products;
use super::schedule::{Order, Random};
use super::trail::{Ends, Trail};
use crate::memory::Epoch;
use crate::registers::{Mask, Registers};

/// Why a fragment stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can go on.
    Ready,
    /// It waits for other lanes at a `.sync` instruction, since so many lanes were live.
    Collective { live: Mask },
    /// It waits at `bar.warp.sync` for these lanes, since so many lanes were live.
    WarpBarrier { members: Mask, live: Mask },
    /// It waits at `bar.sync` with this number.
    Barrier(u8),
}

/// Lanes that stand at the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) step: u32,
    pub(super) mask: Mask,
    pub(super) state: State,
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp {
    /// Its first thread in the block.
    pub(super) first: u32,
    pub(super) registers: Registers,
    /// Lanes that exist and have not exited.
    pub(super) live: Mask,
    /// Lanes that exist.
    pub(super) born: Mask,
    /// What its lanes did last before they exited.
    pub(super) trail: Trail,
    /// Its lanes have met different barriers: what follows from that is not said again.
    pub(super) diverged: bool,
    pub(super) fragments: Vec<Fragment>,
    /// Accesses before this are ordered by a barrier of the whole warp.
    pub(super) floor: Epoch,
    pub(super) copies: Copies,
    pub(super) products: Products,
    /// The fragment at this step has run for long: others come first, so that a lane that waits for another in a loop gets on.
    tired: Option<u32>,
}

/// A fragment taken to run, and the step at which it should look around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) step: u32,
    pub(super) mask: Mask,
    pub(super) limit: u32,
}

impl Warp {
    pub(super) fn new(first: u32, registers: Registers) -> Warp {
        Warp {
            first,
            registers,
            live: 0,
            born: 0,
            trail: Trail::default(),
            diverged: false,
            fragments: Vec::with_capacity(8),
            floor: Epoch::default(),
            copies: Copies::default(),
            products: Products::default(),
            tired: None,
        }
    }

    /// Begins at the first step with these lanes.
    pub(super) fn start(&mut self, template: &Registers, ends: &Ends, lanes: Mask, floor: Epoch) {
        self.registers.copy_from(template);
        (self.live, self.born, self.floor, self.tired) = (lanes, lanes, floor, None);
        self.diverged = false;
        self.trail.clear(ends);
        self.copies.clear();
        self.products.clear();
        self.fragments.clear();
        self.fragments.push(Fragment { step: 0, mask: lanes, state: State::Ready });
    }

    pub(super) fn is_ready(&self) -> bool {
        self.fragments.iter().any(|f| f.state == State::Ready)
    }

    pub(super) fn push(&mut self, step: u32, mask: Mask, state: State) {
        if mask != 0 {
            self.fragments.push(Fragment { step, mask, state });
        }
    }

    /// The fragment that ran has used its turn up.
    pub(super) fn pause(&mut self, step: u32, mask: Mask) {
        self.tired = Some(step);
        self.push(step, mask, State::Ready);
    }

    /// Takes out the fragment that runs next, merged with those at the same step.
    pub(super) fn take(&mut self, order: Order, random: &mut Random) -> Option<Turn> {
        let ready = |f: &&Fragment| f.state == State::Ready;
        let steps = self.fragments.iter().filter(ready).map(|f| f.step);
        let step = match order {
            Order::Forward => match self.tired.take() {
                Some(tired) => steps.clone().filter(|&step| step > tired).min().or_else(|| steps.min()),
                None => steps.min(),
            },
            Order::Reverse => match self.tired.take() {
                Some(tired) => steps.clone().filter(|&step| step < tired).max().or_else(|| steps.max()),
                None => steps.max(),
            },
            Order::Random => {
                let count = steps.clone().count() as u64;
                steps.clone().nth(random.below(count) as usize)
            }
        }?;
        let (mut mask, mut limit) = (0, u32::MAX);
        self.fragments.retain(|f| {
            let here = f.state == State::Ready && f.step == step;
            mask |= if here { f.mask } else { 0 };
            if f.state == State::Ready && f.step > step && order == Order::Forward {
                limit = limit.min(f.step);
            }
            !here
        });
        Some(Turn { step, mask, limit })
    }

    /// Wakes what waits for lanes that have exited meanwhile; true where something can go on.
    pub(super) fn retry(&mut self, ends: &Ends) -> bool {
        let now = self.live;
        let mut woken = false;
        for fragment in &mut self.fragments {
            let waits_since = match fragment.state {
                State::Collective { live } | State::WarpBarrier { live, .. } => live,
                State::Ready | State::Barrier(_) => now,
            };
            if waits_since != now {
                fragment.state = State::Ready;
                woken = true;
                if ends.number(fragment.step).is_some() {
                    self.trail.comes_again(fragment.mask);
                }
            }
        }
        woken
    }

    /// Takes out the lanes that wait at the same collective instruction.
    pub(super) fn gather(&mut self, step: u32) -> Mask {
        let mut mask = 0;
        self.fragments.retain(|f| {
            let here = matches!(f.state, State::Collective { .. }) && f.step == step;
            mask |= if here { f.mask } else { 0 };
            !here
        });
        mask
    }
}
