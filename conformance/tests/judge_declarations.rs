//! What a backend declares is held against it: too weak is refused beforehand, another chain is a finding of T2, and what it says
//! stands in the record.

use sparse_conformance::backend::{
    Backend, Failure, NalgebraSparse, Portable, Sprs, Support, check_declarations,
};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::plan::Options;
use sparse_conformance::report::{Criterion, VerdictKind, VerdictRecord};
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::{Bug, HuntPlan, Seeded, bugs};
use sparse_oracle::contract::{Contract, Op, TYPES};
use sparse_oracle::format::FormatKind;
use sparse_oracle::task::{Answer, Task};

/// Answers nothing, and says so beforehand.
struct Lazy;

impl Backend for Lazy {
    fn name(&self) -> &'static str {
        "lazy"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "excludes everything"
    }

    fn support(&self, _: &Contract, _: &Params) -> Support {
        Support::Excluded { reason: "it would rather not".into() }
    }

    fn run(&self, _: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
        Err("asked all the same".into())
    }
}

fn bug(name: &str) -> &'static Bug {
    bugs().find(|bug| bug.name == name).expect("in the catalogue")
}

#[test]
fn a_weak_declaration_is_refused_before_anything_runs() {
    for backend in [&Portable as &dyn Backend, &Sprs, &NalgebraSparse] {
        assert_eq!(check_declarations(backend), Ok(()), "{}", backend.name());
    }
    let weak = Seeded::sick(bug("declares a narrower accumulator"));
    let refused = check_declarations(&weak).expect_err("it declares a narrower accumulator");
    assert_eq!(refused.backend, "declares a narrower accumulator");
    assert!(refused.to_string().contains("accumulates in f32"), "{refused}");
    assert_eq!(
        check_declarations(&Lazy),
        Ok(()),
        "excluding is legal; a run in which it answers nothing is not"
    );
}

/// A declared reduction is held to its bits: T1 alone would let both of these pass.
#[test]
fn another_chain_than_declared_is_a_finding_of_t2() {
    let ground = HuntPlan::new(&Options {
        ops: vec![Op::Spmm, Op::Spmv],
        precisions: vec![TYPES[0].a],
        ..Options::default()
    });
    for name in ["declares fma, multiplies and adds", "declares separate operations, fuses"] {
        let bug = bug(name);
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(Seeded::sick(bug))];
        let mut tiers = Vec::new();
        for (case, loaded) in ground.cases(bug.concerns) {
            if let VerdictRecord::Wrong(mismatch) = &run_case(case, &loaded, &backend).records[0].verdict {
                tiers.push(mismatch.tier);
            }
        }
        assert!(!tiers.is_empty() && tiers.iter().all(|t| *t == Criterion::T2), "{name}: {tiers:?}");
    }
}

/// A case whose operands can not be made (here: a column too full for RP-CSC) was "not run" even on a backend that excludes it beforehand.
#[test]
fn what_a_manifest_excludes_is_unsupported_whether_or_not_its_operands_can_be_made() {
    let line = "spmm.rp_csc.f16_f16_f32_f32/uniform:rows=20000,cols=2,density=0.9,seed=3/values=ones,0/n=1";
    let case: Case = line.parse().expect("a legal line");
    let loaded = case.origin.load().expect("generated");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Lazy), Box::new(Portable)];
    let kinds: Vec<_> =
        run_case(&case, &loaded, &backends).records.iter().map(|record| record.verdict.kind()).collect();
    assert_eq!(kinds, [VerdictKind::Unsupported, VerdictKind::NotRun]);
}

/// An excluded case is no finding, but a backend that answers nothing at all fails the run (report).
#[test]
fn the_runner_reports_what_was_said() {
    let line = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,1";
    let case: Case = line.parse().expect("a legal line");
    assert_eq!(case.contract.format, FormatKind::Csr);
    let loaded = case.origin.load().expect("embedded");
    let judged = |backend: Box<dyn Backend>| run_case(&case, &loaded, &[backend]).records.remove(0).verdict;
    let run = |name: &str| judged(Box::new(Seeded::sick(bug(name))));
    let text = |verdict: VerdictRecord| format!("{verdict:?}");
    assert!(text(run("panics")).contains("a plain panic"));
    assert!(text(run("panics with a String")).contains("a panic with a String"));
    assert!(text(run("panics with a number")).contains("a panic without a message"));
    assert!(text(run("refuses everything")).contains("not today"));
    let excluded = judged(Box::new(Lazy));
    assert!(!excluded.is_finding() && text(excluded).contains("it would rather not"));
}
