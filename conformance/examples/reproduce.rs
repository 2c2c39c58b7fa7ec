//! What the papers report of their formats, measured again on any matrices: the tables of `docs/reproductions.md`.
//!
//! ```sh
//! cargo run --release -p sparse-conformance --example reproduce -- FILE_OR_FOLDER_OR_SOURCE...
//! ```
//!
//! Figures 1, 13 and 14 of Libra and 13 and 14 of RSH-SpMM. Matrices below 5,000 rows, 5,000
//! columns or 100,000 entries are left out, as in the papers, and counted.

use anyhow::{Result, bail};
use sparse_conformance::origin::Origin;
use sparse_oracle::format::{Entries, Fields, FormatKind, FormatParams, ImpactRule, Parts, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::source::file::list_dir;
use sparse_schedules::libra::{Profile, SDDMM_ETA, SPMM_ETA, UsedUnits, Work, sddmm_work, spmm_work};
use sparse_schedules::rs_tile::{Statistics, sweep};
use std::path::PathBuf;

const LEAST_SIDE: usize = 5_000;
const LEAST_NNZ: usize = 100_000;
const TAUS: std::ops::RangeInclusive<u32> = 0..=8;

/// What is measured of one matrix.
struct Row {
    name: String,
    nnz: usize,
    single: f64,
    /// SpMM, SDDMM; each hybrid, tensor only, CUDA only.
    work: [[Work; 3]; 2],
    /// Index bytes and total bytes of each format of figure 13.
    bytes: Vec<(u64, u64)>,
    /// As described, as printed; one per threshold.
    sweeps: [Vec<Statistics>; 2],
}

/// The formats of figure 13 of RSH-SpMM, COO first.
const FORMATS: [(&str, FormatKind, bool); 7] = [
    ("COO", FormatKind::Coo, false),
    ("CSR", FormatKind::Csr, false),
    ("ME-TCF", FormatKind::MeTcf, false),
    ("ME-TCF balanced", FormatKind::MeTcf, true),
    ("BitTCF", FormatKind::BitTcf, false),
    ("BitTCF balanced", FormatKind::BitTcf, true),
    ("RS-Tile", FormatKind::RsTile, false),
];

fn main() -> Result<()> {
    let mut rows = Vec::new();
    let mut left_out = Vec::new();
    for origin in origins()? {
        let loaded = match origin.load() {
            Ok(loaded) => loaded,
            Err(error) => {
                left_out.push(format!("{origin}: {error}"));
                continue;
            }
        };
        let entries = loaded.coo.entries().map(|&v| v as f32);
        if entries.rows < LEAST_SIDE || entries.cols < LEAST_SIDE || entries.nnz() < LEAST_NNZ {
            left_out.push(format!("{origin}: too small"));
            continue;
        }
        eprintln!("{origin}");
        rows.push(measure(short(&origin), &entries)?);
    }
    if rows.is_empty() {
        bail!("no matrix is large enough: {}", left_out.join("; "));
    }
    rows.sort_by(|a, b| a.single.total_cmp(&b.single));
    libra(&rows);
    rsh(&rows);
    println!("Left out: {} inputs (smaller than the papers' limits, or unreadable).", left_out.len());
    for reason in &left_out {
        eprintln!("left out: {reason}");
    }
    Ok(())
}

fn origins() -> Result<Vec<Origin>> {
    let mut found = Vec::new();
    for argument in std::env::args().skip(1) {
        let path = PathBuf::from(&argument);
        if path.is_dir() {
            found.extend(list_dir(&path)?.matrices.into_iter().map(Origin::File));
        } else if path.exists() {
            found.push(Origin::File(path));
        } else {
            found.push(argument.parse()?);
        }
    }
    Ok(found)
}

fn short(origin: &Origin) -> String {
    match origin {
        Origin::File(path) => {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            name.split('.').next().unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    }
}

fn measure(name: String, entries: &Entries<f32>) -> Result<Row> {
    let profile = Profile::of(entries)?;
    let modes = |eta| [UsedUnits::Hybrid { eta }, UsedUnits::TensorOnly, UsedUnits::CudaOnly];
    let [a, b, c] = modes(SPMM_ETA).map(|mode| spmm_work(&profile, mode, 8, false));
    let [d, e, f] = modes(SDDMM_ETA).map(|mode| sddmm_work(&profile, mode));
    let mut bytes = Vec::new();
    for (_, kind, balanced) in FORMATS {
        let params = FormatParams { balanced, ..FormatParams::default() };
        let parts = Parts::from(Sparse::from_entries(kind, params, entries)?);
        bytes.push((parts.index_bytes(), parts.index_bytes() + parts.value_bytes()));
    }
    let taus: Vec<u32> = TAUS.collect();
    Ok(Row {
        name,
        nnz: entries.nnz(),
        single: profile.single_entry_ratio().unwrap_or(0.0),
        work: [[a?, b?, c?], [d?, e?, f?]],
        bytes,
        sweeps: [ImpactRule::AsDescribed, ImpactRule::AsPrinted].map(|rule| sweep(entries, rule, &taus)),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        (sum, count) = (sum + value, count + 1);
    }
    sum / count.max(1) as f64
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

fn utilisation(work: &Work) -> f64 {
    work.utilisation().unwrap_or(0.0)
}

/// Tensor-unit utilisation, hybrid over tensor-only; infinite matrices of the CUDA part alone count as 1.
fn gain(work: &[Work; 3]) -> f64 {
    match (work[0].utilisation(), work[1].utilisation()) {
        (Some(hybrid), Some(alone)) if alone > 0.0 => hybrid / alone,
        _ => 1.0,
    }
}

/// Share of the data access of CUDA cores alone that hybrid execution saves.
fn saved(work: &[Work; 3]) -> f64 {
    1.0 - work[0].access() as f64 / work[2].access().max(1) as f64
}

fn libra(rows: &[Row]) {
    println!("### Libra: figures 1, 13 and 14\n");
    println!(
        "| matrix | nnz | NNZ-1 | tensor share (SpMM) | utilisation hybrid / alone | access saved \
         | tensor share (SDDMM) | utilisation hybrid / alone | access saved |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for row in rows {
        print!("| {} | {} | {:.1} % |", row.name, row.nnz, 100.0 * row.single);
        for work in &row.work {
            print!(
                " {:.1} % | {:.3} / {:.3} | {:.1} % |",
                100.0 * work[0].tensor_share().unwrap_or(0.0),
                utilisation(&work[0]),
                utilisation(&work[1]),
                100.0 * saved(work)
            );
        }
        println!();
    }
    println!();
    for (i, name) in ["SpMM", "SDDMM"].into_iter().enumerate() {
        println!(
            "{name}: utilisation gains {:.2} on average, {:.2} at most; access saved {:.1} % on average, {:.1} % at most.\n",
            mean(rows.iter().map(|r| gain(&r.work[i]))),
            largest(rows.iter().map(|r| gain(&r.work[i]))),
            100.0 * mean(rows.iter().map(|r| saved(&r.work[i]))),
            100.0 * largest(rows.iter().map(|r| saved(&r.work[i])))
        );
    }
    let between = |low: f64, high: f64| rows.iter().filter(|r| r.single >= low && r.single < high).count();
    println!(
        "NNZ-1 below 20 %: {}, 20 to 80 %: {}, from 80 %: {} of {} matrices.\n",
        between(0.0, 0.2),
        between(0.2, 0.8),
        between(0.8, 2.0),
        rows.len()
    );
}

fn rsh(rows: &[Row]) {
    println!("### RSH-SpMM: figure 13 (bytes over those of COO: total with f32 values, index only)\n");
    let heads: Vec<&str> = FORMATS.iter().map(|f| f.0).collect();
    println!("| matrix | {} |", heads.join(" | "));
    println!("|---|{}", "---:|".repeat(heads.len()));
    let share = |row: &Row, f: usize| {
        let ((index, total), (coo_index, coo_total)) = (row.bytes[f], row.bytes[0]);
        (total as f64 / coo_total as f64, index as f64 / coo_index as f64)
    };
    for row in rows {
        print!("| {} |", row.name);
        for f in 0..FORMATS.len() {
            let (total, index) = share(row, f);
            print!(" {total:.3} ({index:.3}) |");
        }
        println!();
    }
    print!("| **mean** |");
    for f in 0..FORMATS.len() {
        let total = mean(rows.iter().map(|r| share(r, f).0));
        print!(" {total:.3} ({:.3}) |", mean(rows.iter().map(|r| share(r, f).1)));
    }
    println!("\n");
    println!("### RSH-SpMM: figure 14 (means over the matrices)\n");
    println!(
        "| threshold | nnz per TC block | per window | CUDA share | as printed: nnz per TC block | per window | CUDA share |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for (i, tau) in TAUS.enumerate() {
        print!("| {tau} |");
        for rule in 0..2 {
            let of = |f: fn(&Statistics) -> f64| mean(rows.iter().map(|r| f(&r.sweeps[rule][i])));
            print!(
                " {:.2} | {:.1} | {:.2} % |",
                of(Statistics::nnz_per_block),
                of(Statistics::nnz_per_window),
                100.0 * of(Statistics::cuda_share)
            );
        }
        println!();
    }
    println!();
}
