//! What PTX leaves open, as silicon settles it: NaN of f64 and of conversions, division by zero, recorded on an H100 (`h100.txt`).

use sparse_ptx::isa::Kind;
use sparse_ptx::program::Operands;
use sparse_ptx::registers::{ALL, Class, Extent, Registers, Slot};
use sparse_ptx::table::find;
use std::collections::BTreeMap;

/// The result of an instruction in every lane; all must be the same.
fn run(form: &str, operands: &[u64]) -> u64 {
    let row = find(form).unwrap_or_else(|| panic!("{form} is in no row"));
    let Kind::Lanes { run, d, sources, .. } = row.kind else { panic!("{form} is for lanes") };
    assert_eq!(sources.len(), operands.len(), "{form}");
    let mut registers = Registers::new(Extent { predicates: 1, narrow: 8, wide: 8 });
    let slot = |class: Class, index: u16| Slot { class, index };
    let mut slots =
        Operands { d: slot(d, 5), second: None, sources: [slot(d, 0); 4], count: sources.len() as u8 };
    for (i, (&class, &bits)) in (0u16..).zip(sources.iter().zip(operands)) {
        slots.sources[usize::from(i)] = slot(class, i);
        match class {
            Class::Narrow => registers.narrow[usize::from(i)] = [bits as u32; 32],
            Class::Wide => registers.wide[usize::from(i)] = [bits; 32],
            Class::Predicate => panic!("{form} has a predicate"),
        }
    }
    run(&mut registers, &slots, ALL);
    let lanes = match d {
        Class::Narrow => registers.narrow[5].map(u64::from),
        Class::Wide => registers.wide[5],
        Class::Predicate => panic!("{form} gives a predicate"),
    };
    assert!(lanes.iter().all(|lane| *lane == lanes[0]), "{form} {operands:x?}: {lanes:x?}");
    lanes[0]
}

#[test]
fn instructions_give_the_bits_of_an_h100() {
    let mut compared = BTreeMap::<&str, usize>::new();
    let number = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
    for line in include_str!("h100.txt").lines().filter(|line| !line.starts_with('#')) {
        let (asked, recorded) = line.split_once(" = ").expect("a result");
        let (form, operands) = asked.split_once(' ').expect("operands");
        let operands: Vec<u64> = operands.split(' ').map(number).collect();
        assert_eq!(format!("{:x}", run(form, &operands)), recorded, "{asked}");
        *compared.entry(form).or_default() += 1;
    }
    assert_eq!(compared.len(), 27);
    assert_eq!(compared.values().sum::<usize>(), 1152);
}
