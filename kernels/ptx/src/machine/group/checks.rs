//! What all lanes, all four warps, and the registers of a product must be.

use super::{WARPS, word};
use crate::check::Kind;
use crate::machine::block::Shared;
use crate::machine::grid::Machine;
use crate::machine::step::site;
use crate::machine::warp::Warp;
use crate::program::GroupMma;
use crate::registers::{ALL, Class, LANES, Mask, Slot};

/// What a register or a predicate holds in all lanes.
pub(super) fn uniform(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, slot: Slot, at: u32) -> u64 {
    let value = |lane: usize| match slot.class {
        Class::Predicate => u64::from(warp.registers.predicates[usize::from(slot.index)] >> lane & 1),
        _ => warp.registers.number(slot, lane),
    };
    let undefined = !warp.registers.defined(slot);
    if undefined != 0 {
        let place = site(machine, shared, warp, at, undefined);
        machine.log.report(Kind::UndefinedAddress, place, || {
            (
                None,
                format!("a descriptor or scale-d depends on something undefined in lanes {undefined:#010x}"),
            )
        });
    }
    let first = value(0);
    let others = (1..LANES).filter(|&lane| value(lane) != first).fold(0, |mask: Mask, lane| mask | 1 << lane);
    if others != 0 {
        let place = site(machine, shared, warp, at, others);
        machine.log.report(Kind::NotUniform, place, || {
            (None, format!("a descriptor or scale-d is another in lanes {others:#010x} than in lane 0"))
        });
    }
    first
}

/// All four warps of the group must be there.
pub(super) fn check_group(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, at: u32) {
    let first = warp.first / (32 * WARPS) * 32 * WARPS;
    let threads = machine.launch.threads() - u64::from(first);
    if threads < u64::from(32 * WARPS) {
        let place = site(machine, shared, warp, at, warp.live);
        machine.log.report(Kind::NotConverged, place, || {
            (
                None,
                format!(
                    "a group of four warps executes this; here are {threads} threads from thread {first} on"
                ),
            )
        });
    }
}

/// Registers of A and D must not have been written since the last `wgmma.fence`, nor belong to a product that is open, but for D itself.
pub(super) fn check_registers(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    product: &GroupMma,
    at: u32,
) {
    let a = product.fragments_of_a();
    let open = a.iter().any(|slot| warp.products.results.contains_key(&slot.index));
    if open {
        let place = site(machine, shared, warp, at, ALL);
        machine.log.report(Kind::OpenProduct, place, || {
            (None, "a register of A is one of D of a product that is not waited for".to_owned())
        });
    }
    let free = a.iter().chain(&product.d).filter(|slot| !warp.products.results.contains_key(&slot.index));
    let changed = match &warp.products.fenced {
        None => true,
        Some(fenced) => free.into_iter().any(|slot| {
            let known = machine.group_slots.binary_search(&slot.index).ok().and_then(|i| fenced.get(i));
            known.is_none_or(|fenced| *fenced != word(&warp.registers, *slot))
        }),
    };
    if changed {
        let place = site(machine, shared, warp, at, ALL);
        machine.log.report(Kind::NoMatrixFence, place, || {
            let words = "registers of A or D were written after the last wgmma.fence, or there was none";
            (None, words.to_owned())
        });
    }
}

/// Registers of D of a product that is open must not have been written: they are undefined until then.
pub(super) fn check_results(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp) {
    let mut results = warp.products.results.iter();
    let written = results.find(|(slot, _)| warp.registers.defined(Slot::narrow(**slot)) != 0);
    if let Some((_, held)) = written {
        let place = site(machine, shared, warp, held.step, ALL);
        machine.log.report(Kind::OpenProduct, place, || {
            (None, "a register of D was written before this was waited for".to_owned())
        });
    }
}

/// What an instruction uses must not be D of a product that is open.
#[cold]
pub(in crate::machine) fn check_used<'s>(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    mut sources: impl Iterator<Item = &'s Slot>,
    (step, active): (u32, Mask),
) {
    let open = &warp.products.results;
    if sources.any(|slot| slot.class == Class::Narrow && open.contains_key(&slot.index)) {
        let place = site(machine, shared, warp, step, active);
        machine.log.report(Kind::OpenProduct, place, || {
            (
                None,
                "uses a register of D of a product that is not waited for: wgmma.wait_group must come before"
                    .to_owned(),
            )
        });
    }
}
