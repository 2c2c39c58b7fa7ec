//! Simpler versions of an input, simplest first.
//!
//! Removal goes by chunks of half the length, a quarter, ... down to one, so that a failure that needs few rows
//! is found in few steps:
//!
//! ```text
//! rows 0..8    [0..4) [4..8)  [0..2) [2..4) ...  [0..1) [1..2) ...      each removed on its own
//! ```

use crate::format::{Coo, CooParts, Csr, Dense, Entries, Entry};
use crate::prelude::*;
use crate::source::SourceSpec;
use crate::source::generator::{Family, ParamKind};
use std::ops::Range;

/// Candidates, generated as they are asked for.
pub type Candidates<T> = Box<dyn Iterator<Item = T>>;

/// Ranges of `0..n` to remove, largest first, that leave at least `least`.
fn chunks(n: usize, least: usize) -> impl Iterator<Item = Range<usize>> {
    let halvings = std::iter::successors(Some(n.div_ceil(2)), |&size| (size > 1).then_some(size.div_ceil(2)));
    // All of it first, when that is legal.
    let sizes = std::iter::once(n).chain(halvings).filter(move |&size| size > 0 && n - size.min(n) >= least);
    let mut last = 0;
    let distinct = sizes.filter(move |&size| std::mem::replace(&mut last, size) != size);
    distinct.flat_map(move |size| (0..n).step_by(size).map(move |start| start..(start + size).min(n)))
}

/// Number of elements of a range.
fn width(range: &Range<usize>) -> u32 {
    (range.end - range.start) as u32
}

/// Entries without a range of rows; later rows move up.
fn without_rows(entries: &Entries<f64>, gone: &Range<usize>) -> Entries<f64> {
    let kept = entries.list.iter().filter(|e| !gone.contains(&(e.row as usize)));
    let list =
        kept.map(|e| Entry { row: e.row - if e.row as usize >= gone.end { width(gone) } else { 0 }, ..*e });
    Entries { rows: entries.rows - gone.len(), cols: entries.cols, list: list.collect() }
}

/// Entries without a range of columns; later columns move left.
fn without_cols(entries: &Entries<f64>, gone: &Range<usize>) -> Entries<f64> {
    let kept = entries.list.iter().filter(|e| !gone.contains(&(e.col as usize)));
    let list =
        kept.map(|e| Entry { col: e.col - if e.col as usize >= gone.end { width(gone) } else { 0 }, ..*e });
    Entries { rows: entries.rows, cols: entries.cols - gone.len(), list: list.collect() }
}

/// Entries without a range of the list.
fn without_entries(entries: &Entries<f64>, gone: &Range<usize>) -> Entries<f64> {
    let (front, back) = (&entries.list[..gone.start], &entries.list[gone.end..]);
    Entries { rows: entries.rows, cols: entries.cols, list: [front, back].concat() }
}

/// Values with a range replaced by 1, unless all of it is 1 already.
fn with_ones(values: &[f64], range: &Range<usize>) -> Option<Vec<f64>> {
    let mut simpler = values.to_vec();
    simpler[range.clone()].fill(1.0);
    values[range.clone()].iter().any(|&x| x.to_bits() != 1.0f64.to_bits()).then_some(simpler)
}

fn entries_with_ones(entries: &Entries<f64>, range: &Range<usize>) -> Option<Entries<f64>> {
    let values: Vec<f64> = entries.list.iter().map(|e| e.value).collect();
    let simpler = with_ones(&values, range)?;
    let list = entries.list.iter().zip(simpler).map(|(e, value)| Entry { value, ..*e });
    Some(Entries { rows: entries.rows, cols: entries.cols, list: list.collect() })
}

/// Simpler lists of entries of at least `least` (rows, columns).
fn smaller_entries(entries: &Entries<f64>, least: (usize, usize)) -> Candidates<Entries<f64>> {
    let [for_rows, for_cols, for_list, for_values] = [(); 4].map(|()| entries.clone());
    let count = entries.list.len();
    let rows = chunks(entries.rows, least.0).map(move |gone| without_rows(&for_rows, &gone));
    let cols = chunks(entries.cols, least.1).map(move |gone| without_cols(&for_cols, &gone));
    let list = chunks(count, 0).map(move |gone| without_entries(&for_list, &gone));
    let values = chunks(count, 0).filter_map(move |range| entries_with_ones(&for_values, &range));
    Box::new(rows.chain(cols).chain(list).chain(values))
}

/// Simpler matrices of at least `least` (rows, columns): fewer rows, columns, entries, then values replaced by 1.
#[must_use]
pub fn smaller_matrices(matrix: &Csr<f64>, least: (usize, usize)) -> Candidates<Csr<f64>> {
    Box::new(smaller_entries(&matrix.entries(), least).filter_map(|entries| Csr::from_entries(&entries).ok()))
}

/// Simpler COO matrices; the order of the triples that stay is kept.
#[must_use]
pub fn smaller_coo(coo: &Coo<f64>, least: (usize, usize)) -> Candidates<Coo<f64>> {
    // Not canonical entries: nothing in this module needs them sorted.
    let triples = coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values);
    let list = triples.map(|((&row, &col), &value)| Entry { row, col, value }).collect();
    let entries = Entries { rows: coo.rows, cols: coo.cols, list };
    Box::new(smaller_entries(&entries, least).filter_map(|smaller| coo_of(&smaller)))
}

/// The triples of a list in any order.
pub(super) fn coo_of(entries: &Entries<f64>) -> Option<Coo<f64>> {
    Coo::try_new(CooParts {
        rows: entries.rows,
        cols: entries.cols,
        row_idx: entries.list.iter().map(|e| e.row).collect(),
        col_idx: entries.list.iter().map(|e| e.col).collect(),
        values: entries.list.iter().map(|e| e.value).collect(),
    })
    .ok()
}

/// A compact row-major matrix without a range of rows and a range of columns.
fn cut_dense(matrix: &Dense<f64>, rows: &Range<usize>, cols: &Range<usize>) -> Dense<f64> {
    let past = |at: usize, gone: &Range<usize>| if at < gone.start { at } else { at + gone.len() };
    Dense::from_fn(matrix.rows() - rows.len(), matrix.cols() - cols.len(), |i, j| {
        matrix.at(past(i, rows), past(j, cols))
    })
}

/// Ones in a range of the elements of a compact matrix.
fn dense_with_ones(matrix: &Dense<f64>, range: &Range<usize>) -> Option<Dense<f64>> {
    let simpler = with_ones(matrix.data(), range)?;
    Dense::try_new(matrix.rows(), matrix.cols(), matrix.ld(), matrix.layout(), simpler).ok()
}

/// Simpler dense matrices of at least `least` (rows, columns). Results are compact and row-major.
#[must_use]
pub fn smaller_dense(matrix: &Dense<f64>, least: (usize, usize)) -> Candidates<Dense<f64>> {
    let [for_rows, for_cols, for_values] = [(); 3].map(|()| matrix.clone());
    let rows = chunks(matrix.rows(), least.0).map(move |gone| cut_dense(&for_rows, &gone, &(0..0)));
    let cols = chunks(matrix.cols(), least.1).map(move |gone| cut_dense(&for_cols, &(0..0), &gone));
    let values = chunks(matrix.data().len(), 0).filter_map(move |range| dense_with_ones(&for_values, &range));
    Box::new(rows.chain(cols).chain(values))
}

/// Simpler operands of `A * B` that still fit: rows of A, columns of A with the same rows of B, columns of B, entries
/// and values. `least` is (m, k, n).
#[must_use]
pub fn smaller_operands(
    (a, b): &(Csr<f64>, Dense<f64>),
    least: (usize, usize, usize),
) -> Candidates<(Csr<f64>, Dense<f64>)> {
    let (entries, dense) = (a.entries(), b.clone());
    let inner = chunks(a.cols, least.1).filter_map(move |gone| {
        let narrower = Csr::from_entries(&without_cols(&entries, &gone)).ok()?;
        Some((narrower, cut_dense(&dense, &gone, &(0..0))))
    });
    let (kept_b, kept_a) = (b.clone(), a.clone());
    let only_a = smaller_matrices(a, (least.0, a.cols)).map(move |smaller| (smaller, kept_b.clone()));
    let only_b = smaller_dense(b, (b.rows(), least.2)).map(move |smaller| (kept_a.clone(), smaller));
    Box::new(inner.chain(only_a).chain(only_b))
}

/// Simpler specs of the same family: each parameter towards its simplest value (0, 1, or the lowest legal), then
/// the seed towards 0. Only specs whose parameters fit together are given.
#[must_use]
pub fn smaller_specs(spec: &SourceSpec) -> Candidates<SourceSpec> {
    let spec = *spec;
    let params: Vec<_> = spec.params().collect();
    let by_param = params.into_iter().flat_map(move |(param, value)| {
        let simplest = match (spec.family(), param.key) {
            // Zero rows means full size here.
            (Family::Synth, "rows") => 1,
            // All the structure of the family is gone with a share of 0; it is still a legal end.
            _ if param.kind == ParamKind::Share => 0,
            _ => param.low.max(0),
        };
        towards(value, simplest).filter_map(move |value| spec.with(param.key, value).ok())
    });
    let mut seeds = vec![0, spec.seed() / 2, spec.seed().saturating_sub(1)];
    seeds.dedup();
    let seeds = seeds.into_iter().filter(move |&seed| seed < spec.seed());
    let all = by_param.chain(seeds.map(move |seed| spec.with_seed(seed)));
    Box::new(all.filter(|smaller| smaller.shape().is_ok()))
}

/// `simplest`, then half way, then one step: none when `value` is there.
fn towards(value: i64, simplest: i64) -> impl Iterator<Item = i64> {
    let away = value - simplest;
    let mut steps = vec![simplest, simplest + away / 2, value - away.signum()];
    steps.dedup();
    steps.into_iter().filter(move |&step| (step - simplest).abs() < away.abs())
}
