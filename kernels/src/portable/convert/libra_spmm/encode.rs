//! From the pattern of CSR to the index arrays of both Libra formats: count, prefix sums, fill.
//!
//! Nothing here depends on the element type: what becomes of the values is a list of offsets to gather.

use super::distribute::{DistributionRule, REST};
use super::fill::fill;
use super::vectors::{ColumnVector, Merger, WINDOW};
use crate::portable::convert::jobs::with_scratch;
use std::ops::Range;

/// Entries below which threads cost more than they give.
pub(in crate::portable::convert) const SMALL: usize = 1 << 14;

/// Index arrays of a Libra format, and where in CSR each value comes from.
#[derive(Debug, Default)]
pub(in crate::portable::convert) struct Index {
    pub(in crate::portable::convert) window_block_ptr: Vec<u32>,
    pub(in crate::portable::convert) bitmap: Vec<u64>,
    pub(in crate::portable::convert) block_value_ptr: Vec<u32>,
    pub(in crate::portable::convert) block_col: Vec<u32>,
    pub(in crate::portable::convert) position: Vec<u32>,
    pub(in crate::portable::convert) row_ptr: Vec<u32>,
    pub(in crate::portable::convert) col_idx: Vec<u32>,
    pub(in crate::portable::convert) rest_position: Vec<u32>,
}

/// The pattern of a CSR matrix and how it is distributed.
#[derive(Clone, Copy)]
pub(super) struct PatternSource<'a> {
    pub(super) row_ptr: &'a [u32],
    pub(super) col_idx: &'a [u32],
    pub(super) rule: DistributionRule,
}

/// Builds the index arrays.
pub(in crate::portable::convert) fn index(row_ptr: &[u32], col_idx: &[u32], rule: DistributionRule) -> Index {
    let source = PatternSource { row_ptr, col_idx, rule };
    let rows = row_ptr.len() - 1;
    let mut index = Index {
        window_block_ptr: vec![0; rows.div_ceil(WINDOW) + 1],
        row_ptr: vec![0; rows + 1],
        ..Index::default()
    };
    let mut window_values = vec![0; rows.div_ceil(WINDOW) + 1];
    let tasks = ranges(row_ptr);
    let kept = source.count(&tasks, &mut index, &mut window_values);
    for ptr in [&mut index.window_block_ptr, &mut window_values, &mut index.row_ptr] {
        accumulate(ptr);
    }
    let total = |ptr: &[u32]| ptr[ptr.len() - 1] as usize;
    let blocks = total(&index.window_block_ptr);
    index.bitmap = vec![0; blocks * words(rule.kb())];
    index.block_value_ptr = vec![0; blocks + 1];
    index.block_col = vec![u32::MAX; blocks * rule.kb()];
    index.position = vec![0; total(&window_values)];
    index.col_idx = vec![0; total(&index.row_ptr)];
    index.rest_position = vec![0; total(&index.row_ptr)];
    fill(source, tasks.into_iter().zip(kept).collect(), &mut index, &window_values);
    index
}

/// Words of the bitmap of a block.
pub(in crate::portable::convert) fn words(kb: usize) -> usize {
    (WINDOW * kb).div_ceil(64)
}

/// Turns counts behind a leading 0 into offsets.
pub(in crate::portable::convert) fn accumulate(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// Cuts the windows into ranges of about equal work; one range when there is little, none without windows.
pub(in crate::portable::convert) fn ranges(row_ptr: &[u32]) -> Vec<Range<usize>> {
    let rows = row_ptr.len() - 1;
    let windows = rows.div_ceil(WINDOW);
    if (row_ptr[rows] as usize) < SMALL {
        return (0..windows.min(1)).map(|_| 0..windows).collect();
    }
    let weight = |window: usize| row_ptr[rows.min(WINDOW * window)] as usize + WINDOW * window;
    let mut found = Vec::new();
    let mut start = 0;
    for window in 1..=windows {
        if weight(window) - weight(start) >= 2 * SMALL || window == windows {
            found.push(start..window);
            start = window;
        }
    }
    found
}

/// Cuts the first `len` elements off.
pub(in crate::portable::convert) fn cut<'a, X>(rest: &mut &'a mut [X], len: usize) -> &'a mut [X] {
    let (front, back) = std::mem::take(rest).split_at_mut(len);
    *rest = back;
    front
}

/// Vectors of the windows of a range that have a tensor part: merged once, used twice.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) vectors: Vec<ColumnVector>,
    /// Number of vectors of each such window.
    pub(super) counts: Vec<usize>,
}

/// Space for one window, kept from window to window.
#[derive(Default)]
struct Scratch {
    merger: Merger,
    slots: Vec<u32>,
}

/// What counting a range of windows writes.
struct Counts<'a> {
    windows: Range<usize>,
    blocks: &'a mut [u32],
    values: &'a mut [u32],
    rest: &'a mut [u32],
}

impl PatternSource<'_> {
    /// The rows of a window.
    pub(super) fn rows(&self, window: usize) -> Range<usize> {
        let rows = self.row_ptr.len() - 1;
        WINDOW * window..rows.min(WINDOW * (window + 1))
    }

    fn count(&self, tasks: &[Range<usize>], index: &mut Index, window_values: &mut [u32]) -> Vec<Kept> {
        let (mut blocks, mut values) = (&mut index.window_block_ptr[1..], &mut window_values[1..]);
        let mut rest = &mut index.row_ptr[1..];
        let tasks = tasks.iter().map(|windows| Counts {
            windows: windows.clone(),
            blocks: cut(&mut blocks, windows.len()),
            values: cut(&mut values, windows.len()),
            rest: cut(&mut rest, self.rows(windows.end - 1).end - WINDOW * windows.start),
        });
        with_scratch(tasks.collect(), |scratch: &mut Scratch, task: Counts<'_>| {
            let mut kept = Kept::default();
            let first = task.windows.start;
            for window in task.windows {
                let rows = self.rows(window);
                let ends = &self.row_ptr[rows.start..=rows.end];
                let rest = &mut task.rest[rows.start - WINDOW * first..rows.end - WINDOW * first];
                let mut taken = 0;
                if self.rule.may_take(ends) {
                    let vectors = scratch.merger.vectors(ends, self.col_idx);
                    taken = self.rule.assign(vectors, &mut scratch.slots);
                    if taken > 0 {
                        kept.vectors.extend_from_slice(vectors);
                        kept.counts.push(vectors.len());
                        task.values[window - first] = tally(vectors, &scratch.slots, rest);
                    }
                }
                task.blocks[window - first] = taken.div_ceil(self.rule.kb()) as u32;
                if taken == 0 {
                    rest.iter_mut().zip(ends.windows(2)).for_each(|(n, e)| *n = e[1] - e[0]);
                }
            }
            kept.vectors.shrink_to_fit();
            kept
        })
    }
}

/// Adds the entries that stay with the CUDA cores to their rows; returns the number of the others.
fn tally(vectors: &[ColumnVector], slots: &[u32], rest: &mut [u32]) -> u32 {
    let mut values = 0;
    for (vector, &slot) in vectors.iter().zip(slots) {
        if slot == REST {
            vector.rows().for_each(|r| rest[r] += 1);
        } else {
            values += vector.nnz();
        }
    }
    values
}
