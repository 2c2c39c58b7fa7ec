//! What a reader must not take for a pass: contracts that were judged on too little, and cases that were not run.

use super::findings::shortened;
use crate::report::model::Report;
use crate::report::show::count;
use crate::report::summary::Summary;
use maud::{Markup, html};

/// Reasons for which cases were not run that are listed; all of them are in report.json.
const REASONS_SHOWN: usize = 200;

/// What was judged on too little, or nothing where all was judged on enough.
pub(super) fn thin(report: &Report) -> Markup {
    if report.thin.is_empty() {
        return html! {};
    }
    html! {
        section id="thin" {
            h2 { "Judged on too little" }
            p.quiet {
                (report.too_little()) ". Where nothing was found there, that means little."
                @if report.plan.allow_thin { " The run was told to allow it." }
            }
            div.scroll tabindex="0" {
                table.board {
                    thead { tr { th { "backend" } th { "contract" } th { "why" } } }
                    tbody { @for thin in &report.thin {
                        tr { th scope="row" { (thin.backend) } td.reason { (thin.contract) } td.reason { (shortened(&thin.reason)) } }
                    } }
                }
            }
        }
    }
}

/// Why cases were not run, grouped and counted, or nothing where all were.
pub(super) fn not_run(summary: &Summary) -> Markup {
    let reasons = summary.not_run();
    if reasons.is_empty() {
        return html! {};
    }
    html! {
        section id="not-run" {
            h2 { "Not run" }
            p.quiet { "Cases that were planned and offered, but that nobody could be judged on. They are no passes." }
            div.scroll tabindex="0" {
                table.board {
                    thead { tr { th { "cases" } th { "backends" } th { "why" } } }
                    tbody { @for entry in reasons.iter().take(REASONS_SHOWN) {
                        tr { td { b { (count(entry.cases)) } } td.reason { (entry.backends.join(", ")) } td.reason { (shortened(entry.reason)) } }
                    } }
                }
            }
            @if reasons.len() > REASONS_SHOWN {
                p.quiet { "… and " (count((reasons.len() - REASONS_SHOWN) as u64)) " further reasons, all in report.json." }
            }
        }
    }
}
