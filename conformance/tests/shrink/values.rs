//! Bugs about values: what matters is written out with its entry, everything else becomes plain.

use crate::bugs::{self, Bug, edited, honest};
use crate::minimal::{load, shrunk, size, wrong};
use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::{Case, Filling};
use sparse_conformance::element::{ElementView, look};
use sparse_conformance::operands::build;
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::Sparse;
use sparse_oracle::judge::ElementVerdict;
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Defect;

/// The last of several duplicates wins.
fn last_duplicate_wins(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm { a, transpose_a: false, alpha: 1.0, b, c, beta: 0.0, transpose_b: false } = task else {
        return honest(contract, task);
    };
    let once = bugs::without_duplicates(a);
    honest(
        contract,
        Task::Spmm { a: &once, transpose_a: false, alpha: 1.0, b, c, beta: 0.0, transpose_b: false },
    )
}

#[test]
fn ignored_duplicates_need_one_pair() {
    let line = "spmm.coo.f32_f32_f32_f32/uniform:rows=40,cols=30,density=0.17,seed=1/values=small-int,4/n=17/lb=col/dups";
    let found = shrunk(line, &Bug(last_duplicate_wins), &wrong(Defect::Value));
    assert_eq!(size(&found), (1, 1, 2, 1));
    assert!(!found.minimal.case.params.duplicates, "the pair is spelled out");
}

/// NaN in A counts as 0.
fn swallows_nan(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm { a, transpose_a, alpha, b, c, beta, transpose_b } = task else {
        return honest(contract, task);
    };
    let cleaned = bugs::with_values(a, |v| if v.is_nan() { 0.0 } else { v });
    honest(contract, Task::Spmm { a: &cleaned, transpose_a, alpha, b, c, beta, transpose_b })
}

#[test]
fn a_swallowed_nan_leaves_one_entry() {
    let line = "spmm.csr.f32_f32_f32_f32/uniform:rows=30,cols=30,density=0.33,seed=1/values=special,4/n=5";
    let found = shrunk(line, &Bug(swallows_nan), &wrong(Defect::Value));
    assert_eq!(size(&found), (1, 1, 1, 1));
    assert!(found.minimal.loaded.coo.values[0].is_nan());
    assert!(matches!(found.minimal.case.filling, Filling::Own(0)));
}

/// The values drawn for the first case stay with their entries when they are written out.
#[test]
fn values_that_matter_are_written_out_and_the_others_are_one() {
    fn wrong_at_minus_three(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let hit = match &task {
            Task::Spmm { a, .. } => bugs::holds(a, |v| v == -3.0) && bugs::holds(a, |v| v == 2.0),
            _ => false,
        };
        edited(contract, task, |c| {
            if hit {
                c.data[c.at(0, 0)] += 1.0;
            }
        })
    }
    let line =
        "spmm.csr.f32_f32_f32_f32/uniform:rows=30,cols=30,density=0.33,seed=1/values=signed-zero,4/n=5";
    let found = shrunk(line, &Bug(wrong_at_minus_three), &wrong(Defect::Value));
    let (rows, cols, nnz, n) = size(&found);
    assert!(nnz <= 3 && rows * cols <= 6 && n == 1, "{rows} x {cols}, {nnz}");
    assert!(!matches!(found.minimal.case.filling, Filling::Drawn(ValueFamily::SignedZero, _)));
}

/// Found with values of B that matter in a large B: the reproducer held them all, drawn.
#[test]
fn values_of_b_and_c_that_matter_stay_and_the_others_are_one() {
    fn wrong_at_minus_three(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let holds = |data: &[f32]| data.len() >= 6 && data.contains(&-3.0);
        let hit = match &task {
            Task::Spmm { b, c, .. } => match (b.data, &c.data) {
                (AnySlice::F32(b), AnySliceMut::F32(c)) => holds(b) && holds(c),
                _ => false,
            },
            _ => false,
        };
        edited(contract, task, |c| {
            if hit {
                c.data[c.at(0, 0)] += 1.0;
            }
        })
    }
    let line = "spmm.csr.f32_f32_f32_f32/uniform:rows=20,cols=20,density=0.33,seed=1/values=signed-zero,4/n=5/beta=1";
    let found = shrunk(line, &Bug(wrong_at_minus_three), &wrong(Defect::Value));
    let case = &found.minimal.case;
    let operands = sparse_conformance::operands::build(case, &found.minimal.loaded).expect("operands");
    let b = operands.b.expect("B").data.to_f64();
    // What C holds before is drawn twice, and the finding may need the second.
    let held = |values: &[f64]| -> Vec<f64> { values.iter().copied().filter(|v| *v != 1.0).collect() };
    let of_c = operands.c.each_ref().map(|c| held(c));
    assert_eq!(held(&b), [-3.0], "{case}: B is {b:?}");
    assert!(of_c.contains(&vec![-3.0]), "{case}: C is {:?}", operands.c);
    assert!(of_c.iter().all(|c| c.len() <= 1), "{case}: C is {:?}", operands.c);
    assert!(b.len() < 12 && operands.c[0].len() < 12, "{case}: B is {b:?}, C is {:?}", operands.c);
    let again: Case = case.to_string().parse().expect("the line says it all");
    assert_eq!((again.params.kept_b, again.params.kept_c), (case.params.kept_b, case.params.kept_c));
    assert!(case.params.kept_b.is_some() && case.params.kept_c.is_some(), "{case}");
}

#[test]
fn operands_of_the_bugs_are_what_they_say() {
    let (case, loaded) =
        load("spmm.csr.f32_f32_f32_f32/uniform:rows=3,cols=400,density=0.05,seed=1/values=ones,0");
    let operands = sparse_conformance::operands::build(&case, &loaded).expect("operands");
    let wrapped = bugs::with_columns(&operands.a, |col| col & 0xff);
    let wrapped = sparse_oracle::each_sparse!(&wrapped, m => match m {
        Sparse::Csr(m) => m.col_idx.iter().all(|&c| c < 256),
        _ => false,
    });
    assert!(wrapped);
    let b = operands.b.expect("B");
    assert!(matches!(b.data.as_slice(), AnySlice::F32(_)));
}

/// Story: cuSPARSELt makes -infinity NaN, which a case showed from its second C alone. The report named an element, and `explain`, which
/// looked at the first call, found nothing wrong with it.
#[test]
fn what_is_wrong_from_the_second_c_alone_is_said_to_be_and_is_looked_at() {
    fn wrong_from_a_negative_c(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        edited(contract, task, |c| {
            if c.was(0, 0) < 0.0 {
                c.data[c.at(0, 0)] += 64.0;
            }
        })
    }
    let line = |seed| {
        format!("spmm.csr.f32_f32_f32_f32/dense:rows=2,cols=2,seed=1/values=small-int,{seed}/n=2/beta=1")
    };
    let starts = |seed| {
        let (case, loaded) = load(&line(seed));
        build(&case, &loaded).expect("operands").c.each_ref().map(|c| c[0])
    };
    let later = (1..100).find(|&seed| matches!(starts(seed), [a, b] if a > 0.0 && b < 0.0));
    let at_once = (1..100).find(|&seed| matches!(starts(seed), [a, _] if a < 0.0));
    for (seed, is_second) in [(later.expect("a seed"), true), (at_once.expect("a seed"), false)] {
        let (case, loaded) = load(&line(seed));
        let bug: Box<dyn Backend> = Box::new(Bug(wrong_from_a_negative_c));
        let Support::Supported { arithmetic, profile } = bug.support(&case.contract, &case.params) else {
            panic!("the portable kernels have {}", case.contract);
        };
        let operands = build(&case, &loaded).expect("operands");
        let view = ElementView { arithmetic: &arithmetic, profile: &profile, backend: Some(&*bug) };
        let element = look(&case, &operands, view, None).expect("an element");
        assert_eq!((element.at, element.is_second, element.c < 0.0), ((0, 0), is_second, true));
        let VerdictRecord::Wrong(said) = run_case(&case, &loaded, &[bug]).records.remove(0).verdict else {
            panic!("64 too many");
        };
        let call = "in a second call, from another C (nothing was found in the first): element (0, 0): ";
        let expected = if is_second { call } else { "element (0, 0): " };
        assert!(said.message.starts_with(expected), "{}", said.message);
    }
}

/// A new user met two shares in one `explain`: that of the verdict was of the second call, and that of the element of the first.
#[test]
fn the_element_that_is_shown_has_the_share_of_the_verdict() {
    let mut second = 0;
    for seed in 1..=20 {
        let line =
            format!("spmm.csr.f32_f32_f32_f32/dense:rows=3,cols=40,seed=1/values=near-one,{seed}/n=3/beta=1");
        let (case, loaded) = load(&line);
        let honest: Box<dyn Backend> = Box::new(Portable);
        let Support::Supported { arithmetic, profile } = honest.support(&case.contract, &case.params) else {
            panic!("the portable kernels have {}", case.contract);
        };
        let operands = build(&case, &loaded).expect("operands");
        let view = ElementView { arithmetic: &arithmetic, profile: &profile, backend: Some(&*honest) };
        let element = look(&case, &operands, view, None).expect("an element");
        let VerdictRecord::Within { share } = run_case(&case, &loaded, &[honest]).records.remove(0).verdict
        else {
            panic!("{line}: forty terms near one are rounded");
        };
        let ElementVerdict::Within(shown) = element.accepted.judge(element.found) else {
            panic!("{line}: the element is not the worst");
        };
        assert!(
            (share - shown).abs() <= 1e-4 * shown,
            "{line}: {share} of the verdict, {shown} of the element"
        );
        second += usize::from(element.is_second);
    }
    assert!(second > 0, "one of twenty is worst in the second call");
}
