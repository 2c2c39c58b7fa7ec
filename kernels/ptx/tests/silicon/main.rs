//! What PTX leaves open, as silicon settles it: NaN of f64 and of conversions, division by zero, recorded on an H100 (`h100.txt`); what
//! atomics leave, on an H200.

use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::decode::programs;
use sparse_ptx::isa::Kind;
use sparse_ptx::machine::{self, Launch};
use sparse_ptx::memory::Device;
use sparse_ptx::program::Operands;
use sparse_ptx::registers::{ALL, Class, Extent, Registers, Slot};
use sparse_ptx::table::find;
use sparse_ptx::text::parse;
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

/// What an atomic leaves, played from a text by one thread.
fn atomic(form: &str, [old, b]: [u64; 2]) -> u64 {
    let bits = match form.rsplit('.').next().expect("a type") {
        "f16" | "bf16" => 16,
        "f64" | "u64" | "s64" => 64,
        _ => 32,
    };
    let (space, at) = if form.contains(".shared.") { ("shared", "s") } else { ("global", "%d1") };
    let d = if form.starts_with("red.") { "" } else { "_, " };
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .b{bits} b) {{ .reg .b64 %d<2>; .reg .b{bits} \
         %v<4>; .shared .align 8 .b8 s[8]; ld.param.u64 %d1, [x]; ld.param.b{bits} %v1, [b]; ld.global.b{bits} %v2, [%d1]; \
         st.{space}.b{bits} [{at}], %v2; {form} {d}[{at}], %v1; ld.{space}.b{bits} %v3, [{at}]; st.global.b{bits} [%d1], %v3; ret; }}\n"
    );
    let module = parse(&text).expect("the text");
    let program = programs(&module).unwrap_or_else(|error| panic!("{form}: {error}")).remove(0);
    let mut device = Device::default();
    let x = device.alloc(8, 8).expect("room");
    device.write(x, &old.to_le_bytes()).expect("inside");
    let mut params = x.to_le_bytes().to_vec();
    params.extend(&b.to_le_bytes()[..bits / 8]);
    let outcome = machine::run(&program, &Launch::new(Architecture::Sm90, 1, 1, params), &mut device);
    assert!(outcome.expect("it can be launched").is_clean(), "{form}");
    let mut left = [0; 8];
    left[..bits / 8].copy_from_slice(&device.read(x, bits / 8).expect("inside"));
    u64::from_le_bytes(left)
}

#[test]
fn atomics_leave_the_bits_of_an_h200() {
    let mut compared = BTreeMap::<&str, usize>::new();
    let mut differ = Vec::new();
    let number = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
    for line in include_str!("h200_atomics.txt").lines().filter(|line| !line.starts_with('#')) {
        let [form, old, b, "=", recorded] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let left = atomic(form, [old, b].map(number));
        if left != number(recorded) {
            differ.push(format!("{line}, not {left:x}"));
        }
        *compared.entry(form).or_default() += 1;
    }
    assert!(differ.is_empty(), "{} differ: {differ:#?}", differ.len());
    assert_eq!((compared.len(), compared.values().sum::<usize>()), (36, 4252));
}
