//! Every form that lanes execute, against a reference that knows the form by its name only.
//!
//! ```text
//! form  ->  reference: i128 for integers, rustc_apfloat for floats
//! operands: edges x edges, one 16-bit operand: all of them, else random; random masks, destination over source at times
//! ```

mod atomics;
mod floats;
mod integers;
mod operands;
#[path = "../source.rs"]
mod source;
mod types;

use flate2::read::GzDecoder;
use source::Source;
use sparse_ptx::isa::{Kind, Row};
use sparse_ptx::program::{LaneFn, Operands};
use sparse_ptx::registers::{ALL, Class, Extent, LANES, Mask, Registers, Slot};
use sparse_ptx::table::{find, forms};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use types::{Answer, Form};

/// What a form does to one lane: its sources' bits to the bits of its result.
type Reference = Box<dyn Fn(&[u64]) -> Answer>;

/// Random operands of a form of our kernels, and of another.
const OURS: usize = 100_000;
const OTHERS: usize = 10_000;

fn reference(form: &Form<'_>) -> Option<Reference> {
    integers::reference(form).or_else(|| floats::reference(form))
}

/// What executes a form, where lanes do.
fn lanes(row: &Row) -> Option<(LaneFn, Class, &'static [Class])> {
    match row.kind {
        Kind::Lanes { run, d, sources, .. } => Some((run, d, sources)),
        _ => None,
    }
}

/// The forms of our kernels.
fn ours() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/ptx");
    let mut found = BTreeSet::new();
    for entry in folder.read_dir().expect("our PTX is beside this crate") {
        let path = entry.expect("a folder that can be read").path();
        let mut text = String::new();
        let file = std::fs::File::open(&path).expect("a file that can be read");
        GzDecoder::new(file).read_to_string(&mut text).expect("compressed text");
        found.extend(
            text.split([' ', '\t', '\n', ';']).filter(|word| find(word).is_some()).map(str::to_owned),
        );
    }
    found
}

/// Registers of a test: sources first, then the destination.
struct Bench {
    run: LaneFn,
    registers: Registers,
    operands: Operands,
    sources: &'static [Class],
}

impl Bench {
    fn new((run, d, sources): (LaneFn, Class, &'static [Class]), over: bool) -> Bench {
        let slot = |class, index| Slot { class, index };
        let mut operands =
            Operands { d: slot(d, 5), second: None, sources: [slot(d, 0); 4], count: sources.len() as u8 };
        for (i, &class) in sources.iter().enumerate() {
            operands.sources[i] = slot(class, i as u16);
        }
        if over && sources[0] == d {
            operands.d = operands.sources[0];
        }
        if d == Class::Predicate {
            operands.second = Some(Slot::predicate(6));
        }
        Bench {
            run,
            registers: Registers::new(Extent { predicates: 8, narrow: 8, wide: 8 }),
            operands,
            sources,
        }
    }

    fn get(&self, slot: Slot, lane: usize) -> u64 {
        let index = usize::from(slot.index);
        match slot.class {
            Class::Predicate => (self.registers.predicates[index] >> lane & 1).into(),
            Class::Narrow => self.registers.narrow[index][lane].into(),
            Class::Wide => self.registers.wide[index][lane],
        }
    }

    fn set(&mut self, slot: Slot, lane: usize, bits: u64) {
        let index = usize::from(slot.index);
        match slot.class {
            Class::Predicate => {
                let word = &mut self.registers.predicates[index];
                *word = *word & !(1 << lane) | (bits as Mask & 1) << lane;
            }
            Class::Narrow => self.registers.narrow[index][lane] = bits as u32,
            Class::Wide => self.registers.wide[index][lane] = bits,
        }
    }

    /// 32 tuples of sources at once; what lanes outside of the mask held stays.
    fn check(&mut self, form: &Form<'_>, reference: &Reference, tuples: &[Vec<u64>], mask: Mask) {
        for (lane, tuple) in tuples.iter().enumerate() {
            for (i, &bits) in tuple.iter().enumerate() {
                self.set(self.operands.sources[i], lane, bits);
            }
        }
        let before: Vec<u64> = (0..LANES).map(|lane| self.get(self.operands.d, lane)).collect();
        (self.run)(&mut self.registers, &self.operands, mask);
        for (lane, tuple) in tuples.iter().enumerate() {
            let found = self.get(self.operands.d, lane);
            if mask >> lane & 1 == 0 {
                assert_eq!(found, before[lane], "{}: a lane outside of the mask changed", form.name);
                continue;
            }
            let expected = reference(tuple);
            assert!(expected.admits(found), "{} of {tuple:#x?}: {found:#x}, not {expected:#x?}", form.name);
            if let (Some(second), "setp") = (self.operands.second, form.words[0]) {
                // The opposite comparison, with the same predicate.
                let opposite = types::opposite(form, tuple, found);
                assert_eq!(self.get(second, lane), opposite, "{} of {tuple:#x?}, second result", form.name);
            }
        }
        assert_eq!(self.sources.len(), tuples[0].len());
    }
}

fn check(name: &str, count: usize, source: &mut Source) {
    let row = find(name).expect("a form of the table");
    let Some(executor) = lanes(row) else { return };
    let form = Form::parse(name);
    let reference = reference(&form).unwrap_or_else(|| panic!("{name} has no reference: it is not tested"));
    let widths = form.widths(executor.2);
    let mut benches = [Bench::new(executor, false), Bench::new(executor, true)];
    let mut turn = 0;
    operands::batches(&form, &widths, count, source, |tuples, random| {
        let mask = if turn % 3 == 0 { ALL } else { random };
        benches[turn % 2].check(&form, &reference, tuples, mask);
        turn += 1;
    });
    assert!(turn > 0, "{name} was not run");
}

#[test]
fn forms_of_our_kernels() {
    let ours = ours();
    let tested: Vec<_> =
        ours.iter().filter(|form| find(form).is_some_and(|row| lanes(row).is_some())).collect();
    assert!(tested.len() > 90, "{tested:?}");
    let mut source = Source(1);
    for form in tested {
        check(form, OURS, &mut source);
    }
}

/// This is the test of coverage too: a form of the table without a reference fails it.
#[test]
fn every_form_of_the_table() {
    let mut source = Source(2);
    let all: Vec<_> = forms();
    assert!(all.len() > 1000, "{}", all.len());
    for form in all {
        check(form, OTHERS, &mut source);
    }
}
