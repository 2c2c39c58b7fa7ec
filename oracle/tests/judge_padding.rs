//! Multiplied pads: where one faces a NaN or an infinity, NaN is right besides the value (T1) or pinned (T2); nowhere
//! else, and never for a kernel that skips pads.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::format::{Csr, Dense, Entries, Entry};
use sparse_oracle::judge::{ElementVerdict, Problem, Rule};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
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
