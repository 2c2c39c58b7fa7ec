//! `sparse_oracle::judge`: a task as it stands, judged; and operands and results of wrong sizes, which must never make it panic.

use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::judge::{Found, Output, Place};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{AnySlice, Precision};
use sparse_oracle::task::{DenseRef, Inputs, RawSparse, SddmmMode};
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};

/// 2 x 3: (1 . 2) and (. 3 .), in a format of one's choice.
fn matrix(kind: FormatKind) -> AnySparse {
    let list = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)];
    let list = list.map(|(row, col, value)| Entry { row, col, value }).to_vec();
    let entries = Entries { rows: 2, cols: 3, list };
    AnySparse::from(Sparse::<f32>::from_entries(kind, FormatParams::DEFAULT, &entries).expect("small"))
}

fn verdict(task: &Inputs<'_>, found: Found<'_>) -> Verdict {
    let f32s = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    sparse_oracle::judge(task, (&f32s, &Profile::default()), found).verdict
}

fn dense(rows: usize, cols: usize, ld: usize, layout: Layout, data: &[f32]) -> DenseRef<'_> {
    DenseRef { rows, cols, ld, layout, data: AnySlice::F32(data) }
}

fn defect(verdict: &Verdict) -> Option<Defect> {
    if let Verdict::Wrong(mismatch) = verdict { Some(mismatch.defect) } else { None }
}

#[test]
fn layouts_transposes_and_what_c_held_are_read_as_the_task_says() {
    let a = matrix(FormatKind::BlockedEll);
    // B^T stored column by column with a gap: op(B) is 3 x 2 with rows (1 2), (3 4), (5 6).
    let stored = [1.0f32, 2.0, f32::NAN, 3.0, 4.0, f32::NAN, 5.0, 6.0];
    let b = dense(2, 3, 3, Layout::ColMajor, &stored);
    let b = Some(b);
    let task = Inputs { b, transpose_b: true, alpha: 2.0, beta: -1.0, ..Inputs::plain(Op::Spmm, &a) };
    // 2 * (11 14; 9 12) - (1 2; 3 4), C held column by column with a gap.
    let before = [1.0f32, 3.0, 0.0, 2.0, 4.0, 0.0];
    let place = Place::Strides(1, 3);
    let output = |found| {
        Found::Dense(Output {
            found: AnySlice::F32(found),
            place,
            poison: None,
            before: Some(AnySlice::F32(&before)),
            before_place: place,
        })
    };
    assert_eq!(verdict(&task, output(&[21.0, 15.0, 0.0, 26.0, 20.0, 0.0])), Verdict::Exact);
    let Verdict::Wrong(mismatch) = verdict(&task, output(&[21.0, 15.0, 0.0, 26.0, 21.0, 0.0])) else {
        panic!("one element is one too large");
    };
    assert_eq!(mismatch.at, Some((1, 1)));

    // A^T * (1, 10) and the values of an SDDMM, one for each stored position.
    let b = Some(DenseRef::column(AnySlice::F32(&[1.0, 10.0])));
    let task = Inputs { b, transpose_a: true, ..Inputs::plain(Op::Spmv, &a) };
    let y = |found| verdict(&task, Found::row_major(AnySlice::F32(found), 1));
    assert_eq!(y(&[1.0, 30.0, 2.0]), Verdict::Exact);
    assert_eq!(defect(&y(&[1.0, 3.0, 2.0])), Some(Defect::Value));
    let s = matrix(FormatKind::Csr);
    let b = Some(dense(2, 1, 1, Layout::RowMajor, &[1.0, 10.0]));
    let y = Some(dense(3, 1, 1, Layout::RowMajor, &[1.0, 2.0, 3.0]));
    let task = Inputs { b, y, mode: SddmmMode::Scale, ..Inputs::plain(Op::Sddmm, &s) };
    assert_eq!(verdict(&task, Found::row_major(AnySlice::F32(&[1.0, 6.0, 60.0]), 1)), Verdict::Exact);

    // Found by a reader: wrong ones of its three stored positions were in "rows 1 to 2 of 2 and column 0 of 3", S being 2 x 3.
    let wrong = verdict(&task, Found::row_major(AnySlice::F32(&[1.0, 7.0, 70.0]), 1));
    let Verdict::Wrong(Mismatch { at: Some((1, 0)), elements: Some(elements), .. }) = wrong.map_wrong(|m| *m)
    else {
        panic!("two are wrong");
    };
    assert_eq!((elements.shape, elements.rows.first, elements.rows.last), ((3, 1), 1, 2));
}

/// A user's kernel that wrote nothing was told of wrong elements wherever beta is not 0, and had to find out alone that C had stayed as it was.
#[test]
fn a_result_that_is_what_c_held_is_said_to_be() {
    let a = matrix(FormatKind::Csr);
    let b = Some(dense(3, 1, 1, Layout::RowMajor, &[1.0, 2.0, 3.0]));
    // 2 * (7; 6) - (1; 3), and 0 * (7; 6) + (1; 3), which is what C held.
    let task = |alpha, beta| Inputs { b, alpha, beta, ..Inputs::plain(Op::Spmv, &a) };
    let said = |task: &Inputs<'_>, found: &[f32]| {
        let before = Some(AnySlice::F32(&[1.0, 3.0]));
        let (place, before_place) = (Place::Strides(2, 1), Place::Strides(1, 1));
        match verdict(
            task,
            Found::Dense(Output { found: AnySlice::F32(found), place, poison: None, before, before_place }),
        ) {
            Verdict::Wrong(mismatch) => mismatch.message,
            other => format!("{other:?}"),
        }
    };
    let as_before =
        "every element is what C held before the call, as where nothing is written: element (0, 0): ";
    let untouched = said(&task(2.0, -1.0), &[1.0, 0.0, 3.0]);
    assert!(untouched.starts_with(as_before), "{untouched}");
    let half = said(&task(2.0, -1.0), &[13.0, 0.0, 3.0]);
    assert!(half.starts_with("element (1, 0): "), "{half}");
    assert_eq!(said(&task(0.0, 1.0), &[1.0, 0.0, 3.0]), "Exact");

    // What an SDDMM adds to is S: a result of S alone was written.
    let [b, y] = [dense(2, 1, 1, Layout::RowMajor, &[1.0, 2.0]), dense(3, 1, 1, Layout::RowMajor, &[1.0; 3])];
    let task =
        Inputs { b: Some(b), y: Some(y), mode: SddmmMode::AddS, beta: 1.0, ..Inputs::plain(Op::Sddmm, &a) };
    let s = Some(AnySlice::F32(&[1.0, 2.0, 3.0]));
    let place = Place::Visited;
    let found = AnySlice::F32(&[1.0, 2.0, 3.0]);
    let Verdict::Wrong(mismatch) =
        verdict(&task, Found::Dense(Output { found, place, poison: None, before: s, before_place: place }))
    else {
        panic!("products of 1 and 2 are missing");
    };
    assert!(mismatch.message.starts_with("element (0, 0): "), "{}", mismatch.message);
}

#[test]
fn sparse_results_are_judged_by_pattern_and_bits() {
    let a = matrix(FormatKind::Csr);
    let right = RawSparse::of(matrix(FormatKind::Csc));
    let task = Inputs { to: Some(FormatKind::Csc), ..Inputs::plain(Op::Convert, &a) };
    assert_eq!(verdict(&task, Found::Sparse(right.clone())), Verdict::Exact);
    let mut wrong = right;
    wrong.indices.swap(0, 1);
    assert!(defect(&verdict(&task, Found::Sparse(wrong))).is_some());
    let other = verdict(&task, Found::row_major(AnySlice::F32(&[1.0; 6]), 3));
    assert_eq!(defect(&other), Some(Defect::Shape), "a conversion has no dense result");

    // Row 0 has two entries in three columns: no 2:4 pattern is broken; 1:4 is.
    let params = FormatParams { n: 1, m: 4, ..FormatParams::DEFAULT };
    let task = Inputs { to: Some(FormatKind::Nm), params, ..Inputs::plain(Op::Convert, &a) };
    let held = verdict(&task, Found::Sparse(RawSparse::of(matrix(FormatKind::Csr))));
    assert!(matches!(held, Verdict::LoneAcceptance { .. } | Verdict::Wrong(_)), "{held:?}");
}

#[test]
fn what_does_not_fit_is_said_and_never_a_panic() {
    let a = matrix(FormatKind::Csr);
    let numbers = [1.0f32; 6];
    let asked = |b| Inputs { b: Some(b), ..Inputs::plain(Op::Spmm, &a) };
    let whole = dense(3, 2, 2, Layout::RowMajor, &numbers);
    let right = [3.0f32, 3.0, 3.0, 3.0];
    assert_eq!(verdict(&asked(whole), Found::row_major(AnySlice::F32(&right), 2)), Verdict::Exact);

    let huge = usize::MAX;
    for b in [
        dense(3, 2, 2, Layout::RowMajor, &numbers[..5]),
        dense(3, 2, 1, Layout::RowMajor, &numbers),
        dense(3, huge, huge, Layout::RowMajor, &numbers),
        dense(huge, 2, huge, Layout::RowMajor, &numbers),
        dense(2, 3, 3, Layout::RowMajor, &numbers),
    ] {
        let said = verdict(&asked(b), Found::row_major(AnySlice::F32(&right), 2));
        assert!(matches!(said, Verdict::NotRun { .. }), "{b:?}: {said:?}");
    }
    let output = |found, place, before| {
        Found::Dense(Output { found, place, poison: None, before, before_place: Place::Strides(2, 1) })
    };
    let rows = Place::Strides(2, 1);
    for found in [
        output(AnySlice::F32(&right[..3]), rows, None),
        output(AnySlice::F32(&[]), rows, None),
        output(AnySlice::F32(&right), Place::Strides(huge, huge), None),
        output(AnySlice::F64(&[3.0; 4]), rows, None),
        Found::Sparse(RawSparse::of(matrix(FormatKind::Csr))),
    ] {
        let said = verdict(&asked(whole), found);
        assert_eq!(defect(&said), Some(Defect::Shape), "{said:?}");
    }
    let short = output(AnySlice::F32(&right), rows, Some(AnySlice::F32(&right[..3])));
    let said = verdict(&asked(whole), short);
    assert!(matches!(said, Verdict::NotRun { .. }), "{said:?}");

    let short = AnySlice::F32(&numbers[..2]);
    let task = Inputs { b: Some(DenseRef::column(short)), ..Inputs::plain(Op::Spmv, &a) };
    let said = verdict(&task, Found::row_major(AnySlice::F32(&right[..2]), 1));
    assert!(matches!(said, Verdict::NotRun { .. }), "{said:?}");
    let said = verdict(&Inputs::plain(Op::Spmv, &a), Found::row_major(AnySlice::F32(&right[..2]), 1));
    assert!(matches!(said, Verdict::NotRun { .. }), "an operand that is not there: {said:?}");
}
