//! Cases that could not fail are tagged, and cases at full strength are not.

use Alternative::{SkippedRow, StaleC, Zeros};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::format::{Csr, Dense, Entries, Entry};
use sparse_oracle::judge::{Alternative, Output, Place, Problem, judge_problem, vacuity};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Values;
use sparse_oracle::source::generator::quick_specs;
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::verdict::Verdict;

const F32: Arithmetic = Arithmetic::any(Precision::F32, Precision::F32);

fn sparse(rows: usize, cols: usize, list: &[(u32, u32, f64)]) -> Csr<f64> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value }).collect();
    Csr::from_entries(&Entries::try_new(rows, cols, list).expect("sorted")).expect("small")
}

fn tags(a: &Csr<f64>, b: &[f64], scaling: (f64, f64), c: Option<&[f64]>) -> Vec<Alternative> {
    let n = b.len().checked_div(a.cols).unwrap_or(1);
    let b = Dense::from_fn(a.cols, n, |i, j| b[i * n + j]);
    let before = c.map(|c| Values::from_f64(Precision::F32, c));
    let before = before.as_ref().map(|c| (c.as_slice(), Place::Strides(n, 1)));
    vacuity(&Problem::Spmm { a, pads: None, b: &b.clone().into(), slots: None }, &F32, scaling, before).passes
}

fn diagonal(values: [f64; 2]) -> Csr<f64> {
    sparse(2, 2, &[(0, 0, values[0]), (1, 1, values[1])])
}

#[test]
fn a_strong_case_has_no_tag() {
    assert_eq!(tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (1.0, 0.0), None), []);
    assert_eq!(tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (1.0, 1.0), Some(&[5.0, 6.0])), []);
    assert_eq!(tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (-0.5, 0.25), Some(&[5.0, 6.0])), []);
}

#[test]
fn an_all_zero_matrix_is_tagged() {
    assert_eq!(tags(&diagonal([0.0, 0.0]), &[3.0, 4.0], (1.0, 0.0), None), [Zeros, SkippedRow]);
    assert_eq!(tags(&sparse(2, 2, &[]), &[3.0, 4.0], (1.0, 0.0), None), [Zeros, SkippedRow]);
    assert_eq!(tags(&diagonal([1.0, 1.0]), &[0.0, 0.0], (1.0, 0.0), None), [Zeros, SkippedRow]);
}

#[test]
fn no_elements_at_all_pass_everything() {
    assert_eq!(tags(&sparse(0, 2, &[]), &[3.0, 4.0], (1.0, 0.0), None), Alternative::ALL);
    assert_eq!(tags(&sparse(2, 0, &[]), &[], (1.0, 0.0), None), [Zeros, SkippedRow]);
}

#[test]
fn alpha_zero_is_tagged_by_what_it_cannot_see() {
    // beta = 1: C stays, so stale C is right; the rows of A do not matter.
    let kept = tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (0.0, 1.0), Some(&[5.0, 6.0]));
    assert_eq!(kept, [StaleC, SkippedRow]);
    let scaled = tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (0.0, 2.0), Some(&[5.0, 6.0]));
    assert_eq!(scaled, [SkippedRow]);
    let nothing = tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (0.0, 0.0), None);
    assert_eq!(nothing, [Zeros, SkippedRow]);
}

#[test]
fn sums_that_cancel_are_tagged() {
    let cancelling = sparse(2, 2, &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, 2.0), (1, 1, -2.0)]);
    assert_eq!(tags(&cancelling, &[3.0, 3.0], (1.0, 0.0), None), [Zeros, SkippedRow]);
    // One row that does not cancel: zeros are noticed, but not a skipped row 0.
    assert_eq!(tags(&cancelling, &[3.0, 4.0], (1.0, 0.0), None), []);
    let half = sparse(2, 2, &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, 2.0)]);
    assert_eq!(tags(&half, &[3.0, 3.0], (1.0, 0.0), None), [SkippedRow]);
    // With C beside it, the sum that cancels leaves C as it was.
    assert_eq!(tags(&cancelling, &[3.0, 3.0], (1.0, 1.0), Some(&[5.0, 6.0])), [StaleC, SkippedRow]);
}

#[test]
fn sums_within_the_bound_of_zero_are_tagged() {
    // 2^-30 beside 1 - 1: below the allowance of three terms in f32.
    let tiny = sparse(1, 3, &[(0, 0, 1.0), (0, 1, -1.0), (0, 2, 2.0f64.powi(-30))]);
    assert_eq!(tags(&tiny, &[1.0, 1.0, 1.0], (1.0, 0.0), None), [Zeros, SkippedRow]);
}

#[test]
fn a_row_that_vanishes_beside_c_is_tagged() {
    let a = diagonal([2.0f64.powi(-30), 1.0]);
    assert_eq!(tags(&a, &[1.0, 1.0], (1.0, 1.0), Some(&[1.0, 1.0])), [SkippedRow]);
}

#[test]
fn a_zero_c_with_beta_hides_nothing_else() {
    assert_eq!(tags(&diagonal([1.0, 2.0]), &[3.0, 4.0], (1.0, 1.0), Some(&[0.0, 0.0])), []);
}

#[test]
fn operands_that_do_not_fit_pass_everything() {
    let a = diagonal([1.0, 2.0]);
    let b = Dense::from_fn(3, 1, |_, _| 1.0);
    let vacuous = vacuity(
        &Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None },
        &F32,
        (1.0, 0.0),
        None,
    );
    assert_eq!(vacuous.passes, Alternative::ALL);
}

/// The tags are what they claim: the alternative is built and judged, over every family of matrices.
#[test]
fn zeros_and_stale_c_pass_the_judge_exactly_where_tagged() {
    let (mut tagged, mut strong) = (0, 0);
    let families = [ValueFamily::NearOne, ValueFamily::Cancelling, ValueFamily::Special];
    for spec in (0..2).flat_map(quick_specs) {
        for (family, seed) in families.into_iter().zip(1..) {
            let pattern = spec.generate().expect("quick specs are valid");
            if pattern.nnz() > 2000 {
                continue;
            }
            let values = family.fill(pattern.nnz(), seed, Precision::F32);
            let mut next = values.iter().copied();
            let a = pattern.map(|_| next.next().unwrap_or(0.0));
            let b = family.fill(a.cols, seed + 9, Precision::F32);
            let c = family.fill(a.rows, seed + 10, Precision::F32);
            for scaling in [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (-2.0, 0.5)] {
                let passes = tags(&a, &b, scaling, Some(&c));
                for (alternative, result) in [(Zeros, vec![0.0; a.rows]), (StaleC, c.clone())] {
                    if alternative == StaleC && scaling.1 == 0.0 {
                        continue; // C is poison then, and poison is always noticed.
                    }
                    let accepted = judged_right(&a, &b, scaling, &c, &result);
                    assert_eq!(accepted, passes.contains(&alternative), "{spec} {family} {alternative}");
                    tagged += u32::from(accepted);
                    strong += u32::from(!accepted);
                }
            }
        }
    }
    assert!(tagged > 20 && strong > 100, "{tagged} tagged, {strong} not");
}

fn judged_right(a: &Csr<f64>, b: &[f64], scaling: (f64, f64), c: &[f64], result: &[f64]) -> bool {
    let b = Dense::from_fn(a.cols, 1, |i, _| b[i]);
    let (found, before) = (Values::from_f64(Precision::F32, result), Values::from_f64(Precision::F32, c));
    let place = Place::Strides(1, 1);
    let output = Output {
        found: found.as_slice(),
        place,
        poison: None,
        before: Some(before.as_slice()),
        before_place: place,
    };
    let problem = Problem::Spmm { a, pads: None, b: &b.clone().into(), slots: None };
    let verdict = judge_problem(&problem, &F32, &Profile::default(), scaling, &output).verdict;
    matches!(verdict, Verdict::Exact | Verdict::Within { .. })
}
