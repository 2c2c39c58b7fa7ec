//! Circuit: a full diagonal, a few entries a row, a few nearly dense rows and columns (supply nets).
//!
//! ```text
//! x . x d .    d: a dense row and the column of the same number; the row stores exactly
//! . x . d .    floor(fill * rows) chosen columns (and its diagonal), the column each row with probability fill;
//! d d x d d    every other row stores its diagonal, up to `offdiag` more, and the dense columns
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform::part_of;
use crate::source::random::{ONE, Random};

/// Three of four off-diagonal entries lie within this distance of the diagonal.
const NEAR: u64 = 16;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let rows = spec.size("rows");
    let dense = spec.size("dense").min(rows);
    let wide = u128::from(rows);
    let usual = (1 + u128::from(spec.size("offdiag")) + u128::from(dense)).min(wide);
    let nnz_at_most = wide * usual + u128::from(dense) * wide;
    // One row in the making, as u64, and the dense rows.
    let scratch = 8 * wide + 4 * u128::from(dense) + 2 * u128::from(spec.size("offdiag"));
    Ok(Shape { rows, cols: rows, nnz_at_most: nnz_at_most.min(wide * wide), scratch })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (side, share) = (pattern.rows(), spec.size("fill"));
    let (mut dense, mut columns) = (Vec::new(), Vec::new());
    random.distinct(side, spec.size("dense"), &mut dense);
    for row in 0..side {
        if dense.binary_search(&row).is_ok() {
            random.distinct(side, part_of(u128::from(side), share) as u64, &mut columns);
        } else {
            columns.clear();
            columns.extend((0..spec.size("offdiag")).map(|_| off_diagonal(row, side, random)));
            columns.extend(dense.iter().copied().filter(|_| random.chance(share)));
        }
        columns.push(row);
        columns.sort_unstable();
        columns.dedup();
        pattern.extend(columns.iter().copied());
        pattern.end_row();
    }
}

/// A column near the diagonal, or one time in four anywhere.
fn off_diagonal(row: u64, side: u64, random: &mut Random) -> u64 {
    if random.chance(ONE / 4) {
        return random.below(side);
    }
    let low = row.saturating_sub(NEAR);
    low + random.below((row + NEAR + 1).min(side) - low)
}
