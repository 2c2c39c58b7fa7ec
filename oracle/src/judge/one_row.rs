//! Single rows of products, for the tests of what looks at rows.

use super::exact_dense::ExactDense;
use super::rows::{SpmmRow, SpmmRows};
use crate::format::{Csr, CsrParts, Dense};

/// A dense matrix of these rows, in f64.
pub(super) fn wide(rows: &[&[f64]]) -> ExactDense<'static> {
    let cols = rows.first().map_or(0, |row| row.len());
    Dense::from_fn(rows.len(), cols, |i, j| rows[i][j]).into()
}

/// A matrix of one row, an entry in every column.
pub(super) fn full_row(values: &[f64]) -> Csr<f64> {
    let (cols, values) = (values.len(), values.to_vec());
    let (row_ptr, col_idx) = (vec![0, cols as u32], (0..cols as u32).collect());
    Csr::try_new(CsrParts { rows: 1, cols, row_ptr, col_idx, values }).expect("a legal matrix")
}

/// Shows the product of a full row with `b`.
pub(super) fn one_row(values: &[f64], b: &ExactDense<'_>, show: &mut impl FnMut(&SpmmRow<'_, '_>)) {
    let a = full_row(values);
    let rows = SpmmRows::new(&a, (None, None), b).expect("operands fit");
    rows.visit(0..1, &mut |row| show(row));
}
