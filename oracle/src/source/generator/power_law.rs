//! Skewed patterns: R-MAT graphs, and rows of Zipf lengths.
//!
//! R-MAT drops each edge through `scale` levels of quadrants; repeats merge, so it stores at most
//! `edges * 2^scale` entries and at least one when it draws any:
//!
//! ```text
//! a b      a + b + c <= 1, d is the rest
//! c d
//! ```
//!
//! Zipf gives the row of rank 1, 2, 3... exactly `max(shortest, longest / rank^power)` entries (integer division,
//! cut to `cols`) at uniform columns; ranks are dealt to rows at random.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::{ONE, Random};

pub(super) fn rmat_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let sum = spec.size("a") + spec.size("b") + spec.size("c");
    if sum > ONE {
        let problem = format!("a + b + c is {}.{:06}, must be at most 1", sum / ONE, sum % ONE);
        return Err(SourceError::Conflict { family: "rmat", problem });
    }
    let side = 1 << spec.size("scale");
    let draws = u128::from(side) * u128::from(spec.size("edges"));
    Ok(Shape { rows: side, cols: side, nnz_at_most: draws, scratch: 2 * draws })
}

pub(super) fn rmat_fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (a, b, c) = (spec.size("a"), spec.size("b"), spec.size("c"));
    let (scale, draws) = (spec.size("scale"), spec.size("edges") << spec.size("scale"));
    let mut cells = Vec::with_capacity(draws as usize);
    for _ in 0..draws {
        let (mut row, mut col) = (0, 0);
        for _ in 0..scale {
            let at = random.below(ONE);
            let (down, right) = (at >= a + b, (at >= a && at < a + b) || at >= a + b + c);
            row = row << 1 | u64::from(down);
            col = col << 1 | u64::from(right);
        }
        cells.push(row << scale | col);
    }
    cells.sort_unstable();
    cells.dedup();
    pattern.cells(&cells);
}

pub(super) fn zipf_shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (rows, cols) = (spec.size("rows"), spec.size("cols"));
    let harmonic = 2 + rows.checked_ilog2().unwrap_or(0);
    let long = u128::from(spec.size("longest").min(cols)) * u128::from(harmonic);
    let short = u128::from(rows) * u128::from(spec.size("shortest").min(cols));
    let all = u128::from(rows) * u128::from(cols);
    // The harmonic bound does not hold once `cols` cuts the longest rows, hence the second bound.
    let uncut = u128::from(spec.size("longest")) * u128::from(harmonic) + short;
    let nnz_at_most = if spec.size("longest") <= cols { long + short } else { uncut }.min(all);
    let scratch = u128::from(rows) + 4 * u128::from(cols).min(nnz_at_most);
    Ok(Shape { rows, cols, nnz_at_most, scratch })
}

/// Length of the row of this rank (from 1).
fn zipf_length(spec: &SourceSpec, rank: u64, cols: u64) -> u64 {
    let divisor = u128::from(rank).checked_pow(spec.size("power") as u32);
    let length = divisor.map_or(0, |divisor| u128::from(spec.size("longest")) / divisor);
    (length as u64).max(spec.size("shortest")).min(cols)
}

pub(super) fn zipf_fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let mut ranks: Vec<u32> = (0..pattern.rows() as u32).collect();
    random.shuffle(&mut ranks);
    let mut columns = Vec::new();
    for rank in ranks {
        let length = zipf_length(spec, u64::from(rank) + 1, pattern.cols());
        random.distinct(pattern.cols(), length, &mut columns);
        pattern.extend(columns.iter().copied());
        pattern.end_row();
    }
}
