//! `run --dry-run`: what a run would do, without its report.

use super::output::output;
use crate::backend::Backend;
use crate::campaign::Planned;
use crate::case::Case;
use crate::determinism::Repeats;
use crate::report::show::{count, counted};
use crate::runner::run_case_repeated;
use anyhow::Result;
use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long cases are tried.
const TRIED: Duration = Duration::from_secs(5);

/// Says how many cases there are, and about how long they take: some that lie evenly in the plan are judged on one thread.
pub(super) fn dry_run(planned: &Planned, backends: &[Box<dyn Backend>], jobs: Option<u16>) -> Result<u8> {
    let cases: Vec<&Case> = planned.cases().collect();
    let matrices: BTreeSet<String> = cases.iter().map(|case| case.origin.to_string()).collect();
    let contracts: BTreeSet<String> = cases.iter().map(|case| case.contract.to_string()).collect();
    let mut out = output();
    writeln!(
        out,
        "{} on {} {}, of {}, for {}",
        counted(cases.len() as u64, "case line"),
        count(matrices.len() as u64),
        if matrices.len() == 1 { "matrix" } else { "matrices" },
        counted(contracts.len() as u64, "contract"),
        counted(backends.len() as u64, "backend")
    )?;
    let threads =
        jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let (begun, mut tried) = (Instant::now(), 0u32);
    // Steps through the plan by a large odd number, so that a few cases are of all parts of it.
    while begun.elapsed() < TRIED && (tried as usize) < cases.len() {
        let case = cases[(tried as usize).wrapping_mul(7919) % cases.len()];
        if let Ok(loaded) = case.origin.load() {
            let _judged = run_case_repeated(case, &loaded, backends, Repeats::default());
        }
        tried += 1;
    }
    if tried > 0 {
        let all = begun.elapsed().as_secs_f64() / f64::from(tried) * cases.len() as f64 / threads as f64;
        let tried = counted(tried.into(), "case");
        writeln!(
            out,
            "about {:.0} s with {}, from {tried} that were tried; seeded bugs and shrinking come on top",
            all,
            counted(threads as u64, "thread")
        )?;
    }
    Ok(0)
}
