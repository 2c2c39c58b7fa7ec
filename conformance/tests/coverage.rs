//! The quick plan reaches everything: contracts, matrix and value families, faults, and each vacuity alternative.

#[path = "../../kernels/benches/conversions/moves.rs"]
#[expect(dead_code, reason = "the bench uses the rest")]
mod moves;

use rayon::prelude::*;
use sparse_conformance::backend::Portable;
use sparse_conformance::bench;
use sparse_conformance::case::{Case, Fault, Filling};
use sparse_conformance::degenerate::degenerate;
use sparse_conformance::operands::build;
use sparse_conformance::origin::Origin;
use sparse_conformance::plan::{Group, Options, plan};
use sparse_conformance::right::Right;
use sparse_golden::tolerance_entries;
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Flush;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::judge::{Alternative, Sheets};
use sparse_oracle::source::generator::FAMILIES;
use sparse_oracle::source::values::VALUE_FAMILIES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

fn quick(seed: u64) -> Vec<Group> {
    let options = Options { seed, ..Options::default() };
    plan(&options, &[&Portable]).groups
}

/// The plan of seed 0, made once for all tests.
fn first() -> &'static [Group] {
    static FIRST: OnceLock<Vec<Group>> = OnceLock::new();
    FIRST.get_or_init(|| quick(0))
}

/// A name and whether a case has it.
type Trait = (&'static str, fn(&Case) -> bool);

fn cases(groups: &[Group]) -> impl Iterator<Item = &Case> {
    groups.iter().flat_map(|group| &group.cases)
}

fn lines(groups: &[Group]) -> Vec<String> {
    cases(groups).map(ToString::to_string).collect()
}

#[test]
fn there_are_ten_thousand_distinct_lines_and_each_parses_back() {
    let groups = first();
    let distinct: BTreeSet<String> = lines(groups).into_iter().collect();
    assert_eq!(distinct.len(), cases(groups).count(), "a line occurs twice");
    assert!(distinct.len() >= 10_000, "{}", distinct.len());
    for case in cases(groups) {
        let line = case.to_string();
        assert_eq!(line.parse::<Case>().as_ref().map_err(ToString::to_string), Ok(case), "{line}");
    }
    for group in groups {
        assert!(group.cases.iter().all(|case| case.origin == group.origin));
    }
}

#[test]
fn every_contract_meets_every_source_family() {
    let groups = first();
    let met: BTreeSet<(String, String)> =
        cases(groups).map(|case| (case.contract.to_string(), case.origin.family())).collect();
    // An operation on square matrices meets the families that the plan has some of.
    let is_square = |case: &&Case| match &case.origin {
        Origin::Spec(spec) => spec.shape().is_ok_and(|shape| shape.rows == shape.cols),
        _ => true,
    };
    let square: BTreeSet<String> = cases(groups).filter(is_square).map(|case| case.origin.family()).collect();
    let has =
        &|contract: &Contract, family: &str| !contract.op.signature().is_square() || square.contains(family);
    let families = FAMILIES.iter().map(|info| info.name).chain(["embedded"]);
    let missing: Vec<String> = families
        .flat_map(|family| all_contracts().iter().filter(move |c| has(c, family)).map(move |c| (c, family)))
        .map(|(contract, family)| (contract.to_string(), family.to_owned()))
        .filter(|pair| !met.contains(pair))
        .map(|(contract, family)| format!("{contract} x {family}"))
        .collect();
    assert!(missing.is_empty(), "{} pairs missing: {:?}", missing.len(), &missing[..missing.len().min(20)]);
}

/// The levels that a format takes were looked for beside the first case that could be drawn: with a matrix of no rows, that of V:N:M in
/// f32, other shapes were never found, and four cases in five were empty.
#[test]
fn few_cases_of_a_contract_have_an_empty_matrix() {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in cases(first()) {
        let Origin::Spec(spec) = &case.origin else {
            continue;
        };
        let shape = spec.shape().expect("a legal matrix");
        let (empty, all) = counts.entry(case.contract.to_string()).or_default();
        *empty += usize::from(shape.rows == 0 || shape.cols == 0);
        *all += 1;
    }
    for (contract, (empty, all)) in counts {
        assert!(empty * 3 < all, "{contract}: {empty} of {all} matrices are empty");
    }
}

/// One case in 94,000 multiplied an embedded matrix of 9 x 12 by itself, and was not run.
#[test]
fn only_square_matrices_are_multiplied_by_themselves() {
    let groups = first();
    let squares = cases(groups).filter(|case| case.params.right == Right::Same);
    let count = squares
        .inspect(|case| match &case.origin {
            Origin::Spec(spec) => {
                let shape = spec.shape().expect("a legal matrix");
                assert_eq!(shape.rows, shape.cols, "{case}");
            }
            other => panic!("{case}: nobody has looked at the shape of {other}"),
        })
        .count();
    assert!(count >= 20, "{count}");
}

/// One case of RP-CSC was planned on an embedded matrix with a column of 400 entries, and was not run: the format counts to 255.
#[test]
fn formats_hold_the_embedded_matrices_that_they_are_judged_on() {
    let narrow = |case: &&Case| matches!(case.contract.format, FormatKind::RpCsc | FormatKind::CpCsr);
    let embedded = cases(first()).filter(narrow);
    let embedded = embedded.filter(|case| matches!(case.origin, Origin::Embedded(_)));
    let mut contracts: BTreeSet<String> = BTreeSet::new();
    for case in embedded {
        let loaded = case.origin.load().expect("an embedded matrix");
        build(case, &loaded).unwrap_or_else(|e| panic!("{case}: {e}"));
        contracts.insert(case.contract.to_string());
    }
    assert!(contracts.len() >= 20, "{} contracts", contracts.len());
}

/// A family that a contract lacks leaves bugs unseen that no other family shows.
#[test]
fn every_value_family_meets_every_contract() {
    let mut met: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for case in cases(first()) {
        let Filling::Drawn(family, _) = case.filling else {
            panic!("{case}: generated cases draw their values")
        };
        let of_contract = met.entry(case.contract.to_string()).or_default();
        of_contract.insert(family.name());
    }
    for (contract, families) in &met {
        let missing = VALUE_FAMILIES.iter().find(|info| !families.contains(info.name));
        assert!(missing.is_none(), "{contract} never meets {:?}", missing.map(|info| info.name));
    }
}

#[test]
fn every_parameter_and_fault_occurs() {
    let groups = first();
    let count = |what: &dyn Fn(&Case) -> bool| cases(groups).filter(|case| what(case)).count();
    for (fault, name) in Fault::ALL {
        let ops: BTreeSet<Op> =
            cases(groups).filter(|c| c.params.fault == Some(fault)).map(|c| c.contract.op).collect();
        assert!(!ops.is_empty(), "no case with fault={name}");
        println!("fault={name}: {ops:?}");
    }
    let of = |op: Op, what: fn(&Case) -> bool| {
        count(&|c| c.contract.op == op && c.params.fault.is_none() && what(c))
    };
    let traits: [Trait; 9] = [
        ("ta", |c| c.params.transpose_a),
        ("tb", |c| c.params.transpose_b),
        ("lb=col", |c| c.to_string().contains("/lb=col")),
        ("lc=col", |c| c.to_string().contains("/lc=col")),
        ("ldb", |c| c.params.pad_b > 0),
        ("ldc", |c| c.params.pad_c > 0),
        ("beta=0", |c| c.params.beta == 0.0),
        ("beta=1", |c| c.params.beta == 1.0),
        ("alpha=0", |c| c.params.alpha == 0.0),
    ];
    for (name, what) in traits {
        assert!(of(Op::Spmm, what) >= 20, "spmm with {name}: {}", of(Op::Spmm, what));
    }
    assert!(of(Op::Spmv, |c| c.params.transpose_a) >= 20);
    assert!(of(Op::Sddmm, |c| c.to_string().contains("/mode=scale")) >= 20);
    assert!(of(Op::Sddmm, |c| c.to_string().contains("/mode=add-s")) >= 20);
    let duplicated = count(&|c| c.contract.format == FormatKind::Coo && c.params.duplicates);
    assert!(duplicated >= 100, "{duplicated}");
}

/// For every contract and every wrong kernel, some case notices it. Cases are built until each has been seen.
#[test]
fn every_alternative_is_killed_in_every_contract() {
    let start = Instant::now();
    let groups = first();
    let all: Vec<String> = Alternative::ALL.iter().map(|a| a.name().to_owned()).collect();
    // A transpose or conversion has one way to be vacuous: no entries.
    let wanted = |op: Op| {
        if op.is_exact() { vec!["empty".to_owned()] } else { all.clone() }
    };
    let open: BTreeMap<String, Vec<String>> =
        all_contracts().iter().map(|c| (c.to_string(), wanted(c.op))).collect();
    let open = Mutex::new(open);
    let built = Mutex::new(0usize);
    groups.par_iter().for_each(|group| {
        let is_open =
            |case: &Case| open.lock().expect("not poisoned").contains_key(&case.contract.to_string());
        if !group.cases.iter().any(is_open) {
            return;
        }
        let loaded = group.origin.load().expect("a planned matrix loads");
        for case in group.cases.iter().filter(|case| case.params.fault.is_none()) {
            let name = case.contract.to_string();
            if !is_open(case) {
                continue;
            }
            let Ok(operands) = build(case, &loaded) else {
                continue;
            };
            *built.lock().expect("not poisoned") += 1;
            let passes = degenerate(case, &operands, &Sheets::new(operands.inputs(case)));
            let mut open = open.lock().expect("not poisoned");
            let done = open.get_mut(&name).is_some_and(|left| {
                left.retain(|alternative| passes.contains(alternative));
                left.is_empty()
            });
            if done {
                open.remove(&name);
            }
        }
    });
    let open = open.into_inner().expect("not poisoned");
    let built = built.into_inner().expect("not poisoned");
    println!("{} contracts, {built} cases built in {:.1?}", all_contracts().len(), start.elapsed());
    assert!(open.is_empty(), "never killed: {open:?}");
}

#[test]
fn the_seed_alone_decides_the_plan() {
    let (first, again, other) = (lines(&quick(3)), lines(&quick(3)), lines(&quick(4)));
    assert_eq!(first, again);
    let known: BTreeSet<&String> = first.iter().collect();
    let shared = other.iter().filter(|line| known.contains(line)).count();
    assert!(shared * 100 < other.len(), "{shared} of {} lines are those of another seed", other.len());
    assert!(
        first.len().abs_diff(other.len()) * 50 < first.len(),
        "the budget hardly depends on the seed: {} and {}",
        first.len(),
        other.len()
    );
}

#[test]
fn filters_take_from_the_same_plan() {
    let all: BTreeSet<String> = lines(first()).into_iter().collect();
    let options = Options { ops: vec![Op::Sddmm], ..Options::default() };
    let some = plan(&options, &[&Portable]).groups;
    assert!(cases(&some).all(|case| case.contract.op == Op::Sddmm));
    assert!(lines(&some).iter().all(|line| all.contains(line)));
    let sddmm = all.iter().filter(|line| line.starts_with("sddmm.")).count();
    assert_eq!(cases(&some).count(), sddmm);
}

/// Every row of the registry, on this architecture: with a contract of the suite, cases in the quick plan, reviewed tolerances, and a
/// bench that times it, if its operation is timed at all. What lacks one is named.
#[test]
fn every_kernel_has_contract_cases_golden_entry_and_bench() {
    let groups = first();
    let mut planned: BTreeMap<Contract, usize> = BTreeMap::new();
    for case in cases(groups).filter(|case| case.params.fault.is_none()) {
        *planned.entry(case.contract).or_default() += 1;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/snapshots/tolerances.snap");
    let reviewed = std::fs::read_to_string(path).expect("the reviewed tolerances");
    let pinned: BTreeSet<&str> =
        reviewed.lines().filter_map(|line| line.split_once(": ")).map(|(head, _)| head).collect();
    // In sorted order, lines that start alike are neighbours.
    let is_pinned = |name: &str| {
        let start = format!("{name} ");
        pinned.range(start.as_str()..).next().is_some_and(|line| line.starts_with(&start))
    };
    let golden = |kernel: &Kernel| match tolerance_entries(&kernel.contract.types, &kernel.arithmetic) {
        _ if kernel.contract.op.is_exact() => None,
        Err(reason) => Some(reason),
        Ok(names) => names
            .into_iter()
            .find(|name| !is_pinned(name))
            .map(|name| format!("{name:?} is not in the snapshot")),
    };
    let lacks = |kernel: &'static Kernel| {
        let contract = kernel.contract;
        let timed = match contract.op {
            op if bench::is_timed(op) => bench::timed_by(kernel).is_some(),
            op => !op.is_exact() || moves::table(&contract).is_some(),
        };
        [
            (!all_contracts().contains(&contract)).then(|| "no contract".to_owned()),
            (!planned.contains_key(&contract)).then(|| "no case".to_owned()),
            golden(kernel).map(|reason| format!("no golden entry: {reason}")),
            (!timed).then(|| "no bench".to_owned()),
        ]
        .into_iter()
        .flatten()
        .map(move |what| format!("{}: {what}", kernel.name))
    };
    let missing: Vec<String> = all_kernels().iter().flat_map(lacks).collect();
    println!("{} kernels, {} planned contracts", all_kernels().len(), planned.len());
    assert!(missing.is_empty(), "{} lack something:\n{}", missing.len(), missing.join("\n"));
}

/// Without this, the test above could not tell a row that lacks something.
#[test]
fn a_kernel_without_a_golden_entry_or_a_bench_is_found() {
    let any = |op: Op| all_kernels().iter().find(|k| k.contract.op == op).expect("registered").clone();
    let mut spmm = any(Op::Spmm);
    spmm.arithmetic.flush = Flush::both(Precision::F32);
    assert!(tolerance_entries(&spmm.contract.types, &spmm.arithmetic).is_err());
    let mut convert = any(Op::Convert);
    assert!(bench::timed_by(&convert).is_none() && moves::table(&convert.contract).is_some());
    (convert.contract.format, convert.contract.to) = (FormatKind::Nm, Some(FormatKind::Coo));
    assert!(moves::table(&convert.contract).is_none());
}
