//! Collide: the columns of a row are all the same modulo `slots`, so that they fall into one place of a hash table.
//!
//! ```text
//! slots=4    . x . . . x . . . x . .    row i: a residue r below min(slots, cols), and exactly `length` (cut to what there is)
//!            x . . . x . . . . . . .    of the columns r, r + slots, r + 2 slots, ..
//! ```
//!
//! A table of 2^k slots that takes the low bits of a column, or of a multiple of it, as its place probes once more for each entry.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let longest = spec.size("length").min(cols.div_ceil(spec.size("slots")));
    Ok(Shape {
        rows,
        cols,
        nnz_at_most: u128::from(rows) * u128::from(longest),
        scratch: 4 * u128::from(longest),
    })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (slots, cols) = (spec.size("slots"), pattern.cols());
    let mut steps = Vec::new();
    for _ in 0..pattern.rows() {
        if cols > 0 {
            let residue = random.below(slots.min(cols));
            let available = (cols - residue).div_ceil(slots);
            random.distinct(available, spec.size("length"), &mut steps);
            pattern.extend(steps.iter().map(|step| residue + slots * step));
        }
        pattern.end_row();
    }
}
