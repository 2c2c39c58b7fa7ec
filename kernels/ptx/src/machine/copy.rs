//! `cp.async`: data moves at once, but counts as written only after a wait.
//!
//! ```text
//! cp.async  cp.async  commit  cp.async  commit  wait_group 1
//! |---- group 0 ----|         | group 1 |       group 0 is complete, group 1 open
//! ```
//!
//! While a copy is open, every access to what it writes is a hazard, also one of the lane that issued it. The wait makes it an
//! ordinary write of that lane, which others see after a barrier.

use super::access::lanes;
use super::block::Shared;
use super::grid::Machine;
use super::record::{Touch, count, touch};
use super::space::{Part, Request, addresses, next_part};
use super::step::site;
use super::warp::Warp;
use crate::check::Kind;
use crate::memory::Epoch;
use crate::program::CopyAsync;
use crate::registers::{LANES, Mask};
use crate::text::Space;

/// Open copies of a warp that are remembered.
const MOST: usize = 4096;

/// Copies of a warp that are open, in the order of their issue.
#[derive(Debug, Default)]
pub(super) struct Copies {
    open: Vec<Open>,
    /// The number of the group that each lane adds to.
    groups: [u32; LANES],
}

/// One `cp.async`.
#[derive(Debug)]
struct Open {
    step: u32,
    /// Lanes for which it is open.
    mask: Mask,
    bytes: u32,
    at: [u32; LANES],
    groups: [u32; LANES],
}

impl Copies {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.groups = [0; LANES];
    }

    pub(super) fn commit(&mut self, active: Mask) {
        lanes(active).for_each(|lane| self.groups[lane] = self.groups[lane].saturating_add(1));
    }
}

/// What each lane moves.
struct Moved {
    bytes: [[u8; 16]; LANES],
    /// A bit a byte.
    defined: [u16; LANES],
}

/// Starts copies.
pub(super) fn issue(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    copy: &CopyAsync,
    step: u32,
    active: Mask,
) {
    let mut moved = Moved { bytes: [[0; 16]; LANES], defined: [u16::MAX; LANES] };
    let sizes = sizes(machine, shared, warp, copy, step, active);
    let mut from = [0; LANES];
    let undefined = addresses(machine, shared, warp, &copy.from, step, active, &mut from);
    let mut rest = active;
    while rest != 0 {
        let size = sizes[rest.trailing_zeros() as usize];
        let same = lanes(rest).filter(|&lane| sizes[lane] == size).fold(0, |mask, lane| mask | 1 << lane);
        rest &= !same;
        if size > 0 {
            fetch(machine, shared, warp, (copy, size, step), (&from, undefined), same, &mut moved);
        }
    }
    let mut to = [0; LANES];
    let undefined = addresses(machine, shared, warp, &copy.to, step, active, &mut to);
    deposit(machine, shared, warp, copy, step, (&to, undefined, active), &moved);
}

/// How many bytes each lane reads.
fn sizes(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    copy: &CopyAsync,
    step: u32,
    active: Mask,
) -> [u8; LANES] {
    let Some(slot) = copy.source_bytes else { return [copy.bytes; LANES] };
    let wanted = |lane: usize| warp.registers.number(slot, lane);
    for lane in lanes(active).filter(|&lane| wanted(lane) > u64::from(copy.bytes)) {
        let place = site(machine, shared, warp, step, 1 << lane);
        let (wanted, bytes) = (wanted(lane), copy.bytes);
        machine
            .log
            .report(Kind::CopySize, place, || (None, format!("reads {wanted} bytes and writes {bytes}")));
    }
    std::array::from_fn(|lane| wanted(lane).min(u64::from(copy.bytes)) as u8)
}

/// Reads global memory.
fn fetch(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    (copy, size, step): (&CopyAsync, u8, u32),
    (from, undefined): (&[u64; LANES], Mask),
    active: Mask,
    moved: &mut Moved,
) {
    let bytes = u32::from(size);
    let align = u32::from(copy.bytes);
    let request = Request { space: Space::Global, bytes, align, writes: false, step, undefined };
    let mut rest = active;
    let mut part = Part::new();
    while next_part(machine, shared, warp, request, from, &mut rest, &mut part) {
        count(machine, &part, bytes);
        if machine.launch.checks.races {
            let width = if bytes.is_multiple_of(4) { 4 } else { 1 };
            touch(machine, shared, warp, &part, Touch { step, bytes, width, writes: false, special: false });
        }
        let span = part.target.span(machine, shared);
        for lane in lanes(part.mask) {
            let at = part.at[lane] as usize;
            for byte in 0..usize::from(size) {
                moved.bytes[lane][byte] = span.get::<1>(at + byte) as u8;
                if !span.is_defined(at + byte, 1) {
                    moved.defined[lane] &= !(1 << byte);
                }
            }
        }
    }
}

/// Writes shared memory, and notes that the copies are open.
fn deposit(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    copy: &CopyAsync,
    step: u32,
    (to, undefined, active): (&[u64; LANES], Mask, Mask),
    moved: &Moved,
) {
    let bytes = u32::from(copy.bytes);
    let request = Request { space: Space::Shared, bytes, align: bytes, writes: true, step, undefined };
    let mut rest = active;
    let mut part = Part::new();
    while next_part(machine, shared, warp, request, to, &mut rest, &mut part) {
        count(machine, &part, bytes);
        if machine.launch.checks.races {
            touch(machine, shared, warp, &part, Touch { step, bytes, width: 4, writes: true, special: true });
            if warp.copies.open.len() >= MOST {
                forget(machine, shared, warp);
            }
            let Copies { open, groups } = &mut warp.copies;
            open.push(Open { step, mask: part.mask, bytes, at: part.at, groups: *groups });
        }
        for lane in lanes(part.mask) {
            let at = part.at[lane] as usize;
            let len = usize::from(copy.bytes);
            if let Some(place) = shared.memory.bytes.get_mut(at..at + len) {
                place.copy_from_slice(&moved.bytes[lane][..len]);
            }
            shared.memory.define(at, len, true);
            for byte in (0..len).filter(|byte| moved.defined[lane] >> byte & 1 == 0) {
                shared.memory.define(at + byte, 1, false);
            }
        }
    }
}

/// Takes the older half of the open copies as complete, so that a program without waits needs no memory without bound.
#[cold]
fn forget(machine: &Machine<'_>, shared: &mut Shared, warp: &mut Warp) {
    let stamp = machine.device.stamp;
    for copy in warp.copies.open.drain(..MOST / 2) {
        for lane in lanes(copy.mask) {
            let now = Epoch::new(stamp, warp.first + lane as u32, copy.step, false);
            shared.memory.shadow.settle(copy.at[lane] as usize, copy.bytes as usize, now);
        }
    }
}

/// Completes all but the last groups of the lanes; all copies where there is no number.
pub(super) fn wait(
    machine: &Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    open: Option<u32>,
    active: Mask,
) {
    let stamp = machine.device.stamp;
    let Copies { open: copies, groups } = &mut warp.copies;
    for copy in copies.iter_mut() {
        for lane in lanes(copy.mask & active) {
            let complete = open
                .is_none_or(|open| u64::from(copy.groups[lane]) + u64::from(open) < u64::from(groups[lane]));
            if complete {
                copy.mask &= !(1 << lane);
                let now = Epoch::new(stamp, warp.first + lane as u32, copy.step, false);
                shared.memory.shadow.settle(copy.at[lane] as usize, copy.bytes as usize, now);
            }
        }
    }
    copies.retain(|copy| copy.mask != 0);
}
