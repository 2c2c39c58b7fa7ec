//! Earlier runs that were reported into the same folder, the latest first.

use crate::report::history::{PastRun, runs};
use crate::report::model::Report;
use crate::report::show::count;
use maud::{Markup, html};
use std::path::Path;

/// Runs that are shown; the file has more.
const SHOWN: usize = 30;

/// The runs, or none where this is the first.
pub(super) fn earlier(report: &Report, folder: &Path) -> Vec<PastRun> {
    let mut runs = runs(report, folder);
    if runs.len() < 2 {
        runs.clear();
    }
    runs
}

/// The section, or nothing where there are no runs.
pub(super) fn section(runs: &[PastRun]) -> Markup {
    if runs.is_empty() {
        return html! {};
    }
    let pairs = runs.windows(2).rev().map(|pair| (&pair[1], Some(&pair[0])));
    let rows = pairs.chain(runs.first().map(|first| (first, None))).take(SHOWN);
    html! {
        section id="history" {
            h2 { "Earlier runs" }
            p.quiet {
                "Reported into this folder, the latest first; this page is about the first row. New and gone are findings that the run \
                 before did not have, and that only it had (what was waived since is gone, too); runs of another plan, another part of it, or other \
                 backends are not compared."
            }
            div.scroll tabindex="0" {
                table.board {
                    thead { tr {
                        th scope="col" { "started" } th scope="col" { "outcome" } th scope="col" { "findings" }
                        th scope="col" { "new" } th scope="col" { "gone" } th scope="col" { "waived" } th scope="col" { "run" }
                        th scope="col" { "plan" } th scope="col" { "backends" } th scope="col" { "suite" } th scope="col" { "seconds" }
                    } }
                    tbody { @for (run, before) in rows { (row(run, before)) } }
                }
            }
        }
    }
}

fn row(run: &PastRun, before: Option<&PastRun>) -> Markup {
    let moved = before.and_then(|before| run.since(before));
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), count);
    html! {
        tr {
            th scope="row" { (run.started) }
            td { (run.outcome) }
            td { (count(run.findings)) }
            td { (number(moved.map(|moved| moved.new))) }
            td { (number(moved.map(|moved| moved.gone))) }
            td { (count(run.waived)) }
            td { (count(run.ran)) }
            td { (run.tier) ", seed " (run.seed) @if let Some(shard) = &run.shard { ", shard " (shard) } }
            td { @match run.backends.as_slice() {
                [] => { "none" }
                [one] => { (one) @if let Some(version) = run.versions.first() { " " (version) } }
                several => { (several.len()) " backends" }
            } }
            td { (run.suite_version) }
            td { (format!("{:.1}", run.seconds)) }
        }
    }
}
