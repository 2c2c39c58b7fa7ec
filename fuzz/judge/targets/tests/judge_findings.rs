//! Faults of the code that the fuzz targets of this crate are about, found by them or while they were written, each with its story.

use sparse_conformance::report::json::to_json;
use sparse_conformance::report::{CaseRecord, Contract, Environment, Plan, Report, VerdictRecord, merge};
use sparse_conformance::shard::Shard;
use std::path::{Path, PathBuf};

fn record(verdict: VerdictRecord) -> CaseRecord {
    CaseRecord {
        case: "spmm.csr.f32_f32_f32_f32/banded:rows=4,cols=5".to_owned(),
        contract: "spmm.csr.f32_f32_f32_f32".to_owned(),
        family: "banded".to_owned(),
        backend: "one".to_owned(),
        verdict,
        tiers: Vec::new(),
        share: None,
        degenerate: Vec::new(),
        inputs: None,
        output: None,
        selection: None,
        waived: None,
        asked_again: false,
        repeated: None,
        reproducer: None,
    }
}

/// Story: a report with two verdicts on one case of one backend was read, and `diff` found that it differed from itself: one of the two
/// records counted as the earlier one, whichever came last. A report has one record per case and backend.
#[test]
fn a_case_that_stands_in_a_report_twice_is_refused() {
    let mut report = Report::new(Plan::default(), Environment::default());
    report.cases = vec![record(VerdictRecord::Exact)];
    report.seal();
    let once = to_json(&report).expect("finite numbers");
    assert!(Report::parse(&once, Path::new("report.json")).is_ok());
    report.cases.push(record(VerdictRecord::Crashed { message: "signal 11".to_owned() }));
    report.seal();
    let twice = to_json(&report).expect("finite numbers");
    let error =
        Report::parse(&twice, Path::new("report.json")).expect_err("two verdicts on one case").to_string();
    assert!(error.contains("banded:rows=4,cols=5 on one stands in it twice"), "{error}");
}

/// Story: shards that claim numbers of cases whose sum is past u64 ended `merge` with an overflow where overflows are checked, and
/// were added up to a small number elsewhere. Both are reports from outside.
#[test]
fn shards_that_claim_more_cases_than_can_be_counted_are_refused() {
    let part = |index| {
        let shard = Shard::new(index, 2).ok();
        let plan = Plan { distinct_cases: u64::MAX, shard, ..Plan::default() };
        (PathBuf::from(format!("{index}.json")), Report::new(plan, Environment::default()))
    };
    let error = merge(vec![part(1), part(2)]).expect_err("no such number of cases").to_string();
    assert!(error.contains("hold 0 cases"), "{error}");
}

/// Story (crashers/report_json/planned-cases-beyond-u64, after 5 CPU-minutes): contracts that claim more planned cases than can be
/// counted ended every writer of a report with an overflow.
#[test]
fn planned_cases_beyond_what_can_be_counted_end_no_writer() {
    let mut report = Report::new(Plan::default(), Environment::default());
    let contract = |name: &str| Contract { name: name.to_owned(), cases_planned: u64::MAX };
    report.contracts = vec![contract("spmm.csr.f32_f32_f32_f32"), contract("spmv.csr.f32_f32_f32_f32")];
    report.seal();
    assert_eq!(report.summary().planned, u64::MAX);
}
