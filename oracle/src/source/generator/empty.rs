//! Empty: whole rows and whole columns without entries.
//!
//! ```text
//! . . . . .    floor(emptyrows * rows) rows and floor(emptycols * cols) columns are kept out at random;
//! x . x . .    the rest, taken together, stores exactly floor(density * its positions) entries
//! . . . . .    (so further rows and columns may happen to be empty)
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform::part_of;
use crate::source::random::Random;

/// Rows (columns) that may hold entries.
fn kept(total: u64, empty: u64) -> u64 {
    total - part_of(u128::from(total), empty) as u64
}

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let high = u128::from(kept(rows, spec.size("emptyrows")));
    let wide = u128::from(kept(cols, spec.size("emptycols")));
    let nnz_at_most = part_of(high * wide, spec.size("density"));
    Ok(Shape {
        rows,
        cols,
        nnz_at_most,
        scratch: 6 * nnz_at_most + 4 * u128::from(rows) + 4 * u128::from(cols),
    })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (rows, cols) = (pattern.rows(), pattern.cols());
    let (mut high, mut wide, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    random.distinct(rows, kept(rows, spec.size("emptyrows")), &mut high);
    random.distinct(cols, kept(cols, spec.size("emptycols")), &mut wide);
    let positions = high.len() as u64 * wide.len() as u64;
    let count = part_of(u128::from(positions), spec.size("density"));
    random.distinct(positions, count as u64, &mut cells);
    for cell in &mut cells {
        let (at_row, at_col) = (*cell / wide.len() as u64, *cell % wide.len() as u64);
        *cell = high[at_row as usize] * cols + wide[at_col as usize];
    }
    pattern.cells(&cells);
}
