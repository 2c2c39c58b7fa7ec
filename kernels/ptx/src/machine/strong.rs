//! Atomics, fences, and strong loads and stores: what they do, and what they order (see `memory::heard`).

use super::access::{self, lanes};
use super::block::Shared;
use super::grid::Machine;
use super::record::{conflicts, count};
use super::schedule::Order;
use super::space::{Location, Part, Request, addresses, next_part};
use super::warp::Warp;
use crate::memory::{Clock, Conflict, Epoch, Heard, Past, Shadow, StrongKind};
use crate::program::{Atomic, MemoryScope, Stores, Strong};
use crate::registers::{ALL, LANES, Mask, Registers};

/// `atom` and `red`: lane after lane, in the order of the schedule.
pub(super) fn atomic(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    atomic: &Atomic,
    step: u32,
    active: Mask,
) {
    let mut at = [0; LANES];
    let undefined = addresses(machine, shared, warp, &atomic.address, step, active, &mut at);
    let bytes = u32::from(atomic.width);
    let request = Request { space: atomic.space, bytes, align: bytes, writes: true, step, undefined };
    let (mut rest, mut good) = (active, 0);
    let mut part = Part::new();
    let mut order: [usize; LANES] = std::array::from_fn(|lane| lane);
    match machine.launch.schedule.fragments {
        Order::Forward => {}
        Order::Reverse => order.reverse(),
        Order::Random => machine.random.shuffle(&mut order),
    }
    while next_part(machine, shared, warp, request, &at, &mut rest, &mut part) {
        good |= part.mask;
        count(machine, &part, bytes);
        for &lane in order.iter().filter(|&&lane| part.mask >> lane & 1 == 1) {
            let writes = update(machine, shared, &mut warp.registers, atomic, &part, lane);
            let touch = StrongAccess { strong: atomic.strong, reads: true, writes, bytes, step };
            record(machine, shared, warp, &part, touch, (lane, 0));
        }
        finish(machine, shared, warp, &part, (atomic.strong, step));
    }
    if let Some(d) = atomic.d.filter(|_| good != active) {
        access::zeros(&mut warp.registers, d, active & !good);
    }
}

/// Reads, computes, writes; false where nothing was to be written (`cas`).
fn update(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    registers: &mut Registers,
    atomic: &Atomic,
    part: &Part,
    lane: usize,
) -> bool {
    let in_global = matches!(part.target, Location::Device(_));
    let (update, span) = (atomic.updates[usize::from(in_global)], part.target.span(machine, shared));
    let (width, [b, c], at) = (usize::from(atomic.width), atomic.sources, part.at[lane] as usize);
    let given = [b, c].map(|slot| registers.defined(slot) >> lane & 1 == 1);
    let old = match width {
        2 => span.get::<2>(at),
        4 => span.get::<4>(at),
        _ => span.get::<8>(at),
    };
    let low = u64::MAX >> (64 - 8 * width);
    let [b, c] = [b, c].map(|slot| registers.number(slot, lane) & low);
    let new = update(old, b, c);
    match width {
        2 => span.put::<2>(at, new),
        4 => span.put::<4>(at, new),
        _ => span.put::<8>(at, new),
    }
    let defined = span.is_defined(at, width);
    let left = match atomic.stores {
        Stores::Result => defined && given[0],
        Stores::Operand => given[0],
        Stores::IfEqual => defined && given[0] && (old != b || given[1]),
    };
    span.define(at, width, left);
    if let Some(d) = atomic.d {
        access::put_lanes(registers, d, 1 << lane, |_| old);
        registers.define(d, 1 << lane, if defined { ALL } else { 0 });
    }
    atomic.stores != Stores::IfEqual || old == b
}

/// A strong access.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrongAccess {
    pub(super) strong: Strong,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// Of an element.
    pub(super) bytes: u32,
    pub(super) step: u32,
}

/// Keeps that a lane made a strong access to an element, looks what it races with, and passes on what is released and acquired.
pub(super) fn record(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    part: &Part,
    touch: StrongAccess,
    (lane, element): (usize, u32),
) {
    let Some(live) = part.target.live(machine, shared).filter(|_| shared.heard.is_some()) else { return };
    let (number, Strong { scope, acquire, release }) = (part.target.number(), touch.strong);
    let (thread, at) = (warp.first + lane as u32, part.at[lane] + element * touch.bytes);
    let now = Epoch::new(machine.device.stamp, thread, touch.step, false);
    let past = (release && touch.writes).then(|| past(machine, shared, warp, thread));
    let Shared { start, era, heard, fine, memory, finest, .. } = &mut *shared;
    let Some(heard) = heard else { return };
    let span = match part.target {
        Location::Device(i) => &mut machine.device.allocations[i].span,
        _ => memory,
    };
    let len = span.len();
    span.shadow.prepare(len, if fine.is_some() { *finest } else { touch.bytes });
    let by = (*start, scope);
    let told = |heard: &mut Heard, shadow: &mut Shadow| {
        if let Some(given) = shadow.given(at, live) {
            let acquires = acquire.then_some(scope);
            given.told(by).for_each(|told| heard.hears(thread, told, acquires));
        }
    };
    if touch.reads && (acquire || !touch.writes) {
        told(heard, &mut span.shadow);
    }
    let clock = Clock { live, block: *start, era: *era, warp: warp.floor, heard: Some(heard) };
    let kind = StrongKind { reads: touch.reads, writes: touch.writes, by, place: (at, touch.bytes as u8) };
    let found = span.shadow.strong(now, kind, &clock, fine.as_ref().map(|fine| (fine, number)));
    if let Some((before, hazard)) = found {
        machine.conflicts.push(Conflict { lane: lane as u32, at, before, hazard });
    }
    if touch.writes
        && let Some(given) = span.shadow.given(at, live)
    {
        let own = past.map(|past| heard.releases(thread, past));
        let released =
            |of: MemoryScope| own.as_ref().filter(|_| of <= scope).or_else(|| heard.fenced(thread, of));
        given.give(by, [released(MemoryScope::Block), released(MemoryScope::Device)], touch.reads);
        if touch.reads && !acquire {
            // With what the thread gave itself, which it knows: so that the place need not keep what it had for the thread alone.
            told(heard, &mut span.shadow);
        }
    }
}

/// All lanes of a strong access were recorded: what they do from now on is later, and what they raced with is reported.
pub(super) fn finish(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    part: &Part,
    (strong, step): (Strong, u32),
) {
    if strong.release {
        machine.device.tick();
    }
    if !machine.conflicts.is_empty() {
        conflicts(machine, shared, warp, part, step, |_, _| false);
    }
}

/// `fence`, `membar`.
pub(super) fn fence(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    scope: MemoryScope,
    active: Mask,
) {
    if shared.heard.is_none() {
        return;
    }
    for lane in lanes(active) {
        let thread = warp.first + lane as u32;
        let past = past(machine, shared, warp, thread);
        if let Some(heard) = &mut shared.heard {
            heard.fence(thread, scope, past);
        }
    }
    machine.device.tick();
}

/// What a thread has done and knows of its block until now; the stamps that follow count as later once there is a new one.
fn past(machine: &Machine<'_>, shared: &Shared, warp: &Warp, thread: u32) -> Past {
    let mut past = Past::new(shared.start, shared.era);
    if let Some(fine) = &shared.fine {
        fine.past(thread, &mut past);
    }
    past.warp_of(thread, warp.floor);
    past.thread(thread, Epoch::floor(machine.device.stamp + 1));
    past
}
