//! Squeezing: the entries of a window of rows ranked by column. What CSR to TCF, ME-TCF and BitTCF have in common, and
//! how their work is shared out.
//!
//! ```text
//! window   . a . b . .      columns 1 3 5      rank of a b c d: 0 1 1 2      width 3
//!          . . . c . d      sorted keys (column, entry): (1, a) (3, b) (3, c) (5, d)
//! ```
//!
//! A job is a run of windows with about its share of the entries. Entries of a window are adjacent in CSR and in every
//! one of these formats, so a job owns one slice of each array. Few entries are one job, run without threads.

use crate::portable::convert::jobs::each;
use std::ops::Range;

/// Below so many entries all is one job.
const SMALL: usize = 1 << 14;

/// Fewest entries that are worth a job of their own.
const JOB: usize = 1 << 13;

/// Cuts windows into jobs; `start` gives the offset of the first entry of a window, and the number of entries for the
/// window after the last.
pub(in crate::portable) fn jobs(windows: usize, start: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let entries = start(windows);
    if !crowded(entries) {
        return std::iter::once(0..windows).collect();
    }
    let share = JOB.max(entries / (rayon::current_num_threads() * 8));
    let (mut jobs, mut first) = (Vec::new(), 0);
    for window in 1..=windows {
        if window == windows || start(window) - start(first) >= share {
            jobs.push(first..window);
            first = window;
        }
    }
    jobs
}

/// Whether so many entries are worth more than this thread, if there are others.
pub(in crate::portable) fn crowded(entries: usize) -> bool {
    entries >= SMALL && rayon::current_num_threads() > 1
}

/// Cuts an array into the slices that end at `ends`, ascending offsets.
pub(in crate::portable) fn cut<X>(mut array: &mut [X], ends: impl Iterator<Item = usize>) -> Vec<&mut [X]> {
    let (mut slices, mut start) = (Vec::new(), 0);
    for end in ends {
        let (slice, rest) = array.split_at_mut(end - start);
        slices.push(slice);
        (array, start) = (rest, end);
    }
    slices
}

/// The positions of a CSR matrix, in windows of `height` rows.
#[derive(Clone, Copy, Debug)]
pub(in crate::portable) struct Windows<'a> {
    pub(in crate::portable) row_ptr: &'a [u32],
    pub(in crate::portable) col_idx: &'a [u32],
    pub(in crate::portable) height: usize,
}

impl Windows<'_> {
    /// Number of windows.
    pub(in crate::portable) fn count(&self) -> usize {
        (self.row_ptr.len() - 1).div_ceil(self.height)
    }

    /// Offset of the first entry of a window; the number of entries for the window after the last.
    pub(in crate::portable) fn start(&self, window: usize) -> usize {
        self.row_ptr[(window * self.height).min(self.row_ptr.len() - 1)] as usize
    }

    /// Jobs of about the same number of entries.
    pub(in crate::portable) fn jobs(&self) -> Vec<Range<usize>> {
        jobs(self.count(), |window| self.start(window))
    }

    /// Of each entry, the rank of its column among the distinct columns of its window; of each window, their number.
    pub(in crate::portable) fn ranks(&self) -> (Vec<u32>, Vec<u32>) {
        let mut rank = vec![0; self.col_idx.len()];
        let mut width = vec![0; self.count()];
        let jobs = self.jobs();
        let ranks = cut(&mut rank, jobs.iter().map(|job| self.start(job.end)));
        let widths = cut(&mut width, jobs.iter().map(|job| job.end));
        let shared: Vec<_> = jobs.into_iter().zip(ranks.into_iter().zip(widths)).collect();
        each(shared, |(job, (mut ranks, widths))| {
            let mut keys = Vec::new();
            for (window, width) in job.zip(widths) {
                let (start, end) = (self.start(window), self.start(window + 1));
                let (own, rest) = ranks.split_at_mut(end - start);
                *width = rank_columns(&self.col_idx[start..end], &mut keys, own);
                ranks = rest;
            }
        });
        (rank, width)
    }
}

/// Ranks the columns of one window and returns how many distinct ones there are. `keys` is scratch.
fn rank_columns(columns: &[u32], keys: &mut Vec<u64>, rank: &mut [u32]) -> u32 {
    keys.clear();
    let key = |(at, &column): (usize, &u32)| u64::from(column) << 32 | at as u64;
    keys.extend(columns.iter().enumerate().map(key));
    keys.sort_unstable();
    let (mut width, mut last) = (0, None);
    for key in keys {
        let column = *key >> 32;
        width += u32::from(last != Some(column));
        last = Some(column);
        rank[*key as u32 as usize] = width - 1;
    }
    width
}
