//! SpMM and SpMV: `S_ij = sum over stored (i, k) of a_ik * b_kj`.
//!
//! An absent position takes no part, whatever B holds there; an explicit zero does (0 x Inf = NaN).

use crate::exact::{Element, dot_reference};
use crate::format::{Dense, Entries};

/// The exact sums, k x n dense B, by the definition. Terms in ascending k.
#[must_use]
pub fn definition(a: &Entries<f64>, b: &Dense<f64>) -> Vec<Vec<Element>> {
    let mut rows = vec![Vec::with_capacity(b.cols()); a.rows];
    for (i, row) in rows.iter_mut().enumerate() {
        let stored: Vec<_> = a.list.iter().filter(|e| e.row as usize == i).collect();
        let left: Vec<f64> = stored.iter().map(|e| e.value).collect();
        for j in 0..b.cols() {
            let right: Vec<f64> = stored.iter().map(|e| b.at(e.col as usize, j)).collect();
            row.push(dot_reference(&left, &right));
        }
    }
    rows
}
