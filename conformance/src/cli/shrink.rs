//! `conformance shrink`, and the part of `run` that shrinks what it found.

use super::meant::case;
use super::output::output;
use super::progress::Gauge;
use super::subjects::Subjects;
use crate::backend::Backend;
use crate::determinism::Repeats;
use crate::report::show::{count, counted};
use crate::report::{Report, replay_command};
use crate::reproducer;
use crate::runner::run_case_repeated;
use crate::shrink::{Candidate, Reason, ShrinkBudget};
use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How much work `run` puts into shrinking.
#[derive(Debug, ClapArgs)]
pub(super) struct Effort {
    /// Seconds for shrinking the findings of each backend, with --report: one finding per contract and reason.
    #[arg(long = "shrink", value_name = "SECONDS", default_value_t = 10)]
    seconds: u32,
    /// Shrink nothing and write no reproducers.
    #[arg(long = "no-shrink")]
    off: bool,
}

impl Effort {
    /// Shrinks findings into the report's folder. What can't be written is said, and changes nothing else.
    pub(super) fn shrink_findings(
        &self,
        report: &mut Report,
        (backends, folder): (&[Box<dyn Backend>], &Path),
        quiet: bool,
    ) {
        set_aside(folder);
        if self.off || self.seconds == 0 || report.failures().next().is_none() {
            return;
        }
        let time = Duration::from_secs(u64::from(self.seconds));
        let gauge = Gauge::new("findings shrunk", quiet);
        let told = |done, of| gauge.at(done, of, || format!("at most {} s a backend", self.seconds));
        let unfinished = folder.join("reproducers").join(UNFINISHED);
        let marked = std::fs::create_dir_all(folder.join("reproducers"))
            .and_then(|()| std::fs::write(&unfinished, "These are of a run that has not ended.\n"));
        let problems = reproducer::shrink_findings(report, backends, folder, time, &told);
        drop(gauge);
        if let Err(error) = marked.and_then(|()| std::fs::remove_file(&unfinished)) {
            crate::notice::say(&format!("conformance: {}: {error}", unfinished.display()));
        }
        for problem in problems {
            crate::notice::say(&format!("conformance: {problem}"));
        }
    }
}

/// Stands beside the reproducers until all of a run are written.
const UNFINISHED: &str = "unfinished";

/// Moves the reproducers of a run before out of the way: this report does not name them. Those of the run before that go, or, where the run
/// before was interrupted while it wrote them, those that it had written: no report names them.
pub(super) fn set_aside(folder: &Path) {
    let (now, old) = (folder.join("reproducers"), folder.join("reproducers.old"));
    if !now.is_dir() {
        return;
    }
    let moved = if now.join(UNFINISHED).exists() {
        std::fs::remove_dir_all(&now)
    } else {
        let gone = if old.exists() { std::fs::remove_dir_all(&old) } else { Ok(()) };
        gone.and_then(|()| std::fs::rename(&now, &old))
    };
    if let Err(error) = moved {
        crate::notice::say(&format!("conformance: {} is of a run before, and stays: {error}", now.display()));
    }
}

/// Options of `shrink`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The case line, as printed by a report.
    case: String,
    #[command(flatten)]
    subjects: Subjects,
    /// Folder for the reproducer, made if need be.
    #[arg(long, value_name = "DIR", default_value = "reproducer")]
    out: PathBuf,
    /// Time limit.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u32,
    /// Most candidates to run.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    candidates: usize,
}

/// Shrinks the case on the one backend that fails it. 1: shrunk; 0: it does not fail; 2: usage.
pub(super) fn run(args: &Args, backends: Vec<Box<dyn Backend>>) -> Result<u8> {
    let case = case(&args.case)?;
    let backends = args.subjects.open(backends)?;
    let loaded = case.origin.load()?;
    let mut out = output();
    let ran = run_case_repeated(&case, &loaded, &backends, Repeats::all(3));
    let mut failing = ran.records.iter().filter(|r| r.verdict.is_finding());
    let Some(record) = failing.next() else {
        for record in &ran.records {
            writeln!(out, "{}: {}", record.backend, record.verdict)?;
        }
        writeln!(out, "nothing to shrink: the case does not fail")?;
        return super::exit_code(&ran.records);
    };
    if failing.next().is_some() {
        bail!("the case fails on several backends; name one with --backend");
    }
    let Some((backend, reason)) =
        backends.iter().find(|b| b.name() == record.backend).zip(Reason::of_record(record))
    else {
        bail!("no backend called {}", record.backend);
    };
    let budget = ShrinkBudget {
        candidates: args.candidates,
        time: Some(Duration::from_secs(u64::from(args.seconds))),
    };
    let subject = (backend.as_ref(), &reason);
    let (gauge, start) = (Gauge::new("seconds", false), Instant::now());
    let told = |best: &Candidate, tried: usize| {
        let coo = &best.loaded.coo;
        let (spent, most) = (start.elapsed().as_secs() as usize, args.seconds as usize);
        gauge.at(spent, most, || {
            let tried = counted(tried as u64, "candidate");
            format!(
                "{tried} tried, down to {} x {}, entries: {}",
                coo.rows,
                coo.cols,
                count(coo.nnz() as u64)
            )
        });
    };
    let shrunk = reproducer::shrink_case((&case, &loaded), subject, (budget, &told), &args.out)?;
    drop(gauge);
    writeln!(out, "{}: {}", record.backend, record.verdict)?;
    writeln!(out, "{}", shrunk.summary)?;
    if let Some(line) = &shrunk.case {
        writeln!(out, "{}", replay_command(line, &backend.selection()))?;
        writeln!(out, "wrote {}", args.out.display())?;
    }
    Ok(1)
}
