//! The steps of a warp, in a loop that is left only where a fragment ends, waits or comes apart.

use super::access;
use super::block::Shared;
use super::collective;
use super::grid::Machine;
use super::group;
use super::matrix;
use super::schedule::Order;
use super::strong;
use super::warp::{State, Turn, Warp};
use super::{barrier, copy};
use crate::check::{Kind, Site};
use crate::program::{Act, Guard, Operands};
use crate::registers::{ALL, Class, Mask, Registers};

/// What a step means for the fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// All go on to the next step.
    Next,
    /// Lanes that waited here go on as well, and others wait from now on (they are in a fragment already).
    Lanes {
        /// Join the fragment.
        joined: Mask,
        /// Leave it.
        parked: Mask,
    },
    /// The same, and other fragments became ready.
    Again {
        /// Leave the fragment.
        parked: Mask,
    },
}

/// Runs a warp until none of its fragments can go on, or for so many steps.
pub(super) fn turn(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, budget: u64) {
    let order = machine.launch.schedule.fragments;
    let mut left = budget.min(machine.steps_left);
    let given = left;
    loop {
        let Some(next) = warp.take(order, &mut machine.random) else {
            if warp.retry(&machine.ends) {
                continue;
            }
            break;
        };
        let slice = match order {
            Order::Forward | Order::Reverse => left,
            Order::Random => left.min(1 + machine.random.below(16)),
        };
        left -= slice - fragment(machine, shared, warp, next, slice);
        if left == 0 || machine.stopped {
            break;
        }
    }
    // Who waits for lanes that have exited in the last of these steps goes on in the next turn.
    if !warp.is_ready() {
        warp.retry(&machine.ends);
    }
    machine.steps_left -= given - left;
    if machine.steps_left == 0 && !machine.stopped && warp.is_ready() {
        let step = warp.fragments.iter().filter(|f| f.state == State::Ready).map(|f| (f.step, f.mask)).min();
        let (step, mask) = step.unwrap_or((0, 1));
        let site = site(machine, shared, warp, step, mask);
        machine.out_of_steps(site);
    }
}

/// Where a lane of the mask is.
#[cold]
pub(super) fn site(machine: &Machine<'_>, shared: &Shared, warp: &Warp, step: u32, mask: Mask) -> Site {
    let lane = mask.trailing_zeros().min(31);
    Site { step: step as usize, thread: machine.thread_index(warp.first + lane), block: shared.index }
}

/// Runs one fragment; gives back how many of its steps are left.
fn fragment(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, turn: Turn, steps: u64) -> u64 {
    let Turn { step: mut at, mut mask, limit } = turn;
    let mut left = steps;
    let program = machine.program;
    while left > 0 {
        if at >= limit {
            warp.push(at, mask, State::Ready);
            return left;
        }
        let Some(step) = program.steps.get(at as usize) else { return left };
        left -= 1;
        machine.counters.act(&step.act);
        let active = match step.guard {
            None => mask,
            Some(guard) => guarded(machine, shared, warp, guard, at, mask),
        };
        if let Some(number) = machine.ends.number(at) {
            warp.trail.comes(number, step, mask, active);
        }
        let flow = match &step.act {
            Act::Lanes { run, operands } => {
                if active != 0 {
                    if warp.products.holds() {
                        let sources = operands.sources.iter().take(usize::from(operands.count));
                        group::check_used(machine, shared, warp, sources, (at, active));
                    }
                    run(&mut warp.registers, operands, active);
                    propagate(&mut warp.registers, operands, active);
                }
                at += 1;
                continue;
            }
            Act::Branch { target, uniform } => {
                if active == mask {
                    at = *target;
                } else if active == 0 {
                    at += 1;
                } else {
                    split(machine, shared, warp, (at, *target), (mask, active), *uniform);
                    return left;
                }
                continue;
            }
            Act::Exit => {
                exit(shared, warp, active);
                mask &= !active;
                if mask == 0 {
                    return left;
                }
                Flow::Next
            }
            _ if active == 0 => Flow::Next,
            act => other(machine, shared, warp, act, at, active),
        };
        at += 1;
        match flow {
            Flow::Next => {}
            Flow::Lanes { joined, parked } => {
                mask = (mask | joined) & !parked;
                if mask == 0 {
                    return left;
                }
            }
            Flow::Again { parked } => {
                warp.push(at, mask & !parked, State::Ready);
                return left;
            }
        }
        if machine.stopped {
            return left;
        }
    }
    warp.pause(at, mask);
    0
}

/// Instructions beyond registers and branches.
fn other(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    act: &Act,
    at: u32,
    active: Mask,
) -> Flow {
    match act {
        Act::Load(access) => access::load(machine, shared, warp, access, at, active),
        Act::Store(access) => access::store(machine, shared, warp, access, at, active),
        Act::Atomic(atomic) => {
            if warp.products.holds() {
                group::check_used(machine, shared, warp, atomic.sources.iter(), (at, active));
            }
            strong::atomic(machine, shared, warp, atomic, at, active);
        }
        Act::Fence(scope) => strong::fence(machine, shared, warp, *scope, active),
        Act::ProxyFence { shared: true } => group::proxy_fence(machine, shared, warp, active),
        Act::Copy(copy) => copy::issue(machine, shared, warp, copy, at, active),
        Act::Commit => warp.copies.commit(active),
        Act::Wait(open) => copy::wait(machine, shared, warp, *open, active),
        Act::LoadMatrix { .. } | Act::Mma(_) | Act::Group(_) => {
            return matrix::run(machine, shared, warp, act, at, active);
        }
        Act::Shuffle { .. } | Act::Vote { .. } | Act::Reduce { .. } => {
            return collective::run(machine, shared, warp, act, at, active);
        }
        Act::WarpBarrier { members } => return barrier::warp(machine, shared, warp, *members, at, active),
        Act::Barrier { number, threads, .. } => {
            return barrier::arrive(machine, shared, warp, (*number, *threads), at, active);
        }
        Act::ProxyFence { shared: false } | Act::Lanes { .. } | Act::Branch { .. } | Act::Exit => {}
    }
    Flow::Next
}

/// The lanes whose guard lets them take part.
#[inline]
fn guarded(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &mut Warp,
    guard: Guard,
    at: u32,
    mask: Mask,
) -> Mask {
    let values = warp.registers.predicates[usize::from(guard.predicate.index)];
    let active = mask & if guard.negated { !values } else { values };
    let undefined = mask & !warp.registers.defined(guard.predicate);
    if undefined != 0 {
        let site = site(machine, shared, warp, at, undefined);
        machine.log.report(Kind::UndefinedGuard, site, || {
            let name = machine.program.guard(at).map_or_else(String::new, |name| format!(" '{name}'"));
            (
                None,
                format!(
                    "the predicate{name} that guards this depends on something undefined in lanes {undefined:#010x}"
                ),
            )
        });
    }
    machine.counters.guarded_off += u64::from((mask & !active).count_ones());
    active
}

/// What is computed from something undefined is undefined; a selection only looks at what it selects.
#[inline]
fn propagate(registers: &mut Registers, operands: &Operands, active: Mask) {
    let mut defined = ALL;
    for source in operands.sources.iter().take(usize::from(operands.count)) {
        defined &= registers.defined(*source);
    }
    if defined & active != active
        && let [a, b, p, _] = operands.sources
        && (operands.count, p.class) == (3, Class::Predicate)
        && operands.d.class != Class::Predicate
    {
        let chosen = registers.predicates[usize::from(p.index)];
        let of_chosen = registers.defined(a) & chosen | registers.defined(b) & !chosen;
        defined = registers.defined(p) & of_chosen;
    }
    registers.define(operands.d, active, defined);
    if let Some(second) = operands.second {
        registers.define(second, active, defined);
    }
}

/// A branch that only some lanes take.
fn split(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &mut Warp,
    (at, target): (u32, u32),
    (mask, taken): (Mask, Mask),
    uniform: bool,
) {
    machine.counters.divergences += 1;
    if uniform {
        let site = site(machine, shared, warp, at, taken);
        machine.log.report(Kind::NotUniform, site, || {
            (None, format!("a branch with .uni is taken by lanes {taken:#010x} of {mask:#010x} only"))
        });
    }
    warp.push(at + 1, mask & !taken, State::Ready);
    warp.push(target, taken, State::Ready);
}

fn exit(shared: &mut Shared, warp: &mut Warp, lanes: Mask) {
    warp.live &= !lanes;
    shared.live -= lanes.count_ones();
}
