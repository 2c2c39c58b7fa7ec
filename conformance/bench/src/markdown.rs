//! The report as Markdown, for documents and job summaries.

use super::report::BenchReport;
use super::table::{self, Table};
use std::fmt::Write;

/// Everything.
#[must_use]
pub fn to_markdown(report: &BenchReport) -> String {
    let mut text = format!("# Bench\n\n{}.\n", escaped(&table::machine(report)));
    let preset = report.preset.as_ref().map_or_else(String::new, |name| format!(", preset {name}"));
    let _ = writeln!(
        text,
        "N = {}, {} s for each measurement{preset}. Started {}.\n",
        report.n, report.seconds, report.environment.started
    );
    for peer in &report.peers {
        let state = if peer.present { "" } else { "ABSENT: " };
        let _ = writeln!(text, "- {} {}: {state}{}", peer.name, escaped(&peer.version), escaped(&peer.note));
    }
    section(&mut text, "Over all matrices", &table::summary(report));
    section(&mut text, "Hybrids", &table::hybrids(report));
    let hybrids = table::hybrid_line(report);
    if !hybrids.is_empty() {
        let _ = writeln!(text, "\n{hybrids}.");
    }
    for comparison in &report.comparisons {
        section(&mut text, &escaped(&table::title(comparison)), &table::comparison(comparison));
        for wrong in comparison.contenders.iter().filter(|m| m.is_wrong()) {
            let _ = writeln!(text, "\nWrong: {}: {}", wrong.label(), escaped(&wrong.verdict.to_string()));
            if let Some(replay) = &wrong.replay {
                let _ = writeln!(text, "\n    {replay}");
            }
        }
    }
    if !report.skipped.is_empty() {
        text += "\n## Skipped\n\n";
        for skipped in &report.skipped {
            let _ = writeln!(
                text,
                "- {} {}: {}",
                escaped(&skipped.what),
                escaped(&skipped.on),
                escaped(&skipped.reason)
            );
        }
    }
    text
}

fn section(text: &mut String, title: &str, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## {title}\n");
    let line = |cells: &[String]| {
        format!("| {} |", cells.iter().map(|c| escaped(c)).collect::<Vec<_>>().join(" | "))
    };
    let _ = writeln!(text, "{}\n|{}", line(&table.header), "---|".repeat(table.header.len()));
    for row in &table.rows {
        let _ = writeln!(text, "{}", line(row));
    }
}

fn escaped(text: &str) -> String {
    sparse_conformance_core::report::show::one_line(text).replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    #[test]
    fn tables_have_as_many_cells_in_every_row() {
        let text = to_markdown(&sample::report(&[("a|b", 2.0)]));
        assert!(text.contains("## a\\|b: spmm f32_f32_f32_f32"), "{text}");
        assert!(text.contains("2.00x [1.00, 4.00]"), "{text}");
        assert!(text.contains("it is &lt;absent>"), "{text}");
        for block in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            let first = bars(block.lines().next().expect("a header"));
            assert!(block.lines().all(|line| bars(line) == first), "{block}");
        }
    }
}
