//! The report of the device as Markdown: means over the matrices, then every row.

use super::convert::Conversion;
use super::report::{DeviceReport, Row};
use crate::statistics::geometric_mean;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Everything.
#[must_use]
pub fn to_markdown(report: &DeviceReport) -> String {
    let mut text =
        format!("# Bench on the device\n\n{}. Started {}.\n", report.heading(), report.environment.started);
    let _ = write!(
        text,
        "\n`cold`: L2 flushed before each launch, median. `warm`: launches in a row. `against`: times as fast as the fastest f32\n\
         product of NVIDIA's libraries on the same matrix. `bound`: bytes that must move (the format's arrays, the named rows of B, C)\n\
         over the copy bandwidth, as a share of the cold time. Means are geometric.\n\n\
         | kernel | N | matrices | against, cold | against, warm | least | bound |\n|---|---:|---:|---:|---:|---:|---:|\n"
    );
    let mut groups: BTreeMap<(&str, u64), Vec<&Row>> = BTreeMap::new();
    for row in report.rows.iter().filter(|row| row.is_timed()) {
        groups.entry((&row.kernel, row.n)).or_default().push(row);
    }
    for ((kernel, n), rows) in groups {
        let against: Vec<(f64, f64)> = rows.iter().filter_map(|row| row.against).collect();
        let least = against.iter().map(|a| a.0).fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            text,
            "| {kernel} | {n} | {} | {:.2} | {:.2} | {least:.2} | {:.0} % |",
            rows.len(),
            geometric_mean(against.iter().map(|a| a.0)),
            geometric_mean(against.iter().map(|a| a.1)),
            100.0 * geometric_mean(rows.iter().map(|row| row.bound / row.cold)),
        );
    }
    let wrong: Vec<&Row> = report.rows.iter().filter(|row| !row.right).collect();
    let _ = writeln!(
        text,
        "\n{} rows, {} wrong, {} skipped.\n",
        report.rows.len(),
        wrong.len(),
        report.skipped.len()
    );
    for row in wrong {
        let _ = writeln!(text, "- WRONG {} on {} N = {}: {:?}", row.kernel, row.matrix, row.n, row.verdict);
    }
    text.push_str(
        "\n| matrix | nnz | N | kernel | tiers | cold us | warm us | bound us | GFLOP/s | against | convert ms | prepare ms |\n\
         |---|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in report.rows.iter().filter(|row| row.is_timed()) {
        let name = row.matrix.rsplit('/').next().unwrap_or_default().trim_end_matches(']');
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.0} | {} | {:.2} | {:.2} |",
            row.nnz,
            row.n,
            row.kernel,
            row.tiers.join(" "),
            row.cold * 1e6,
            row.warm * 1e6,
            row.bound * 1e6,
            row.operations as f64 / row.cold / 1e9,
            row.against.map_or_else(String::new, |a| format!("{:.2}", a.0)),
            row.conversion * 1e3,
            row.preparation * 1e3,
        );
    }
    if !report.conversions.is_empty() {
        conversions(&report.conversions, &mut text);
    }
    text
}

/// Preprocessing, one line for each.
fn conversions(rows: &[Conversion], text: &mut String) {
    text.push_str(
        "\n`whole`: from CSR on the device to the format on the device, memory included; `passes`: the kernels alone. `CPU`: the\n\
         conversion on all cores. Medians.\n\n\
         | matrix | nnz | kernel | upload ms | whole ms | passes ms | CPU ms | threads | times as fast | passes alone | |\n\
         |---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    for row in rows {
        let (whole, passes) = row.against();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.2} | {:.3} | {:.3} | {:.2} | {} | {whole:.1} | {passes:.1} | {} |",
            row.matrix,
            row.nnz,
            row.kernel,
            row.upload * 1e3,
            row.whole * 1e3,
            row.passes * 1e3,
            row.cpu * 1e3,
            row.threads,
            if row.right { "right" } else { "WRONG" },
        );
    }
}
