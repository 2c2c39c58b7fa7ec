//! Pruning to N:M patterns: what of a matrix a structured format keeps (SEMANTICS section 10).
//!
//! ```text
//! n:m by vectors       of each m x l window the n row vectors of largest norm
//! 2:4 (1:2 for tf32)   of each chunk of 4 (2) columns of a row the 2 (1) entries of largest magnitude
//! v:n:m                of each v x m block the 4 columns of largest norm, then of each row in it the n largest entries
//! ```
//!
//! A window that fits already stays as it is. Norms are L2 and compared exactly; ties go to the lower index; a NaN counts
//! as larger than everything, infinity included. Only vectors that hold an entry compete, so that an explicit zero is
//! kept where there is room for it.

use crate::exact::Dyadic;
use crate::format::{Entries, Entry, FormatKind, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use sparse_types::format::nm::Windows;
use sparse_types::format::two_four::instruction_of;
use sparse_types::format::vnm::Blocks;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Columns that a V:N:M block keeps.
const BLOCK_COLUMNS: usize = 4;

/// The entries that fit the pattern of `kind`; all of them for formats that have none.
///
/// # Errors
/// Entries that fail [`Entries::check`]; parameters and element types that the format refuses.
pub fn prune<T: Scalar>(
    entries: &Entries<T>,
    kind: FormatKind,
    params: &FormatParams,
) -> Result<Entries<T>, Refusal> {
    if !matches!(kind, FormatKind::Nm | FormatKind::TwoFour | FormatKind::Vnm) {
        return Ok(entries.clone());
    }
    entries.check()?;
    let shape = (entries.rows, entries.cols);
    let (n, m) = (params.n as usize, params.m as usize);
    let (l, v) = (params.l as usize, params.v as usize);
    let element = |e: &Entry<T>| (e.row as usize, e.col as usize, e.value.to_f64());
    let mut left: Vec<ValueAt> = entries.list.iter().map(element).collect();
    match kind {
        FormatKind::Nm => {
            Windows::try_new(shape, n, m, l)?;
            keep(&mut left, n, &|row, col| ((row / m, col / l), row % m));
        }
        FormatKind::TwoFour => {
            let chunk = instruction_of::<T>(params.short_k)?.chunk();
            keep(&mut left, chunk / 2, &|row, col| ((row, col / chunk), col % chunk));
        }
        _ => {
            Blocks::try_new(shape, v, n, m)?;
            keep(&mut left, BLOCK_COLUMNS, &|row, col| ((row / v, col / m), col % m));
            keep(&mut left, n, &|row, col| ((row, col / m), col % m));
        }
    }
    // Positions are there once, and both lists are in their order.
    let mut left = left.into_iter().map(|(row, col, _)| (row, col)).peekable();
    let is_left = |e: &&Entry<T>| left.next_if_eq(&(e.row as usize, e.col as usize)).is_some();
    let list = entries.list.iter().filter(is_left).copied().collect();
    Ok(Entries { rows: entries.rows, cols: entries.cols, list })
}

/// Row, column and value.
type ValueAt = (usize, usize, f64);

/// Keeps of each window the `limit` lines of largest norm; `place` gives the window of a position and its line there. Not compiled for
/// each element type: a value of any is an f64.
fn keep(elements: &mut Vec<ValueAt>, limit: usize, place: &dyn Fn(usize, usize) -> ((usize, usize), usize)) {
    let mut windows: BTreeMap<(usize, usize), BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    for &(row, col, value) in elements.iter() {
        let (window, line) = place(row, col);
        windows.entry(window).or_default().entry(line).or_default().push(value);
    }
    let largest = |lines: BTreeMap<usize, Vec<f64>>| -> BTreeSet<usize> {
        if lines.len() <= limit {
            return lines.into_keys().collect();
        }
        let norms = lines.iter().map(|(&line, values)| (Reverse(norm(values)), line));
        let mut order: Vec<_> = norms.collect();
        order.sort();
        order.into_iter().take(limit).map(|(_, line)| line).collect()
    };
    let kept: BTreeMap<_, _> = windows.into_iter().map(|(w, lines)| (w, largest(lines))).collect();
    elements.retain(|&(row, col, _)| {
        let (window, line) = place(row, col);
        kept[&window].contains(&line)
    });
}

/// A squared L2 norm, in the order of pruning.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Norm {
    /// The exact sum of squares.
    Finite(Dyadic),
    Infinite,
    Nan,
}

fn norm(values: &[f64]) -> Norm {
    if values.iter().any(|v| v.is_nan()) {
        return Norm::Nan;
    }
    let squares = values.iter().map(|&v| Dyadic::from_f64(v).map(|x| &x * &x));
    let sum: Option<Dyadic> = squares.sum();
    sum.map_or(Norm::Infinite, Norm::Finite)
}
