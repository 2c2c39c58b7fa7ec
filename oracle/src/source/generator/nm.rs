//! N:M: exactly `n` of every `m` consecutive columns of each row.
//!
//! ```text
//! x . x . | . x x . | x      n = 2, m = 4: groups start at column 0; the last group is narrower
//! . x . x | x x . . | x      and stores min(n, its width)
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let (n, m) = (spec.size("n"), spec.size("m"));
    if n > m {
        let problem = format!("n is {n}, must be at most m = {m}");
        return Err(SourceError::Conflict { family: "nm", problem });
    }
    let a_row = u128::from(cols / m) * u128::from(n) + u128::from(n.min(cols % m));
    let scratch = 8 * u128::from(m.min(cols));
    Ok(Shape { rows, cols, nnz_at_most: u128::from(rows) * a_row, scratch })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (n, m, cols) = (spec.size("n"), spec.size("m"), pattern.cols());
    let mut kept = Vec::new();
    for _ in 0..pattern.rows() {
        // With n = 0 the groups would be walked for nothing, and there may be 2^32 of them.
        for group in 0..if n == 0 { 0 } else { cols.div_ceil(m) } {
            let first = group * m;
            random.distinct(m.min(cols - first), n, &mut kept);
            pattern.extend(kept.iter().map(|at| first + at));
        }
        pattern.end_row();
    }
}
