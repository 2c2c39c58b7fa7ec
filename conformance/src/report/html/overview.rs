//! The first screen: what each backend did, and every contract as one small square per backend.

use super::findings::family;
use super::{state, words};
use crate::report::evidence::{Claim, DeterminismGrade};
use crate::report::model::Report;
use crate::report::show::{answered_late, count, counted, used};
use crate::report::summary::{Cell, ContractRow, Summary};
use crate::report::verdict::VerdictKind;
use maud::{Markup, html};
use std::collections::{HashMap, HashSet};

/// One row per backend: a bar of its verdicts and the numbers behind it.
pub(super) fn backends(report: &Report, summary: &Summary) -> Markup {
    let findings = report.find();
    let blamed: HashSet<&str> = findings.iter().map(|f| report.describe(f).backend).collect();
    html! {
        section id="backends" {
            h2 { "Backends" }
            div.cards {
                @for (backend, of) in report.backends.iter().zip(&summary.backends) {
                    article.card {
                        h3 { (sign(&of.cell, blamed.contains(backend.name.as_str()))) (backend.name) " " small { (backend.version) } }
                        p.quiet { (backend.description) }
                        (bar(&of.cell, of.cell.counts.total()))
                        ul.counts {
                            @for (kind, number) in of.cell.counts.present() {
                                li { span class={ "dot " (class(kind)) } {} b { (count(number)) } " " (kind.label()) }
                            }
                        }
                        (grade(&backend.determinism))
                        @if let Some(behind) = report.behind(&backend.name) { p.quiet { (behind) "." } }
                        @if let Some(late) = answered_late(report, &backend.name) { p { (late) "." } }
                        p.quiet {
                            @if of.cell.counts.ran() == 0 {
                                b.alarm { @if backend.required { "Required, but ran no case." } @else { "Ran no case." } }
                            } @else {
                                b { (count(of.cell.counts.ran())) } " of " (count(of.cell.counts.total())) " cases run"
                                @if let Some(worst) = of.cell.worst { ", " (used(worst.share)) }
                                @if let Some(bits) = of.bits_held() { ", " (bits) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether its bits stay from run to run, in three words, and in full where the pointer is.
fn grade(grade: &DeterminismGrade) -> Markup {
    let differing = grade.differing + grade.threads_differing;
    let (class, word) = match (grade.repeated, differing) {
        (0, _) => ("untried", "bits not compared"),
        (_, 0) => ("held", "same bits again"),
        _ => ("differs", "other bits again"),
    };
    let claim = match grade.claimed {
        Claim::Nothing => "claims nothing",
        Claim::Runs => "claims it from run to run",
        Claim::Threads => "claims it for any number of threads",
    };
    html! {
        p.quiet title=(grade) {
            span.grade.(class) { (word) } " "
            @if differing > 0 { (count(differing)) " of " }
            @if grade.repeated > 0 { (counted(grade.repeated + grade.threads_compared, "comparison")) ", " }
            (claim)
        }
    }
}

/// Passed, waived, findings (also those that are about no case), or nothing run; how near to the bounds is no matter here.
fn sign(cell: &Cell, blamed: bool) -> Markup {
    let (class, sign) = match state(cell) {
        _ if blamed => ("bad", "✗"),
        (class @ ("none" | "bad" | "waived"), sign) => (class, sign),
        (_, sign) => ("exact", sign),
    };
    html! { span class={ "sign " (class) } aria-hidden="true" { (sign) } " " }
}

/// CSS class of a verdict.
pub(super) fn class(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Exact => "exact",
        VerdictKind::Within => "low",
        VerdictKind::AgreedRefusal => "agreed",
        VerdictKind::Waived => "waived",
        VerdictKind::Unsupported => "none",
        VerdictKind::NotRun => "missing",
        VerdictKind::Wrong
        | VerdictKind::LoneRefusal
        | VerdictKind::LoneAcceptance
        | VerdictKind::Crashed
        | VerdictKind::TimedOut => "bad",
    }
}

/// Verdicts as parts of one bar, with what a manifest excludes and what was not run: a backend that was asked little must
/// not look like one that passed everything. A part that exists is never thinner than 3 of 1000.
fn bar(cell: &Cell, planned: u64) -> Markup {
    let total = cell.counts.total().max(1);
    let parts = cell.counts.present().map(|(kind, number)| (kind, (number * 1000 / total).max(3)));
    html! {
        div.bar role="img" aria-label=(words(cell, planned)) title=(words(cell, planned)) {
            @for (kind, weight) in parts { span class=(class(kind)) style={ "flex-grow:" (weight) } {} }
        }
    }
}

/// Each backend as a grid: one row per operation and format, one square per contract.
pub(super) fn contract_map(report: &Report, summary: &Summary) -> Markup {
    let rows = map_rows(&summary.contracts);
    html! {
        section id="map" {
            h2 { "Contract map" }
            p.quiet {
                "One square per contract, in the order of its element types. Point at a square for its name and counts."
            }
            (only_what_ran(report.backends.len() == 1))
            p.key {
                @for (class, sign, meaning) in KEY { span { i class={ "square " (class) } { (sign) } " " (meaning) } }
            }
            div.cards.wide {
                @for (place, backend) in report.backends.iter().enumerate() {
                    @if summary.backends[place].cell.counts.total() > 0 { article.card {
                        h3 { (backend.name) }
                        table.map { @for (name, contracts) in &rows {
                            tr.idle[contracts.iter().all(|row| row.cells[place].counts.ran() == 0)] { th scope="row" { (name) } td { @for row in contracts { (square(row, place)) } } }
                        } }
                    } }
                }
            }
        }
    }
}

/// Hides rows of the map and the scoreboard in which nothing ran; the style sheet does it.
fn only_what_ran(from_the_start: bool) -> Markup {
    html! { p.tools { label { input type="checkbox" id="only-ran" checked[from_the_start]; " only what ran, here and in the scoreboard" } } }
}

const KEY: [(&str, &str, &str); 7] = [
    ("exact", "✓", "exact"),
    ("low", "✓", "within, at most 50 % of the allowed error used"),
    ("mid", "✓", "up to 90 %"),
    ("high", "✓", "above 90 %"),
    ("waived", "~", "findings, all of them expected"),
    ("bad", "✗", "findings"),
    ("none", "–", "nothing run"),
];

fn square(row: &ContractRow, backend: usize) -> Markup {
    let cell = &row.cells[backend];
    let (class, sign) = state(cell);
    html! { i class={ "square " (class) } title={ (row.name) "\n" (words(cell, row.planned)) } { (sign) } }
}

/// Contracts grouped by name without their element types, in the table's order: further element types of a format may stand at its end.
fn map_rows(contracts: &[ContractRow]) -> Vec<(&str, Vec<&ContractRow>)> {
    let mut rows: Vec<(&str, Vec<&ContractRow>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for contract in contracts {
        let name = family(&contract.name);
        let place = *places.entry(name).or_insert(rows.len());
        match rows.get_mut(place) {
            Some((_, row)) => row.push(contract),
            None => rows.push((name, vec![contract])),
        }
    }
    rows
}
