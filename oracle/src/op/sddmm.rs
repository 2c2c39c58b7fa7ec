//! SDDMM: `out_ij = X_i . Y_j` at the stored positions of S, and nowhere else.

use crate::exact::{Element, dot_reference};
use crate::format::Dense;

/// The exact dot products at `positions` (row of X, row of Y), in that order; X is m x k, Y is n x k.
#[must_use]
pub fn definition(positions: &[(u32, u32)], x: &Dense<f64>, y: &Dense<f64>) -> Vec<Element> {
    let row = |m: &Dense<f64>, i: u32| -> Vec<f64> { (0..m.cols()).map(|k| m.at(i as usize, k)).collect() };
    positions.iter().map(|&(i, j)| dot_reference(&row(x, i), &row(y, j))).collect()
}
