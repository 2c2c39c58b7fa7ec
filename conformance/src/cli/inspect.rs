//! `conformance inspect`: what a matrix looks like, and what every format makes of it.

use super::matrices::named;
use crate::inspect::iops::View;
use crate::inspect::machine::parse_machine;
use crate::inspect::variant::parse_parameters;
use crate::inspect::{Element, Survey, html, text};
use crate::origin::{Loaded, Origin};
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use sparse_oracle::format::Csr;
use sparse_oracle::prelude::*;
use sparse_oracle::source::spy::{SpyGrid, SpyStyle};
use sparse_oracle::source::statistics::RowStatistics;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Options of `inspect`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A matrix file, or a source: rmat:scale=8,seed=7, synth:scircuit,seed=0, embedded:karate.
    matrix: String,
    /// Also write the spy plot as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also encode the matrix in every format: bytes against COO, pads, tiles, what goes to which unit.
    #[arg(long)]
    formats: bool,
    /// Print the formats as JSON, and nothing else.
    #[arg(long)]
    json: bool,
    /// Write the formats, with pictures of their blocks, as a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also multiply it on the model of the IOPS accelerator: by itself (a matrix that is not square by its transpose), and by
    /// a dense matrix. Partition, DRAM traffic, cycles, and the same of inner and outer product.
    #[arg(long, conflicts_with = "json")]
    iops: bool,
    /// With --iops: multiply by this matrix instead, a file or a source.
    #[arg(long, value_name = "MATRIX", requires = "iops")]
    by: Option<String>,
    /// With --iops: columns of the dense matrix.
    #[arg(long, value_name = "N", default_value_t = 16, requires = "iops")]
    columns: usize,
    /// With --iops: a parameter of the machine: `groups_a=16`, `groups_b`, `buffer_a=4096`, `buffer_b`, `psum`, `reserve`, `clock_mhz`,
    /// `encode_rate`, `dram_bytes`.
    #[arg(long = "machine", value_name = "NAME=NUMBER", requires = "iops")]
    machine: Vec<String>,
    /// Element type that the formats store.
    #[arg(long, value_enum, default_value_t)]
    values: Element,
    /// A parameter of the formats that have it: kb=16, tau=2, eta=64.
    #[arg(long = "set", value_name = "NAME=NUMBER")]
    parameters: Vec<String>,
}

/// Width and height of the spy plot, in characters.
const SCREEN: (usize, usize) = (64, 24);

/// Describes the matrix, and the formats if asked for.
pub(super) fn run(args: &Args) -> Result<u8> {
    let origin = named(Path::new(&args.matrix))?;
    let params = parse_parameters(&args.parameters)?;
    let loaded = origin.load()?;
    let entries = loaded.coo.entries();
    let mut out = std::io::stdout().lock();
    // A matrix may have too many rows for the row pointer, and formats that do not mind.
    let matrix = Csr::from_entries(&entries);
    match &matrix {
        _ if args.json => {}
        Ok(matrix) => describe(&mut out, &origin, &loaded, matrix)?,
        Err(refusal) => {
            writeln!(out, "{origin}")?;
            writeln!(out, "  shape            {} x {}", entries.rows, entries.cols)?;
            writeln!(out, "  stored entries   {}", entries.nnz())?;
            writeln!(out, "  rows             not counted: {refusal}")?;
        }
    }
    if let Some(path) = &args.svg {
        let matrix = matrix.as_ref().map_err(Clone::clone);
        let matrix = matrix.with_context(|| format!("a picture of {origin}"))?;
        let svg = SpyGrid::new(matrix, 128, 128)?.to_svg();
        write_file(path, &svg)?;
        if !args.json {
            writeln!(out, "  spy plot         {}", path.display())?;
        }
    }
    if args.iops {
        let matrix = matrix.as_ref().map_err(Clone::clone);
        on_iops(&mut out, args, matrix.with_context(|| format!("IOPS on {origin}"))?)?;
    }
    drop(matrix);
    if args.formats || args.json || args.html.is_some() {
        let survey = Survey::of(origin.to_string(), &entries, args.values, params);
        if let Some(path) = &args.html {
            write_file(path, &html::to_html(&survey))?;
        }
        if args.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&survey)?)?;
        } else {
            write!(out, "\n{}", text::to_text(&survey))?;
        }
    }
    Ok(0)
}

/// Prints both modes of the accelerator.
fn on_iops(out: &mut std::io::StdoutLock<'_>, args: &Args, matrix: &Csr<f64>) -> Result<()> {
    let machine = parse_machine(&args.machine)?;
    let (title, second) = match &args.by {
        Some(name) => {
            let loaded = named(Path::new(name))?.load()?;
            let second = Csr::from_entries(&loaded.coo.entries())?;
            (format!("SSMM by {name}"), second)
        }
        None if matrix.rows == matrix.cols => ("SSMM by itself".to_owned(), matrix.clone()),
        None => {
            let transposed = Csr::from_entries(&matrix.entries().transpose())?;
            ("SSMM by its transpose".to_owned(), transposed)
        }
    };
    write!(out, "\n{}", View::ssmm(title, matrix, &second, machine)?.to_text())?;
    let title = format!("SDMM by {} dense columns", args.columns);
    write!(out, "\n{}", View::sdmm(title, matrix, args.columns, machine)?.to_text())?;
    Ok(())
}

fn write_file(path: &Path, content: &str) -> Result<()> {
    std::fs::write(path, content).with_context(|| format!("writing {}", path.display()))
}

/// Prints shape, row statistics and a spy plot.
fn describe(
    out: &mut std::io::StdoutLock<'_>,
    origin: &Origin,
    loaded: &Loaded,
    matrix: &Csr<f64>,
) -> Result<()> {
    let duplicates = loaded.coo.nnz() - matrix.nnz();
    let zeros = matrix.values.iter().filter(|v| **v == 0.0).count();
    let s = RowStatistics::of(matrix);
    writeln!(out, "{origin}")?;
    writeln!(out, "  shape            {} x {}", matrix.rows, matrix.cols)?;
    writeln!(out, "  stored entries   {} ({:.3e} of all positions)", matrix.nnz(), s.density)?;
    writeln!(out, "  duplicates       {duplicates}")?;
    if loaded.has_values {
        writeln!(out, "  explicit zeros   {zeros}")?;
    } else {
        writeln!(out, "  values           none (pattern only)")?;
    }
    writeln!(out, "  entries per row  min {}, mean {:.3}, max {}, std {:.3}", s.min, s.mean, s.max, s.std)?;
    writeln!(out, "  empty            {} rows, {} columns", s.empty_rows, s.empty_cols)?;
    writeln!(out, "  bandwidth        {}", s.bandwidth)?;
    let style = if out.is_terminal()
        || std::env::var_os("LANG").is_some_and(|l| l.to_string_lossy().contains("UTF"))
    {
        SpyStyle::Braille
    } else {
        SpyStyle::Ascii
    };
    write!(out, "{}", sparse_oracle::source::spy::spy_text(matrix, SCREEN.0, SCREEN.1, style)?)?;
    Ok(())
}
