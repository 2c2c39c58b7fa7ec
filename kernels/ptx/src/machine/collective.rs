//! `shfl.sync`, `vote.sync`, `redux.sync`: lanes exchange registers. They order nothing in memory.

use super::access::lanes;
use super::block::Shared;
use super::grid::Machine;
use super::step::{Flow, site};
use super::warp::{State, Warp};
use crate::check::Kind;
use crate::program::{Act, Reduction, ShuffleKind, VoteKind};
use crate::registers::{ALL, Class, LANES, Mask, Registers, Slot};

/// Runs the instruction for each group of lanes that name the same members and are complete; the others wait.
pub(super) fn run(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &mut Warp,
    act: &Act,
    at: u32,
    active: Mask,
) -> Flow {
    let (Act::Shuffle { sources: [.., members], .. }
    | Act::Vote { members, .. }
    | Act::Reduce { members, .. }) = act
    else {
        return Flow::Next;
    };
    let joined = warp.gather(at);
    let masks = member_masks(machine, shared, warp, *members, at, active | joined);
    let (mut rest, mut parked) = (active | joined, 0);
    while let Some(group) = next_group(&masks, &mut rest) {
        if group.members & warp.live & !group.lanes == 0 {
            exchange(&mut warp.registers, act, group.lanes);
        } else {
            parked |= group.lanes;
        }
    }
    warp.push(at, parked, State::Collective { live: warp.live });
    Flow::Lanes { joined, parked }
}

/// Lanes that name the same members.
pub(super) struct Group {
    pub(super) members: Mask,
    pub(super) lanes: Mask,
}

/// The member masks of all lanes. Undefined ones, and those without the lane itself, are reported.
pub(super) fn member_masks(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    slot: Slot,
    at: u32,
    active: Mask,
) -> [Mask; LANES] {
    let masks = warp.registers.narrow[usize::from(slot.index)];
    let undefined = active & !warp.registers.defined(slot);
    if undefined != 0 {
        let place = site(machine, shared, warp, at, undefined);
        machine.log.report(Kind::UndefinedMembers, place, || {
            (None, format!("the member mask depends on something undefined in lanes {undefined:#010x}"))
        });
    }
    let strangers =
        lanes(active).filter(|&lane| masks[lane] >> lane & 1 == 0).fold(0, |mask, lane| mask | 1 << lane);
    if strangers != 0 {
        let place = site(machine, shared, warp, at, strangers);
        let members = masks[strangers.trailing_zeros() as usize];
        machine.log.report(Kind::InvalidMembers, place, || {
            (
                None,
                format!("lanes {strangers:#010x} take part and are not in their member mask {members:#010x}"),
            )
        });
    }
    masks
}

/// Takes the next group out of `rest`.
pub(super) fn next_group(masks: &[Mask; LANES], rest: &mut Mask) -> Option<Group> {
    let members = *masks.get(rest.trailing_zeros() as usize)?;
    let mut same = 0;
    for (lane, &mask) in masks.iter().enumerate() {
        same |= u32::from(mask == members) << lane;
    }
    let lanes = same & *rest;
    *rest &= !lanes;
    Some(Group { members, lanes })
}

fn exchange(registers: &mut Registers, act: &Act, group: Mask) {
    match act {
        Act::Shuffle { kind, d, within, sources, .. } => {
            shuffle(registers, *kind, (*d, *within), sources, group);
        }
        Act::Vote { kind, d, predicate, negated, .. } => {
            vote(registers, *kind, *d, (*predicate, *negated), group);
        }
        Act::Reduce { reduction, d, source, .. } => reduce(registers, *reduction, (*d, *source), group),
        Act::Lanes { .. }
        | Act::Load(_)
        | Act::Store(_)
        | Act::Atomic(_)
        | Act::Fence(_)
        | Act::Copy(_)
        | Act::Commit
        | Act::Wait(_)
        | Act::LoadMatrix { .. }
        | Act::Mma(_)
        | Act::Group(_)
        | Act::ProxyFence { .. }
        | Act::WarpBarrier { .. }
        | Act::Barrier { .. }
        | Act::Branch { .. }
        | Act::Exit => {}
    }
}

/// The lane that a lane reads, and whether it is within the segment.
fn source_lane(kind: ShuffleKind, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let highest = lane & segment | clamp & !segment;
    let lowest = lane & segment;
    let (source, within) = match kind {
        ShuffleKind::Up => (lane.wrapping_sub(b), lane >= b && lane - b >= highest),
        ShuffleKind::Down => (lane + b, lane + b <= highest),
        ShuffleKind::Butterfly => (lane ^ b, lane ^ b <= highest),
        ShuffleKind::Index => {
            let source = lowest | b & !segment;
            (source, source <= highest)
        }
    };
    if within { (source & 31, true) } else { (lane, false) }
}

fn shuffle(
    registers: &mut Registers,
    kind: ShuffleKind,
    (d, within): (Slot, Option<Slot>),
    [value, b, c, _]: &[Slot; 4],
    group: Mask,
) {
    let narrow = |slot: &Slot| registers.narrow[usize::from(slot.index)];
    let (values, bs, cs) = (narrow(value), narrow(b), narrow(c));
    let control = registers.defined(*b) & registers.defined(*c);
    // What a lane outside the group holds is not to be had.
    let given = registers.defined(*value) & group;
    let (mut inside, mut defined) = (0, 0);
    let target = &mut registers.narrow[usize::from(d.index)];
    for lane in lanes(group) {
        let (source, ok) = source_lane(kind, lane as u32, bs[lane], cs[lane]);
        target[lane] = values[source as usize];
        inside |= u32::from(ok) << lane;
        defined |= (given >> source & 1) << lane;
    }
    registers.define(d, group, defined & control);
    if let Some(within) = within {
        let bits = &mut registers.predicates[usize::from(within.index)];
        *bits = *bits & !group | inside;
        registers.define(within, group, control);
    }
}

fn vote(registers: &mut Registers, kind: VoteKind, d: Slot, (predicate, negated): (Slot, bool), group: Mask) {
    let bits = registers.predicates[usize::from(predicate.index)];
    let ballot = group & if negated { !bits } else { bits };
    let truth = match kind {
        VoteKind::All => ballot == group,
        VoteKind::Any => ballot != 0,
        VoteKind::Uniform => ballot == 0 || ballot == group,
        VoteKind::Ballot => false,
    };
    let number = if kind == VoteKind::Ballot { ballot } else { u32::from(truth) };
    match d.class {
        Class::Predicate => {
            let target = &mut registers.predicates[usize::from(d.index)];
            *target = *target & !group | if truth { group } else { 0 };
        }
        Class::Narrow | Class::Wide => {
            let target = &mut registers.narrow[usize::from(d.index)];
            lanes(group).for_each(|lane| target[lane] = number);
        }
    }
    let defined = if registers.defined(predicate) & group == group { ALL } else { 0 };
    registers.define(d, group, defined);
}

fn reduce(registers: &mut Registers, reduction: Reduction, (d, source): (Slot, Slot), group: Mask) {
    let values = registers.narrow[usize::from(source.index)];
    let signed =
        |f: fn(i32, i32) -> i32| move |a: u32, b: u32| f(a.cast_signed(), b.cast_signed()).cast_unsigned();
    let all = lanes(group).map(|lane| values[lane]);
    let result = match reduction {
        Reduction::Add => all.reduce(u32::wrapping_add),
        Reduction::Min { signed: false } => all.reduce(u32::min),
        Reduction::Max { signed: false } => all.reduce(u32::max),
        Reduction::Min { signed: true } => all.reduce(signed(i32::min)),
        Reduction::Max { signed: true } => all.reduce(signed(i32::max)),
        Reduction::And => all.reduce(|a, b| a & b),
        Reduction::Or => all.reduce(|a, b| a | b),
        Reduction::Xor => all.reduce(|a, b| a ^ b),
    };
    let target = &mut registers.narrow[usize::from(d.index)];
    lanes(group).for_each(|lane| target[lane] = result.unwrap_or(0));
    let defined = if registers.defined(source) & group == group { ALL } else { 0 };
    registers.define(d, group, defined);
}
