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
    let shape = (entries.rows, entries.cols);
    let (n, m) = (params.n as usize, params.m as usize);
    let (l, v) = (params.l as usize, params.v as usize);
    let place = |e: &Entry<T>| (e.row as usize, e.col as usize);
    match kind {
        FormatKind::Nm => {
            entries.check()?;
            Windows::try_new(shape, n, m, l)?;
            Ok(keep(entries, n, |e| {
                let (row, col) = place(e);
                ((row / m, col / l), row % m)
            }))
        }
        FormatKind::TwoFour => {
            entries.check()?;
            let chunk = instruction_of::<T>(params.short_k)?.chunk();
            Ok(keep(entries, chunk / 2, |e| {
                let (row, col) = place(e);
                ((row, col / chunk), col % chunk)
            }))
        }
        FormatKind::Vnm => {
            entries.check()?;
            Blocks::try_new(shape, v, n, m)?;
            let columns = keep(entries, BLOCK_COLUMNS, |e| {
                let (row, col) = place(e);
                ((row / v, col / m), col % m)
            });
            Ok(keep(&columns, n, |e| {
                let (row, col) = place(e);
                ((row, col / m), col % m)
            }))
        }
        _ => Ok(entries.clone()),
    }
}

/// Keeps of each window the `limit` lines of largest norm; `place` gives the window of an entry and its line there.
fn keep<T: Scalar>(
    entries: &Entries<T>,
    limit: usize,
    place: impl Fn(&Entry<T>) -> ((usize, usize), usize),
) -> Entries<T> {
    let mut windows: BTreeMap<(usize, usize), BTreeMap<usize, Vec<T>>> = BTreeMap::new();
    for e in &entries.list {
        let (window, line) = place(e);
        let lines = windows.entry(window).or_default();
        lines.entry(line).or_default().push(e.value);
    }
    let largest = |lines: BTreeMap<usize, Vec<T>>| -> BTreeSet<usize> {
        if lines.len() <= limit {
            return lines.into_keys().collect();
        }
        let norms = lines.iter().map(|(&line, values)| (Reverse(norm(values)), line));
        let mut order: Vec<_> = norms.collect();
        order.sort();
        order.into_iter().take(limit).map(|(_, line)| line).collect()
    };
    let kept: BTreeMap<_, _> = windows.into_iter().map(|(w, lines)| (w, largest(lines))).collect();
    let is_kept = |e: &&Entry<T>| {
        let (window, line) = place(e);
        kept[&window].contains(&line)
    };
    Entries {
        rows: entries.rows,
        cols: entries.cols,
        list: entries.list.iter().filter(is_kept).copied().collect(),
    }
}

/// A squared L2 norm, in the order of pruning.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Norm {
    /// The exact sum of squares.
    Finite(Dyadic),
    Infinite,
    Nan,
}

fn norm<T: Scalar>(values: &[T]) -> Norm {
    let numbers: Vec<f64> = values.iter().map(|v| v.to_f64()).collect();
    if numbers.iter().any(|v| v.is_nan()) {
        return Norm::Nan;
    }
    let squares = numbers.iter().map(|&v| Dyadic::from_f64(v).map(|x| &x * &x));
    let sum: Option<Dyadic> = squares.sum();
    sum.map_or(Norm::Infinite, Norm::Finite)
}
