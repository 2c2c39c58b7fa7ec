//! The scoreboard, contract x backend; the same by family of matrices; and the cases nearest to their bounds.

use super::findings::replay;
use super::{state, words};
use crate::report::model::{CaseRecord, Report};
use crate::report::show::{count, share};
use crate::report::summary::{Cell, ContractRow, Summary};
use crate::report::verdict::VerdictKind;
use maud::{Markup, html};

/// Passing cases listed with the largest shares of their bounds.
const WORST_SHOWN: usize = 20;

/// One collapsible table per operation; those with findings are open.
pub(super) fn section(report: &Report, summary: &Summary) -> Markup {
    html! {
        section id="scoreboard" {
            h2 { "Scoreboard" }
            p.quiet {
                "Each cell: how much of the allowed error the worst case used (above 100 % is a finding), and cases run over cases planned. "
                button.tool type="button" data-details="open" { "open all" } " "
                button.tool type="button" data-details="close" { "close all" }
            }
            @for operation in summary.operations() {
                @let found = operation.cells.iter().any(|cell| cell.counts.findings() > 0);
                @let idle = operation.cells.iter().all(|cell| cell.counts.ran() == 0);
                details.operation.idle[idle] open[found] {
                    summary {
                        span.name { (operation.name) }
                        @for (backend, cell) in report.backends.iter().zip(&operation.cells) {
                            (chip(&backend.name, cell, operation.planned))
                        }
                    }
                    div.scroll tabindex="0" {
                        table.board {
                            thead { tr { th { "contract" } @for backend in &report.backends { th { (backend.name) } } } }
                            tbody { @for row in summary.contracts.iter().filter(|c| c.operation == operation.name) {
                                (board_row(report, row))
                            } }
                        }
                    }
                }
            }
        }
    }
}

fn chip(name: &str, cell: &Cell, planned: u64) -> Markup {
    let (class, sign) = state(cell);
    html! { span class={ "chip " (class) } title=(words(cell, planned)) { (sign) " " (name) } }
}

fn board_row(report: &Report, row: &ContractRow) -> Markup {
    html! {
        tr.idle[row.cells.iter().all(|cell| cell.counts.ran() == 0)] {
            th scope="row" { (row.name) }
            @for cell in &row.cells { (board_cell(report, row, cell)) }
        }
    }
}

fn board_cell(report: &Report, row: &ContractRow, cell: &Cell) -> Markup {
    let (class, sign) = state(cell);
    let (ran, findings) = (cell.counts.ran(), cell.counts.findings());
    let waived = cell.counts.get(VerdictKind::Waived);
    let worst = cell.worst.filter(|worst| worst.share > 0.0);
    let case = worst.map(|worst| format!("\nworst: {}", report.cases[worst.case].case));
    html! {
        td class=(class) title={ (words(cell, row.planned)) (case.unwrap_or_default()) } {
            @if findings > 0 { b { (sign) " " (count(findings)) " bad" } }
            @else if ran == 0 { (sign) }
            @else if waived > 0 { b { (sign) " " (count(waived)) " waived" } }
            @else if let Some(worst) = worst { b { (share(worst.share)) } }
            @else { b { "exact" } }
            @if ran > 0 { " " small { (count(ran)) "/" (count(row.planned)) } }
        }
    }
}

/// Families of matrices x backends: no family may go unnoticed.
pub(super) fn families(report: &Report, summary: &Summary) -> Markup {
    html! {
        details.operation {
            summary { span.name { "by family of matrices" } span.quiet { (count(summary.families.len() as u64)) " families" } }
            div.scroll tabindex="0" {
                table.board {
                    thead { tr { th { "family" } @for backend in &report.backends { th { (backend.name) } } } }
                    tbody { @for (family, cells) in &summary.families {
                        tr { th scope="row" { (family) } @for cell in cells { (family_cell(cell)) } }
                    } }
                }
            }
        }
    }
}

fn family_cell(cell: &Cell) -> Markup {
    let (class, sign) = state(cell);
    let findings = cell.counts.findings();
    html! {
        td class=(class) title=(words(cell, cell.counts.total())) {
            b { (sign) @if findings > 0 { " " (count(findings)) " bad" } }
            @if cell.counts.ran() > 0 { " " small { (count(cell.counts.ran())) " run" } }
        }
    }
}

/// Passing cases that used most of their bounds: where the next finding would come from.
pub(super) fn worst_shares(report: &Report) -> Markup {
    let within = |record: &&CaseRecord| record.verdict.kind() == VerdictKind::Within;
    let mut worst: Vec<(f64, &CaseRecord)> =
        report.cases.iter().filter(within).filter_map(|c| Some((c.share_of_bound()?, c))).collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    worst.truncate(WORST_SHOWN);
    if worst.is_empty() {
        return html! {};
    }
    html! {
        details.operation {
            summary { span.name { "nearest to their bounds" } span.quiet { "passing cases that used most of their allowed error" } }
            ol.worst { @for (value, record) in worst {
                li { b { (share(value)) } " of the allowed error used, on " (record.backend) (replay(&report.replay(record))) }
            } }
        }
    }
}
