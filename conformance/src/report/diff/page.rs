//! The comparison as a page, with the style of a report and no network.

use super::Diff;
use super::lists::{List, headline, lists, lone, settings};
use crate::report::html::{SCRIPT, capitalised, page, replay};
use crate::report::show::count;
use maud::{Markup, PreEscaped, html};

/// Lines of each list.
const SHOWN: usize = 1000;
/// Lines of each list that are not folded.
const OPEN: usize = 20;

/// The comparison as one HTML page.
#[must_use]
pub fn to_html(diff: &Diff) -> String {
    let (lists, settings, lone) = (lists(diff), settings(diff), lone(diff));
    let (class, sign) = if diff.exit_code() == 0 { ("clean", "✓") } else { ("dirty", "✗") };
    page(
        &format!("{} - sparse conformance", headline(diff)),
        &html! {
            header class=(class) {
                p.brand { "Sparse conformance, two reports" }
                h1 { span.seal aria-hidden="true" { (sign) } (capitalised(&headline(diff))) }
                p.lead {
                    "A new finding is one that the old report does not have on its case."
                    @if lists.is_empty() { " Nothing differs." }
                }
                @if !lists.is_empty() {
                    nav aria-label="lists" {
                        @for list in &lists { a href={ "#" (name(list)) } { (capitalised(list.title)) " (" (count(list.items.len() as u64)) ")" } }
                    }
                }
            }
            main {
                @if !settings.is_empty() || !lone.is_empty() {
                    section id="settings" {
                        h2 { "What was compared differs" }
                        p.quiet { "New and fixed findings may come from this and not from the kernels." }
                        @for sentence in &lone { p { (capitalised(sentence)) } }
                        @if !settings.is_empty() {
                            div.scroll tabindex="0" { table.board {
                                thead { tr { th scope="col" { "what" } th scope="col" { "old" } th scope="col" { "new" } } }
                                tbody { @for (what, old, new) in &settings { tr { th scope="row" { (what) } td { (old) } td { (new) } } } }
                            } }
                        }
                    }
                }
                @for list in &lists { (section(list)) }
            }
            footer { (diff.schema) ". All of it: " code { "conformance diff --json" } "." }
            script { (PreEscaped(SCRIPT)) }
        },
    )
}

fn section(list: &List) -> Markup {
    let shown = &list.items[..list.items.len().min(SHOWN)];
    let (open, folded) = shown.split_at(shown.len().min(OPEN));
    html! {
        section id=(name(list)) {
            h2 { (capitalised(list.title)) " " span.quiet { (count(list.items.len() as u64)) } }
            ul.changes { @for item in open { (entry(item)) } }
            @if !folded.is_empty() {
                details.more {
                    summary { (count(folded.len() as u64)) " more" }
                    ul.changes { @for item in folded { (entry(item)) } }
                }
            }
            @if list.items.len() > SHOWN {
                p.quiet { "… and " (count((list.items.len() - SHOWN) as u64)) " more, which " code { "--json" } " has." }
            }
        }
    }
}

fn entry(item: &super::lists::Item) -> Markup {
    html! {
        li {
            @if !item.what.is_empty() { b { (item.what) } " " }
            (item.place)
            @if let Some(line) = &item.replay { (replay(line)) }
        }
    }
}

fn name(list: &List) -> String {
    list.title.replace(' ', "-").replace(',', "")
}
