//! Virtual registers to slots: a linear scan over their spans.
//!
//! ```text
//! slots of a class:   constants (a slot each, never written)   |   registers, whose spans in one slot do not meet
//! ```

use super::liveness::{EVERYWHERE, LiveSpan, NOWHERE, spans};
use super::visit::visit;
use crate::program::{Initial, Step};
use crate::registers::{Class, Extent, Slot};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const CLASSES: [Class; 3] = [Class::Predicate, Class::Narrow, Class::Wide];

/// What became of the virtual registers.
pub(super) struct SlotPlan {
    pub(super) extent: Extent,
    /// The constants with their slots.
    pub(super) initial: Vec<(Slot, Initial)>,
}

/// Replaces virtual registers by slots in all steps; nothing where the entry is too large. `virtuals` counts them by class.
pub(super) fn allocate(
    steps: &mut [Step],
    virtuals: [u32; 3],
    constants: Vec<(Slot, Initial)>,
) -> Option<SlotPlan> {
    let first = [0, virtuals[0], virtuals[0] + virtuals[1]].map(|first| first as usize);
    let total = first[2] + virtuals[2] as usize;
    let index = |slot: Slot| first[slot.class as usize] + usize::from(slot.index);
    let mut slots = vec![0_u16; total];
    let mut counts = [0_u16; 3];
    let mut fixed = vec![false; total];
    let mut initial = Vec::with_capacity(constants.len());
    for (slot, value) in constants {
        let next = &mut counts[slot.class as usize];
        (slots[index(slot)], fixed[index(slot)]) = (*next, true);
        initial.push((Slot { class: slot.class, index: *next }, value));
        *next = next.checked_add(1)?;
    }
    let mut spans = spans(steps, total, |slot| Some(index(slot)).filter(|index| !fixed[*index]))?;
    // D of a `wgmma` is written at a wait, wherever that stands.
    let products = steps.iter().filter_map(|step| step.act.product());
    products.flat_map(|product| &product.d).for_each(|slot| spans[index(*slot)] = EVERYWHERE);
    for class in CLASSES {
        let (from, count) = (first[class as usize], virtuals[class as usize] as usize);
        let range = from..from + count;
        let next = &mut counts[class as usize];
        scan(&spans[range.clone()], &fixed[range.clone()], &mut slots[range], next)?;
    }
    for step in steps {
        visit(step, &mut |_, slot| slot.index = slots[index(*slot)]);
    }
    let [predicates, narrow, wide] = counts.map(usize::from);
    Some(SlotPlan { extent: Extent { predicates, narrow, wide }, initial })
}

/// Gives the registers of a class their slots, from `next` up.
fn scan(spans: &[LiveSpan], fixed: &[bool], slots: &mut [u16], next: &mut u16) -> Option<()> {
    let mut order: Vec<u32> = (0..spans.len() as u32)
        .filter(|register| !fixed[*register as usize] && spans[*register as usize] != NOWHERE)
        .collect();
    order.sort_unstable_by_key(|register| (spans[*register as usize].first, *register));
    // Slots in use with the last time of their span, and slots that are free: the lowest first, which keeps few in use.
    let mut used: BinaryHeap<Reverse<(u32, u16)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u16>> = BinaryHeap::new();
    for register in order {
        let span = spans[register as usize];
        while let Some(Reverse((last, slot))) = used.peek().copied()
            && last < span.first
        {
            used.pop();
            free.push(Reverse(slot));
        }
        let slot = match free.pop() {
            Some(Reverse(slot)) => slot,
            None => {
                *next = next.checked_add(1)?;
                *next - 1
            }
        };
        slots[register as usize] = slot;
        used.push(Reverse((span.last, slot)));
    }
    Some(())
}
