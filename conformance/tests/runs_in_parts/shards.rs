//! Shards of a plan: together they are the whole, and what is no whole is refused.

use super::{assert_same_files, expectations, options, run, shard_of, shards};
use sparse_conformance::backend::Portable;
use sparse_conformance::campaign::{Extras, merge};
use sparse_conformance::case::Case;
use sparse_conformance::origin::Origin;
use sparse_conformance::plan::{Options, plan, shard};
use sparse_conformance::report::{MergeError, Report, SlowestCase};
use sparse_oracle::contract::Op;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[test]
fn merged_shards_are_the_unsharded_report() {
    for count in [1, 3] {
        let whole = run(&options(), &Extras::default());
        let mut parts = shards(&options(), count, &Extras::default());
        assert!(parts.iter().all(|(_, part)| part.plan.distinct_cases > 50));
        parts.reverse();
        let merged = merge(parts, &()).expect("all shards");
        assert_same_files(&merged, &whole);
        assert!(whole.sources.iter().any(|s| s.spy.is_some()));
    }
}

#[test]
fn of_all_shards_the_slowest_case_is_kept() {
    let mut parts = shards(&options(), 3, &Extras::default());
    for (number, (_, part)) in parts.iter_mut().enumerate() {
        let slowest = SlowestCase { case: format!("case {number}"), seconds: [2.0, 3.0, 1.0][number] };
        part.timings.slowest.insert("portable".to_owned(), slowest);
    }
    let merged = merge(parts, &()).expect("all shards");
    let kept = SlowestCase { case: "case 1".to_owned(), seconds: 3.0 };
    assert_eq!(merged.timings.slowest, [("portable".to_owned(), kept)].into());
}

#[test]
fn findings_of_expectations_come_back_in_merging() {
    let extras = || Extras { expectations: expectations(), ..Extras::default() };
    // Not filtered, so that stale expectations are findings; small all the same.
    let unfiltered = |mut report: Report| {
        report.plan.filtered = false;
        report.seal();
        report
    };
    let whole = unfiltered(run(&options(), &extras()));
    assert_eq!(whole.findings.len(), 3, "{:?}", whole.findings);
    let parts = shards(&options(), 2, &extras());
    let parts: Vec<_> = parts.into_iter().map(|(path, part)| (path, unfiltered(part))).collect();
    for (_, part) in &parts {
        assert_eq!(part.findings.len(), 1, "a shard decides what its own cases show");
    }
    let merged = merge(parts, &()).expect("all shards");
    assert_eq!(merged.findings, whole.findings);
    assert_same_files(&merged, &whole);
}

/// A plan over one matrix splits too, and a filter moves no case to another shard.
#[test]
fn one_matrix_splits_and_filters_move_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("own.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n2 4 2\n3 2 1\n";
    std::fs::write(&path, text).expect("written");
    let lines = |options: &Options| -> BTreeSet<String> {
        let groups = shard(plan(options, &[&Portable]).groups, options.shard);
        groups.iter().flat_map(|g| &g.cases).map(Case::to_string).collect()
    };
    let all = Options { matrices: vec![Origin::File(path)], ..Options::default() };
    let narrow = Options { ops: vec![Op::Spmm], ..all.clone() };
    let mut found = BTreeSet::new();
    for index in 1..=4 {
        let shard = Some(shard_of(index, 4));
        let of = |options: &Options| lines(&Options { shard, ..options.clone() });
        let (mine, filtered) = (of(&all), of(&narrow));
        assert!(mine.len() > 3, "{} cases", mine.len());
        assert!(filtered.is_subset(&mine));
        found.extend(mine);
    }
    assert_eq!(found, lines(&all));
}

/// A backend that a shard leaves without work is no finding there, and one in the whole report.
#[test]
fn an_idle_backend_in_a_shard_is_none() {
    let idle = || {
        let mut options = options();
        options.contracts = vec!["sddmm.csr.*".to_owned()];
        options
    };
    let whole = run(&idle(), &Extras::default());
    assert_eq!(whole.exit_code(), 1, "sprs has no sampled product");
    let parts = shards(&idle(), 2, &Extras::default());
    assert!(parts.iter().all(|(_, part)| part.exit_code() == 0));
    let merged = merge(parts, &()).expect("all shards");
    assert_eq!(merged.findings, whole.findings);
}

type Parts = Vec<(PathBuf, Report)>;
type Change = fn(&mut Report);

#[test]
fn reports_that_are_not_all_shards_of_one_plan_are_refused() {
    let good = shards(&options(), 3, &Extras::default());
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = good.clone();
        change(&mut parts);
        merge(parts, &()).expect_err("it must be refused")
    };
    assert_eq!(merge(Vec::new(), &()), Err(MergeError::Nothing));
    assert_eq!(with(&|p| drop(p.remove(1))), MergeError::Missing { count: 3, missing: vec![2] });
    assert!(
        matches!(with(&|p| p.push(p[1].clone())), MergeError::Twice { path, .. } if path.ends_with("shard-2"))
    );
    assert!(matches!(
        with(&|p| p[2].1.plan.shard = None),
        MergeError::NotAShard { path } if path.ends_with("shard-3")
    ));
    let differing: [(&str, Change); 6] = [
        ("the seed", |r| r.plan.seed = 4),
        ("the suite's version", |r| r.suite_version = "9".to_owned()),
        ("the list of backends", |r| r.backends[0].version = "9".to_owned()),
        ("the plan", |r| r.plan.digest = "0".to_owned()),
        ("what backends declare", |r| r.backends[0].deviations.clear()),
        ("the list of expectations", |r| r.expectations = expectations()),
    ];
    for (expected, change) in differing {
        // A backend with a deviation to lose.
        let error = with(&|p| {
            for part in p.iter_mut() {
                part.1.backends.rotate_left(1);
            }
            change(&mut p[1].1);
        });
        let MergeError::Different { path, what, .. } = &error else { panic!("{expected}: {error}") };
        assert!(path.ends_with("shard-2") && *what == expected, "{error}");
    }
    assert!(matches!(
        with(&|p| { let moved = p[0].1.cases.remove(0); p[1].1.cases.push(moved); }),
        MergeError::Foreign { path, .. } if path.ends_with("shard-2")
    ));
    assert!(matches!(with(&|p| drop(p[0].1.cases.pop())), MergeError::Incomplete { .. }));
    assert!(matches!(
        with(&|p| p[0].1.sources.iter_mut().for_each(|s| s.rows += 1)),
        MergeError::OtherMatrix { path, .. } if path.ends_with("shard-2")
    ));
}
