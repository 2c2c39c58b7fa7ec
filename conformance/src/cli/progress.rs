//! Progress: a bar on a terminal, a plain line every few seconds without one. All of it on standard error.

use crate::campaign::Progress;
use crate::notice::say;
use crate::report::show::{count, counted};
use crate::report::{CaseRecord, VerdictKind, replay_command};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Shows how many steps of something are done, and how long the rest will take. The bar goes away with it.
#[derive(Debug)]
pub(super) struct Gauge {
    bar: Option<ProgressBar>,
    /// What is counted, more than one of it.
    steps: &'static str,
    said: Mutex<Instant>,
    /// A step is done: how long the others take can be told. Without a bar: a line was written.
    begun: AtomicBool,
    quiet: bool,
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Time between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

impl Gauge {
    /// A bar if standard error is a terminal; nothing where it is to be quiet.
    pub(super) fn new(steps: &'static str, quiet: bool) -> Gauge {
        let bar = (!quiet && std::io::stderr().is_terminal())
            .then(|| ProgressBar::new(0).with_style(style("{bar:30} {msg}")));
        Gauge { bar, steps, said: Mutex::new(Instant::now()), begun: AtomicBool::new(false), quiet }
    }

    /// So many steps are done, of so many; `note` is what else there is to say, or nothing.
    pub(super) fn at(&self, done: usize, of: usize, note: impl FnOnce() -> String) {
        let text = || {
            let note = Some(note()).filter(|note| !note.is_empty()).map(|note| format!(", {note}"));
            let (done, of) = (count(done as u64), count(of as u64));
            format!("{done}/{of} {}{}", self.steps, note.unwrap_or_default())
        };
        if let Some(bar) = &self.bar {
            if done > 0 && !self.begun.swap(true, Ordering::Relaxed) {
                bar.set_style(style("{bar:30} {msg}, {eta} left"));
            }
            bar.set_length(of as u64);
            bar.set_position(done as u64);
            bar.set_message(text());
        } else if !self.quiet && (self.is_due() || done == of && self.begun.load(Ordering::Relaxed)) {
            self.begun.store(true, Ordering::Relaxed);
            say(&text());
        }
    }

    /// True where a plain line is due; else the last one, which says that all is done, if there was any.
    fn is_due(&self) -> bool {
        self.said.try_lock().is_ok_and(|mut said| {
            let is_due = said.elapsed() >= PAUSE;
            if is_due {
                *said = Instant::now();
            }
            is_due
        })
    }

    /// Writes what would otherwise be written across the bar.
    pub(super) fn beside<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        self.clear();
    }
}

/// How a run ends at its first finding.
#[derive(Debug)]
pub(super) struct Stop {
    /// The options that name the backends.
    pub(super) selection: String,
    /// Where what was judged is, on a line of its own.
    pub(super) kept: &'static str,
}

/// Shows how far a run is.
#[derive(Debug)]
pub(super) struct Shown {
    gauge: Gauge,
    /// What comes after the cases.
    hunts: Gauge,
    planned: AtomicUsize,
    judged: AtomicUsize,
    findings: AtomicUsize,
    /// Cases without an answer in time: they are asked again at the end.
    late: AtomicUsize,
    /// Ends the process at the first finding: the options that name a backend, and what is left to say.
    stop: Option<Stop>,
    /// Held by the thread that ends it.
    stopping: Mutex<()>,
}

impl Shown {
    /// Nothing is shown where it is to be quiet.
    pub(super) fn new(quiet: bool, stop: Option<Stop>) -> Shown {
        Shown {
            gauge: Gauge::new("case lines", quiet),
            hunts: Gauge::new("seeded bugs tried", quiet),
            stop,
            planned: AtomicUsize::new(0),
            judged: AtomicUsize::new(0),
            findings: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
            stopping: Mutex::new(()),
        }
    }

    fn at(&self, judged: usize) {
        let planned = self.planned.load(Ordering::Relaxed);
        self.gauge.at(judged, planned, || {
            let late = match self.late.load(Ordering::Relaxed) {
                0 => String::new(),
                late => format!(", {} without an answer in time", count(late as u64)),
            };
            format!("{}{late}", counted(self.findings.load(Ordering::Relaxed) as u64, "finding"))
        });
    }
}

/// True of a case that will be asked again.
fn is_late(record: &CaseRecord) -> bool {
    record.verdict.kind() == VerdictKind::TimedOut && !record.asked_again
}

impl Progress for Shown {
    fn planned(&self, cases: usize, matrices: usize) {
        self.planned.store(cases, Ordering::Relaxed);
        if self.gauge.bar.is_none() && !self.gauge.quiet {
            let what = if matrices == 1 { "matrix" } else { "matrices" };
            let cases = counted(cases as u64, "case line");
            say(&format!("{cases} on {} {what}", count(matrices as u64)));
        }
        self.at(0);
    }

    fn judged(&self, case: &str, findings: &[&CaseRecord]) {
        if let Some((stop, first)) = self.stop.as_ref().zip(findings.first()) {
            // Held to the end: another thread with a finding waits here.
            let _first = self.stopping.lock();
            let told = format!(
                "stopped at the first finding: {}: {}\n  {}{}",
                first.backend,
                first.verdict,
                replay_command(case, &stop.selection),
                stop.kept
            );
            self.gauge.clear();
            say(&told);
            std::process::exit(1);
        }
        let judged = self.judged.fetch_add(1, Ordering::Relaxed) + 1;
        let late = findings.iter().filter(|record| is_late(record)).count();
        self.late.fetch_add(late, Ordering::Relaxed);
        self.findings.fetch_add(findings.len() - late, Ordering::Relaxed);
        self.at(judged);
    }

    fn hunted(&self, over: usize, of: usize) {
        self.gauge.clear();
        self.hunts.at(over, of, String::new);
    }
}
