//! Known deviations: what each expectation waived, why, until when, and what became of it.

use super::findings::{replay, shortened};
use crate::report::expectation::{Became, Expectation, Tally};
use crate::report::model::{CaseRecord, Report};
use crate::report::show::{count, counted};
use maud::{Markup, html};

/// Waived cases listed per expectation; all of them are in report.json.
const SHOWN: usize = 10;

/// The section, or nothing where nothing was expected.
pub(super) fn section(report: &Report) -> Markup {
    if report.expectations.is_empty() {
        return html! {};
    }
    let entries = report.expectations.iter().zip(report.outcomes()).zip(report.tallies());
    html! {
        section id="waivers" {
            h2 { "Known deviations" }
            p.quiet {
                "Findings that were expected, each with a reason and a last day. They are counted apart: neither passes nor \
                 findings. One that passes, has expired, or matches no case is a finding itself."
            }
            @for (number, ((expectation, outcome), tally)) in entries.enumerate() {
                (entry(report, number, expectation, outcome, &tally))
            }
        }
    }
}

fn entry(
    report: &Report,
    number: usize,
    expectation: &Expectation,
    outcome: Became,
    tally: &Tally,
) -> Markup {
    let broken = matches!(outcome, Became::Expired | Became::Stale | Became::UnexpectedPass(_));
    let waived: Vec<&CaseRecord> = report.waived().filter(|c| c.waived == Some(number)).collect();
    html! {
        article.finding.waiver.broken[broken] {
            h3 {
                span.badge { (outcome) } " " (expectation.backend) " "
                span.tier { (expectation.verdict.kind().label()) @if let Some(defect) = expectation.defect { " " (defect) } }
                " " span.quiet { (expectation.from) }
            }
            p { (shortened(&expectation.reason)) }
            dl.values {
                @if let Some(contract) = &expectation.contract { div { dt { "contracts" } dd { (contract) } } }
                @if let Some(case) = &expectation.case { div { dt { "cases" } dd { (case) } } }
                div { dt { "until" } dd { (expectation.expires) } }
                div { dt { "waived" } dd { (count(waived.len() as u64)) " of " (counted(tally.ran, "case")) " run" } }
                @if let Some(link) = &expectation.link { div { dt { "see" } dd { (see(link)) } } }
            }
            @if !waived.is_empty() {
                details.more {
                    summary { (counted(waived.len() as u64, "waived case")) }
                    @for record in waived.iter().take(SHOWN) {
                        p.quiet { (shortened(&record.verdict.to_string())) }
                        (replay(&report.replay(record)))
                    }
                    @if waived.len() > SHOWN { p.quiet { "… and " (count((waived.len() - SHOWN) as u64)) " more, all in report.json." } }
                }
            }
        }
    }
}

/// A link where it is one that a page may follow; any other text stands as text.
fn see(link: &str) -> Markup {
    html! {
        @if link.starts_with("https://") { a href=(link) rel="noreferrer" { (shortened(link)) } }
        @else { (shortened(link)) }
    }
}
