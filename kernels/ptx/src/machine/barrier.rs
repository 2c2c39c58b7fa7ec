//! `bar.warp.sync` and `bar.sync`: who waits, who goes on, and what that orders.

use super::access::lanes;
use super::block::{Block, Shared};
use super::collective::{member_masks, next_group};
use super::grid::Machine;
use super::group::Proxy;
use super::step::{Flow, site};
use super::trail::Strayed;
use super::warp::{Fragment, State, Warp};
use crate::check::Kind;
use crate::memory::{Epoch, Fine, Heard};
use crate::program::Act;
use crate::registers::{Mask, Slot};

/// `bar.warp.sync`: lanes may wait for each other at different instructions.
pub(super) fn warp(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    members: Slot,
    at: u32,
    active: Mask,
) -> Flow {
    let masks = member_masks(machine, shared, warp, members, at, active);
    let (mut rest, mut parked, mut woken) = (active, 0, false);
    while let Some(group) = next_group(&masks, &mut rest) {
        let same =
            |state: State| matches!(state, State::WarpBarrier { members, .. } if members == group.members);
        let waiting = warp.fragments.iter().filter(|f| same(f.state)).fold(0, |mask, f| mask | f.mask);
        if group.members & warp.live & !(group.lanes | waiting) != 0 {
            parked |= group.lanes;
            warp.push(at, group.lanes, State::WarpBarrier { members: group.members, live: warp.live });
            continue;
        }
        for fragment in warp.fragments.iter_mut().filter(|f| same(f.state)) {
            fragment.step += 1;
            fragment.state = State::Ready;
            woken = true;
        }
        // Who has exited counts as having come.
        let exited = group.members & warp.born & !warp.live;
        join_lanes(machine, shared, warp, group.lanes | waiting | exited);
    }
    if woken { Flow::Again { parked } } else { Flow::Lanes { joined: 0, parked } }
}

/// What these lanes did is ordered before what they do from now on.
fn join_lanes(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, together: Mask) {
    let now = Epoch::floor(machine.device.tick());
    let whole = together & warp.born == warp.born;
    if let Some(heard) = &mut shared.heard {
        heard.meet_some((0..32).filter(|lane| together >> lane & 1 == 1).map(|lane| warp.first + lane));
    }
    if let Some(fine) = &mut shared.fine
        && (!whole || fine.is_active())
    {
        let members: Vec<(u32, Epoch)> =
            lanes(together).map(|lane| (warp.first + lane as u32, warp.floor)).collect();
        fine.join(&members, now);
    }
    if whole {
        warp.floor = now;
    }
}

/// `bar.sync`: the lanes wait.
pub(super) fn arrive(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    (number, threads): (Slot, Option<Slot>),
    at: u32,
    active: Mask,
) -> Flow {
    let value = |slot: Slot, lane: usize| warp.registers.narrow[usize::from(slot.index)][lane];
    let undefined = active
        & !(warp.registers.defined(number) & threads.map_or(Mask::MAX, |slot| warp.registers.defined(slot)));
    if undefined != 0 {
        let place = site(machine, shared, warp, at, undefined);
        machine.log.report(Kind::UndefinedMembers, place, || {
            (None, "the number of the barrier or of its threads depends on something undefined".to_owned())
        });
    }
    let mut arrivals = [0; 16];
    for lane in lanes(active) {
        let (barrier, wanted) = (value(number, lane), threads.map(|slot| value(slot, lane)));
        let known = barrier as usize & 15;
        let other = shared.arrived[known] > 0 && shared.expected[known] != wanted.unwrap_or(0);
        if barrier > 15 || wanted.is_some_and(|n| n == 0 || !n.is_multiple_of(32)) || other {
            let place = site(machine, shared, warp, at, 1 << lane);
            let before = shared.expected[known];
            machine.log.report(Kind::InvalidBarrier, place, || {
                let threads = wanted.map_or_else(|| "all".to_owned(), |n| n.to_string());
                let words = format!(
                    "barrier {barrier} of {threads} threads: barriers are 0 to 15, threads a multiple of 32, and the same \
                     for all that wait (0 is all; they wait for {before})"
                );
                (None, words)
            });
        }
        shared.expected[known] = wanted.unwrap_or(0);
        shared.arrived[known] += 1;
        arrivals[known] |= 1 << lane;
    }
    for (barrier, &mask) in (0..).zip(&arrivals) {
        warp.push(at, mask, State::Barrier(barrier));
    }
    machine.counters.barrier_waits += 1;
    Flow::Lanes { joined: 0, parked: active }
}

impl Block {
    /// Lets go on who waits at complete barriers; true where there is one.
    pub(super) fn release_barriers(&mut self, machine: &mut Machine<'_>) -> bool {
        let mut released = false;
        for number in 0..16u8 {
            let at = usize::from(number);
            let arrived = self.shared.arrived[at];
            let expected = match self.shared.expected[at] {
                0 => self.shared.live,
                some => some,
            };
            if arrived > 0 && arrived >= expected {
                self.release(machine, number);
                released = true;
            }
        }
        released
    }

    fn release(&mut self, machine: &mut Machine<'_>, number: u8) {
        // Of all threads (those that have exited count as having come), or of a number that is all: never because others happen
        // to have exited before.
        let expected = self.shared.expected[usize::from(number)];
        let whole = expected == 0 || u64::from(expected) >= machine.launch.threads();
        let now = Epoch::floor(machine.device.tick());
        let mut members = Vec::new();
        for warp in &mut self.warps {
            check_warp(machine, &self.shared, warp, number);
            for fragment in warp.fragments.iter_mut().filter(|f| f.state == State::Barrier(number)) {
                fragment.state = State::Ready;
                fragment.step += 1;
                if !whole && self.shared.fine.is_some() {
                    members.extend(lanes(fragment.mask).map(|lane| (warp.first + lane as u32, warp.floor)));
                }
            }
        }
        (self.shared.arrived[usize::from(number)], self.shared.expected[usize::from(number)]) = (0, 0);
        if whole {
            self.shared.era = now;
            self.shared.fine.iter_mut().for_each(Fine::clear);
            self.shared.heard.iter_mut().for_each(Heard::meet);
            self.shared.proxy.iter_mut().for_each(Proxy::meet);
        } else if let Some(fine) = &mut self.shared.fine {
            fine.join(&members, now);
            if let Some(heard) = &mut self.shared.heard {
                heard.meet_some(members.iter().map(|&(thread, _)| thread));
            }
        }
    }
}

/// `bar.sync` and `.aligned` want the lanes of a warp to execute the same barrier. Lanes that have exited count as having come; but that
/// they exit before the others come is only sure of those whose last step, and last condition, the others have come to as well.
///
/// ```text
/// if (i >= n) return;  bar.sync                    the others come to a barrier of those that are left: a note
/// if (i < n) bar.sync  else work;  ret             lanes are at work when the others come: a finding
/// if (i < n) bar.sync;  if (i > 0) return;  work   so are they here: the others have not met the second condition yet
/// ```
fn check_warp(machine: &mut Machine<'_>, shared: &Shared, warp: &mut Warp, number: u8) {
    let steps = &machine.program.steps;
    let aligned = |f: &&Fragment| {
        let act = steps.get(f.step as usize).map(|step| &step.act);
        f.state == State::Barrier(number) && matches!(act, Some(Act::Barrier { aligned: true, .. }))
    };
    let mut here = warp.fragments.iter().filter(aligned);
    let Some(&first) = here.next() else { return };
    let waiting = here.fold(first.mask, |mask, f| mask | f.mask);
    let place = site(machine, shared, warp, first.step, first.mask);
    let waits = |f: &&Fragment| matches!(f.state, State::Barrier(_)) && f.step != first.step;
    let line = |machine: &Machine<'_>, step: u32| machine.log.line(step as usize);
    if let Some(&other) = warp.fragments.iter().find(waits) {
        warp.diverged = true;
        let (a, b) = (first.mask, other.mask);
        let (at, apart) = (line(machine, first.step), line(machine, other.step));
        machine.log.report(Kind::DivergentBarrier, place, || {
            let words = format!(
                "lanes {a:#010x} of the warp wait at line {at}, lanes {b:#010x} at line {apart}: bar.sync wants all of a \
                 warp at the same one"
            );
            (None, words)
        });
    }
    let exited = warp.born & !warp.live;
    if exited == 0 || warp.diverged {
        return;
    }
    let Some(strayed) = warp.trail.strayed(&machine.ends, exited, waiting) else {
        machine.log.report(Kind::BarrierAfterExit, place, || {
            (None, format!("lanes {exited:#010x} of the warp have exited and never come here"))
        });
        return;
    };
    warp.diverged = true;
    let Strayed { lanes, step, condition } = strayed;
    let last = line(machine, step);
    let what = if condition { "came to the condition" } else { "did what stands" };
    machine.log.report(Kind::DivergentBarrier, place, || {
        let words = format!(
            "lanes {waiting:#010x} of the warp wait here; lanes {lanes:#010x} {what} at line {last}, which these have not, \
             and exited without coming: bar.sync wants all of a warp at the same one"
        );
        (None, words)
    });
}
