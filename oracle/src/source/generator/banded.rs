//! Banded: entries only where `-lower <= col - row <= upper`.
//!
//! ```text
//! x x . . .    lower = 1, upper = 1; with density 1 the whole band is stored,
//! x x x . .    else each position of it independently with that probability
//! . x x x .
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let width = (spec.size("lower") + spec.size("upper") + 1).min(cols);
    let nnz_at_most = u128::from(rows) * u128::from(width);
    Ok(Shape { rows, cols, nnz_at_most, scratch: 0 })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (lower, upper, density) = (spec.size("lower"), spec.size("upper"), spec.size("density"));
    for row in 0..pattern.rows() {
        let band = row.saturating_sub(lower)..(row + upper + 1).min(pattern.cols());
        pattern.extend(band.filter(|_| random.chance(density)));
        pattern.end_row();
    }
}
