//! `conformance merge`: the reports of all shards as one.

use crate::report::{self, Colour, Report, github};
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Options of `merge`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Folder for the merged report.
    #[arg(value_name = "OUT_DIR")]
    out: PathBuf,
    /// The shards' reports: report.json files, or folders that hold one. In any order.
    #[arg(value_name = "REPORT", required = true)]
    reports: Vec<PathBuf>,
    /// Append the report to the job summary of GitHub Actions ($GITHUB_STEP_SUMMARY).
    #[arg(long)]
    github: bool,
}

/// Merges, writes and prints. 0 clean, 1 findings, 2 if the reports are not all shards of one plan.
pub(super) fn run(args: &Args) -> Result<u8> {
    let summary = args.github.then(github::summary_file).transpose()?;
    let read = |path: &PathBuf| Ok((path.clone(), Report::read(&json(path))?));
    let parts: Result<Vec<_>> = args.reports.iter().map(read).collect();
    let report = report::merge(parts?).context("merging")?;
    let paths = report::write_all(&report, &args.out)?;
    if let Some(file) = &summary {
        github::append(&report, file)?;
    }
    let mut out = std::io::stdout().lock();
    let colour = Colour::for_output(out.is_terminal());
    write!(out, "{}", report::to_text(&report, &paths, colour))?;
    out.flush()?;
    Ok(report.exit_code())
}

/// The report in a folder, or the file itself.
pub(super) fn json(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("report.json")
    } else {
        path.to_owned()
    }
}
