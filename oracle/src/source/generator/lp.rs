//! LP: a constraint matrix with short columns and a few full rows (budget constraints).
//!
//! ```text
//! . x . . x x    every column stores exactly `column` entries in the ordinary rows
//! X X X X X X    (all of them when there are fewer), and one in each of the `dense` full rows
//! x . x x . .
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let dense = spec.size("dense").min(rows);
    let a_column = spec.size("column").min(rows - dense) + dense;
    let nnz_at_most = u128::from(cols) * u128::from(a_column);
    Ok(Shape { rows, cols, nnz_at_most, scratch: 2 * nnz_at_most + 8 * u128::from(rows) })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (rows, cols) = (pattern.rows(), pattern.cols());
    let (mut dense, mut chosen) = (Vec::new(), Vec::new());
    random.distinct(rows, spec.size("dense"), &mut dense);
    let ordinary: Vec<u64> = (0..rows).filter(|row| dense.binary_search(row).is_err()).collect();
    let mut cells: Vec<u64> = dense.iter().flat_map(|row| row * cols..(row + 1) * cols).collect();
    // Without entries to place the columns would be walked for nothing, and there may be 2^32 of them.
    let short_columns = spec.size("column") > 0 && !ordinary.is_empty();
    for col in 0..if short_columns { cols } else { 0 } {
        random.distinct(ordinary.len() as u64, spec.size("column"), &mut chosen);
        cells.extend(chosen.iter().map(|&at| ordinary[at as usize] * cols + col));
    }
    cells.sort_unstable();
    pattern.cells(&cells);
}
