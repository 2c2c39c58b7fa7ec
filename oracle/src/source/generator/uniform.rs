//! Uniform: exactly `floor(density * rows * cols)` entries, every set of positions equally likely.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::{ONE, Random};

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    Ok(shape_of(spec.size("rows"), spec.size("cols"), spec.size("density")))
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    fill_with(spec.size("density"), random, pattern);
}

/// Number of entries: `density` parts per million of `positions`, rounded down.
pub(super) fn part_of(positions: u128, density: u64) -> u128 {
    positions * u128::from(density) / u128::from(ONE)
}

pub(super) fn shape_of(rows: u64, cols: u64, density: u64) -> Shape {
    let count = part_of(u128::from(rows) * u128::from(cols), density);
    // Cell numbers are u64, and a dense draw also holds the numbers it leaves out.
    Shape { rows, cols, nnz_at_most: count, scratch: 4 * count }
}

pub(super) fn fill_with(density: u64, random: &mut Random, pattern: &mut Pattern) {
    let positions = pattern.rows() * pattern.cols();
    let mut cells = Vec::new();
    random.distinct(positions, part_of(u128::from(positions), density) as u64, &mut cells);
    pattern.cells(&cells);
}
