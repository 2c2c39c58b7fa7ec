//! Honest backends are not accused: our kernels and two libraries on a slice of the quick plan, our conversions on all of
//! it.

use sparse_conformance::backend::{Backend, NalgebraSparse, Portable, Sprs};
use sparse_conformance::case::Case;
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::HuntPlan;
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::format::FormatKind;
use std::collections::BTreeMap;

#[test]
fn honest_backends_are_not_accused() {
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Portable), Box::new(Sprs), Box::new(NalgebraSparse)];
    let mut ran = [0usize; 3];
    let ground = HuntPlan::new(&Options::default());
    for (case, loaded) in ground.cases(|c| c.origin.family() != "embedded").step_by(5) {
        for (i, record) in run_case(case, &loaded, &backends).records.iter().enumerate() {
            assert!(!record.verdict.is_finding(), "{}: {}: {}", record.backend, record.case, record.verdict);
            ran[i] += usize::from(record.verdict.kind().ran());
        }
    }
    println!("cases run: portable {}, sprs {}, nalgebra-sparse {}", ran[0], ran[1], ran[2]);
    assert!(ran.iter().all(|&n| n > 50), "{ran:?}");
}

#[test]
fn the_honest_conversions_are_not_accused() {
    let backend: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
    let paper = |f: FormatKind| FormatKind::PAPERS.contains(&f);
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    let options = Options { ops: vec![Op::Convert], ..Options::default() };
    for group in plan(&options, &[&Portable]).groups {
        let concerned = |c: &&Case| paper(c.contract.format) || c.contract.to.is_some_and(paper);
        let mine: Vec<&Case> = group.cases.iter().filter(concerned).collect();
        if mine.is_empty() {
            continue;
        }
        let loaded = group.origin.load().expect("a planned matrix loads");
        for case in mine {
            let record = run_case(case, &loaded, &backend).records.remove(0);
            assert!(!record.verdict.is_finding(), "{case}: {}", record.verdict);
            if record.verdict.kind().ran() {
                *ran.entry(case.contract.to_string()).or_default() += 1;
            }
        }
    }
    let wanted = all_contracts()
        .iter()
        .filter(|c| c.op == Op::Convert && (paper(c.format) || c.to.is_some_and(paper)));
    for contract in wanted {
        let count = ran.get(&contract.to_string()).copied().unwrap_or(0);
        assert!(count >= 10, "{contract} ran {count} times");
    }
}

/// Found with seed 3: `0 * (A * B)` overflows in the sum and gives NaN, next to an infinite C. The profile says that
/// alpha = 0 still reads A and B, so NaN is right there.
#[test]
fn a_sum_that_overflows_before_alpha_zero_may_be_nan_beside_an_infinite_c() {
    let line = "spmm.csc.f64_f64_f64_f64/empty:rows=4,cols=8,emptyrows=0.881,emptycols=0.157,density=0.927,\
                seed=3000014/values=special,610527/n=32/alpha=0/beta=1/ta/lc=col/ldc=+7";
    let case: Case = line.parse().expect("a legal line");
    let loaded = case.origin.load().expect("small");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(NalgebraSparse)];
    let record = run_case(&case, &loaded, &backends).records.remove(0);
    assert!(record.verdict.kind().ran() && !record.verdict.is_finding(), "{}", record.verdict);
}
