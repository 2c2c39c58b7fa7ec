//! A block: its warps take turns until all have exited or none can go on.

use super::grid::Machine;
use super::group::{self, Proxy};
use super::prepare::{Prepared, set};
use super::schedule::Order;
use super::space::Location;
use super::step;
use super::warp::{State, Warp};
use crate::check::{Kind, Site};
use crate::memory::{Epoch, Fine, Heard, Span};
use crate::program::Special;
use crate::registers::{ALL, Mask};

/// Steps of a warp before another gets its turn: few where one may wait for another in a loop.
const TURN: u64 = 1 << 14;
const TURN_OF_WAITING: u64 = 1 << 10;

/// What the warps of a block share.
pub(super) struct Shared {
    pub(super) index: [u32; 3],
    pub(super) memory: Span,
    /// Local memory of all threads, one after another.
    pub(super) local: Span,
    pub(super) start: Epoch,
    /// Accesses of this block before this are ordered by a barrier of the whole block.
    pub(super) era: Epoch,
    pub(super) fine: Option<Fine>,
    /// What threads know by release and acquire, of a program that has such.
    pub(super) heard: Option<Heard>,
    /// Who made what it wrote known to `wgmma`, in a program that has such.
    pub(super) proxy: Option<Proxy>,
    /// What accesses are recorded by where readers are listed: lists are by granule, so that it must not become finer later.
    pub(super) finest: u32,
    /// Threads that have not exited.
    pub(super) live: u32,
    /// Threads that wait at each barrier.
    pub(super) arrived: [u32; 16],
    /// How many are waited for; 0 is all.
    pub(super) expected: [u32; 16],
}

/// A block.
pub(super) struct Block {
    pub(super) shared: Shared,
    pub(super) warps: Vec<Warp>,
    order: Vec<usize>,
}

impl Block {
    pub(super) fn new(machine: &Machine<'_>, prepared: &Prepared) -> Block {
        let threads = machine.launch.threads() as u32;
        let bytes = machine.program.shared_bytes.saturating_add(machine.launch.dynamic_shared);
        let local = u64::from(machine.program.local_bytes) * u64::from(threads);
        let (warps, races) = (threads.div_ceil(32), machine.launch.checks.races);
        Block {
            shared: Shared {
                index: [0; 3],
                memory: Span::new(bytes as usize),
                local: Span::new(usize::try_from(local).unwrap_or(0)),
                start: Epoch::default(),
                era: Epoch::default(),
                fine: (races && (prepared.fine || machine.keeps))
                    .then(|| Fine::new(threads as usize, machine.keeps)),
                heard: (races && machine.synchronises).then(Heard::default),
                proxy: (races && !prepared.group_slots.is_empty()).then(|| Proxy::new(threads as usize)),
                finest: prepared.finest,
                live: threads,
                arrived: [0; 16],
                expected: [0; 16],
            },
            warps: (0..warps).map(|i| Warp::new(32 * i, prepared.template.clone())).collect(),
            order: (0..warps as usize).collect(),
        }
    }

    /// Everything as it is before the first step of this block.
    pub(super) fn start(&mut self, machine: &Machine<'_>, prepared: &Prepared, index: [u32; 3], stamp: u64) {
        let threads = machine.launch.threads() as u32;
        let floor = Epoch::floor(stamp);
        let shared = &mut self.shared;
        (shared.index, shared.start, shared.era, shared.live) = (index, floor, floor, threads);
        (shared.arrived, shared.expected) = ([0; 16], [0; 16]);
        shared.memory.forget();
        shared.local.forget();
        shared.memory.shadow.forget_strong();
        shared.fine.iter_mut().for_each(|fine| fine.begin(Location::Shared.number()));
        shared.heard.iter_mut().for_each(Heard::clear);
        shared.proxy.iter_mut().for_each(Proxy::clear);
        for warp in &mut self.warps {
            let lanes = (threads - warp.first).min(32);
            warp.start(&prepared.template, &machine.ends, ALL >> (32 - lanes), floor);
            let thread = |lane: usize| machine.thread_index(warp.first + lane as u32);
            let launch = machine.launch;
            for &(slot, special) in &prepared.specials {
                let axis = |d: u8| usize::from(d.min(2));
                set(&mut warp.registers, slot, |lane| {
                    u64::from(match special {
                        Special::Thread(d) => thread(lane)[axis(d)],
                        Special::Threads(d) => launch.block[axis(d)],
                        Special::Block(d) => index[axis(d)],
                        Special::Blocks(d) => launch.grid[axis(d)],
                        Special::Lane => lane as u32,
                        Special::Warp => warp.first / 32,
                    })
                });
            }
        }
    }

    /// Runs until all threads have exited, or something stops the machine.
    pub(super) fn run(&mut self, machine: &mut Machine<'_>) {
        loop {
            self.shuffle(machine);
            let mut ran = false;
            for turn in 0..self.order.len() {
                let warp = self.order[turn];
                if self.warps[warp].is_ready() {
                    ran = true;
                    let budget = match machine.launch.schedule.warps {
                        Order::Forward | Order::Reverse if machine.synchronises => TURN_OF_WAITING,
                        Order::Forward | Order::Reverse => TURN,
                        Order::Random => 1 + machine.random.below(64),
                    };
                    step::turn(machine, &mut self.shared, &mut self.warps[warp], budget);
                    if machine.stopped {
                        return;
                    }
                }
                ran |= self.release_barriers(machine);
            }
            if self.shared.live == 0 {
                group::compare(machine, &mut self.shared, &mut self.warps);
                return;
            }
            if !ran {
                self.report_stuck(machine);
                machine.stopped = true;
                return;
            }
        }
    }

    fn shuffle(&mut self, machine: &mut Machine<'_>) {
        let count = self.order.len();
        match machine.launch.schedule.warps {
            Order::Forward => {}
            Order::Reverse => (0..count).for_each(|i| self.order[i] = count - 1 - i),
            Order::Random => machine.random.shuffle(&mut self.order),
        }
    }

    /// Nobody can go on: says who waits where for whom.
    fn report_stuck(&self, machine: &mut Machine<'_>) {
        let index = self.shared.index;
        let all = || self.warps.iter().flat_map(|warp| warp.fragments.iter().map(move |f| (warp, f)));
        let split = all().any(|(_, f)| !matches!(f.state, State::Barrier(_)));
        for (warp, fragment) in all() {
            let thread = machine.thread_index(warp.first + fragment.mask.trailing_zeros());
            let site = Site { step: fragment.step as usize, thread, block: index };
            let mask = fragment.mask;
            match fragment.state {
                State::Barrier(_) if split => {}
                State::Barrier(number) => {
                    let at = usize::from(number & 15);
                    let expected = match self.shared.expected[at] {
                        0 => self.shared.live,
                        some => some,
                    };
                    let (arrived, exited) =
                        (self.shared.arrived[at], machine.launch.threads() as u32 - self.shared.live);
                    let words = format!(
                        "barrier {number} waits for {expected} threads and {arrived} came; {exited} threads of the block \
                         have exited, the others wait elsewhere"
                    );
                    machine.log.report(Kind::Deadlock, site, || (None, words));
                }
                State::WarpBarrier { .. } | State::Collective { .. } | State::Ready => {
                    let others = elsewhere(machine, warp, mask);
                    let words = format!("lanes {mask:#010x} wait here for lanes that never come: {others}");
                    machine.log.report(Kind::NotConverged, site, || (None, words));
                }
            }
        }
    }
}

/// Where the other lanes of a warp are.
fn elsewhere(machine: &Machine<'_>, warp: &Warp, but: Mask) -> String {
    let mut parts: Vec<String> = Vec::new();
    for f in warp.fragments.iter().filter(|f| f.mask & but == 0) {
        parts.push(format!("{:#010x} wait at line {}", f.mask, machine.log.line(f.step as usize)));
    }
    let exited = warp.born & !warp.live;
    if exited != 0 {
        parts.push(format!("{exited:#010x} have exited"));
    }
    if warp.born != ALL {
        parts.push(format!("{:#010x} do not exist", !warp.born));
    }
    if parts.is_empty() { "all others are here as well".to_owned() } else { parts.join(", ") }
}
