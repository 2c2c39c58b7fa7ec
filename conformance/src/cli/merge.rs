//! `conformance merge`: the reports of all shards as one.

use super::output::output;
use super::progress::Shown;
use super::shrink;
use crate::beside;
use crate::campaign;
use crate::report::{self, Colour, Report, github};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use sparse_oracle::plain_file;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// Options of `merge`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Folder for the merged report.
    #[arg(value_name = "OUT_DIR")]
    out: PathBuf,
    /// The shards' reports: report.json files, or folders that hold one. In any order.
    #[arg(value_name = "REPORT", required = true)]
    reports: Vec<PathBuf>,
    /// Append the report to the job summary of GitHub Actions (`GITHUB_STEP_SUMMARY`).
    #[arg(long)]
    github: bool,
    /// Exit with 0 where nothing was found but some contracts were judged on too little; the report calls it thin all the same.
    #[arg(long)]
    allow_thin: bool,
    /// Print what came of it as one JSON object, as `run --json` does.
    #[arg(long)]
    json: bool,
}

/// Largest file of a reproducer that is copied.
const MOST_BYTES: u64 = 1 << 30;

/// Merges, writes and prints. 0 clean, 1 findings or thin, 2 if nothing was judged, or the reports are not
/// all shards of one plan.
pub(super) fn run(args: &Args) -> Result<u8> {
    let summary = args.github.then(github::summary_file).transpose()?;
    for path in &args.reports {
        if let (Ok(read), Ok(out)) = (json(path).canonicalize(), json(&args.out).canonicalize())
            && read == out
        {
            bail!(
                "{} is the folder for the merged report, and the report in it one of those that are read; it would be overwritten: \
                 the folder for the merged report comes first, name another one",
                args.out.display()
            );
        }
    }
    let read = |path: &PathBuf| Ok((path.clone(), Report::read(&json(path))?));
    let parts: Result<Vec<_>> = args.reports.iter().map(read).collect();
    let parts = parts?;
    let folders: Vec<(PathBuf, Vec<String>)> = parts.iter().map(reproducers).collect();
    let shown = Shown::new(args.json, None);
    let mut report = campaign::merge(parts, &shown).context("merging")?;
    drop(shown);
    report.plan.allow_thin |= args.allow_thin;
    // A report that is read may lie beside the one that is written.
    let place = |folder: &Path| Path::new(".").join(folder).canonicalize().ok();
    if folders.iter().all(|(folder, _)| place(folder) != place(&args.out)) {
        shrink::set_aside(&args.out);
    }
    for (folder, names) in &folders {
        for name in names {
            copy(&folder.join(name), &args.out.join(name))
                .with_context(|| format!("the reproducer {name} of {}", folder.display()))?;
        }
    }
    let paths = report::write_all(&report, &args.out)?;
    if let Some(file) = &summary {
        github::append(&report, file)?;
    }
    let mut out = output();
    let colour = Colour::for_output(out.is_terminal());
    match args.json {
        true => writeln!(out, "{:#}", report::to_brief(&report, &paths))?,
        false => write!(out, "{}", report::to_text(&report, &paths, colour))?,
    }
    out.flush()?;
    Ok(report.exit_code())
}

/// The report in a folder, or the file itself.
pub(super) fn json(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("report.json") } else { path.to_owned() }
}

/// A report's folder, and the folders of reproducers in it that its cases name. Nothing outside of it is followed.
fn reproducers((path, report): &(PathBuf, Report)) -> (PathBuf, Vec<String>) {
    let json = json(path);
    let folder = json.parent().unwrap_or(Path::new("")).to_owned();
    let inside =
        |name: &&String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let named = report.cases.iter().filter_map(|case| case.reproducer.as_ref()?.path.as_ref());
    (folder, named.filter(inside).cloned().collect())
}

/// Copies the files of a folder, if it is another one. What is no plain file, or was not finished, is not a reproducer's.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    if from.canonicalize()? == to.canonicalize()? {
        return Ok(());
    }
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && !beside::is_unfinished(&entry.file_name()) {
            let content = plain_file::read(&entry.path(), MOST_BYTES)?;
            beside::write(&to.join(entry.file_name()), &content)?;
        }
    }
    Ok(())
}
