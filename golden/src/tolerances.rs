//! Criterion T1's promise for every declared arithmetic, by number of terms; and which lines of it a declaration has.
//!
//! ```text
//! f32_f32_f32_f32 FmaChain MulThenAdd 1 0 32: 32+0 deep 32, 1.9e-6, 4.4e-44      chains: types, reduction, epilogue, alpha, beta, n
//! fmopa.f32.f16 from zero 32: ..                                                 units, and what else changes a tolerance
//! ```

use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Flush, Input, Instruction, Order, Part,
    Parts, Reduction,
};
use sparse_oracle::bound::{roundings, tolerance};
use sparse_oracle::contract::{TYPES, Types};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::table::{ROWS, Row};
use sparse_oracle::scalar::Precision;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::discriminant;

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
                let (name, arithmetic) = chain(&types, reduction, epilogue);
                for (alpha, beta) in FACTORS {
                    for n in TERMS {
                        let head = format!("{name} {alpha} {beta} {n}");
                        let line = line(&arithmetic, n, alpha, beta);
                        // Writing to a String cannot fail.
                        let _ = writeln!(table, "{head}: {line}");
                    }
                }
            }
        }
    }
    for (name, arithmetic) in declarations() {
        for (what, declared, beta) in [("from zero", arithmetic, 0.0), ("from C", arithmetic.from_c(), 1.0)] {
            for n in TERMS {
                let _ = writeln!(table, "{name} {what} {n}: {}", line(&declared, n, 1.0, beta));
            }
        }
    }
    table
}

/// A chain, and what its lines start with.
fn chain(types: &Types, reduction: Reduction, epilogue: Epilogue) -> (String, Arithmetic) {
    let arithmetic = Arithmetic::chain(reduction, types.acc, types.out).epilogue(epilogue);
    let rounds = types.a == Precision::Tf32;
    (
        format!("{types} {reduction:?} {epilogue:?}"),
        if rounds { arithmetic.input(Input::Tf32Rna) } else { arithmetic },
    )
}

/// What the lines of the table start with that pin a declaration of a contract with these types, part by part: the reduction, how it is
/// composed along k where it is (by the lines of one such composition), and where a unit's sum is rounded to a narrower result the
/// lines of chains with these types.
///
/// # Errors
/// The part whose tolerance is not in the table.
pub fn tolerance_entries(types: &Types, declared: &Arithmetic) -> Result<Vec<String>, String> {
    let table = declarations();
    let mut names = Vec::new();
    for part in declared.parts.iter() {
        let missing = || format!("no line of the tolerances is of {part:?} to {}", declared.out);
        let straight = Part { along: Along::Chain, ..*part };
        let alone = Arithmetic { parts: Parts::One(straight), ..*declared };
        names.extend(reduction_entries(&table, types, &alone).ok_or_else(missing)?);
        if part.along != Along::Chain {
            let alike = |pinned: &Part| discriminant(&pinned.along) == discriminant(&part.along);
            let found = table.iter().find(|(_, pinned)| alike(pinned.part()));
            names.push(found.ok_or_else(missing)?.0.clone());
        }
    }
    Ok(names)
}

/// The names for one part that is one chain along k.
fn reduction_entries(
    table: &[(String, Arithmetic)],
    types: &Types,
    alone: &Arithmetic,
) -> Option<Vec<String>> {
    let known = TYPES.contains(types);
    let (part, epilogue) = (alone.part(), alone.epilogue);
    let is_chain = matches!(part.reduction, Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any);
    let (name, pinned) = chain(types, part.reduction, epilogue);
    if known && is_chain && allowed_alike(alone, &pinned) {
        return Some(vec![name]);
    }
    let find = |wanted: &Arithmetic| table.iter().find(|(_, pinned)| allowed_alike(wanted, pinned));
    if let Some((name, _)) = find(alone) {
        return Some(vec![name.clone()]);
    }
    let wide = Arithmetic { out: part.acc, ..*alone };
    let (name, _) = find(&wide).filter(|_| known)?;
    Some(vec![name.clone(), chain(types, Reduction::FmaChain, epilogue).0])
}

/// True where two declarations of one part promise the same: what pads do, which terms a part selects, what it starts from and how
/// operands were rounded before they are multiplied changes no allowance for given terms.
fn allowed_alike(declared: &Arithmetic, pinned: &Arithmetic) -> bool {
    let (x, y) = (declared.part(), pinned.part());
    let reductions = match (x.reduction, y.reduction) {
        (
            Reduction::Mma { architecture: Some(a), instruction: i },
            Reduction::Mma { architecture: Some(b), instruction: j },
        ) => way(a, i).is_some_and(|w| Some(w) == way(b, j)),
        (a, b) => a == b,
    };
    // `Any` allows for every order as it is.
    let orders = x.order == y.order || x.reduction == Reduction::Any;
    reductions
        && orders
        && (x.along, x.acc, x.nearest) == (y.along, y.acc, y.nearest)
        && (declared.epilogue, declared.out, declared.flush) == (pinned.epilogue, pinned.out, pinned.flush)
}

/// How an instruction computes on an architecture: the same text, the same bits.
fn way(architecture: Architecture, instruction: Instruction) -> Option<String> {
    let core = TensorCore::new(architecture, instruction).ok()?;
    Some(format!("{:?} {} {}", core.datapath(), core.products(), instruction.acc))
}

/// Units of CPUs and GPUs by name, each distinct way to compute once (its architectures and first instruction name it), and what else
/// changes a tolerance: an unknown device, a free order, compositions along k, directed rounding, flushing, a second part.
fn declarations() -> Vec<(String, Arithmetic)> {
    let mut cores: BTreeMap<String, (Vec<&'static str>, Instruction, Arithmetic)> = BTreeMap::new();
    for row in ROWS {
        for (&architecture, instruction) in
            row.architectures.iter().flat_map(|a| row.instructions().map(move |i| (a, i)))
        {
            let Some(way) = way(architecture, instruction) else {
                continue;
            };
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

    // A device that is not known: the widest bound of all that have the instruction. fp8 is refused there.
    let instructions = ROWS.iter().flat_map(Row::instructions);
    let named: BTreeMap<String, Instruction> = instructions.map(|i| (format!("unknown {i}"), i)).collect();
    let wide = named.into_iter().filter(|(_, instruction)| instruction.input.bytes() > 1);
    list.extend(wide.map(|(name, i)| (name, Arithmetic::mma(None, i, i.acc))));
    let f16 = Instruction::mma((16, 8, 16), Precision::F32, Precision::F16);
    let unknown = Arithmetic::mma(None, f16, Precision::F32);
    let mut free = unknown;
    free.part_mut().order = Order::Free;
    let fma = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let (mut directed, mut flushing) = (fma, fma);
    directed.part_mut().nearest = false;
    flushing.flush = Flush::both(Precision::F32);
    for (name, declared) in [
        (format!("unknown {f16}, free order"), free),
        (format!("unknown {f16}, split k 8"), unknown.along(Along::SplitK { parts: 8 })),
        (format!("unknown {f16}, two passes of 4"), unknown.along(Along::TwoPass { blocks: 4 })),
        (format!("unknown {f16}, rest by fma"), Arithmetic::hybrid(unknown, *fma.part(), Combine::Ordered)),
        ("f32 FmaChain, split k 8".to_owned(), fma.along(Along::SplitK { parts: 8 })),
        ("f32 FmaChain, two passes of 64".to_owned(), fma.along(Along::TwoPass { blocks: 64 })),
        (
            format!("unknown {f16}, three passes of 16 by 4"),
            unknown.along(Along::ThreePass { blocks: 16, segments: 4 }),
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
        Some(t) => format!("{count} deep {}, {:.9e}, {:.9e}", r.depth, t.relative(), t.absolute()),
        None => format!("{count} deep {}, nothing is promised for so many terms", r.depth),
    }
}
