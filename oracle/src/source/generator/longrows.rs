//! Long rows: a few rows of exactly the length asked for, among rows that are empty or hold one entry.
//!
//! ```text
//! . . . . . . . .
//! x x . x x x . x    `count` rows, chosen at random, store exactly `length` columns each (cut to cols)
//! . . . x . . . .    of the others, exactly floor(singles * their number) hold one entry, the rest none
//! . . . . . . . .
//! ```
//!
//! With `count=1` and a length near `cols` one row holds nearly all entries.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform::part_of;
use crate::source::random::Random;

/// Long rows, their length, and rows of a single entry.
fn counts(spec: &SourceSpec) -> (u64, u64, u64) {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let long = spec.size("count").min(rows);
    let singles = part_of(u128::from(rows - long), spec.size("singles")) as u64;
    let singles = if cols == 0 { 0 } else { singles };
    (long, spec.size("length").min(cols), singles)
}

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (long, length, singles) = counts(spec);
    Ok(Shape {
        rows: spec.size("rows"),
        cols: spec.size("cols"),
        nnz_at_most: u128::from(long) * u128::from(length) + u128::from(singles),
        scratch: 4 * (u128::from(long) + u128::from(length) + u128::from(singles)),
    })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (long, length, singles) = counts(spec);
    let (rows, cols) = (pattern.rows(), pattern.cols());
    let (mut chosen, mut with_one, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    random.distinct(rows, long, &mut chosen);
    random.distinct(rows - long, singles, &mut with_one);
    let (mut chosen, mut with_one) = (chosen.into_iter().peekable(), with_one.into_iter().peekable());
    let mut others = 0;
    for row in 0..rows {
        if chosen.next_if_eq(&row).is_some() {
            random.distinct(cols, length, &mut columns);
            pattern.extend(columns.iter().copied());
        } else {
            if with_one.next_if_eq(&others).is_some() {
                pattern.push(random.below(cols));
            }
            others += 1;
        }
        pattern.end_row();
    }
}
