//! Who does what: parts of a product cut into jobs on disjoint rows of C, and groups of workers that take them.
//!
//! ```text
//! part 0: rows 0..boundary   -> jobs -> queue 0 <- group 0 (x workers)      Grouping::Mixed: a worker whose own queue is empty
//! part 1: rows boundary..m   -> jobs -> queue 1 <- group 1 (y workers)                     goes on with the other
//! ```
//!
//! A job's rows are computed by one worker from their own entries, so neither the cut nor the split nor the number of threads reaches
//! a result.
//!
//! Source: section 3.4 of the LOOPS paper, whose groups are two sections of OpenMP with their own numbers of threads.

use sparse_types::format::Loops;
use sparse_types::refusal::{Refusal, RequestError};
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What jobs are cut from: units in order, each with a first row of C and a weight.
pub(crate) trait Part: Sync {
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
    /// Threads of the CSR part.
    pub csr: usize,
    /// Threads of the tile part.
    pub tiles: usize,
}

impl Split {
    /// Each part with rows has a worker.
    pub(crate) fn check<T>(self, m: &Loops<T>) -> Result<(), Refusal> {
        let parts = [
            ("workers of the CSR part", m.boundary, self.csr),
            ("workers of the tile part", m.rows - m.boundary, self.tiles),
        ];
        match parts.into_iter().find(|&(_, rows, workers)| rows > 0 && workers == 0) {
            Some((field, ..)) => Err(RequestError::Zero { field }.into()),
            None => Ok(()),
        }
    }

    /// As many workers as find jobs, and one at least for a queue with jobs.
    fn fitting(self, jobs: [usize; 2], groups: Grouping) -> [usize; 2] {
        let most = |own: usize| if groups == Grouping::Mixed { jobs[0] + jobs[1] } else { own };
        let fit = |workers: usize, own: usize| workers.min(most(own)).max(usize::from(own > 0));
        [fit(self.csr, jobs[0]), fit(self.tiles, jobs[1])]
    }
}

/// Whether the groups keep to their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// Both parts are computed by the same units of a core: a worker with nothing left to do in its own part goes on with the other.
    Mixed,
    /// The tile part has a unit that cores share: never more threads are in it than its group has.
    #[cfg_attr(
        not(any(target_arch = "aarch64", test)),
        expect(dead_code, reason = "SME alone has such a unit")
    )]
    Apart,
}

/// Some units of one part and their rows of C.
#[derive(Debug)]
pub(crate) struct Job<'c, O> {
    pub(crate) part: usize,
    pub(crate) units: Range<usize>,
    pub(crate) c: &'c mut [O],
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
pub(crate) fn proportional(threads: usize, work: [usize; 2]) -> Split {
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

/// Does all jobs of one or two parts. `buffers` makes what a worker keeps from job to job. Without a split, the threads of the pool are
/// shared out in proportion to the work.
///
/// # Errors
/// What `work` refused first; its worker stops there, the others go on.
pub(crate) fn run<O: Send, P: Part + ?Sized, B>(
    parts: [&P; 2],
    (split, groups): (Option<Split>, Grouping),
    (c, ldc): (&mut [O], usize),
    buffers: impl Fn() -> B + Sync,
    work: impl Fn(&mut B, Job<'_, O>) -> Result<(), Refusal> + Sync,
) -> Result<(), Refusal> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let rest = cut(0, parts[0], c, ldc, &mut first);
    cut(1, parts[1], rest, ldc, &mut second);
    let threads = rayon::current_num_threads();
    if split.is_none() && (threads == 1 || first.len() + second.len() < 2) {
        let mut own = buffers();
        return first.into_iter().chain(second).try_for_each(|job| work(&mut own, job));
    }
    let split = split.unwrap_or_else(|| proportional(threads, parts.map(|p| p.before(p.units()))));
    let [csr, tiles] = split.fitting([first.len(), second.len()], groups);
    let queues = [Mutex::new(first.into_iter()), Mutex::new(second.into_iter())];
    let take = |queue: usize| {
        let mut jobs = queues[queue].lock().unwrap_or_else(PoisonError::into_inner);
        jobs.next()
    };
    let others = |own: usize| if groups == Grouping::Mixed { take(1 - own) } else { None };
    let refused = OnceLock::new();
    let worker = |own: usize| {
        let mut kept = buffers();
        while let Some(job) = take(own).or_else(|| others(own)) {
            if let Err(refusal) = work(&mut kept, job) {
                // Another worker may have been first: that one's refusal is the answer.
                let _ = refused.set(refusal);
                return;
            }
        }
    };
    rayon::scope(|scope| {
        for own in std::iter::repeat_n(0, csr).chain(std::iter::repeat_n(1, tiles)) {
            let worker = &worker;
            scope.spawn(move |_| worker(own));
        }
    });
    refused.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Rows from `first` on, each a job.
    struct Rows {
        first: usize,
        count: usize,
    }

    impl Part for Rows {
        fn units(&self) -> usize {
            self.count
        }

        fn first_row(&self, unit: usize) -> usize {
            self.first + unit
        }

        fn before(&self, unit: usize) -> usize {
            GRAIN * unit
        }
    }

    fn in_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(f)
    }

    /// Where cores share a unit for tiles, as many workers are in it as the split says, and none of them does rows; the pool has more.
    #[test]
    fn groups_apart_keep_to_their_parts() {
        for split in [Split { csr: 3, tiles: 1 }, Split { csr: 1, tiles: 2 }, Split { csr: 2, tiles: 4 }] {
            let (inside, most, workers) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
            let mut c = vec![0u8; 60];
            let parts = [&Rows { first: 0, count: 20 }, &Rows { first: 20, count: 40 }];
            let work = |seen: &mut Seen<'_>, job: Job<'_, u8>| {
                seen.parts.insert(job.part);
                if job.part == 1 {
                    most.fetch_max(1 + inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                    std::thread::sleep(Duration::from_micros(300));
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
                job.c.fill(1 + job.part as u8);
                Ok(())
            };
            let buffers = || Seen { parts: BTreeSet::new(), all: &workers };
            let done = in_pool(8, || run(parts, (Some(split), Grouping::Apart), (&mut c, 1), buffers, work));
            assert_eq!(done, Ok(()));
            assert!(c[..20].iter().all(|&part| part == 1) && c[20..].iter().all(|&part| part == 2));
            assert!((1..=split.tiles).contains(&most.into_inner()), "{split:?}");
            let workers = workers.into_inner().expect("no worker panicked");
            assert_eq!(workers.len(), split.csr + split.tiles);
            assert!(workers.iter().all(|parts| parts.len() < 2), "{split:?}: {workers:?}");
        }
    }

    /// What a worker did, told when it ends.
    struct Seen<'a> {
        parts: BTreeSet<usize>,
        all: &'a Mutex<Vec<BTreeSet<usize>>>,
    }

    impl Drop for Seen<'_> {
        fn drop(&mut self) {
            self.all.lock().expect("no worker panicked").push(std::mem::take(&mut self.parts));
        }
    }

    /// The only worker of the rows has one job; the first two of the tiles wait for each other, so that it must come to help.
    #[test]
    fn mixed_groups_help_each_other() {
        let (arrived, both) = (Mutex::new(0), Condvar::new());
        let mut c = [0u8; 3];
        let parts = [&Rows { first: 0, count: 1 }, &Rows { first: 1, count: 2 }];
        let met = AtomicUsize::new(0);
        let work = |(): &mut (), job: Job<'_, u8>| {
            if job.part == 1 {
                let mut count = arrived.lock().expect("no worker panicked");
                *count += 1;
                both.notify_all();
                let limit = Duration::from_secs(60);
                let waited = both.wait_timeout_while(count, limit, |count| *count < 2);
                met.fetch_add(
                    usize::from(!waited.expect("no worker panicked").1.timed_out()),
                    Ordering::SeqCst,
                );
            }
            Ok(())
        };
        let split = Some(Split { csr: 1, tiles: 1 });
        let done = in_pool(2, || run(parts, (split, Grouping::Mixed), (&mut c, 1), || (), work));
        assert_eq!((done, met.into_inner()), (Ok(()), 2));
    }

    #[test]
    fn a_refusal_is_the_answer_and_other_workers_go_on() {
        let refusal: Refusal = RequestError::Zero { field: "a job" }.into();
        let mut c = [0u8; 9];
        let parts = [&Rows { first: 0, count: 4 }, &Rows { first: 4, count: 5 }];
        for (groups, threads) in [(Grouping::Mixed, 3), (Grouping::Apart, 3), (Grouping::Apart, 1)] {
            let work = |(): &mut (), job: Job<'_, u8>| {
                job.c.fill(1);
                if job.part == 1 { Err(refusal.clone()) } else { Ok(()) }
            };
            c.fill(0);
            let done = in_pool(threads, || run(parts, (None, groups), (&mut c, 1), || (), work));
            assert_eq!(done, Err(refusal.clone()));
            assert_eq!(c[..4], [1; 4], "{groups:?}");
        }
    }
}
