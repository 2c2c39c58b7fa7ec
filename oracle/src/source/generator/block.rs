//! Block: full `block x block` squares at `floor(density * positions)` aligned positions.
//!
//! ```text
//! x x . . x    block = 2: squares on the grid of blocks, cut by the right and lower edges;
//! x x . . x    a position is stored with its whole square or not at all
//! . . x x .
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform::part_of;
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols, block) = (spec.size("rows"), spec.size("cols"), spec.size("block"));
    let positions = u128::from(rows.div_ceil(block)) * u128::from(cols.div_ceil(block));
    let count = part_of(positions, spec.size("density"));
    let area = u128::from(block.min(rows)) * u128::from(block.min(cols));
    Ok(Shape { rows, cols, nnz_at_most: count * area, scratch: 4 * count })
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let block = spec.size("block");
    let (high, wide) = (pattern.rows().div_ceil(block), pattern.cols().div_ceil(block));
    let mut chosen = Vec::new();
    let count = part_of(u128::from(high * wide), spec.size("density"));
    random.distinct(high * wide, count as u64, &mut chosen);
    let mut rest = chosen.as_slice();
    for block_row in 0..high {
        let here = rest.partition_point(|&at| at < (block_row + 1) * wide);
        let (in_row, after) = rest.split_at(here);
        rest = after;
        for _ in block_row * block..((block_row + 1) * block).min(pattern.rows()) {
            for at in in_row {
                let first = (at - block_row * wide) * block;
                pattern.extend(first..(first + block).min(pattern.cols()));
            }
            pattern.end_row();
        }
    }
}
