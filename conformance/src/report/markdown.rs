//! `report.md`: a summary that fits a GitHub job summary (which ends at 1 MiB), with the first findings in full.

use crate::report::finding::Described;
use crate::report::model::Report;
use crate::report::outcome::Outcome;
use crate::report::show::{answered_late, count, counted, one_line, percent, share, used};
use crate::report::summary::{Cell, ContractRow, Summary};
use crate::report::verdict::VerdictKind;
use std::fmt::Write;
use std::path::Path;

/// Findings shown in full; the others are in the JSON and HTML files.
pub const FINDINGS_SHOWN: usize = 25;
/// Reasons for which a run is thin, or for which cases were not run, that are listed.
const REASONS_SHOWN: usize = 20;

/// The report as Markdown.
#[must_use]
pub fn to_markdown(report: &Report) -> String {
    let summary = report.summary();
    let mut text = headline(report, &summary);
    text.push_str(&thin(report));
    text.push_str(&findings(report));
    text.push_str(&backend_table(report, &summary));
    text.push_str(&operation_table(report, &summary));
    text.push_str(&not_run(&summary));
    text.push_str(&behind(report));
    text.push_str(&determinism(report));
    text.push_str(&expectations(report));
    text.push_str(&environment(report));
    text
}

fn headline(report: &Report, summary: &Summary) -> String {
    let distinct = counted(report.plan.distinct_cases, "case line");
    let contracts = counted(summary.contracts_planned(), "contract");
    let backends = counted(report.backends.len() as u64, "backend");
    let mut text = format!("# Sparse conformance: {}\n\n", report.headline());
    if report.outcome() == Outcome::NothingJudged {
        let _ = writeln!(text, "{}\n", Outcome::NothingJudged.explanation());
    }
    let _ = writeln!(
        text,
        "{distinct} in {contracts}, offered to {backends}: {} run, {} unsupported, {} not run. Tier {}, seed {}{}.\n",
        count(summary.total.counts.ran()),
        count(summary.total.counts.get(VerdictKind::Unsupported)),
        count(summary.total.counts.get(VerdictKind::NotRun)),
        line(&report.plan.tier),
        report.plan.seed,
        report.plan.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default(),
    );
    text
}

fn backend_table(report: &Report, summary: &Summary) -> String {
    let mut text = String::from(
        "| backend | run / asked | exact | within | agreed refusal | waived | findings | unsupported | not run | allowed error used, at most |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (backend, of) in report.backends.iter().zip(&summary.backends) {
        let counts = &of.cell.counts;
        let column = |kind| count(counts.get(kind));
        let findings = match counts.findings() {
            0 => "0".to_owned(),
            findings => format!("**{}**", count(findings)),
        };
        let _ = writeln!(
            text,
            "| {} {} | {} / {} | {} | {} | {} | {} | {findings} | {} | {} | {} |",
            line(&backend.name),
            line(&backend.version),
            count(counts.ran()),
            count(counts.total()),
            column(VerdictKind::Exact),
            column(VerdictKind::Within),
            column(VerdictKind::AgreedRefusal),
            column(VerdictKind::Waived),
            column(VerdictKind::Unsupported),
            column(VerdictKind::NotRun),
            worst(&of.cell),
        );
    }
    text.push('\n');
    text
}

fn worst(cell: &Cell) -> String {
    cell.worst.map_or_else(|| "-".to_owned(), |worst| share(worst.share))
}

fn operation_table(report: &Report, summary: &Summary) -> String {
    let names: Vec<String> = report.backends.iter().map(|b| line(&b.name)).collect();
    let mut text = format!("| operation | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in summary.operations() {
        let cells: Vec<String> = row.cells.iter().map(|cell| operation_cell(cell, &row)).collect();
        let _ = writeln!(text, "| {} | {} |", line(&row.name), cells.join(" | "));
    }
    text.push('\n');
    text
}

fn operation_cell(cell: &Cell, row: &ContractRow) -> String {
    let (ran, findings) = (cell.counts.ran(), cell.counts.findings());
    if ran == 0 {
        return "not run".to_owned();
    }
    let state = match (findings, cell.counts.get(VerdictKind::Waived)) {
        (0, 0) => "ok".to_owned(),
        (0, waived) => format!("{} waived", count(waived)),
        _ => format!("**{}**", counted(findings, "finding")),
    };
    format!(
        "{state}, {} run{}",
        percent(ran, row.planned),
        cell.worst.map_or_else(String::new, |worst| format!(", {}", used(worst.share)))
    )
}

/// What was judged on too little.
fn thin(report: &Report) -> String {
    if report.thin.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## Thin\n\n{}: where nothing was found there, that means little.\n\n| backend | contract | why |\n|---|---|---|\n",
        report.too_little()
    );
    for thin in report.thin.iter().take(REASONS_SHOWN) {
        let _ =
            writeln!(text, "| {} | {} | {} |", line(&thin.backend), line(&thin.contract), line(&thin.reason));
    }
    text.push_str(&and_more(report.thin.len()));
    text
}

/// Why cases were not run, grouped and counted.
fn not_run(summary: &Summary) -> String {
    let reasons = summary.not_run();
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = String::from("## Not run\n\n| cases | backends | why |\n|--:|---|---|\n");
    for entry in reasons.iter().take(REASONS_SHOWN) {
        let backends = line(&entry.backends.join(", "));
        let _ = writeln!(text, "| {} | {backends} | {} |", count(entry.cases), line(entry.reason));
    }
    text.push_str(&and_more(reasons.len()));
    text
}

/// The end of a list that was cut short.
fn and_more(listed: usize) -> String {
    match listed.checked_sub(REASONS_SHOWN) {
        None | Some(0) => "\n".to_owned(),
        Some(more) => format!("\n{} more in `report.json`.\n\n", count(more as u64)),
    }
}

fn findings(report: &Report) -> String {
    let findings = crate::report::show::shrunk_first(report);
    if findings.is_empty() {
        return String::new();
    }
    let mut text = String::from("## Findings\n\n");
    for finding in findings.iter().take(FINDINGS_SHOWN) {
        text.push_str(&failure(report, &report.describe(finding)));
    }
    if let Some(more) = findings.len().checked_sub(FINDINGS_SHOWN).filter(|&more| more > 0) {
        let _ = writeln!(text, "{} more in `report.json` and `report.html`.\n", count(more as u64));
    }
    text
}

/// What stands behind the verdicts.
fn behind(report: &Report) -> String {
    let item = |b: &crate::report::model::Backend| {
        let behind = report.behind(&b.name)?;
        Some(format!("- {}: {}\n", line(&b.name), line(&behind.to_string())))
    };
    let late = |b: &crate::report::model::Backend| {
        Some(format!("- {}: {}\n", line(&b.name), answered_late(report, &b.name)?))
    };
    let mut items: String = report.backends.iter().filter_map(item).collect();
    items.extend(report.backends.iter().filter_map(late));
    if items.is_empty() { items } else { format!("## What this run is worth\n\n{items}\n") }
}

/// One line for each backend of which a case was run again.
fn determinism(report: &Report) -> String {
    let graded = report.backends.iter().filter(|b| b.determinism.repeated > 0);
    let lines: String =
        graded.map(|b| format!("- {}: {}\n", line(&b.name), line(&b.determinism.to_string()))).collect();
    if lines.is_empty() { lines } else { format!("## Determinism\n\n{lines}\n") }
}

fn failure(report: &Report, finding: &Described<'_>) -> String {
    let mut text = format!("- **{}**: {}\n", line(finding.backend), line(&finding.message));
    for (name, value) in &finding.details {
        let _ = writeln!(text, "  - {name}: {}", line(value));
    }
    let Some(record) = finding.record else {
        text.push('\n');
        return text;
    };
    let replay = one_line(finding.replay.as_deref().unwrap_or_default());
    let _ = writeln!(text, "\n{}\n", fenced(&replay));
    if let Some(shrunk) = &record.reproducer {
        let replay = report.replay_shrunk(record, Path::new(""));
        let replay = replay.map_or_else(String::new, |replay| {
            format!("; in the folder of the report:\n\n{}", fenced(&one_line(&replay)))
        });
        let _ = writeln!(text, "  {}{replay}\n", line(&shrunk.summary));
    }
    text
}

/// A command as a block of an item. A fence longer than any run of backticks in the command cannot be closed by it.
fn fenced(command: &str) -> String {
    let fence = "`".repeat(3.max(longest_run(command, '`') + 1));
    format!("  {fence}sh\n  {command}\n  {fence}")
}

/// Known deviations, and what became of each.
fn expectations(report: &Report) -> String {
    if report.expectations.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "## Known deviations\n\n| expectation | reason | until | waived cases | outcome |\n|---|---|---|--:|---|\n",
    );
    let tallies = report.tallies();
    for ((expectation, outcome), tally) in report.expectations.iter().zip(report.outcomes()).zip(tallies) {
        let waived = if expectation.expired { 0 } else { tally.occurred };
        let reason = match &expectation.link {
            Some(link) => format!("{} ({})", expectation.reason, link),
            None => expectation.reason.clone(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            line(&expectation.summary()),
            line(&reason),
            line(&expectation.expires),
            count(waived),
            line(&outcome.to_string()),
        );
    }
    text.push('\n');
    text
}

fn environment(report: &Report) -> String {
    let here = &report.environment;
    let mut text = String::from("## Environment\n\n");
    let facts = [
        ("suite", report.suite_version.clone()),
        ("machine", format!("{} {}, {}, {}", here.os, here.arch, here.cpu, counted(here.cores, "core"))),
        ("vector extensions", here.cpu_features.join(" ")),
        ("compiler", here.rustc.clone()),
        ("started", here.started.clone()),
        ("took", format!("{:.1} s on {}", report.timings.total_seconds, counted(here.threads, "thread"))),
        ("command", shell_words::join(&here.command_line)),
        ("sandbox", here.notes.get("sandbox").cloned().unwrap_or_default()),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "- {name}: {}", line(value));
    }
    for (backend, slow) in report.timings.conspicuous() {
        let _ = writeln!(
            text,
            "- slowest case of {}: {:.1} s, {}",
            line(backend),
            slow.seconds,
            span(&slow.case)
        );
    }
    text
}

/// Text in one line, with everything escaped that Markdown, its tables or HTML would take as markup.
fn line(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in one_line(text).chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Text as code within a line. Backticks around it, more than it has in a row, are not closed by its own.
fn span(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text, '`') + 1);
    let apart = if text.contains('`') { " " } else { "" };
    format!("{ticks}{apart}{}{apart}{ticks}", one_line(text))
}

fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter).map(str::len).max().unwrap_or(0)
}
