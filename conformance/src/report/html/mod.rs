//! `report.html`: one page that needs no network, for people.
//!
//! ```text
//! verdict, machine                      header (here)
//! backends                              overview
//! judged on too little, not run         unjudged
//! findings with replay lines            findings
//! known deviations                      waivers
//! contract map                          overview
//! contract x backend, worst shares      scoreboard
//! share-of-bound histograms             histogram
//! matrices                              gallery
//! deviations, exclusions                profiles
//! runs before, in this folder           history
//! what the words mean                   legend
//! ```
//! The page grows with contracts, backends and findings, not with cases: passing cases are only counted.

mod findings;
mod gallery;
mod histogram;
mod history;
mod legend;
mod overview;
mod profiles;
mod scoreboard;
mod unjudged;
mod waivers;

pub(in crate::report) use findings::replay;

use crate::report::model::Report;
use crate::report::outcome::Outcome;
use crate::report::show::{count, counted};
use crate::report::summary::{Cell, Summary};
use crate::report::verdict::VerdictKind;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

pub(in crate::report) const SCRIPT: &str = include_str!("script.js");
const FINDINGS_SCRIPT: &str = include_str!("findings.js");
/// The page may load nothing from anywhere; a browser enforces it.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The report as one HTML page; `folder` is where it will lie, as its reader's commands name it.
#[must_use]
pub fn to_html(report: &Report, folder: &Path) -> String {
    let summary = report.summary();
    let earlier = history::earlier(report, folder);
    page(
        &title(report),
        &html! {
            (header(report, &summary, !earlier.is_empty()))
            main {
                (overview::backends(report, &summary))
                (unjudged::thin(report))
                (findings::section(report, folder))
                (waivers::section(report))
                (unjudged::not_run(&summary))
                (overview::contract_map(report, &summary))
                (scoreboard::section(report, &summary))
                (scoreboard::families(report, &summary))
                (histogram::section(&summary))
                (scoreboard::worst_shares(report))
                (gallery::section(report))
                (profiles::section(report, &summary))
                (history::section(&earlier))
                (legend::section())
            }
            footer { "sparse-conformance " (report.suite_version) ", " (report.schema) ". The complete record is report.json." }
            script { (PreEscaped(SCRIPT)) (PreEscaped(FINDINGS_SCRIPT)) }
        },
    )
}

/// A page in the style of reports.
pub(in crate::report) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(crate::report::STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn title(report: &Report) -> String {
    format!("{} - sparse conformance", report.headline())
}

fn header(report: &Report, summary: &Summary, has_history: bool) -> Markup {
    let found = report.find().len() as u64;
    let outcome = report.outcome();
    let counts = &summary.total.counts;
    html! {
        header class=(class(outcome)) {
            p.brand { "Sparse conformance" }
            h1 {
                span.seal aria-hidden="true" { (outcome.sign()) }
                (capitalised(&report.headline()))
            }
            @if matches!(outcome, Outcome::Thin | Outcome::NothingJudged) { p.lead { (outcome.explanation()) } }
            p.lead {
                (counted(report.plan.distinct_cases, "case line")) " in " (counted(summary.contracts_planned(), "contract"))
                ", offered to " (counted(report.backends.len() as u64, "backend")) ": "
                b { (count(counts.ran())) } " run"
                @for kind in [VerdictKind::Waived, VerdictKind::Unsupported, VerdictKind::NotRun] {
                    @if counts.get(kind) > 0 { ", " b { (count(counts.get(kind))) } " " (kind.label()) }
                }
                ". What was not run is not a pass: it is counted apart everywhere."
            }
            dl.facts { @for (name, value) in facts(report) { @if !value.is_empty() { div { dt { (name) } dd { (value) } } } } }
            (navigation(report, summary, found, has_history))
        }
    }
}

/// The class that colours the head of the page.
fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Clean => "clean",
        Outcome::Findings => "dirty",
        Outcome::Thin => "thin",
        Outcome::NothingJudged => "unjudged",
    }
}

pub(in crate::report) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn navigation(report: &Report, summary: &Summary, found: u64, has_history: bool) -> Markup {
    html! {
        nav aria-label="sections" {
            a href="#backends" { "Backends" }
            @if !report.thin.is_empty() { a href="#thin" { "Judged on too little" } }
            @if found > 0 { a href="#findings" { "Findings" } }
            @if !report.expectations.is_empty() { a href="#waivers" { "Known deviations" } }
            @if summary.total.counts.get(VerdictKind::NotRun) > 0 { a href="#not-run" { "Not run" } }
            a href="#map" { "Map" }
            a href="#scoreboard" { "Scoreboard" }
            a href="#shares" { "Shares of bounds" }
            a href="#matrices" { "Matrices" }
            a href="#profiles" { "Profiles" }
            @if has_history { a href="#history" { "Earlier runs" } }
            a href="#legend" { "What the words mean" }
        }
    }
}

fn facts(report: &Report) -> Vec<(&str, String)> {
    let here = &report.environment;
    let mut facts = vec![
        ("Started", here.started.clone()),
        ("Took", format!("{:.1} s, {}", report.timings.total_seconds, counted(here.threads, "thread"))),
        ("Plan", format!("tier {}, seed {}", report.plan.tier, report.plan.seed)),
        ("Shard", report.plan.shard.map(|shard| shard.to_string()).unwrap_or_default()),
        ("Machine", format!("{} {}, {}", here.os, here.arch, counted(here.cores, "core"))),
        ("Processor", here.cpu.clone()),
        ("Extensions", here.cpu_features.join(" ")),
        ("Compiler", here.rustc.clone()),
        ("Element types", report.plan.precisions.join(" ")),
        ("Files", report.plan.matrices.join(" ")),
        ("Command", shell_words::join(&here.command_line)),
    ];
    for (backend, slow) in report.timings.conspicuous() {
        facts.push(("Slowest case", format!("of {backend}: {:.1} s, {}", slow.seconds, slow.case)));
    }
    facts.extend(here.notes.iter().map(|(name, value)| (name.as_str(), value.clone())));
    facts
}

/// The class that colours a cell, and the sign that says the same without colour.
fn state(cell: &Cell) -> (&'static str, &'static str) {
    let counts = &cell.counts;
    if counts.findings() > 0 {
        ("bad", "✗")
    } else if counts.ran() == 0 {
        ("none", "–")
    } else if counts.get(VerdictKind::Waived) > 0 {
        ("waived", "~")
    } else {
        match cell.worst.map(|worst| worst.share) {
            None | Some(0.0) => ("exact", "✓"),
            Some(share) if share <= 0.5 => ("low", "✓"),
            Some(share) if share <= 0.9 => ("mid", "✓"),
            Some(_) => ("high", "✓"),
        }
    }
}

/// A cell in words, for tooltips.
fn words(cell: &Cell, planned: u64) -> String {
    let counts: Vec<String> =
        cell.counts.present().map(|(kind, n)| format!("{} {}", count(n), kind.label())).collect();
    let worst = cell.worst.map(|worst| format!("; {}", crate::report::show::used(worst.share)));
    let counts = if counts.is_empty() { "no case".to_owned() } else { counts.join(", ") };
    format!("{} of {} run: {counts}{}", count(cell.counts.ran()), count(planned), worst.unwrap_or_default())
}
