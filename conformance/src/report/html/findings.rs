//! Findings, each with both values in decimal and in bits and the line that runs it again.

use crate::report::evidence::Reproducer;
use crate::report::finding::Finding;
use crate::report::model::{CaseRecord, Report};
use crate::report::show::{count, counted, one_line, shrunk_first};
use crate::report::verdict::{VerdictRecord, details};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Findings shown in full; further ones are counted here and listed in report.json.
const SHOWN: usize = 400;
/// Findings that need no click to be seen.
const OPEN: usize = 12;
/// Bytes of a backend's message that the page shows.
const MESSAGE_BYTES: usize = 600;

/// The section, or nothing for a clean run.
pub(super) fn section(report: &Report) -> Markup {
    let findings = shrunk_first(report);
    if findings.is_empty() {
        return html! {};
    }
    html! {
        section id="findings" {
            h2 { "Findings" }
            (groups(report))
            p.tools { input type="search" id="filter" placeholder="filter: backend, contract, word…" aria-label="filter findings"; }
            @let shown = &findings[..findings.len().min(SHOWN)];
            @let (open, folded) = shown.split_at(shown.len().min(OPEN));
            @for finding in open { (article(report, finding)) }
            @if !folded.is_empty() {
                details.more {
                    summary { (counted(folded.len() as u64, "further finding")) }
                    @for finding in folded { (article(report, finding)) }
                }
            }
            @if findings.len() > SHOWN {
                p.quiet { "… and " (count((findings.len() - SHOWN) as u64)) " more, all in report.json." }
            }
        }
    }
}

fn article(report: &Report, finding: &Finding) -> Markup {
    if let Finding::Case { index } = finding {
        return failure(report, &report.cases[*index]);
    }
    let described = report.describe(finding);
    html! {
        article.finding {
            h3 { span.badge { (described.rule.replace('-', " ")) } " " (described.backend) }
            p { (shortened(&described.message)) }
            @if matches!(finding, Finding::IdleBackend { .. }) { p.quiet { "Skip is not pass." } }
            @for (name, value) in &described.details { p.quiet { (name) ": " (shortened(value)) } }
            @if let Some(line) = &described.replay { (replay(line)) }
        }
    }
}

/// Findings by backend and kind, so that one cause with a thousand cases reads as one line.
fn groups(report: &Report) -> Markup {
    let mut groups: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for record in report.failures() {
        *groups.entry((&record.backend, badge(&record.verdict))).or_default() += 1;
    }
    html! {
        ul.groups { @for ((backend, what), number) in &groups { li { b { (count(*number)) } " × " (what) " on " (backend) } } }
    }
}

fn badge(verdict: &VerdictRecord) -> String {
    verdict.mismatch().map_or_else(|| verdict.kind().label().to_owned(), |m| format!("wrong {}", m.what))
}

fn failure(report: &Report, record: &CaseRecord) -> Markup {
    html! {
        article.finding {
            h3 {
                span.badge { (badge(&record.verdict)) }
                @if let VerdictRecord::Wrong(m) = &record.verdict { " " span.tier { (m.tier) } }
                " " (record.backend) " " span.quiet { (record.contract) }
            }
            p { (shortened(&message(&record.verdict))) }
            @let details = details(&record.verdict);
            @if !details.is_empty() {
                dl.values { @for (name, value) in details { div { dt { (name) } dd { (shortened(&value)) } } } }
            }
            (replay(&report.replay(record)))
            @if let Some(shrunk) = &record.reproducer { (reproducer(shrunk)) }
        }
    }
}

/// The minimal case that was found, and where its files are, beside this page.
fn reproducer(shrunk: &Reproducer) -> Markup {
    html! {
        div.shrunk {
            p.quiet {
                b { "Reproducer " } (shortened(&shrunk.summary))
                @if let Some(path) = &shrunk.path { "; files in " a href={ (path) "/" } { (path) "/" } }
            }
            @if let Some(case) = &shrunk.case { code { (one_line(case)) } }
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
pub(super) fn replay(line: &str) -> Markup {
    html! { div.replay { code { (one_line(line)) } button.copy type="button" { "copy" } } }
}
