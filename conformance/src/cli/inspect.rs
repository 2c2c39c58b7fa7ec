//! `conformance inspect`: what a matrix looks like.

use crate::origin::Origin;
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use sparse_oracle::format::Csr;
use sparse_oracle::source::spy::{SpyGrid, SpyStyle};
use sparse_oracle::source::statistics::RowStatistics;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Options of `inspect`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A matrix file, or a source: rmat:scale=8,seed=7, synth:scircuit,seed=0, embedded:karate.
    matrix: String,
    /// Also write the spy plot as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Width and height of the spy plot, in characters.
const SCREEN: (usize, usize) = (64, 24);

/// Prints shape, row statistics and a spy plot.
pub(super) fn run(args: &Args) -> Result<u8> {
    let is_file = PathBuf::from(&args.matrix).exists();
    let origin = if is_file || !args.matrix.contains(':') {
        Origin::File(PathBuf::from(&args.matrix))
    } else {
        args.matrix.parse()?
    };
    let loaded = origin.load()?;
    let duplicates = loaded.coo.nnz();
    let matrix: Csr<f64> = Csr::from_entries(&loaded.coo.entries())?;
    let duplicates = duplicates - matrix.nnz();
    let zeros = matrix.values.iter().filter(|v| **v == 0.0).count();
    let s = RowStatistics::of(&matrix);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{origin}")?;
    writeln!(out, "  shape            {} x {}", matrix.rows, matrix.cols)?;
    writeln!(
        out,
        "  stored entries   {} ({:.3e} of all positions)",
        matrix.nnz(),
        s.density
    )?;
    writeln!(out, "  duplicates       {duplicates}")?;
    if loaded.has_values {
        writeln!(out, "  explicit zeros   {zeros}")?;
    } else {
        writeln!(out, "  values           none (pattern only)")?;
    }
    writeln!(
        out,
        "  entries per row  min {}, mean {:.3}, max {}, std {:.3}",
        s.min, s.mean, s.max, s.std
    )?;
    writeln!(
        out,
        "  empty            {} rows, {} columns",
        s.empty_rows, s.empty_cols
    )?;
    writeln!(out, "  bandwidth        {}", s.bandwidth)?;
    let style = if out.is_terminal()
        || std::env::var_os("LANG").is_some_and(|l| l.to_string_lossy().contains("UTF"))
    {
        SpyStyle::Braille
    } else {
        SpyStyle::Ascii
    };
    write!(
        out,
        "{}",
        sparse_oracle::source::spy::spy_text(&matrix, SCREEN.0, SCREEN.1, style)?
    )?;
    if let Some(path) = &args.svg {
        let svg = SpyGrid::new(&matrix, 128, 128)?.to_svg();
        std::fs::write(path, svg).with_context(|| format!("writing {}", path.display()))?;
        writeln!(out, "  spy plot         {}", path.display())?;
    }
    Ok(0)
}
