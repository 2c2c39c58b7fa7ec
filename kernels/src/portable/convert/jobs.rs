//! Independent pieces of a conversion, done on all threads. What they compute does not depend on how many there are.
//!
//! ```text
//! jobs  0 1 2 | 3 4 5 | 6 7 8     cut into spans, each with a scratch of its own; results in the order of the jobs
//! ```

use crate::spread::spread;
use std::sync::{Mutex, PoisonError};

/// One that waits for its turn, and then what it returned.
struct WaitingJob<J, R> {
    waiting: Mutex<Option<J>>,
    result: Mutex<Option<R>>,
}

/// Does every job, one after the other if there is only one; what they return, in their order. `S` is a scratch that is kept from job
/// to job.
pub(in crate::portable) fn with_scratch<S: Default, J: Send, R: Send>(
    jobs: Vec<J>,
    run: impl Fn(&mut S, J) -> R + Sync,
) -> Vec<R> {
    if jobs.len() < 2 {
        let mut scratch = S::default();
        return jobs.into_iter().map(|job| run(&mut scratch, job)).collect();
    }
    let waiting = |job| WaitingJob { waiting: Mutex::new(Some(job)), result: Mutex::new(None) };
    let jobs: Vec<WaitingJob<J, R>> = jobs.into_iter().map(waiting).collect();
    spread(jobs.len(), &|span| {
        let mut scratch = S::default();
        for WaitingJob { waiting, result } in &jobs[span] {
            let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = job.map(|job| run(&mut scratch, job));
        }
    });
    let result = |job: WaitingJob<J, R>| job.result.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Each was filled: a panic of a job is passed on before.
    jobs.into_iter().filter_map(result).collect()
}

/// Does every job, one after the other if there is only one; what they return, in their order.
pub(in crate::portable) fn all<J: Send, R: Send>(jobs: Vec<J>, run: impl Fn(J) -> R + Sync) -> Vec<R> {
    with_scratch(jobs, |(): &mut (), job| run(job))
}

/// Does every job, one after the other if there is only one.
pub(in crate::portable) fn each<J: Send>(jobs: Vec<J>, run: impl Fn(J) + Sync) {
    all(jobs, run);
}
