//! `atom` and `red`: what they leave in memory and give back, for each form of the table, against the reference of the same operation on
//! registers, or a line here where registers have no such operation.

use crate::operands::batches;
use crate::source::Source;
use crate::types::{Answer, Form};
use crate::{Reference, reference};
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::decode::programs;
use sparse_ptx::isa::Kind;
use sparse_ptx::machine::{Launch, run};
use sparse_ptx::memory::Device;
use sparse_ptx::program::Program;
use sparse_ptx::registers::Class;
use sparse_ptx::table::{find, forms};
use sparse_ptx::text::parse;

/// Old value, b and c of each lane at 8 bytes apart: the new value and what the atomic gave back.
fn program(form: &str, bits: u32) -> Program {
    let words: Vec<&str> = form.split('.').collect();
    let (atom, cas) = (words[0] == "atom", words.contains(&"cas"));
    let (shared, c) = (words.contains(&"shared"), if cas { ", %v3" } else { "" });
    let (space, at) = if shared { ("shared", "%s1") } else { ("global", "%d5") };
    let d = if atom { "%v4, " } else { "" };
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data)\n{{\n.reg .b32 %s<3>;\n.reg .b64 %d<6>;\n\
         .reg .b{bits} %v<6>;\n.shared .align 8 .b8 held[256];\nld.param.u64 %d1, [data];\nmov.u32 %s2, %tid.x;\n\
         mul.wide.u32 %d2, %s2, 8;\nadd.s64 %d5, %d1, %d2;\nmov.u32 %s1, held;\nmad.lo.s32 %s1, %s2, 8, %s1;\n\
         ld.global.b{bits} %v1, [%d5];\nld.global.b{bits} %v2, [%d5+256];\nld.global.b{bits} %v3, [%d5+512];\nmov.b{bits} %v4, %v1;\n\
         st.{space}.b{bits} [{at}], %v1;\n{form} {d}[{at}], %v2{c};\nld.{space}.b{bits} %v5, [{at}];\n\
         st.global.b{bits} [%d5], %v5;\nst.global.b{bits} [%d5+768], %v4;\nret;\n}}\n"
    );
    let module = parse(&text).expect("the text");
    programs(&module).unwrap_or_else(|error| panic!("{form}: {error}")).remove(0)
}

/// What the operation leaves of old, b, c.
fn expected(form: &str) -> (String, Reference) {
    let words: Vec<&str> = form.split('.').collect();
    let (ty, name) = (words[words.len() - 1], words.iter().find(|word| OPERATIONS.contains(word)));
    let name = *name.expect("an operation");
    let exact = |f: fn(&[u64]) -> u64| -> Reference { Box::new(move |s| Answer::Bits(f(s))) };
    let as_add = format!("add.{}", ty.replace('b', "u"));
    let in_global = !words.contains(&"shared");
    match name {
        "exch" => (as_add, exact(|s| s[1])),
        "cas" => (as_add, exact(|s| if s[0] == s[1] { s[2] } else { s[0] })),
        "inc" => (as_add, exact(|s| if s[0] < s[1] { s[0] + 1 } else { 0 })),
        "dec" => (as_add, exact(|s| if (1..=s[1]).contains(&s[0]) { s[0] - 1 } else { s[1] })),
        _ => {
            let registers = match (name, ty) {
                ("add", "f32") if in_global => "add.ftz.f32".to_owned(),
                ("add", "bf16" | "bf16x2") => format!("add.rn.{ty}"),
                _ => format!("{name}.{ty}"),
            };
            let form = Form::parse(&registers);
            let by_registers = reference(&form).unwrap_or_else(|| panic!("{registers} has no reference"));
            (registers.clone(), by_registers)
        }
    }
}

const OPERATIONS: [&str; 10] = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];

/// This is the test of coverage of atomics: it iterates the table.
#[test]
fn every_atomic_form_of_the_table() {
    let (mut source, mut count) = (Source(3), 0);
    for form in forms() {
        if !matches!(find(form).expect("a form of the table").kind, Kind::Atomic) {
            continue;
        }
        count += 1;
        check(form, &mut source);
    }
    assert_eq!(count, 165, "atom and red: a new form wants a look at this test");
}

fn check(form: &str, source: &mut Source) {
    let (registers, expected) = expected(form);
    let operation = Form::parse(&registers);
    let bits = operation.source().bits * if operation.pairs { 2 } else { 1 };
    let class = if bits == 64 { Class::Wide } else { Class::Narrow };
    let program = program(form, bits);
    let (mut seen, mut turn) = (0, 0);
    batches(&operation, &operation.widths(&[class; 2]), 1500, source, |tuples, random| {
        // c is another number, and b the old value in every third lane: of `cas` both ways are taken.
        let tuples: Vec<[u64; 3]> = (0..)
            .zip(tuples)
            .map(|(lane, t)| {
                [t[0], if (lane + turn) % 3 == 0 { t[0] } else { t[1] }, t[1] ^ u64::from(random) & 0x7fff]
            })
            .collect();
        turn += 1;
        let (new, given) = play(&program, &tuples, bits);
        for (lane, tuple) in tuples.iter().enumerate() {
            let answer = expected(&tuple[..]);
            assert!(answer.admits(new[lane]), "{form} of {tuple:#x?}: {:#x}, not {answer:#x?}", new[lane]);
            assert_eq!(given[lane], tuple[0], "{form} gives the old value");
            seen += 1;
        }
    });
    assert!(seen > 500, "{form} was run");
}

fn play(program: &Program, tuples: &[[u64; 3]], bits: u32) -> (Vec<u64>, Vec<u64>) {
    let mut device = Device::default();
    let data = device.alloc(1024, 256).expect("room");
    for i in 0..3 {
        let bytes: Vec<u8> = tuples.iter().flat_map(|tuple| tuple[i].to_le_bytes()).collect();
        device.write(data + 256 * i as u64, &bytes).expect("inside");
    }
    device.fill(data + 768, 256, 0).expect("inside");
    let launch = Launch::new(Architecture::Sm90, 1, 32, data.to_le_bytes().to_vec());
    let outcome = run(program, &launch, &mut device).expect("it can be launched");
    assert!(outcome.is_clean(), "{:?}", outcome.findings);
    assert_eq!(outcome.counters.atomics, 1);
    let mut read = |at: u64| -> Vec<u64> {
        let bytes = device.read(data + at, 256).expect("inside");
        let low = u64::MAX >> (64 - bits);
        bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")) & low)
            .collect()
    };
    (read(0), read(768))
}
