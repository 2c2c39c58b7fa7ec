//! Lengths: row `i` stores exactly `[0, 1, t-1, t, t+1, 2t-1, 2t, 2t+1][i mod 8]` entries, cut to `cols`.
//!
//! A kernel that walks a row `t` elements at a time meets each tail of its loop, next to an empty row and a full
//! step. Columns are uniform.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

fn lengths(tile: u64) -> [u64; 8] {
    [0, 1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1]
}

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let lengths = lengths(spec.size("tile")).map(|n| u128::from(n.min(cols)));
    let round: u128 = lengths.iter().sum();
    let last: u128 = lengths[..(rows % 8) as usize].iter().sum();
    let nnz_at_most = u128::from(rows / 8) * round + last;
    Ok(Shape { rows, cols, nnz_at_most, scratch: 4 * lengths[7] })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let lengths = lengths(spec.size("tile"));
    let mut columns = Vec::new();
    for row in 0..pattern.rows() {
        random.distinct(pattern.cols(), lengths[(row % 8) as usize], &mut columns);
        pattern.extend(columns.iter().copied());
        pattern.end_row();
    }
}
