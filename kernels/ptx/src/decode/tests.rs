//! Slots against virtual registers: random programs are walked along random paths, and each read must find in its slot what was
//! written last to the virtual register that stood there before.

use super::allocate::allocate;
use super::visit::{Role, visit};
use crate::program::{Act, Guard, Initial, Operands, Step};
use crate::registers::{Class, Registers, Slot};
use crate::table;
use proptest::prelude::*;
use std::collections::HashMap;

/// Registers of each class in a random program.
const REGISTERS: u16 = 9;
/// Steps of a walk.
const WALK: usize = 300;

/// A random step: what it is, its registers, its guard, its target.
type Seed = (u8, [u8; 5], Option<(u8, bool)>, u16);

fn nothing(_: &mut Registers, _: &Operands, _: u32) {}

fn slot(seed: u8) -> Slot {
    let class = [Class::Predicate, Class::Narrow, Class::Wide][usize::from(seed % 3)];
    Slot { class, index: u16::from(seed / 3) % REGISTERS }
}

fn step(&(kind, registers, guard, target): &Seed, count: usize, line: u32) -> Step {
    let [d, second, a, b, c] = registers.map(slot);
    let act = match kind % 12 {
        0 | 1 => Act::Branch { target: u32::from(target) % count as u32, uniform: false },
        2 => Act::Exit,
        3 if d != second => {
            let operands = Operands { d, second: Some(second), sources: [a, b, c, c], count: 2 };
            Act::Lanes { run: nothing, operands }
        }
        kind => {
            let operands = Operands { d, second: None, sources: [a, b, c, c], count: kind % 4 };
            Act::Lanes { run: nothing, operands }
        }
    };
    let guard = guard
        .map(|(seed, negated)| Guard { predicate: Slot::predicate(u16::from(seed) % REGISTERS), negated });
    Step { row: table::find("ret").expect("ret"), guard, act, line, cuda: None }
}

fn program(seeds: &[Seed]) -> Vec<Step> {
    let mut steps: Vec<Step> = (1..).zip(seeds).map(|(line, seed)| step(seed, seeds.len(), line)).collect();
    let last = (2, [0; 5], None, 0);
    steps.push(step(&last, 1, 0));
    steps
}

fn registers(step: &Step) -> Vec<(Role, Slot)> {
    let mut all = Vec::new();
    visit(&mut step.clone(), &mut |role, slot| all.push((role, *slot)));
    all
}

/// Walks a path that `choices` decide. A value is the number of the write that made it.
fn walk(
    before: &[Step],
    after: &[Step],
    constants: &[(Slot, Slot)],
    choices: &[bool],
) -> Result<(), TestCaseError> {
    let (mut virtuals, mut slots) = (HashMap::new(), HashMap::new());
    for (number, (old, new)) in (1_000_000..).zip(constants) {
        virtuals.insert(*old, number);
        slots.insert(*new, number);
    }
    let mut at = 0;
    for time in 0..WALK {
        let (old, new) = (registers(&before[at]), registers(&after[at]));
        prop_assert_eq!(old.len(), new.len());
        for ((role, old), (_, new)) in old.iter().zip(&new) {
            if *role == Role::Read {
                prop_assert_eq!(
                    virtuals.get(old),
                    slots.get(new),
                    "line {} reads {:?}",
                    before[at].line,
                    old
                );
            }
        }
        let chosen = before[at].guard.is_none() || choices[time % choices.len()];
        let writes = old.iter().zip(&new).filter(|((role, _), _)| *role != Role::Read && chosen);
        for (number, ((_, old), (_, new))) in writes.enumerate() {
            virtuals.insert(*old, time * 8 + number);
            slots.insert(*new, time * 8 + number);
        }
        at = match before[at].act {
            Act::Branch { target, .. } if chosen => target as usize,
            Act::Exit if chosen => return Ok(()),
            _ => at + 1,
        };
    }
    Ok(())
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let guard = proptest::option::weighted(0.5, any::<(u8, bool)>());
    proptest::collection::vec((any::<u8>(), any::<[u8; 5]>(), guard, any::<u16>()), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_see_the_last_write_of_their_register(
        seeds in seeds(),
        choices in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 1..64), 8),
    ) {
        let before = program(&seeds);
        let mut after = before.clone();
        // Registers above these are constants: one of each class, which stand for no register that is written.
        let virtuals = [u32::from(REGISTERS) + 1; 3];
        let constant = |class| Slot { class, index: REGISTERS };
        let constants: Vec<Slot> = [Class::Predicate, Class::Narrow, Class::Wide].map(constant).into();
        let initial = constants.iter().map(|slot| (*slot, Initial::Bits(7))).collect();
        let allocation = allocate(&mut after, virtuals, initial).expect("it is small");
        let pairs: Vec<(Slot, Slot)> =
            constants.iter().copied().zip(allocation.initial.iter().map(|(slot, _)| *slot)).collect();
        for choices in &choices {
            walk(&before, &after, &pairs, choices)?;
        }
        for (_, slot) in after.iter().flat_map(registers) {
            let extent = allocation.extent;
            let count = [extent.predicates, extent.narrow, extent.wide][slot.class as usize];
            prop_assert!(usize::from(slot.index) < count);
            prop_assert!(!pairs.iter().any(|(_, constant)| *constant == slot), "a constant's slot is shared");
        }
    }
}

/// A chain of values, each needed by the next step only, fits in one slot however many there are.
#[test]
fn a_chain_needs_one_slot() {
    let add = |d, a| {
        let operands = Operands { d: Slot::narrow(d), second: None, sources: [Slot::narrow(a); 4], count: 1 };
        Step { act: Act::Lanes { run: nothing, operands }, ..step(&(2, [0; 5], None, 0), 1, 1) }
    };
    let mut steps: Vec<Step> = (1..1000).map(|d| add(d, d - 1)).collect();
    steps.push(step(&(2, [0; 5], None, 0), 1, 1));
    let allocation =
        allocate(&mut steps, [0, 1000, 0], vec![(Slot::narrow(0), Initial::Bits(1))]).expect("small");
    assert_eq!(allocation.extent.narrow, 2, "the constant and the chain");
}

/// What may be read before it is written shares its slot with nothing.
#[test]
fn an_undefined_register_stays_undefined() {
    let lanes = |d, a| {
        let operands = Operands { d: Slot::narrow(d), second: None, sources: [Slot::narrow(a); 4], count: 1 };
        Step { act: Act::Lanes { run: nothing, operands }, ..step(&(2, [0; 5], None, 0), 1, 1) }
    };
    // 0 is a constant; 1 is written and needed no more before 2, which nothing writes, is read.
    let mut steps = vec![lanes(1, 0), lanes(3, 1), lanes(4, 2), step(&(2, [0; 5], None, 0), 1, 1)];
    allocate(&mut steps, [0, 5, 0], vec![(Slot::narrow(0), Initial::Bits(1))]).expect("small");
    let all: Vec<Vec<(Role, Slot)>> = steps.iter().map(registers).collect();
    let undefined = all[2][0].1;
    let written = all.iter().flatten().filter(|(role, _)| *role != Role::Read);
    assert!(written.clone().count() == 3 && written.into_iter().all(|(_, slot)| *slot != undefined));
}
