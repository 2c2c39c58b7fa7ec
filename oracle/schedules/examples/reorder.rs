//! What reordering costs and brings: seconds and peak memory, and the density of the tensor blocks after each step.
//!
//! ```sh
//! cargo run --release -p sparse-schedules --example reorder -- [MATRIX.mtx | SOURCE]
//! ```
//!
//! Prints, for the original order and after each step, windows, entries per block and per window, and the cost of the
//! order per pair of neighbours (1: nothing in common). Peak memory is Linux's, the matrix included.

use sparse_oracle::format::{Csr, FormatParams};
use sparse_oracle::prelude::*;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_schedules::reorder::{COST_ONE, Permutation, adjacent_cost, reorder};
use sparse_schedules::rs_tile::{RsTileThresholds, partition, statistics};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "rmat:scale=16".to_owned());
    let pattern: Csr<()> = if Path::new(&name).exists() {
        Csr::from_entries(&read_path(Path::new(&name))?.coo.entries())?.map(|_| ())
    } else {
        name.parse::<SourceSpec>()?.generate()?
    };
    let started = Instant::now();
    let steps = reorder(&pattern);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{name}: {} x {}, {} nnz, reordered in {seconds:.2} s, peak {} MiB",
        pattern.rows,
        pattern.cols,
        pattern.nnz(),
        peak() >> 20
    );
    let original = Permutation::identity(pattern.rows as u32);
    for (step, order) in [
        ("original", &original),
        ("spanning", &steps.spanning),
        ("refined", &steps.refined),
        ("adjusted", &steps.adjusted),
    ] {
        report(step, &pattern, order)?;
    }
    Ok(())
}

fn report(step: &str, pattern: &Csr<()>, order: &Permutation) -> Result<(), Box<dyn Error>> {
    let entries = order.csr(pattern)?.entries();
    let thresholds = RsTileThresholds::new(entries.rows, entries.nnz(), &FormatParams::default());
    let counts = statistics(&entries, &partition(&entries, &thresholds));
    let pairs = pattern.rows.saturating_sub(1).max(1) as f64;
    println!(
        "{step:>9}: {:>8} windows, {:6.2} nnz/block, {:8.1} nnz/window, {:5.2} % CUDA, cost {:.6}",
        counts.windows,
        counts.nnz_per_block(),
        counts.nnz_per_window(),
        100.0 * counts.cuda_share(),
        adjacent_cost(pattern, order) as f64 / COST_ONE as f64 / pairs
    );
    Ok(())
}

/// The largest resident set so far, in bytes; 0 where the system does not say.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}
