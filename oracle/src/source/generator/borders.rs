//! Borders: rows, columns and entries exactly as asked, so that each can sit at, just under or just over the border of a block,
//! a grid or an index type.
//!
//! ```text
//! borders:rows=255,cols=65537,entries=1024    `entries` positions of all, every set equally likely; cut to rows * cols
//! ```
//!
//! Time and memory follow rows and entries, not columns: 2^24 rows with 100 entries are 64 MiB of offsets.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

fn count(spec: &SourceSpec) -> u64 {
    // Both sides are below 2^32, so that the product is below 2^64.
    spec.size("entries").min(spec.size("rows") * spec.size("cols"))
}

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let count = u128::from(count(spec));
    Ok(Shape {
        rows: spec.size("rows"),
        cols: spec.size("cols"),
        nnz_at_most: count,
        // Cell numbers are u64, and a dense draw also holds the numbers it leaves out.
        scratch: 4 * count,
    })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let mut cells = Vec::new();
    random.distinct(pattern.rows() * pattern.cols(), count(spec), &mut cells);
    pattern.cells(&cells);
}
