//! `conformance diff`: two reports compared.

use super::merge::json;
use super::output::output;
use crate::beside;
use crate::report::{Report, diff};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::io::Write;
use std::path::PathBuf;

/// Options of `diff`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The earlier report: report.json, or its folder.
    old: PathBuf,
    /// The later one.
    new: PathBuf,
    /// List shares of a bound that changed by more than this factor.
    #[arg(long, default_value_t = 2.0, value_name = "FACTOR")]
    factor: f64,
    /// Print everything as JSON.
    #[arg(long)]
    json: bool,
    /// Write the comparison as a page to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Compares and prints. 0 without new findings, 1 with some, 2 where there is nothing to compare.
pub(super) fn run(args: &Args) -> Result<u8> {
    if !(args.factor.is_finite() && args.factor >= 1.0) {
        bail!("--factor {}: must be a number from 1 up", args.factor);
    }
    let (old, new) = (Report::read(&json(&args.old))?, Report::read(&json(&args.new))?);
    let found = diff::diff(&old, &new, args.factor);
    if let Some(path) = &args.html {
        let page = diff::to_html(&found);
        beside::write(path, page.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut out = output();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&found)?)?;
    } else {
        write!(out, "{}", diff::to_text(&found))?;
    }
    out.flush()?;
    Ok(found.exit_code())
}
