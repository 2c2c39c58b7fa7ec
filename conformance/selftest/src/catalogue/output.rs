//! The memory of C: left as it was, written where nobody asked, or not what was computed.

use super::super::bug::symptom::{CANARY, CRASHED, UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::Dense;
use super::{dense, product, spmm, spmm_with_c};
use crate::bug::Symptom;
use sparse_conformance_core::case::Case;
use sparse_conformance_core::report::Defect;
use sparse_conformance_core::response::poison;
use sparse_oracle::format::{FormatKind, Layout};

const F: Family = Family::Output;
const STALE: Symptom = Symptom::Wrong(Defect::Stale);

/// SpMM in a general format, with or without C.
fn fresh(case: &Case) -> bool {
    spmm(case) && !case.reads_c()
}

fn general(case: &Case) -> bool {
    FormatKind::GENERAL.contains(&case.contract.format)
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "C: zeros",
        "returns zeros, which passed 4 of 60 problems of KernelBench",
        dense,
        Effect::Output(|d| d.change(|_, _, _, _| Some(0))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "C: never written, beta = 0",
        "returns at once",
        |c| dense(c) && !c.reads_c(),
        Effect::Output(|d| d.leave(|_, _, _| true)),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: never written, beta != 0",
        "returns at once, and C looks computed",
        |c| dense(c) && c.reads_c(),
        Effect::Output(|d| d.leave(|_, _, _| true)),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "C: last row left, beta = 0",
        "rows run to m - 1",
        fresh,
        Effect::Output(last_row_left),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: last row left, beta != 0",
        "rows run to m - 1, and C looks computed",
        spmm_with_c,
        Effect::Output(last_row_left),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "C: empty rows left, beta = 0",
        "only rows with entries are visited",
        |c| fresh(c) && general(c),
        Effect::Output(empty_rows_left),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: empty rows left, beta != 0",
        "only rows with entries are visited and scaled",
        |c| spmm_with_c(c) && general(c),
        Effect::Output(empty_rows_left),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "C: last block of rows left",
        "the grid is m / 16 blocks, rounded down",
        |c| fresh(c) && general(c),
        Effect::Output(|d| {
            let whole = d.rows / 16 * 16;
            d.leave(|_, i, _| i >= whole);
        }),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: last block of columns left",
        "the grid is n / 8 blocks, rounded down",
        fresh,
        Effect::Output(|d| {
            let whole = d.cols / 8 * 8;
            d.leave(|_, _, j| j >= whole);
        }),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: one element left",
        "a boundary test has < for <=",
        |c| product(c) && !c.reads_c(),
        Effect::Output(|d| {
            let corner = (d.rows.wrapping_sub(1), d.cols.wrapping_sub(1));
            d.leave(|_, i, j| (i, j) == corner);
        }),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: padding of ldc written",
        "the last vector of a row is stored in full",
        |c| spmm(c) && c.params.pad_c > 0,
        Effect::Output(writes_padding),
        &[CANARY],
    ),
    Bug::new(
        F,
        "C: padding of ldc added to",
        "the last vector of a row is loaded, added to and stored in full: a NaN there would swallow the sum",
        |c| spmm(c) && c.params.pad_c > 0,
        Effect::Output(adds_to_padding),
        &[CANARY],
    ),
    Bug::new(
        F,
        "C: written past the end",
        "one element too many, which a bounds check stops",
        dense,
        Effect::Output(|d| d.after.push(d.after[d.after.len()])),
        &[CRASHED],
    ),
    Bug::new(
        F,
        "C: leading dimension ignored",
        "rows are stored n apart, whatever ldc is",
        |c| spmm(c) && c.params.pad_c > 0,
        Effect::Output(ldc_ignored),
        &[VALUE, UNWRITTEN, CANARY],
    ),
    Bug::new(
        F,
        "C: layout ignored",
        "a column-major C is written by rows",
        |c| spmm(c) && c.params.layout_c == Layout::ColMajor,
        Effect::Output(layout_ignored),
        &[VALUE, UNWRITTEN, CANARY],
    ),
    Bug::new(
        F,
        "C: all NaN",
        "every element is NaN, which comparators with > accept",
        dense,
        Effect::Output(|d| d.map(|_| f64::NAN)),
        &[VALUE, UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: poison copied",
        "one element is the payload that outputs are filled with",
        dense,
        Effect::Output(|d| {
            if let Some(&(_, _, at)) = d.offsets().last() {
                d.after[at] = poison(d.precision);
            }
        }),
        &[UNWRITTEN],
    ),
    Bug::new(
        F,
        "C: one bit off in one element",
        "one result differs in its last bit",
        dense,
        Effect::Output(one_bit),
        &[VALUE],
    ),
    Bug::new(
        F,
        "C: one element of many doubled",
        "a single wrong entry, which a norm over the matrix hides",
        dense,
        Effect::Output(|d| {
            let middle = d.offsets().get(d.rows * d.cols / 2).map(|o| o.2);
            if let Some(at) = middle {
                d.after[at] = d.bits(2.0 * d.number(d.after[at]));
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "C: 5 % garbage",
        "one element in twenty is garbage, which `allclose` with a matched share accepts",
        dense,
        Effect::Output(|d| {
            for (_, _, at) in d.offsets().into_iter().step_by(20) {
                d.after[at] = d.bits(-123.0);
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "C: rows swapped",
        "two rows of C change places",
        spmm,
        Effect::Output(|d| {
            if d.rows >= 2 {
                for j in 0..d.cols {
                    let (first, second) = (d.offset(0, j), d.offset(1, j));
                    d.after.swap(first, second);
                }
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "C: shared by two threads",
        "two threads take row 0 and one adds to what the other stored",
        spmm,
        Effect::Output(|d| {
            d.change(|d, (i, _), after, _| (i == 0).then(|| d.bits(2.0 * d.number(after))));
        }),
        &[VALUE],
    ),
];

fn last_row_left(d: &mut Dense<'_>) {
    let rows = d.rows;
    d.leave(|_, i, _| i + 1 == rows);
}

fn empty_rows_left(d: &mut Dense<'_>) {
    let lengths = d.row_lengths();
    d.leave(|_, i, _| lengths[i] == 0);
}

/// The first element of padding behind the last row (column), where there is one.
fn last_padding(d: &Dense<'_>) -> Option<usize> {
    let (outer, inner) = if d.layout == Layout::RowMajor { (d.rows, d.cols) } else { (d.cols, d.rows) };
    (d.ld > inner && outer > 0).then(|| (outer - 1) * d.ld + inner)
}

fn writes_padding(d: &mut Dense<'_>) {
    if let Some(at) = last_padding(d) {
        d.after[at] = 0;
    }
}

/// As hardware adds: a NaN keeps its bits.
fn adds_to_padding(d: &mut Dense<'_>) {
    if let Some(at) = last_padding(d) {
        let old = d.number(d.after[at]);
        if !old.is_nan() {
            d.after[at] = d.bits(old + 0.375);
        }
    }
}

/// The right numbers, where a compact C would have them.
fn ldc_ignored(d: &mut Dense<'_>) {
    let right: Vec<u64> = d.offsets().iter().map(|o| d.after[o.2]).collect();
    d.after.clone_from(&d.before);
    for ((i, j, _), bits) in d.offsets().into_iter().zip(right) {
        let at = if d.layout == Layout::RowMajor { i * d.cols + j } else { j * d.rows + i };
        d.after[at] = bits;
    }
}

/// The right numbers, row by row.
fn layout_ignored(d: &mut Dense<'_>) {
    let right: Vec<u64> = d.offsets().iter().map(|o| d.after[o.2]).collect();
    d.after.clone_from(&d.before);
    for (at, bits) in right.into_iter().enumerate() {
        d.after[at] = bits;
    }
}

fn one_bit(d: &mut Dense<'_>) {
    let offsets = d.offsets();
    let found = offsets.iter().map(|o| o.2).find(|&at| {
        let v = d.number(d.after[at]);
        v.is_finite() && v != 0.0
    });
    if let Some(at) = found {
        d.after[at] ^= 1;
    }
}
