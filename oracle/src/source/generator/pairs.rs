//! Pairs: rows that hold both columns of a pair or neither, so that values x, -x meet factors which may be equal.
//!
//! ```text
//!   0 1  2 3  4 5     rows 0, 1, 3, 4, 6, ..: exactly `pairs` (cut to cols / 2) pairs of columns 2c, 2c + 1
//!   x x  . .  x x     rows 2, 5, 8, ..: as many entries as there are pairs, less one if that is odd, in even columns only
//!   . .  x x  x x
//!   x .  x .  . .     every row holds an even number of entries: with `values=cancelling` elements 2i and 2i + 1 of one row cancel
//! ```
//!
//! Where rows 2c and 2c + 1 of the other operand are equal (`b=cancel` in SpGEMM), the first kind of row of the product is zero
//! in every place, and the other kind is not.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let count = u128::from(spec.size("pairs").min(cols / 2));
    Ok(Shape { rows, cols, nnz_at_most: u128::from(rows) * 2 * count, scratch: 4 * count })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let whole = pattern.cols() / 2;
    let count = spec.size("pairs").min(whole);
    let mut chosen = Vec::new();
    for row in 0..pattern.rows() {
        if row % 3 == 2 {
            random.distinct(pattern.cols().div_ceil(2), count & !1, &mut chosen);
            pattern.extend(chosen.iter().map(|c| 2 * c));
        } else {
            random.distinct(whole, count, &mut chosen);
            pattern.extend(chosen.iter().flat_map(|c| [2 * c, 2 * c + 1]));
        }
        pattern.end_row();
    }
}
