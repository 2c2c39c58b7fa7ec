//! Multiplied pads: where one faces a NaN or an infinity, NaN is right besides the value (T1) or pinned (T2); nowhere
//! else, and never for a kernel that skips pads.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Along, Arithmetic, Epilogue, Flush, Reduction};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnySparse, Csr, Dense, Entries, Entry, FormatKind, FormatParams, Layout, Sparse,
};
use sparse_oracle::judge::{ElementVerdict, Found, Output, Place, Problem, Rule};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::AnySlice;
use sparse_oracle::task::{DenseRef, Inputs};
use sparse_oracle::verdict::Criterion;

/// One block of 1 x 3: the middle slot holds 2, the others are pads. B's columns: finite; NaN, Inf beside the entry;
/// Inf at the entry.
fn verdict(
    arithmetic: &Arithmetic,
    scaling: (f64, f64),
    pads: bool,
    column: usize,
    y: f32,
) -> ElementVerdict {
    verdict_by(&Profile::default(), arithmetic, scaling, pads, (column, y))
}

/// The same by a profile.
fn verdict_by(
    profile: &Profile,
    arithmetic: &Arithmetic,
    scaling: (f64, f64),
    pads: bool,
    (column, y): (usize, f32),
) -> ElementVerdict {
    let a = Entries::try_new(1, 3, vec![Entry { row: 0, col: 1, value: 2.0 }]).expect("sorted");
    let a = Csr::from_entries(&a).expect("small");
    let pad = |col| Entry { row: 0, col, value: () };
    let slots = Entries::try_new(1, 3, vec![pad(0), pad(2)]).expect("sorted");
    let slots = Csr::from_entries(&slots).expect("small");
    let inf = f64::INFINITY;
    let b = Dense::from_fn(3, 4, |k, j| {
        [[1.0, f64::NAN, 1.0, 1.0], [3.0, 3.0, 3.0, inf], [1.0, 1.0, -inf, f64::NAN]][k][j]
    });
    let problem = Problem::Spmm { a: &a, pads: pads.then_some(&slots), b: &b.clone().into(), slots: None };
    let mut rule = Rule::new(arithmetic, profile, scaling.0, scaling.1, problem.b_max());
    let mut verdict = None;
    let visited = problem.for_each(&mut |site| {
        if site.at.1 == column {
            verdict = Some(rule.accepts(site, 5.0).judge(u64::from(y.to_bits())));
        }
    });
    visited.expect("the operands fit");
    verdict.expect("four columns")
}

const ANY: Arithmetic = Arithmetic::any(Precision::F32, Precision::F32);
const CHAIN: Arithmetic = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);

#[test]
fn where_a_pad_faces_nan_or_infinity_both_answers_are_right() {
    let padded = ANY.multiplies_pads();
    for column in [1, 2] {
        assert_eq!(verdict(&padded, (1.0, 0.0), true, column, f32::NAN), ElementVerdict::Exact);
        assert_eq!(verdict(&padded, (1.0, 0.0), true, column, 6.0), ElementVerdict::Exact);
        for y in [0.0, f32::INFINITY, 6.000_001] {
            assert!(
                matches!(verdict(&padded, (1.0, 0.0), true, column, y), ElementVerdict::Wrong(..)),
                "{y}"
            );
        }
    }
    // An infinite value beside a poisoned pad: NaN or that infinity.
    assert_eq!(verdict(&padded, (1.0, 0.0), true, 3, f32::NAN), ElementVerdict::Exact);
    assert_eq!(verdict(&padded, (1.0, 0.0), true, 3, f32::INFINITY), ElementVerdict::Exact);
    assert!(matches!(verdict(&padded, (1.0, 0.0), true, 3, f32::NEG_INFINITY), ElementVerdict::Wrong(..)));
}

#[test]
fn a_pad_that_faces_a_number_changes_nothing() {
    let padded = ANY.multiplies_pads();
    assert_eq!(verdict(&padded, (1.0, 0.0), true, 0, 6.0), ElementVerdict::Exact);
    assert!(matches!(
        verdict(&padded, (1.0, 0.0), true, 0, f32::NAN),
        ElementVerdict::Wrong(Criterion::T1, _)
    ));
}

#[test]
fn a_declared_chain_pins_what_a_pad_does() {
    let padded = CHAIN.multiplies_pads();
    assert_eq!(verdict(&padded, (1.0, 0.0), true, 1, f32::NAN), ElementVerdict::Exact);
    assert!(matches!(verdict(&padded, (1.0, 0.0), true, 1, 6.0), ElementVerdict::Wrong(Criterion::T2, _)));
    assert_eq!(verdict(&padded, (1.0, 0.0), true, 0, 6.0), ElementVerdict::Exact);
}

#[test]
fn skipped_pads_face_nothing() {
    for declared in [ANY, CHAIN] {
        for column in [0, 1, 2] {
            assert_eq!(verdict(&declared, (1.0, 0.0), false, column, 6.0), ElementVerdict::Exact);
            assert!(matches!(
                verdict(&declared, (1.0, 0.0), false, column, f32::NAN),
                ElementVerdict::Wrong(..)
            ));
        }
    }
}

/// Found when pairs of declarations were judged: 0 times the NaN that a pad made reaches C too.
#[test]
fn where_alpha_zero_reads_a_and_b_it_reads_the_pads() {
    let reads = Profile::default().with(Choice::Alpha0ReadsAb, "test");
    for declared in [ANY.multiplies_pads(), CHAIN.multiplies_pads()] {
        let of = |column, y| verdict_by(&reads, &declared, (0.0, 1.0), true, (column, y));
        assert_eq!(of(1, f32::NAN), ElementVerdict::Exact);
        assert!(matches!(of(0, f32::NAN), ElementVerdict::Wrong(..)));
        assert_eq!(of(0, 5.0), ElementVerdict::Exact);
    }
}

#[test]
fn alpha_zero_multiplies_no_pad() {
    for declared in [ANY.multiplies_pads(), CHAIN.multiplies_pads()] {
        assert_eq!(verdict(&declared, (0.0, 1.0), true, 1, 5.0), ElementVerdict::Exact);
        assert!(matches!(verdict(&declared, (0.0, 1.0), true, 1, f32::NAN), ElementVerdict::Wrong(..)));
    }
}

/// Story: a kernel on blocks that cut its terms, pads among them, into ranges was judged with the pads counted where its bits were fixed, and
/// without them where it declared to flush besides: 5 additions were allowed where 8 are done, and the same bits were right and wrong.
#[test]
fn pads_are_counted_in_ranges_whether_anything_is_flushed_or_not() {
    let tiny = 2.0f32.powi(-24);
    // Blocks of 1 x 4, one entry each: eight ranges of one product.
    let list = (0..8).map(|k| Entry { row: 0, col: 4 * k, value: if k == 0 { 1.0 } else { tiny } }).collect();
    let entries = Entries::try_new(1, 32, list).expect("sorted");
    let a: AnySparse =
        Sparse::from_entries(FormatKind::Bcsr, FormatParams::blocks(1, 4), &entries).expect("small").into();
    let ones = vec![1.0f32; 32];
    let b = DenseRef { rows: 32, cols: 1, ld: 1, layout: Layout::RowMajor, data: AnySlice::F32(&ones) };
    let inputs = Inputs { b: Some(b), ..Inputs::plain(Op::Spmm, &a) };
    let chain = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32).multiplies_pads();
    for along in [Along::TwoPass { blocks: 4 }, Along::SplitK { parts: 8 }] {
        let declared = chain.along(along);
        let verdicts = [declared, declared.flushes(Flush::inputs(Precision::F32))].map(|arithmetic| {
            let result = [1.0f32];
            let found = Output {
                found: AnySlice::F32(&result),
                place: Place::Strides(1, 1),
                poison: None,
                before: None,
                before_place: Place::Strides(1, 1),
            };
            sparse_oracle::judge(&inputs, (&arithmetic, &Profile::default()), Found::Dense(found)).verdict
        });
        assert!(verdicts.iter().all(|verdict| !verdict.is_finding()), "{along:?}: {verdicts:?}");
    }
}

/// Story: MKL's BSR kernel folds alpha into B and multiplies pads. Its NaN in a row of pads, where `alpha * b` overflows, was a finding: pads
/// that face a finite b were left out.
#[test]
fn a_pad_that_faces_an_overflow_of_alpha_times_b_may_be_nan() {
    // One block of 1 x 2: the first slot holds 1, the other is a pad.
    let entries = Entries::try_new(1, 2, vec![Entry { row: 0, col: 0, value: 1.0f32 }]).expect("sorted");
    let a: AnySparse =
        Sparse::from_entries(FormatKind::Bcsr, FormatParams::blocks(1, 2), &entries).expect("small").into();
    let any = ANY.multiplies_pads();
    for (largest, nan_is_right) in [(3e38f32, true), (3e37, false)] {
        let b = [5.0, largest];
        let b = DenseRef { rows: 2, cols: 1, ld: 1, layout: Layout::RowMajor, data: AnySlice::F32(&b) };
        let inputs = Inputs { b: Some(b), alpha: 2.0, ..Inputs::plain(Op::Spmm, &a) };
        let is_right = |epilogue, y: f32| {
            let found = [y];
            let found = Output {
                found: AnySlice::F32(&found),
                place: Place::Strides(1, 1),
                poison: None,
                before: None,
                before_place: Place::Strides(1, 1),
            };
            let declared = any.epilogue(epilogue);
            let judged = sparse_oracle::judge(&inputs, (&declared, &Profile::default()), Found::Dense(found));
            !judged.verdict.is_finding()
        };
        assert!(is_right(Epilogue::AlphaIntoB, 10.0) && !is_right(Epilogue::AlphaIntoB, 11.0), "{largest}");
        assert_eq!(is_right(Epilogue::AlphaIntoB, f32::NAN), nan_is_right, "{largest}");
        assert!(!is_right(Epilogue::AlphaIntoA, f32::NAN), "{largest}");
    }
}
