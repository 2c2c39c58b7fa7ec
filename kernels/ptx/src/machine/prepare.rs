//! What is done once a launch: the program is looked through, and registers get what they hold from the beginning.

use super::launch::{Launch, LaunchError};
use crate::program::{Access, Act, Address, GroupMma, GroupOperand, Initial, Program, Special};
use crate::registers::{ALL, Class, LANES, Registers, Slot};

/// The registers that each warp starts with, and those that differ by warp and block.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) template: Registers,
    pub(super) specials: Vec<(Slot, Special)>,
    /// Barriers of only some lanes or threads may happen: what they order has to be recorded thread by thread.
    pub(super) fine: bool,
    /// The program has atomics, fences, or strong accesses.
    pub(super) synchronises: bool,
    /// Registers of D and of A of all `wgmma`, ascending.
    pub(super) group_slots: Vec<u16>,
    /// Bytes of the narrowest element that the program accesses; 4 if none is narrower.
    pub(super) finest: u32,
}

/// Fills the template.
pub(super) fn prepare(program: &Program, launch: &Launch) -> Result<Prepared, LaunchError> {
    let mut template = Registers::new(program.extent);
    let mut specials = Vec::new();
    for (slot, initial) in &program.initial {
        match initial {
            Initial::Bits(bits) => set(&mut template, *slot, |_| *bits),
            Initial::Global(name, offset) => {
                let Some(address) = launch.symbols.get(name) else {
                    return Err(LaunchError::Symbol { entry: program.name.clone(), name: name.clone() });
                };
                let address = address.wrapping_add_signed(*offset);
                set(&mut template, *slot, |_| address);
            }
            Initial::Special(special) => specials.push((*slot, *special)),
        }
    }
    let fine = program.steps.iter().any(|step| partial(program, &step.act));
    let widths = program.steps.iter().map(|step| match &step.act {
        Act::Load(access) | Act::Store(access) => u32::from(access.width),
        Act::Atomic(atomic) => u32::from(atomic.width),
        _ => 4,
    });
    let finest = widths.min().unwrap_or(4).min(4);
    let group_slots = group_slots(program);
    Ok(Prepared { template, specials, fine, synchronises: program.synchronises(), group_slots, finest })
}

fn group_slots(program: &Program) -> Vec<u16> {
    let products = program.steps.iter().filter_map(|step| step.act.product());
    let registers = products.flat_map(|product| product.d.iter().chain(product.fragments_of_a()));
    let mut slots: Vec<u16> = registers.map(|slot| slot.index).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Whether this barrier may be one of only some lanes or threads.
fn partial(program: &Program, act: &Act) -> bool {
    match act {
        Act::Barrier { threads, .. } => threads.is_some(),
        Act::WarpBarrier { members } => {
            let full = |initial: &(Slot, Initial)| {
                initial.0 == *members && matches!(initial.1, Initial::Bits(bits) if bits as u32 == ALL)
            };
            !program.initial.iter().any(full)
        }
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
        | Act::Shuffle { .. }
        | Act::Vote { .. }
        | Act::Reduce { .. }
        | Act::Branch { .. }
        | Act::Exit => false,
    }
}

/// Writes a value a lane, defined.
pub(super) fn set(registers: &mut Registers, slot: Slot, value: impl Fn(usize) -> u64) {
    let at = usize::from(slot.index);
    match slot.class {
        Class::Predicate => {
            registers.predicates[at] =
                (0..LANES).fold(0, |mask, lane| mask | ((value(lane) & 1) as u32) << lane);
        }
        Class::Narrow => registers.narrow[at] = std::array::from_fn(|lane| value(lane) as u32),
        Class::Wide => registers.wide[at] = std::array::from_fn(value),
    }
    registers.define(slot, ALL, ALL);
}

/// Every slot must lie within the registers and be of the class that its use wants, every target within the steps: then nothing
/// that runs needs to ask again.
pub(super) fn check_steps(program: &Program) -> Result<(), LaunchError> {
    let fail = |step: usize, what| {
        let line = program.steps.get(step).map_or(0, |step| step.line);
        Err(LaunchError::Program { step, line, what })
    };
    let extent = program.extent;
    let exists = |slot: &Slot| {
        let count = match slot.class {
            Class::Predicate => extent.predicates,
            Class::Narrow => extent.narrow,
            Class::Wide => extent.wide,
        };
        usize::from(slot.index) < count
    };
    if !program.initial.iter().all(|(slot, _)| exists(slot)) {
        return fail(0, "a register with an initial value does not exist");
    }
    if !program.steps.last().is_some_and(|step| matches!(step.act, Act::Exit) && step.guard.is_none()) {
        return fail(program.steps.len().saturating_sub(1), "the last step is not an exit");
    }
    for (at, step) in program.steps.iter().enumerate() {
        let mut uses = Uses::default();
        uses.guard(step.guard.map(|guard| guard.predicate));
        uses.act(&step.act);
        if !uses.any.iter().all(exists) {
            return fail(at, "a register does not exist");
        }
        if uses.wrong_class {
            return fail(at, "a register is of the wrong class");
        }
        if let Act::Branch { target, .. } = step.act
            && target as usize >= program.steps.len()
        {
            return fail(at, "the branch goes past the end");
        }
        if let Act::Load(access) | Act::Store(access) = &step.act
            && !(matches!(access.width, 1 | 2 | 4 | 8)
                && (1..=8).contains(&access.count)
                && access.bytes() <= 32)
        {
            return fail(at, "an access has a size that no instruction has");
        }
        if let Act::Atomic(atomic) = &step.act
            && !matches!(atomic.width, 2 | 4 | 8)
        {
            return fail(at, "an atomic has a size that no instruction has");
        }
        if let Act::Copy(copy) = &step.act
            && !matches!(copy.bytes, 4 | 8 | 16)
        {
            return fail(at, "a copy has a size that no instruction has");
        }
        if let Act::LoadMatrix { d, .. } = &step.act
            && !matches!(d.len(), 1 | 2 | 4)
        {
            return fail(at, "ldmatrix loads 1, 2 or 4 matrices");
        }
    }
    Ok(())
}

/// The slots of a step.
#[derive(Default)]
struct Uses {
    any: Vec<Slot>,
    wrong_class: bool,
}

impl Uses {
    fn of(&mut self, slot: Slot, class: Class) {
        self.wrong_class |= slot.class != class;
        self.any.push(slot);
    }

    fn number(&mut self, slot: Slot) {
        self.wrong_class |= slot.class == Class::Predicate;
        self.any.push(slot);
    }

    fn guard(&mut self, slot: Option<Slot>) {
        slot.into_iter().for_each(|slot| self.of(slot, Class::Predicate));
    }

    fn address(&mut self, address: &Address) {
        address.base.into_iter().for_each(|slot| self.number(slot));
    }

    fn access(&mut self, access: &Access) {
        self.address(&access.address);
        access.data.iter().take(usize::from(access.count)).for_each(|&slot| self.number(slot));
    }

    fn product(&mut self, product: &GroupMma) {
        if let GroupOperand::Shared(descriptor) = &product.a {
            self.of(*descriptor, Class::Wide);
        }
        let narrow = product.fragments_of_a().iter().chain(&product.d);
        let narrow = narrow.chain(product.metadata.iter().map(|(slot, _)| slot));
        narrow.for_each(|&slot| self.of(slot, Class::Narrow));
        self.of(product.b, Class::Wide);
        self.guard(Some(product.adds));
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Lanes { operands, .. } => {
                self.any.extend([operands.d].into_iter().chain(operands.second));
                self.wrong_class |= usize::from(operands.count) > operands.sources.len();
                self.any.extend(operands.sources.iter().take(usize::from(operands.count)));
            }
            Act::Load(access) | Act::Store(access) => self.access(access),
            Act::Atomic(atomic) => {
                self.address(&atomic.address);
                atomic.d.into_iter().chain(atomic.sources).for_each(|slot| self.number(slot));
            }
            Act::Copy(copy) => {
                self.address(&copy.to);
                self.address(&copy.from);
                copy.source_bytes.into_iter().for_each(|slot| self.number(slot));
            }
            Act::LoadMatrix { d, address, .. } => {
                self.address(address);
                d.iter().for_each(|&slot| self.of(slot, Class::Narrow));
            }
            Act::Mma(mma) => {
                self.any.extend(mma.d.iter().chain(&mma.a).chain(&mma.b).chain(&mma.c));
                self.any.extend(mma.metadata.iter().map(|(slot, _)| *slot));
                self.wrong_class |= self.any.iter().skip(1).any(|slot| slot.class == Class::Predicate);
            }
            Act::Group(_) => act.product().into_iter().for_each(|product| self.product(product)),
            Act::Shuffle { d, within, sources, .. } => {
                self.of(*d, Class::Narrow);
                self.guard(*within);
                sources.iter().for_each(|&slot| self.of(slot, Class::Narrow));
            }
            Act::Vote { d, predicate, members, .. } => {
                self.wrong_class |= d.class == Class::Wide;
                self.any.push(*d);
                self.of(*predicate, Class::Predicate);
                self.of(*members, Class::Narrow);
            }
            Act::Reduce { d, source, members, .. } => {
                [d, source, members].into_iter().for_each(|&slot| self.of(slot, Class::Narrow));
            }
            Act::WarpBarrier { members } => self.of(*members, Class::Narrow),
            Act::Barrier { number, threads, .. } => {
                self.of(*number, Class::Narrow);
                threads.iter().for_each(|&slot| self.of(slot, Class::Narrow));
            }
            Act::Fence(_)
            | Act::ProxyFence { .. }
            | Act::Commit
            | Act::Wait(_)
            | Act::Branch { .. }
            | Act::Exit => {}
        }
    }
}
