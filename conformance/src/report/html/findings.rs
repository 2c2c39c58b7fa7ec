//! Findings, each with both values in decimal and in bits and the line that runs it again: all of them, however many there are.
//!
//! ```text
//! likely causes (causes), counts to filter by (facets)      what a reader sees first
//! the first findings                                        as elements of the page
//! every finding, compressed                                 the script makes elements of those that come into view
//! ```
//! A page of 18,000 elements takes a browser many seconds, and so does one of 16 MB. Compressed, findings of one bug take 60 bytes each.

mod causes;
mod facets;
mod picture;

use crate::report::evidence::Reproducer;
use crate::report::finding::{Described, Finding};
use crate::report::model::{CaseRecord, Report};
use crate::report::show::{count, counted, one_line, shrunk_first};
use crate::report::verdict::{VerdictRecord, details};
use data_encoding::BASE64;
use facets::Facet;
pub(super) use facets::family;
use flate2::{Compression, write::ZlibEncoder};
use maud::{Markup, html};
use std::io::Write;
use std::path::Path;

/// Findings that are elements of the page from the start, and need no script.
const FIRST: usize = 25;
/// Bytes of a backend's message that the page shows.
const MESSAGE_BYTES: usize = 600;

/// The section, or nothing for a clean run.
pub(super) fn section(report: &Report, folder: &Path) -> Markup {
    let findings = shrunk_first(report);
    if findings.is_empty() {
        return html! {};
    }
    let causes = causes::facet(report, &findings);
    let facets = facets::all(report, &findings);
    let all = count(findings.len() as u64);
    html! {
        section id="findings" {
            h2 { "Findings" }
            (causes::list(report, &findings, &causes))
            // The script shows it: without one it would do nothing.
            div id="finding-tools" hidden {
                div.tools.filters {
                    input type="search" id="filter" placeholder="filter: backend, contract, word…" aria-label="filter findings";
                    output id="matching" for="filter" { (all) " of " (all) " match" }
                    button type="button" id="unfilter" hidden { "show all" }
                }
                @for (place, facet) in facets.iter().enumerate() { (facet.buttons(place + 1)) }
            }
            div id="finding-list" { @for finding in findings.iter().take(FIRST) { (article(report, folder, finding)) } }
            @if findings.len() > FIRST {
                p.quiet id="further" { (counted((findings.len() - FIRST) as u64, "further finding")) " need JavaScript to be shown here; all are in report.json." }
            }
            @if let Ok(packed) = packed((report, folder), &findings, &causes, &facets) {
                script type="text/plain" id="finding-data" { (packed) }
            }
        }
    }
}

/// Every finding, one per line: its name, its place in each facet, its element; compressed.
fn packed(
    (report, folder): (&Report, &Path),
    findings: &[Finding],
    causes: &Facet,
    facets: &[Facet],
) -> std::io::Result<String> {
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::default());
    for (place, finding) in findings.iter().enumerate() {
        let of = |facet: &Facet| facet.of[place].map(|value| value.to_string()).unwrap_or_default();
        let places: Vec<String> = std::iter::once(causes).chain(facets).map(of).collect();
        let element = one_line(&article(report, folder, finding).into_string());
        let end = if place + 1 == findings.len() { "" } else { "\n" };
        write!(lines, "{}\t{element}{end}", places.join("\t"))?;
    }
    Ok(BASE64.encode(&lines.finish()?))
}

fn article(report: &Report, folder: &Path, finding: &Finding) -> Markup {
    let described = report.describe(finding);
    if let Finding::Case { index } = finding {
        let record = &report.cases[*index];
        return failure(&described, record, report.replay_shrunk(record, folder).as_deref());
    }
    html! {
        article.finding id=(name(&described)) {
            h3 { span.badge { (described.rule.replace('-', " ")) } " " (described.backend) (link(&described)) }
            p { (shortened(&described.message)) }
            @if matches!(finding, Finding::IdleBackend { .. }) { p.quiet { "Skip is not pass." } }
            @for (name, value) in &described.details { p.quiet { (name) ": " (shortened(value)) } }
            @if let Some(line) = &described.replay { (replay(line)) }
        }
    }
}

/// The name of a finding's element: the same in every run that has the finding.
fn name(described: &Described<'_>) -> String {
    let mut name = described.fingerprint();
    name.truncate(16);
    format!("f-{name}")
}

fn link(described: &Described<'_>) -> Markup {
    html! { " " a.link href={ "#" (name(described)) } aria-label="link to this finding" { "#" } }
}

fn badge(verdict: &VerdictRecord) -> String {
    verdict.mismatch().map_or_else(|| verdict.kind().label().to_owned(), |m| format!("wrong {}", m.what))
}

fn failure(described: &Described<'_>, record: &CaseRecord, small: Option<&str>) -> Markup {
    html! {
        article.finding id=(name(described)) {
            h3 {
                span.badge { (badge(&record.verdict)) }
                @if let VerdictRecord::Wrong(m) = &record.verdict { " " span.tier { (m.tier) } }
                " " (record.backend) " " span.quiet { (record.contract) } (link(described))
            }
            p { (shortened(&message(&record.verdict))) }
            @let details = details(&record.verdict);
            @if !details.is_empty() {
                dl.values { @for (name, value) in details { div { dt { (name) } dd { (shortened(&value)) } } } }
            }
            @if let Some(wrong) = record.verdict.mismatch().and_then(|m| m.elements.as_ref()) { (picture::of(wrong, &record.case)) }
            @if let Some(line) = &described.replay { (replay(line)) }
            @if let Some(shrunk) = &record.reproducer { (reproducer(shrunk, small)) }
        }
    }
}

/// The minimal case that was found, with the line that runs it, and where its files are, beside this page.
fn reproducer(shrunk: &Reproducer, small: Option<&str>) -> Markup {
    html! {
        div.shrunk {
            p.quiet {
                b { "Reproducer " } (shortened(&shrunk.summary))
                @if let Some(path) = &shrunk.path { "; files in " a href={ (path) "/" } { (path) "/" } }
            }
            @if let Some(line) = small { (replay(line)) }
        }
    }
}

fn message(verdict: &VerdictRecord) -> String {
    verdict.mismatch().map_or_else(|| verdict.to_string(), |m| m.message.clone())
}

pub(super) fn shortened(text: &str) -> String {
    let line = one_line(text);
    if line.len() <= MESSAGE_BYTES {
        return line;
    }
    format!("{}… (shortened)", &line[..line.floor_char_boundary(MESSAGE_BYTES)])
}

/// The replay line with a button that copies it.
pub(in crate::report) fn replay(line: &str) -> Markup {
    html! { div.replay { code { (one_line(line)) } button.copy type="button" { "copy" } } }
}
