//! What each backend declared beforehand: where it leaves the default semantics, and what it does not do.

use crate::report::model::{Backend, Report};
use crate::report::show::{count, counted};
use crate::report::summary::{BackendSummary, Summary};
use maud::{Markup, html};

/// One card per backend.
pub(super) fn section(report: &Report, summary: &Summary) -> Markup {
    html! {
        section id="profiles" {
            h2 { "Profiles" }
            p.quiet {
                "A backend may differ from the default semantics where a contract leaves a choice, if it says so with a reason; \
                 it is then judged against what it declared. Cases that its manifest excludes are unsupported, not passed."
            }
            div.cards.wide { @for (backend, of) in report.backends.iter().zip(&summary.backends) { (card(backend, of)) } }
        }
    }
}

fn card(backend: &Backend, summary: &BackendSummary) -> Markup {
    html! {
        article.card {
            h3 { (backend.name) " " small { (backend.version) } }
            h4 { "Deviations" }
            @if backend.deviations.is_empty() { p.quiet { "none: default semantics everywhere" } }
            dl.words { @for deviation in &backend.deviations {
                dt { (deviation.point) ": " (deviation.choice) }
                dd { (deviation.reason) }
            } }
            h4 { "Excluded by its manifest" }
            @if backend.excluded.is_empty() { p.quiet { "nothing" } } @else {
                details {
                    summary { (counted(backend.excluded.len() as u64, "reason")) }
                    dl.words { @for exclusion in &backend.excluded {
                        dt { (exclusion.reason) }
                        dd { code { (exclusion.pattern) } }
                    } }
                }
            }
            @if !summary.unsupported.is_empty() {
                h4 { "Unsupported in this run" }
                details {
                    summary { (counted(summary.unsupported.values().sum(), "case")) ", " (counted(summary.unsupported.len() as u64, "reason")) }
                    ul.plain { @for (reason, &number) in &summary.unsupported {
                        li title=(counted(number, "case")) { b { (count(number)) } " " span.quiet { (reason) } }
                    } }
                }
            }
        }
    }
}
