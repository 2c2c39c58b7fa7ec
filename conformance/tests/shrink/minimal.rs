//! Known bugs shrink to their known minimal case, for the same reason, in few candidates, the same way every time.

use crate::bugs::{self, Bug, Edited, edited, honest};
use sparse_conformance::backend::{Backend, Failure};
use sparse_conformance::case::Case;
use sparse_conformance::origin::Loaded;
use sparse_conformance::runner::run_case;
use sparse_conformance::shrink::{Reason, ShrinkBudget, ShrinkOutcome, Shrunk, shrink};
use sparse_oracle::contract::Contract;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};
use std::sync::atomic::{AtomicUsize, Ordering};

/// No clock: what is found must not depend on the machine.
const BUDGET: ShrinkBudget = ShrinkBudget { candidates: 4000, time: None };

pub(crate) fn load(line: &str) -> (Case, Loaded) {
    let case: Case = line.parse().expect("a case line");
    let loaded = case.origin.load().expect("a matrix");
    (case, loaded)
}

pub(crate) fn wrong(defect: Defect) -> Reason {
    let mismatch = Mismatch::plain(defect, String::new());
    Reason::of(&Verdict::Wrong(Box::new(mismatch))).expect("a finding")
}

pub(crate) fn shrunk(line: &str, backend: &dyn Backend, reason: &Reason) -> Shrunk {
    let (case, loaded) = load(line);
    match shrink(&case, &loaded, backend, reason, BUDGET, &|_, _| ()) {
        ShrinkOutcome::Shrunk(shrunk) => {
            assert!(!shrunk.unfinished, "{line}: {} candidates", shrunk.tried);
            assert_eq!(Reason::of(&shrunk.verdict).as_ref(), Some(reason));
            *shrunk
        }
        other => panic!("{line}: {other:?}"),
    }
}

/// Rows, columns, entries, n.
pub(crate) fn size(shrunk: &Shrunk) -> (usize, usize, usize, usize) {
    let coo = &shrunk.minimal.loaded.coo;
    (coo.rows, coo.cols, coo.nnz(), shrunk.minimal.case.params.n)
}

/// A case with everything away from its default.
const BUSY: &str = "spmm.csr.f32_f32_f32_f32/uniform:rows=60,cols=50,density=0.3,seed=3/values=small-int,9/n=33/alpha=-2/beta=0.5/tb/lb=col/lc=col/ldb=+3/ldc=+2";

fn last_row_unwritten(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    edited(contract, task, |c| {
        for j in 0..c.cols {
            c.restore(c.rows - 1, j);
        }
    })
}

#[test]
fn an_unwritten_last_row_needs_one_row() {
    let found = shrunk(
        "spmm.csr.f32_f32_f32_f32/rmat:scale=6,seed=3/values=wide,9/n=33/tb/lc=col/ldb=+3/ldc=+2",
        &Bug(last_row_unwritten),
        &wrong(Defect::Unwritten),
    );
    let (rows, cols, nnz, n) = size(&found);
    assert_eq!((rows, cols, n), (1, 1, 1));
    assert!(nnz <= 1);
    let line = found.minimal.case.to_string();
    assert!(line.ends_with("/values=ones,0/n=1"), "{line}");
    assert!(found.tried < 60, "{} candidates", found.tried);
}

/// The last row is computed from the row before.
fn last_row_copied(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    edited(contract, task, |c| {
        for j in 0..c.cols {
            if c.rows > 1 {
                c.data[c.at(c.rows - 1, j)] = c.data[c.at(c.rows - 2, j)];
            }
        }
    })
}

#[test]
fn an_off_by_one_in_the_last_row_needs_two_rows_and_every_parameter_goes() {
    let found = shrunk(BUSY, &Bug(last_row_copied), &wrong(Defect::Value));
    assert_eq!(size(&found), (2, 1, 1, 1));
    let line = found.minimal.case.to_string();
    assert!(line.ends_with("/values=ones,0/n=1"), "{line}");
}

/// Columns behind the last full group of eight are not computed once there is a full one.
fn drops_tail(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    edited(contract, task, |c| {
        for i in 0..c.rows {
            for j in (c.cols - c.cols % 8)..c.cols {
                if c.cols > 8 {
                    c.data[c.at(i, j)] = 0.0;
                }
            }
        }
    })
}

#[test]
fn a_dropped_tail_needs_the_smallest_n_with_one() {
    let found = shrunk(BUSY, &Bug(drops_tail), &wrong(Defect::Value));
    assert_eq!(size(&found), (1, 1, 1, 9));
}

/// Column numbers kept in 8 bits.
fn wraps_at_256(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm { a, transpose_a, alpha, b, c, beta, transpose_b } = task else {
        return honest(contract, task);
    };
    let wrapped = bugs::with_columns(a, |col| col & 0xff);
    honest(contract, Task::Spmm { a: &wrapped, transpose_a, alpha, b, c, beta, transpose_b })
}

#[test]
fn a_column_number_that_wraps_needs_257_columns() {
    let line =
        "spmm.csr.f32_f32_f32_f32/uniform:rows=20,cols=700,density=0.03,seed=1/values=near-one,4/n=9/beta=1";
    let found = shrunk(line, &Bug(wraps_at_256), &wrong(Defect::Value));
    assert_eq!(size(&found), (1, 257, 1, 1));
}

/// Two bugs: few rows crash, many rows are wrong.
fn wrong_or_crash(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    edited(contract, task, |c| {
        assert!(c.rows > 4, "needs five rows, not {}", c.rows);
        c.data[c.at(0, 0)] += 1.0;
    })
}

#[test]
fn a_search_never_ends_at_another_reason() {
    let found = shrunk(BUSY, &Bug(wrong_or_crash), &wrong(Defect::Value));
    assert_eq!(size(&found).0, 5);
    let line = "spmm.csr.f32_f32_f32_f32/uniform:rows=4,cols=9,density=0.34,seed=1/values=ones,0";
    let message = "needs five rows, not 4".to_owned();
    let crash = Reason::of(&Verdict::Crashed { message }).expect("a finding");
    // The same panic with another number in its text is the same crash.
    assert_eq!(size(&shrunk(line, &Bug(wrong_or_crash), &crash)), (1, 1, 0, 1));
}

fn hangs_on_three_entries(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    if let Task::Spmv { a, .. } = &task
        && a.nnz() >= 3
    {
        return Err(Failure::TimedOut { seconds: 1.0, idle: false, tail: String::new() });
    }
    honest(contract, task)
}

#[test]
fn hangs_shrink_like_anything_else() {
    let line = "spmv.csc.f32_f32_f32_f32/rmat:scale=7,seed=2/values=huge,1/ta/beta=2";
    let verdict = Verdict::TimedOut { seconds: 5.0, idle: true, call: None, tail: Some("words".to_owned()) };
    let found = shrunk(line, &Bug(hangs_on_three_entries), &Reason::of(&verdict).expect("a finding"));
    let (rows, cols, nnz, _) = size(&found);
    assert!(nnz == 3 && rows * cols == 3, "{rows} x {cols}, {nnz}");
}

fn refuses_alpha(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    match &task {
        Task::Spmm { alpha, .. } if *alpha != 1.0 => Err(format!("alpha is {alpha}, not 1").into()),
        _ => honest(contract, task),
    }
}

#[test]
fn a_refusal_keeps_what_is_refused_and_nothing_else() {
    let refusal = "alpha is -2, not 1".to_owned();
    let reason = Reason::of(&Verdict::LoneRefusal { refusal }).expect("a finding");
    let found = shrunk(BUSY, &Bug(refuses_alpha), &reason);
    let line = found.minimal.case.to_string();
    assert!(line.ends_with("/values=ones,0/n=1/alpha=-2"), "{line}");
}

fn refuses_four_rows(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    match &task {
        Task::Convert { a, .. } if a.shape().0 >= 4 => Err("too many rows".into()),
        _ => honest(contract, task),
    }
}

/// Matrices that do not have the pattern, and shapes that the format does not hold, are candidates that do not count.
#[test]
fn structured_formats_shrink_within_their_pattern() {
    let line = "convert.csr.nm.f32/uniform:rows=40,cols=48,density=0.16,seed=1/values=wide,4/nm_m=8/nm_l=2";
    let refusal = "too many rows".to_owned();
    let reason = Reason::of(&Verdict::LoneRefusal { refusal }).expect("a finding");
    let found = shrunk(line, &Bug(refuses_four_rows), &reason);
    assert_eq!(size(&found).0, 4);
    assert!(!found.minimal.case.to_string().contains("nm_"), "{}", found.minimal.case);
}

/// A block parameter that matters stays, as small as it may be.
fn wrong_from_five_rows_a_block(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let blocks = match &task {
        Task::Spmm { a, .. } => bugs::block_shape(a),
        _ => (0, 0),
    };
    edited(contract, task, |c| {
        if blocks.0 > 4 {
            c.data[c.at(0, 0)] += 1.0;
        }
    })
}

#[test]
fn a_parameter_that_matters_becomes_the_smallest_that_fails() {
    let line = "spmm.bcsr.f32_f32_f32_f32/uniform:rows=40,cols=48,density=0.16,seed=1/values=small-int,4/block=16x16";
    let found = shrunk(line, &Bug(wrong_from_five_rows_a_block), &wrong(Defect::Value));
    let blocks = found.minimal.case.params.blocks;
    assert_eq!((blocks.block_rows, blocks.block_cols), (5, 4));
}

#[test]
fn the_same_search_ends_at_the_same_case() {
    for bug in [Bug(last_row_copied), Bug(drops_tail)] {
        let [a, b] = [(); 2].map(|()| shrunk(BUSY, &bug, &wrong(Defect::Value)));
        assert_eq!(a.minimal.case, b.minimal.case);
        assert_eq!(a.minimal.loaded.coo, b.minimal.loaded.coo);
        assert_eq!(a.tried, b.tried);
    }
}

/// Counts runs: a candidate is one run of a case that reads no C, or two where what the output holds is varied.
#[test]
fn a_budget_of_candidates_is_kept_and_what_was_found_so_far_fails_too() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    fn counted(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        RUNS.fetch_add(1, Ordering::Relaxed);
        wraps_at_256(contract, task)
    }
    let line = "spmm.csr.f32_f32_f32_f32/uniform:rows=20,cols=700,density=0.03,seed=1/values=near-one,4/n=9";
    let (case, loaded) = load(line);
    let reason = wrong(Defect::Value);
    let mut before = usize::MAX;
    for candidates in [0, 10, 40, 100] {
        RUNS.store(0, Ordering::Relaxed);
        let budget = ShrinkBudget { candidates, time: None };
        let ShrinkOutcome::Shrunk(found) = shrink(&case, &loaded, &Bug(counted), &reason, budget, &|_, _| ())
        else {
            panic!("{line} fails every time");
        };
        assert!(found.unfinished && found.tried == candidates);
        assert!(RUNS.load(Ordering::Relaxed) <= 2 * (candidates + 1));
        let (rows, cols, nnz, n) = size(&found);
        let now = rows + cols + nnz + n;
        assert!(now <= before, "{now} after {before}");
        before = now;
        let backends: Vec<Box<dyn Backend>> = vec![Box::new(Bug(wraps_at_256))];
        let again = run_case(&found.minimal.case, &found.minimal.loaded, &backends);
        assert!(again.records[0].verdict.is_finding());
    }
}

#[test]
fn a_failure_that_comes_and_goes_is_counted_and_not_shrunk() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    fn sometimes(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let fails = RUNS.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        edited(contract, task, |c: &mut Edited<'_>| {
            if fails {
                c.data[c.at(0, 0)] += 1.0;
            }
        })
    }
    let (case, loaded) = load("spmm.csr.f32_f32_f32_f32/rmat:scale=4,seed=3/values=ones,1");
    let outcome = shrink(&case, &loaded, &Bug(sometimes), &wrong(Defect::Value), BUDGET, &|_, _| ());
    let ShrinkOutcome::Flaky { seen, runs } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((seen, runs), (1, 5));
}
