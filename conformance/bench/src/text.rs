//! The report on a terminal.

use super::report::{BenchReport, Comparison};
use super::table::{self, Table};
use std::fmt::Write;

/// One comparison, with what is wrong about whom.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    let mut text = format!("{}\n", table::title(comparison));
    text += &aligned(&table::comparison(comparison));
    for wrong in comparison.contenders.iter().filter(|m| m.is_wrong()) {
        let _ = writeln!(text, "  WRONG {}: {}", wrong.label(), wrong.verdict);
        if let Some(replay) = &wrong.replay {
            let _ = writeln!(text, "    {replay}");
        }
    }
    text
}

/// What stands at the end: machine, geometric means, hybrids, skips.
#[must_use]
pub fn ending(report: &BenchReport) -> String {
    let mut text = format!("{}\n", table::machine(report));
    if !report.summary.is_empty() {
        text += &aligned(&table::summary(report));
    }
    if !report.hybrids.is_empty() {
        text += &aligned(&table::hybrids(report));
        let _ = writeln!(text, "{}", table::hybrid_line(report));
    }
    let wrong = report.wrong().count();
    let _ = writeln!(
        text,
        "{} comparisons, {wrong} contenders wrong and not timed, {} skipped",
        report.comparisons.len(),
        report.skipped.len()
    );
    text
}

fn aligned(table: &Table) -> String {
    let rows: Vec<&Vec<String>> = std::iter::once(&table.header).chain(&table.rows).collect();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..table.header.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
            if at == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "  {}", line.trim_end());
    }
    text
}
