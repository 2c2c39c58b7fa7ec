//! The report as one page that needs no network.
//!
//! ```text
//! machine, settings                     header (here)
//! geometric means, worst ratios         tables (here)
//! ratio by matrix, with intervals       plot
//! each comparison, skips                tables (here)
//! ```

mod plot;

use super::report::BenchReport;
use super::table::{self, Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The report's style, and what this page adds.
const STYLE: [&str; 2] = [sparse_conformance_core::report::STYLE, include_str!("bench.css")];
/// The page may load nothing from anywhere and runs nothing; a browser enforces it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The report as one HTML page.
#[must_use]
pub fn to_html(report: &BenchReport) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { "Bench - sparse kernels" }
                style { @for part in STYLE { (PreEscaped(part)) } }
            }
            body {
                (header(report))
                main {
                    (over_all(report))
                    (plot::section(report))
                    (hybrids(report))
                    (comparisons(report))
                    (skipped(report))
                }
                footer { "sparse-conformance " (report.suite_version) ", " (report.schema) ". The complete record is bench.json." }
            }
        }
    };
    page.into_string()
}

fn header(report: &BenchReport) -> Markup {
    let wrong = report.wrong().count();
    let here = &report.environment;
    let mut facts = vec![
        ("Machine", table::machine(report)),
        ("Started", here.started.clone()),
        ("Compiler", here.rustc.clone()),
        ("Extensions", here.cpu_features.join(" ")),
        ("Preset", report.preset.clone().unwrap_or_else(|| "none".to_owned())),
        ("Columns of B and C", report.n.to_string()),
        ("Time for each measurement", format!("{} s", report.seconds)),
        ("Command", here.command_line.join(" ")),
    ];
    for peer in &report.peers {
        let state = if peer.present { "" } else { "ABSENT: " };
        facts.push((peer.name.as_str(), format!("{state}{} {}", peer.version, peer.note)));
    }
    html! {
        header {
            p.brand { "Sparse kernels" }
            h1 { "Side by side" }
            p.lead {
                (report.comparisons.len()) " comparisons. Only who was judged right on the very operands is timed"
                @if wrong > 0 { "; " b.alarm { (wrong) " contenders were wrong" } }
                ". A ratio says how many times as fast the kernel is; its 95 % interval is a paired bootstrap over rounds."
            }
            dl.facts { @for (name, value) in &facts { div { dt { (name) } dd { (value) } } } }
        }
    }
}

fn over_all(report: &BenchReport) -> Markup {
    html! {
        section id="summary" {
            h2 { "Over all matrices" }
            p.quiet { "Geometric mean of the ratios, and the smallest single one." }
            (board(&table::summary(report)))
        }
    }
}

fn hybrids(report: &BenchReport) -> Markup {
    html! {
        @if !report.hybrids.is_empty() {
            section id="hybrids" {
                h2 { "Hybrids" }
                p.quiet { (table::hybrid_line(report)) }
                (board(&table::hybrids(report)))
            }
        }
    }
}

fn comparisons(report: &BenchReport) -> Markup {
    html! {
        section id="comparisons" {
            h2 { "Comparisons" }
            p.quiet {
                "Bandwidth: bytes that must move (each array once) by time, as a share of the measured triad; above 100 % the \
                 caches hold some. Peak: operations by time, as a share of the measured multiply-adds."
            }
            @for comparison in &report.comparisons {
                h3 { (table::title(comparison)) }
                (board(&table::comparison(comparison)))
                @for wrong in comparison.contenders.iter().filter(|m| m.is_wrong()) {
                    p { b.alarm { "Wrong: " } (wrong.label()) ": " (wrong.verdict) }
                    @if let Some(replay) = &wrong.replay { p { code { (replay) } } }
                }
            }
        }
    }
}

fn skipped(report: &BenchReport) -> Markup {
    html! {
        @if !report.skipped.is_empty() {
            section id="skipped" {
                h2 { "Skipped" }
                ul { @for s in &report.skipped { li { (s.what) " " (s.on) ": " (s.reason) } } }
            }
        }
    }
}

fn board(table: &Table) -> Markup {
    html! {
        div.scroll {
            table.board.bench {
                thead { tr { @for cell in &table.header { th { (cell) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for (at, cell) in row.iter().enumerate() {
                            @if at == 0 { th scope="row" { (cell) } } @else { td.number { (cell) } }
                        } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_runs_nothing() {
        let page = to_html(&sample::report(&[("one", 2.0), ("two", 0.5)]));
        assert!(page.starts_with("<!DOCTYPE html>"));
        for outside in ["src=", "href=", "http://", "https://", "<script", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains(POLICY) && page.contains("it is &lt;absent&gt;"));
    }

    #[test]
    fn every_ratio_is_in_the_plot() {
        let mut report = sample::report(&[("one", 2.0), ("two", 0.5)]);
        report.summary = super::super::summary::summary(&report, None);
        let page = to_html(&report);
        assert_eq!(page.matches("<circle").count(), 2);
        assert!(page.contains("one: 2.00x [1.00, 4.00]"), "{page}");
    }
}
