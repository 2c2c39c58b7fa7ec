//! The numbers as text, once: what the terminal, the Markdown file and the page print.

use super::report::{BenchReport, Comparison, Hybrid, Measured, Summary};
use super::statistics::{Ratio, geometric_mean};
use sparse_conformance_core::report::VerdictRecord;
use sparse_conformance_core::report::show::count;

/// A header and rows of cells.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// One comparison.
pub(super) fn comparison(comparison: &Comparison) -> Table {
    let peers: Vec<&str> = comparison
        .contenders
        .iter()
        .filter(|m| m.peer && m.speed.is_some())
        .map(|m| m.name.as_str())
        .collect();
    let fixed = ["contender", "judged", "prepared ms", "median ms", "GFLOP/s", "bandwidth", "peak"];
    let against = peers.iter().map(|peer| format!("over {peer} [95 %]"));
    Table {
        header: fixed.into_iter().map(str::to_owned).chain(against).collect(),
        rows: comparison.contenders.iter().map(|m| row(m, &peers)).collect(),
    }
}

fn row(measured: &Measured, peers: &[&str]) -> Vec<String> {
    let mut cells = vec![measured.label(), verdict(measured), milliseconds(measured.preparation)];
    let Some(speed) = &measured.speed else {
        cells.extend(["not timed", "", "", ""].map(str::to_owned));
        cells.extend(peers.iter().map(|_| String::new()));
        return cells;
    };
    cells.extend([
        milliseconds(speed.median),
        format!("{:.2}", speed.gflops),
        percent(speed.bandwidth_share),
        if speed.peak_share > 0.0 { percent(speed.peak_share) } else { String::new() },
    ]);
    cells.extend(peers.iter().map(|peer| speed.against.get(*peer).map_or_else(String::new, ratio)));
    cells
}

/// `T2`, `T1 of 12 % of rows`, `WRONG`.
fn verdict(measured: &Measured) -> String {
    let word = match measured.verdict {
        VerdictRecord::Exact | VerdictRecord::Within { .. } => measured.tiers.join(" "),
        VerdictRecord::Wrong(_) => "WRONG".to_owned(),
        VerdictRecord::AgreedRefusal { .. }
        | VerdictRecord::LoneRefusal { .. }
        | VerdictRecord::LoneAcceptance { .. }
        | VerdictRecord::Crashed { .. }
        | VerdictRecord::TimedOut { .. }
        | VerdictRecord::Unsupported { .. }
        | VerdictRecord::NotRun { .. } => "FAILED".to_owned(),
    };
    if measured.judged < 1.0 && !measured.is_wrong() {
        format!("{word} of {}", percent(measured.judged))
    } else {
        word
    }
}

/// Kernels against peers over all matrices.
pub(super) fn summary(report: &BenchReport) -> Table {
    let header = ["kernel", "peer", "matrices", "geometric mean", "worst [95 %]", "on"];
    let row = |s: &Summary| {
        let claimed = if s.claimed { " (claimed)" } else { "" };
        vec![
            format!("{}{claimed}", s.kernel),
            s.peer.clone(),
            count(s.matrices),
            format!("{:.2}x", s.mean),
            ratio(&s.worst),
            s.worst_matrix.clone(),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: report.summary.iter().map(row).collect() }
}

/// What hybrids chose.
pub(super) fn hybrids(report: &BenchReport) -> Table {
    let header = [
        "kernel",
        "matrix",
        "rows",
        "in CSR",
        "threads",
        "chosen by",
        "hybrid",
        "over its better part [95 %]",
    ];
    let row = |h: &Hybrid| {
        vec![
            h.kernel.clone(),
            h.matrix.clone(),
            count(h.rows),
            count(h.boundary),
            h.threads.map_or_else(String::new, |[csr, tiles]| format!("{csr} + {tiles}")),
            h.chosen_by.clone(),
            if h.hybrid { "yes" } else { "no" }.to_owned(),
            h.over_better_part.as_ref().map_or_else(String::new, ratio),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: report.hybrids.iter().map(row).collect() }
}

/// What the share of matrices is where a hybrid keeps 0.97 of its better part, in words; empty without hybrids.
pub(super) fn hybrid_line(report: &BenchReport) -> String {
    let measured: Vec<f64> = report.hybrids.iter().filter_map(|h| Some(h.over_better_part?.ratio)).collect();
    if measured.is_empty() {
        return String::new();
    }
    let kept = measured.iter().filter(|r| **r >= 0.97).count();
    format!(
        "{} of {} splits were true hybrids; {kept} of {} kept at least 0.97 of the better of their two parts, geometric mean {:.2}",
        report.hybrids.iter().filter(|h| h.hybrid).count(),
        report.hybrids.len(),
        measured.len(),
        geometric_mean(measured.iter().copied())
    )
}

/// The line above a comparison.
pub(super) fn title(c: &Comparison) -> String {
    format!(
        "{}: {} {}, {} x {}, {} entries, {} rounds",
        c.matrix,
        c.op,
        c.types,
        count(c.rows),
        count(c.cols),
        count(c.nnz),
        count(c.rounds)
    )
}

/// What the machine can do, in a line.
pub(super) fn machine(report: &BenchReport) -> String {
    let machine = &report.machine;
    let load = machine.load_before.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"));
    format!(
        "{}, {} cores, {} threads: triad {:.1} GB/s, FMA f32 {:.0} and f64 {:.0} GFLOP/s ({}-bit vectors); load {load} before the start",
        report.environment.cpu,
        report.environment.cores,
        report.threads,
        machine.bandwidth,
        machine.peak_f32,
        machine.peak_f64,
        machine.vector_bits
    )
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3}", seconds * 1e3)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn ratio(ratio: &Ratio) -> String {
    format!("{:.2}x [{:.2}, {:.2}]", ratio.ratio, ratio.low, ratio.high)
}
