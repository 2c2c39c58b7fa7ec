//! Progress: a bar on a terminal, a plain line every few seconds without one. All of it on standard error.

use crate::campaign::Progress;
use crate::notice::say;
use crate::report::replay_command;
use crate::report::show::{count, counted};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Shows how far a run is.
#[derive(Debug)]
pub(super) struct Shown {
    bar: Option<ProgressBar>,
    planned: AtomicUsize,
    judged: AtomicUsize,
    findings: AtomicUsize,
    said: Mutex<Instant>,
    quiet: bool,
    /// Ends the process at the first finding, and names the backends by these options.
    stop: Option<String>,
}

/// Time between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

impl Shown {
    /// A bar if standard error is a terminal; nothing where it is to be quiet.
    pub(super) fn new(quiet: bool, stop: Option<String>) -> Shown {
        Shown {
            bar: (!quiet && std::io::stderr().is_terminal()).then(|| ProgressBar::new(0)),
            quiet,
            stop,
            planned: AtomicUsize::new(0),
            judged: AtomicUsize::new(0),
            findings: AtomicUsize::new(0),
            said: Mutex::new(Instant::now()),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Shown {
    fn planned(&self, cases: usize, matrices: usize) {
        self.planned.store(cases, Ordering::Relaxed);
        match &self.bar {
            Some(bar) => {
                bar.set_length(cases as u64);
                let style = ProgressStyle::with_template(
                    "{bar:30} {human_pos}/{human_len} case lines, {msg}, {eta} left",
                );
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                bar.set_message("0 findings");
            }
            None if self.quiet => {}
            None => {
                let what = if matrices == 1 { "matrix" } else { "matrices" };
                let cases = counted(cases as u64, "case line");
                say(&format!("{cases} on {} {what}", count(matrices as u64)));
            }
        }
    }

    fn judged(&self, case: &str, findings: usize) {
        if let Some(selection) = self.stop.as_ref().filter(|_| findings > 0) {
            // Held to the end: another thread with a finding waits here.
            let _first = self.said.lock();
            self.finish();
            say(&format!("stopped at the first finding:\n  {}", replay_command(case, selection)));
            std::process::exit(1);
        }
        let judged = self.judged.fetch_add(1, Ordering::Relaxed) + 1;
        let total = self.findings.fetch_add(findings, Ordering::Relaxed) + findings;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if findings > 0 {
                bar.set_message(counted(total as u64, "finding"));
            }
        } else if !self.quiet
            && let Ok(mut said) = self.said.try_lock()
            && said.elapsed() >= PAUSE
        {
            *said = Instant::now();
            let planned = counted(self.planned.load(Ordering::Relaxed) as u64, "case line");
            say(&format!("{}/{planned}, {}", count(judged as u64), counted(total as u64, "finding")));
        }
    }
}
