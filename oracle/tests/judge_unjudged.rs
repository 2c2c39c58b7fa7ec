//! What a review found: results that no tier could judge were reported as within their bound.

use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use sparse_oracle::format::Dense;
use sparse_oracle::judge::{Output, Place, Problem, judge_problem};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Precision, Values};
use sparse_oracle::verdict::{Criterion, Verdict};

/// One dot product of `terms` f16 numbers that do not sum exactly, and a result of zero.
fn verdict_on_zero(terms: usize, arithmetic: &Arithmetic) -> (Verdict, Vec<Criterion>) {
    let row = |seed: usize| Dense::from_fn(1, terms, |_, k| 1.0 + ((k * 37 + seed) % 1024) as f64 / 1024.0);
    let (x, y) = (row(1), row(2));
    let problem = Problem::Sddmm { positions: &[(0, 0)], x: &x, y: &y, factors: &[] };
    let found = Values::from_f64(Precision::F16, &[0.0]);
    let output = Output {
        found: found.as_slice(),
        place: Place::Visited,
        poison: None,
        before: None,
        before_place: Place::Visited,
    };
    let judged = judge_problem(&problem, arithmetic, &Profile::default(), (1.0, 0.0), &output);
    (judged.verdict, judged.tiers)
}

#[test]
fn a_result_that_nothing_is_promised_about_is_not_run_rather_than_within() {
    let free = Arithmetic::any(Precision::F16, Precision::F16);
    let (verdict, tiers) = verdict_on_zero(3000, &free);
    assert!(matches!(verdict, Verdict::NotRun { .. }), "{verdict:?}");
    assert_eq!(tiers, []);
    let (verdict, tiers) = verdict_on_zero(30, &free);
    assert!(matches!(verdict, Verdict::Wrong(_)), "{verdict:?}");
    assert_eq!(tiers, [Criterion::T1]);
    // A fixed order still has its model.
    let chain = Arithmetic::chain(Reduction::MulAddChain, Precision::F16, Precision::F16);
    let (verdict, tiers) = verdict_on_zero(3000, &chain);
    assert!(matches!(verdict, Verdict::Wrong(_)), "{verdict:?}");
    assert_eq!(tiers, [Criterion::T2]);
}

#[test]
fn a_declaration_at_odds_with_itself_is_named() {
    let plain = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    let mut twice = plain;
    twice.part_mut().init = Init::C;
    let mut none = plain;
    none.epilogue = Epilogue::None;
    assert_eq!(plain.contradiction(2.0, 3.0), None);
    assert_eq!(plain.epilogue(Epilogue::AlphaIntoA).contradiction(2.0, 3.0), None);
    assert!(twice.contradiction(1.0, 1.0).is_some());
    assert!(none.contradiction(2.0, 0.0).is_some());
    assert!(none.contradiction(1.0, 1.0).is_some());
    assert_eq!(none.contradiction(1.0, 0.0), None);
}
