//! The summary on the terminal: one line per backend, the first findings with their replay lines, the files.

use crate::report::SlowestCase;
use crate::report::expectation::Became;
use crate::report::finding::Described;
use crate::report::model::Report;
use crate::report::outcome::Outcome;
use crate::report::show::{answered_late, by_rule, count, counted, one_line, used};
use crate::report::summary::{BackendSummary, Summary};
use crate::report::verdict::VerdictKind;
use crate::report::write::folder_of;
use std::fmt::Write;
use std::path::PathBuf;

/// Findings printed; the others are in the files.
pub const FINDINGS_SHOWN: usize = 10;
/// Reasons for which a run is thin that are printed.
pub const THIN_SHOWN: usize = 20;
/// Reasons for which cases were not run that are printed.
const NOT_RUN_SHOWN: usize = 10;

/// Whether the text may hold terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences for a terminal.
    Ansi,
    /// Text only.
    Plain,
}

impl Colour {
    /// Colours for a terminal, unless `NO_COLOR` is set to anything but the empty string (<https://no-color.org>).
    #[must_use]
    pub fn for_output(is_terminal: bool) -> Colour {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if is_terminal && !refused { Colour::Ansi } else { Colour::Plain }
    }

    fn paint(self, code: u8, text: &str) -> String {
        match self {
            Colour::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colour::Plain => text.to_owned(),
        }
    }
}

/// How Python begins to say where an exception came from.
const TRACEBACK: &str = "Traceback (most recent call last):";

const BOLD: u8 = 1;
const RED: u8 = 31;
const GREEN: u8 = 32;
const YELLOW: u8 = 33;

/// The report as text for a terminal; `written` are the files to name at the end.
#[must_use]
pub fn to_text(report: &Report, written: &[PathBuf], colour: Colour) -> String {
    let summary = report.summary();
    let width = summary.backends.iter().map(|b| b.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for backend in &summary.backends {
        let _ = writeln!(text, "{:width$}  {}", backend.name, backend_line(backend, colour));
    }
    text.push_str(&determinism(report));
    text.push_str(&late(report));
    text.push_str(&slow(report));
    text.push_str(&findings(report, written, colour));
    // Where nothing was judged, that says it all.
    let is_judged = report.outcome() != Outcome::NothingJudged;
    if is_judged {
        text.push_str(&behind(report));
    }
    text.push_str(&expectations(report));
    text.push_str(&not_run(&summary));
    if is_judged {
        text.push_str(&thin(report, colour));
    }
    text.push_str(&files(written));
    let _ = writeln!(text, "{}", last_line(report, &summary.total.counts, colour));
    text
}

fn backend_line(backend: &BackendSummary, colour: Colour) -> String {
    let counts = &backend.cell.counts;
    let mut line = format!("{} of {} run", count(counts.ran()), counted(counts.total(), "case"));
    for (kind, number) in counts.present() {
        let part = format!("{} {}", count(number), kind.label());
        let part = if kind.is_finding() { colour.paint(RED, &part) } else { part };
        let _ = write!(line, ", {part}");
    }
    if let Some(worst) = backend.cell.worst {
        let _ = write!(line, "; {}", used(worst.share));
    }
    if let Some(bits) = backend.bits_held() {
        let _ = write!(line, "; {bits}");
    }
    line
}

/// One line for each backend of which a case was run again.
fn determinism(report: &Report) -> String {
    let graded = report.backends.iter().filter(|b| b.determinism.repeated > 0);
    graded.map(|b| format!("{}: {}\n", b.name, one_line(&b.determinism.to_string()))).collect()
}

/// One line for each backend: what stands behind its verdicts.
fn behind(report: &Report) -> String {
    let lines = by_backend(report, |name| Some(report.behind(name)?.to_string()));
    let seeded = report.worth.iter().any(|row| row.seeded.is_some());
    let words = if seeded {
        "; seeded bugs are mistakes made on purpose, on which the same cases were tried"
    } else {
        ""
    };
    if lines.is_empty() { lines } else { format!("\nwhat this run is worth{words}:\n{lines}") }
}

/// One line for each backend that was asked again.
fn late(report: &Report) -> String {
    by_backend(report, |name| answered_late(report, name))
}

/// One line for each backend of which a single case was long.
fn slow(report: &Report) -> String {
    let line = |(name, slow): (&str, &SlowestCase)| {
        format!("slowest case of {name}: {:.1} s, {}\n", slow.seconds, one_line(&slow.case))
    };
    report.timings.conspicuous().into_iter().map(line).collect()
}

/// One line for each backend of which there is something to say.
fn by_backend(report: &Report, said: impl Fn(&str) -> Option<String>) -> String {
    let line = |name: &str| Some(format!("{name}: {}\n", one_line(&said(name)?)));
    report.backends.iter().filter_map(|b| line(&b.name)).collect()
}

fn findings(report: &Report, written: &[PathBuf], colour: Colour) -> String {
    let findings = crate::report::show::shrunk_first(report);
    let shown: Vec<Described<'_>> =
        findings.iter().take(FINDINGS_SHOWN).map(|finding| report.describe(finding)).collect();
    let mut text = String::new();
    for described in &shown {
        let backend = match report.backends.len() {
            0 | 1 => String::new(),
            _ => format!("{}: ", described.backend),
        };
        let _ = writeln!(
            text,
            "\n{} {}",
            colour.paint(RED, "finding:"),
            one_line(&format!("{backend}{}", without_trace(&described.message)))
        );
        if let Some(replay) = &described.replay {
            let _ = writeln!(text, "  {}", one_line(replay));
        }
        if let Some((record, shrunk)) = described.record.and_then(|r| Some((r, r.reproducer.as_ref()?))) {
            let _ = writeln!(text, "  {}", one_line(&shrunk.summary));
            if let Some(replay) = report.replay_shrunk(record, folder_of(written)) {
                let _ = writeln!(text, "  {}", one_line(&replay));
            }
        }
    }
    if let Some(further) = findings.get(FINDINGS_SHOWN..).filter(|further| !further.is_empty()) {
        let report_json = written.iter().find(|path| path.ends_with("report.json"));
        let place = report_json.map_or_else(
            || "--report DIR keeps them".to_owned(),
            |path| format!("all are in {}", path.display()),
        );
        let _ = writeln!(
            text,
            "\n... and {}: {}; {place}",
            counted(further.len() as u64, "further finding"),
            one_line(&by_rule(report, further)),
        );
    }
    let mut records = shown.iter().filter_map(|described| described.record);
    if records.any(|record| record.verdict.mismatch().is_some()) {
        let _ = writeln!(
            text,
            "\n{}\n`conformance explain` in place of `conformance replay` follows the first wrong element to its verdict",
            crate::report::show::CRITERIA
        );
    }
    text
}

/// A message with only the last line of a Python traceback, which says what happened; the report has all of it.
fn without_trace(message: &str) -> String {
    let Some((before, trace)) = message.split_once(TRACEBACK) else {
        return message.to_owned();
    };
    let last = trace.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match before.trim_end() {
        said if said.ends_with(last) => said.to_owned(),
        _ => format!("{before}{last}"),
    }
}

/// Expectations that waived something, and those that this run could say nothing about.
fn expectations(report: &Report) -> String {
    let mut text = String::new();
    for ((expectation, outcome), tally) in
        report.expectations.iter().zip(report.outcomes()).zip(report.tallies())
    {
        let (head, what) = match outcome {
            Became::Undecided(why) => ("not looked at", why.to_owned()),
            _ if tally.occurred > 0 && !expectation.expired => ("waived", counted(tally.occurred, "case")),
            _ => continue,
        };
        let _ = writeln!(
            text,
            "\n{head}: {}\n  {what}; {} (until {})",
            one_line(&expectation.summary()),
            one_line(&expectation.reason),
            expectation.expires
        );
    }
    text
}

/// Why cases were not run, grouped: a count alone would hide a matrix that could not be read.
fn not_run(summary: &Summary) -> String {
    let reasons = summary.not_run();
    let mut text = String::new();
    for entry in reasons.iter().take(NOT_RUN_SHOWN) {
        let (cases, backends) = (counted(entry.cases, "case"), entry.backends.join(", "));
        let _ = writeln!(text, "\nnot run: {cases} on {}\n  {}", one_line(&backends), one_line(entry.reason));
    }
    if let Some(more) = reasons.len().checked_sub(NOT_RUN_SHOWN).filter(|&more| more > 0) {
        let _ = writeln!(text, "\nnot run: {} in report.json", counted(more as u64, "further reason"));
    }
    text
}

/// What was judged on too little.
fn thin(report: &Report, colour: Colour) -> String {
    if report.thin.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{} {}\n", colour.paint(YELLOW, "thin:"), report.too_little());
    for thin in report.thin.iter().take(THIN_SHOWN) {
        let line = format!("{}, {}: {}", thin.backend, thin.contract, thin.reason);
        let _ = writeln!(text, "  {}", one_line(&line));
    }
    if let Some(more) = report.thin.len().checked_sub(THIN_SHOWN).filter(|&more| more > 0) {
        let _ = writeln!(text, "  ... and {} more, all in report.json", count(more as u64));
    }
    text
}

fn files(written: &[PathBuf]) -> String {
    let mut text = String::from("\n");
    for path in written {
        let _ = writeln!(text, "wrote {}", path.display());
    }
    text
}

fn last_line(report: &Report, counts: &crate::report::summary::Counts, colour: Colour) -> String {
    let apart = [VerdictKind::Waived, VerdictKind::Unsupported, VerdictKind::NotRun]
        .map(|kind| (kind, counts.get(kind)));
    let apart = apart.iter().filter(|(_, number)| *number > 0);
    let apart: String =
        apart.map(|(kind, number)| format!(", {} {}", count(*number), kind.label())).collect();
    let verdict = match report.outcome() {
        Outcome::Clean => colour.paint(GREEN, "clean"),
        Outcome::Thin => colour.paint(YELLOW, &format!("{}, no finding", report.headline())),
        Outcome::Findings | Outcome::NothingJudged => colour.paint(RED, &report.headline()),
    };
    let took = report.timings.total_seconds;
    format!(
        "{} {} run{apart} in {took:.1} s",
        colour.paint(BOLD, &format!("{verdict}:")),
        counted(counts.ran(), "case")
    )
}
