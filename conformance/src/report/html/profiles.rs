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
    let rows = |items: &[(&str, &str, &str)]| {
        html! { @for (name, value, reason) in items { tr { th scope="row" { (name) } td { b { (value) } " " span.quiet { (reason) } } } } }
    };
    let deviations: Vec<_> = backend
        .deviations
        .iter()
        .map(|d| (d.point.as_str(), d.choice.as_str(), d.reason.as_str()))
        .collect();
    let excluded: Vec<_> = backend
        .excluded
        .iter()
        .map(|e| (e.pattern.as_str(), "", e.reason.as_str()))
        .collect();
    html! {
        article.card {
            h3 { (backend.name) " " small { (backend.version) } }
            h4 { "Deviations" }
            @if deviations.is_empty() { p.quiet { "none: default semantics everywhere" } } @else { table.plain { (rows(&deviations)) } }
            h4 { "Excluded by its manifest" }
            @if excluded.is_empty() { p.quiet { "nothing" } } @else { table.plain { (rows(&excluded)) } }
            @if !summary.unsupported.is_empty() {
                h4 { "Unsupported in this run" }
                ul.plain { @for (reason, &number) in &summary.unsupported {
                    li title=(counted(number, "case")) { b { (count(number)) } " " span.quiet { (reason) } }
                } }
            }
        }
    }
}
