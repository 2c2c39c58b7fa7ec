//! Pinned tolerances and pinned errors, rendered as text that a person reviews.
//!
//! ```text
//! tolerance_table   every number that a T1 verdict depends on: what a declared arithmetic promises for an element of n terms
//! pinned            what the papers' kernels do: table -> case -> layout -> prepared -> statistics -> text;   ratchet compares texts
//! replay, compare   one element again; recordings of hardware beside the model
//! ```
//!
//! A tolerance is the relative share of the gauge and the absolute part. A change of one is a change of what the suite calls
//! wrong: it needs a line in CHANGELOG.md. README.md says what a row of the other tables means and how to review it.

#![forbid(unsafe_code)]

pub mod bounds;
pub mod case;
pub mod compare;
pub mod error;
pub mod families;
pub mod layout;
pub mod pinned;
pub mod prepared;
pub mod ratchet;
pub mod replay;
pub mod statistics;
pub mod table;
pub mod ulp;

use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Input, Instruction, Order, Reduction,
};
use sparse_oracle::bound::{roundings, tolerance};
use sparse_oracle::contract::TYPES;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::scalar::Precision;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Numbers of terms that the table shows.
pub const TERMS: [u64; 6] = [0, 1, 2, 32, 1024, 100_000];

/// (alpha, beta) pairs that the table shows: nothing to scale, C added, both scaled.
pub const FACTORS: [(f64, f64); 3] = [(1.0, 0.0), (1.0, 1.0), (-2.0, 0.5)];

/// The tolerances of every combination of element types, reduction and epilogue, one per line.
#[must_use]
pub fn tolerance_table() -> String {
    let mut table = String::from("types reduction epilogue alpha beta n: roundings, rel, abs\n");
    for types in TYPES {
        for reduction in [Reduction::FmaChain, Reduction::MulAddChain, Reduction::Any] {
            for epilogue in [Epilogue::MulThenAdd, Epilogue::MulThenFma, Epilogue::AlphaIntoA] {
                let mut arithmetic = Arithmetic::chain(reduction, types.acc, types.out).epilogue(epilogue);
                if types.a == Precision::Tf32 {
                    arithmetic = arithmetic.input(Input::Tf32Rna);
                }
                for (alpha, beta) in FACTORS {
                    for n in TERMS {
                        let head = format!("{types} {reduction:?} {epilogue:?} {alpha} {beta} {n}");
                        let line = line(&arithmetic, n, alpha, beta);
                        // Writing to a String cannot fail.
                        let _ = writeln!(table, "{head}: {line}");
                    }
                }
            }
        }
    }
    for (name, arithmetic) in unit_declarations() {
        for (what, declared, beta) in [
            ("from zero", arithmetic, 0.0),
            ("from C", arithmetic.from_c(), 1.0),
        ] {
            for n in TERMS {
                let _ = writeln!(table, "{name} {what} {n}: {}", line(&declared, n, 1.0, beta));
            }
        }
    }
    table
}

/// Units of CPUs and GPUs by name, each distinct way to compute once (its architectures and first instruction name it), and what else
/// changes a tolerance: an unknown device, a free order, compositions along k, directed rounding, flushing, a second part.
fn unit_declarations() -> Vec<(String, Arithmetic)> {
    let mut cores: BTreeMap<String, (Vec<&'static str>, Instruction, Arithmetic)> = BTreeMap::new();
    for row in ROWS {
        for (&architecture, instruction) in row
            .architectures
            .iter()
            .flat_map(|a| row.instructions().map(move |i| (a, i)))
        {
            let Ok(core) = TensorCore::new(architecture, instruction) else {
                continue;
            };
            let way = format!("{:?} {} {}", core.datapath(), core.products(), instruction.acc);
            let declared = Arithmetic::mma(Some(architecture), instruction, instruction.acc);
            let (names, ..) = cores.entry(way).or_insert((Vec::new(), instruction, declared));
            if !names.contains(&architecture.name()) {
                names.push(architecture.name());
            }
        }
    }
    let mut list: Vec<(String, Arithmetic)> = cores
        .into_values()
        .map(|(names, instruction, declared)| {
            // Oldest first, in whatever order the table has them.
            let all = Architecture::ALL.iter().map(|a| a.name());
            let names: Vec<&str> = all.filter(|name| names.contains(name)).collect();
            (format!("{} {instruction}", names.join(",")), declared)
        })
        .collect();
    list.sort_by(|x, y| x.0.cmp(&y.0));
    list.extend(CpuUnit::ALL.map(|unit| (unit.to_string(), Arithmetic::cpu(unit, unit.acc()))));

    let f16 = Instruction::mma((16, 8, 16), Precision::F32, Precision::F16);
    let unknown = Arithmetic::mma(None, f16, Precision::F32);
    let mut free = unknown;
    free.part_mut().order = Order::Free;
    let fma = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let (mut directed, mut flushing) = (fma, fma);
    directed.part_mut().nearest = false;
    flushing.flush = true;
    for (name, declared) in [
        (format!("unknown {f16}"), unknown),
        (format!("unknown {f16}, free order"), free),
        (
            format!("unknown {f16}, split k 8"),
            unknown.along(Along::SplitK { parts: 8 }),
        ),
        (
            format!("unknown {f16}, two passes of 4"),
            unknown.along(Along::TwoPass { blocks: 4 }),
        ),
        (
            format!("unknown {f16}, rest by fma"),
            Arithmetic::hybrid(unknown, *fma.part(), Combine::Ordered),
        ),
        (
            "f32 FmaChain, split k 8".to_owned(),
            fma.along(Along::SplitK { parts: 8 }),
        ),
        (
            "f32 FmaChain, two passes of 64".to_owned(),
            fma.along(Along::TwoPass { blocks: 64 }),
        ),
        ("f32 FmaChain, directed".to_owned(), directed),
        ("f32 FmaChain, flushing".to_owned(), flushing),
    ] {
        list.push((name, declared));
    }
    list
}

fn line(arithmetic: &Arithmetic, n: u64, alpha: f64, beta: f64) -> String {
    let r = roundings(arithmetic, n, alpha, beta);
    let count = format!("{}+{}{}", r.inside, r.epilogue, if r.output { "+1" } else { "" });
    // |b| = 1 stands for the operand in the part that scales with it.
    match tolerance(arithmetic, n, alpha, beta, 1.0) {
        Some(t) => format!(
            "{count} deep {}, {:.9e}, {:.9e}",
            r.depth,
            t.relative(),
            t.absolute()
        ),
        None => format!("{count} deep {}, nothing is promised for so many terms", r.depth),
    }
}
