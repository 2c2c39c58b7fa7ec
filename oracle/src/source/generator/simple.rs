//! Patterns that need no more than a line: dense, diagonal, permutation, arrow, corners, zero.
//!
//! ```text
//! dense  x x x   diagonal  . x .   permutation  . x .   arrow  x x x   corners  x . x   zero  . . .
//!        x x x   shift=1   . . x                x . .          x x .            . . .         . . .
//!        x x x             . . .                . . x          x . x            x . x         . . .
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

fn rectangle(spec: &SourceSpec, nnz_at_most: impl Fn(u128, u128) -> u128) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    Ok(Shape { rows, cols, nnz_at_most: nnz_at_most(rows.into(), cols.into()), scratch: 0 })
}

pub(super) fn dense_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    rectangle(spec, |rows, cols| rows * cols)
}

pub(super) fn dense_fill(_: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    for _ in 0..pattern.rows() {
        pattern.extend(0..pattern.cols());
        pattern.end_row();
    }
}

pub(super) fn diagonal_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    rectangle(spec, u128::min)
}

pub(super) fn diagonal_fill(spec: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    let (shift, cols) = (spec.signed("shift"), pattern.cols() as i64);
    for row in 0..pattern.rows() as i64 {
        if (0..cols).contains(&(row + shift)) {
            pattern.push((row + shift) as u64);
        }
        pattern.end_row();
    }
}

pub(super) fn permutation_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let rows = spec.size("rows");
    Ok(Shape { rows, cols: rows, nnz_at_most: rows.into(), scratch: rows.into() })
}

pub(super) fn permutation_fill(_: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let mut columns: Vec<u32> = (0..pattern.cols() as u32).collect();
    random.shuffle(&mut columns);
    for col in columns {
        pattern.push(col.into());
        pattern.end_row();
    }
}

pub(super) fn arrow_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, width) = (spec.size("rows"), spec.size("width"));
    let (side, width) = (u128::from(rows), u128::from(width.min(rows)));
    let nnz_at_most = width * side + (side - width) * (width + 1);
    Ok(Shape { rows, cols: rows, nnz_at_most, scratch: 0 })
}

pub(super) fn arrow_fill(spec: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    let (side, width) = (pattern.cols(), spec.size("width").min(pattern.cols()));
    for row in 0..side {
        if row < width {
            pattern.extend(0..side);
        } else {
            pattern.extend((0..width).chain([row]));
        }
        pattern.end_row();
    }
}

pub(super) fn corners_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    rectangle(spec, |rows, cols| rows.min(2) * cols.min(2))
}

pub(super) fn corners_fill(_: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    let (rows, cols) = (pattern.rows(), pattern.cols());
    for row in 0..rows {
        if (row == 0 || row + 1 == rows) && cols > 0 {
            pattern.push(0);
            pattern.extend((cols > 1).then_some(cols - 1));
        }
        pattern.end_row();
    }
}

pub(super) fn zero_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    rectangle(spec, |_, _| 0)
}

pub(super) fn zero_fill(_: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    for _ in 0..pattern.rows() {
        pattern.end_row();
    }
}
