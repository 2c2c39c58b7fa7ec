//! Shrinks the findings of a report into its folder, backend by backend, each within its share of time.

use super::{ReproducerError, shrink_into};
use crate::backend::Backend;
use crate::case::Case;
use crate::report::{Report, Reproducer};
use crate::shrink::{Chosen, ShrinkBudget, select};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Reproducers of one backend at the most.
const MOST: usize = 64;

/// The least time that a finding gets while there is any left.
const LEAST: Duration = Duration::from_millis(300);

/// One finding and the name of its folder.
struct Job {
    chosen: Chosen,
    name: String,
}

/// Shrinks one finding of each backend, contract and reason into `FOLDER/reproducers`, each backend within `time`, and
/// notes the reproducers in the report. Returns what went wrong; the report is as good without it. `told` is told how many are shrunk, and
/// of how many.
pub fn shrink_findings(
    report: &mut Report,
    backends: &[Box<dyn Backend>],
    folder: &Path,
    time: Duration,
    told: &(dyn Fn(usize, usize) + Sync),
) -> Vec<ReproducerError> {
    let mut names = HashSet::new();
    let mut work: Vec<(&dyn Backend, Vec<Job>)> = Vec::new();
    for (name, chosen) in select(report) {
        let Some(backend) = backends.iter().find(|b| b.name() == name) else {
            continue;
        };
        let jobs = chosen.into_iter().take(MOST);
        let jobs = jobs.map(|chosen| Job {
            name: folder_name(
                &whose(report, &name),
                &report.cases[chosen.index].contract,
                &chosen,
                &mut names,
            ),
            chosen,
        });
        work.push((backend.as_ref(), jobs.collect()));
    }
    let (count, all) = (AtomicUsize::new(0), work.iter().map(|(_, jobs)| jobs.len()).sum());
    let ended = || told(count.fetch_add(1, Ordering::Relaxed) + 1, all);
    let done: Vec<(usize, Result<Reproducer, ReproducerError>)> = work
        .par_iter()
        .flat_map_iter(|(backend, jobs)| of_backend(report, *backend, jobs, (folder, time), &ended))
        .collect();
    let mut problems = Vec::new();
    for (index, result) in done {
        match result {
            Ok(reproducer) => report.cases[index].reproducer = Some(reproducer),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

fn of_backend(
    report: &Report,
    backend: &dyn Backend,
    jobs: &[Job],
    (folder, time): (&Path, Duration),
    ended: &(dyn Fn() + Sync),
) -> Vec<(usize, Result<Reproducer, ReproducerError>)> {
    let until = Instant::now() + time;
    let mut done = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        // No finding may take it all: every reason that has had no turn yet gets as much, and never more than a quarter of
        // what is left; or the least.
        let firsts = jobs[place..].iter().filter(|job| job.chosen.turn == 0).count();
        let share = left / u32::try_from(firsts.max(4)).unwrap_or(u32::MAX);
        let budget = ShrinkBudget { time: Some(share.max(LEAST).min(left)), ..ShrinkBudget::default() };
        let index = job.chosen.index;
        done.push((index, one(report, backend, job, folder, budget)));
        ended();
    }
    done
}

fn one(
    report: &Report,
    backend: &dyn Backend,
    job: &Job,
    folder: &Path,
    budget: ShrinkBudget,
) -> Result<Reproducer, ReproducerError> {
    let line = &report.cases[job.chosen.index].case;
    let failed = |reason: String| ReproducerError::Case { case: line.clone(), reason };
    let case: Case = line.parse().map_err(|e: crate::case::CaseError| failed(e.to_string()))?;
    let loaded = case.origin.load().map_err(|e| failed(e.to_string()))?;
    let named = Path::new("reproducers").join(&job.name);
    let subject = (backend, &job.chosen.reason);
    shrink_into((&case, &loaded), subject, (budget, &|_, _| ()), (&folder.join(&named), &named))
}

/// The backend, and in a shard which one: the folders of all shards come together when they are merged.
fn whose(report: &Report, backend: &str) -> String {
    match report.plan.shard {
        Some(shard) => format!("{backend}-{}of{}", shard.index(), shard.count()),
        None => backend.to_owned(),
    }
}

/// `portable-spmm.csr.f32_f32_f32_f32-wrong-value`, with a number where that was taken.
fn folder_name(backend: &str, contract: &str, chosen: &Chosen, taken: &mut HashSet<String>) -> String {
    let plain = |text: &str| -> String {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }
        };
        text.chars().map(safe).take(60).collect()
    };
    let name = format!("{}-{}-{}", plain(backend), plain(contract), chosen.reason.label());
    // A name that starts with a dot would be hidden.
    let name = name.trim_start_matches('.').to_owned();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut free = std::iter::once(name.clone()).chain(numbered);
    free.find(|candidate| taken.insert(candidate.clone())).unwrap_or(name)
}
