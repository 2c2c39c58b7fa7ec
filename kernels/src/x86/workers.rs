//! Who does what: parts of a product cut into jobs on disjoint rows of C, and groups of workers that take them.
//!
//! ```text
//! part 0: rows 0..boundary   -> jobs -> queue 0 <- group 0 (x workers), then queue 1
//! part 1: rows boundary..m   -> jobs -> queue 1 <- group 1 (y workers), then queue 0
//! ```
//!
//! A worker whose own queue is empty helps with the other. A job's rows are computed by one worker from their own entries,
//! so neither the cut nor the split nor the number of threads reaches a result.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// What jobs are cut from: units in order, each with a first row of C and a weight.
pub(super) trait Part: Sync {
    /// Number of units.
    fn units(&self) -> usize;
    /// First row of a unit; for the number of units, the row after the last.
    fn first_row(&self, unit: usize) -> usize;
    /// Work before a unit; ascends.
    fn before(&self, unit: usize) -> usize;
}

/// Workers of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// Threads that start with the CSR part.
    pub csr: usize,
    /// Threads that start with the tile part.
    pub tiles: usize,
}

/// Some units of one part and their rows of C.
#[derive(Debug)]
pub(super) struct Job<'c, O> {
    pub(super) part: usize,
    pub(super) units: Range<usize>,
    pub(super) c: &'c mut [O],
}

/// Work of a job at least, in entries: some microseconds.
const GRAIN: usize = 1 << 12;

/// Cuts one part; `c` starts at the part's first row, and what follows its last row is returned.
fn cut<'c, O, P: Part + ?Sized>(
    place: usize,
    part: &P,
    mut c: &'c mut [O],
    ldc: usize,
    jobs: &mut Vec<Job<'c, O>>,
) -> &'c mut [O] {
    let units = part.units();
    let mut start = 0;
    while start < units {
        let goal = part.before(start) + GRAIN;
        let (mut low, mut high) = (start + 1, units);
        while low < high {
            let middle = low + (high - low) / 2;
            if part.before(middle) < goal {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let rows = part.first_row(low) - part.first_row(start);
        let (own, rest) = c.split_at_mut(rows * ldc);
        c = rest;
        jobs.push(Job { part: place, units: start..low, c: own });
        start = low;
    }
    c
}

/// Splits workers by the work of two parts; a part with rows has one at least.
pub(super) fn proportional(threads: usize, work: [usize; 2]) -> Split {
    if work[1] == 0 {
        return Split { csr: threads, tiles: 0 };
    }
    if work[0] == 0 {
        return Split { csr: 0, tiles: threads };
    }
    let share = (threads as f64 * work[0] as f64 / (work[0] + work[1]) as f64).round() as usize;
    let csr = share.clamp(1, threads.max(2) - 1);
    Split { csr, tiles: threads.saturating_sub(csr).max(1) }
}

/// Does all jobs of one or two parts. `buffers` makes what a worker keeps from job to job.
pub(super) fn run<O: Send, P: Part + ?Sized, B>(
    parts: [&P; 2],
    split: Option<Split>,
    (c, ldc): (&mut [O], usize),
    buffers: impl Fn() -> B + Sync,
    work: impl Fn(&mut B, Job<'_, O>) + Sync,
) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let rest = cut(0, parts[0], c, ldc, &mut first);
    cut(1, parts[1], rest, ldc, &mut second);
    let threads = rayon::current_num_threads();
    if split.is_none() && (threads == 1 || first.len() + second.len() < 2) {
        let mut own = buffers();
        first.into_iter().chain(second).for_each(|job| work(&mut own, job));
        return;
    }
    let split = split.unwrap_or_else(|| proportional(threads, parts.map(|p| p.before(p.units()))));
    let queues = [Mutex::new(first.into_iter()), Mutex::new(second.into_iter())];
    let take = |queue: usize| {
        let mut jobs = queues[queue].lock().unwrap_or_else(PoisonError::into_inner);
        jobs.next()
    };
    let worker = |own: usize| {
        let mut kept = buffers();
        while let Some(job) = take(own).or_else(|| take(1 - own)) {
            work(&mut kept, job);
        }
    };
    rayon::scope(|scope| {
        for own in std::iter::repeat_n(0, split.csr).chain(std::iter::repeat_n(1, split.tiles)) {
            let worker = &worker;
            scope.spawn(move |_| worker(own));
        }
    });
}
