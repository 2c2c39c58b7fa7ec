//! Dense row: a few full rows and columns in an otherwise sparse matrix.
//!
//! ```text
//! . x . . C    `dense` rows and `densecols` columns, chosen at random, are full;
//! R R R R R    every other row stores exactly floor(density * cols) chosen columns, and the full columns
//! x . . . C
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform::part_of;
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let (full, wide) = (spec.size("dense").min(rows), u128::from(cols));
    let tall = u128::from(spec.size("densecols").min(cols));
    let usual = (part_of(wide, spec.size("density")) + tall).min(wide);
    let nnz_at_most = u128::from(full) * wide + u128::from(rows - full) * usual;
    let scratch = 4 * u128::from(full) + 4 * usual + 4 * tall;
    Ok(Shape { rows, cols, nnz_at_most, scratch })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let cols = pattern.cols();
    let usual = part_of(u128::from(cols), spec.size("density")) as u64;
    let (mut full, mut tall, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    random.distinct(pattern.rows(), spec.size("dense"), &mut full);
    random.distinct(cols, spec.size("densecols"), &mut tall);
    for row in 0..pattern.rows() {
        if full.binary_search(&row).is_ok() {
            pattern.extend(0..cols);
        } else {
            random.distinct(cols, usual, &mut columns);
            columns.extend(&tall);
            columns.sort_unstable();
            columns.dedup();
            pattern.extend(columns.iter().copied());
        }
        pattern.end_row();
    }
}
