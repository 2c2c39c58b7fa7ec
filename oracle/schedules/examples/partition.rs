//! Figures 13 and 14 of RSH-SpMM for one matrix: bytes of RS-Tile against COO, and the density of the tensor blocks at
//! thresholds 0 to 8 under both rules.
//!
//! ```sh
//! cargo run --release -p sparse-schedules --example partition -- MATRIX.mtx | SOURCE
//! ```
//!
//! Bytes are those of f32 elements; COO has 12 per entry, CSR 8 and one offset per row.

use sparse_oracle::format::{Csr, Entries, FormatParams, ImpactRule};
use sparse_oracle::prelude::*;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_schedules::rs_tile::{RsTileThresholds, Statistics, partition, statistics, sweep};
use std::error::Error;
use std::path::Path;

const ELEMENT: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "rmat:scale=16".to_owned());
    let entries: Entries<()> = if Path::new(&name).exists() {
        read_path(Path::new(&name))?.coo.entries().pattern()
    } else {
        name.parse::<SourceSpec>()?.generate()?.entries()
    };
    println!("{name}: {} x {}, {} nnz", entries.rows, entries.cols, entries.nnz());
    for rule in [ImpactRule::AsDescribed, ImpactRule::AsPrinted] {
        let thresholds = RsTileThresholds::new(
            entries.rows,
            entries.nnz(),
            &FormatParams { impact: rule, ..FormatParams::default() },
        );
        let estimated = statistics(&entries, &partition(&entries, &thresholds));
        println!("{rule:?}, estimated tau_nnz = {}", thresholds.nnz);
        line("default", &estimated);
        let taus: Vec<u32> = (0..=8).collect();
        for (tau, counts) in taus.iter().zip(sweep(&entries, rule, &taus)) {
            line(&tau.to_string(), &counts);
        }
    }
    let (rows, nnz) = (entries.rows as u64, entries.nnz() as u64);
    let csr = Csr::from_entries(&entries)?;
    println!(
        "CSR / COO: {:.3}, index only {:.3}",
        (4 * csr.row_ptr.len() as u64 + (4 + ELEMENT) * nnz) as f64 / ((8 + ELEMENT) * nnz) as f64,
        (4 * (rows + 1 + nnz)) as f64 / (8 * nnz) as f64
    );
    Ok(())
}

fn line(tau: &str, counts: &Statistics) {
    println!(
        "  tau {tau:>7}: {:6.2} nnz/block, {:8.1} nnz/window, {:6.2} % CUDA, {:.3} of COO, index only {:.3}",
        counts.nnz_per_block(),
        counts.nnz_per_window(),
        100.0 * counts.cuda_share(),
        counts.total_bytes(ELEMENT) as f64 / ((8 + ELEMENT) * counts.nnz) as f64,
        counts.index_bytes() as f64 / (8 * counts.nnz) as f64
    );
}
