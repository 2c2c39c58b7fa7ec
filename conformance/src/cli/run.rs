//! `conformance run`.

use super::dry_run::dry_run;
use super::extent::Extent;
use super::matrices::matrices;
use super::meant::meant_contract;
use super::no_case;
use super::output::output;
use super::progress::{Shown, Stop};
use super::report_folder::ReportFolder;
use super::subjects::Subjects;
use crate::backend::Backend;
use crate::campaign::{self, Planned};
use crate::determinism::Repeats;
use crate::notice::say;
use crate::plan::{Options, Tier};
use crate::record::outside;
use crate::report::{self, Environment, github};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::scalar::Precision;
use std::io::Write;
use std::path::PathBuf;
use wildmatch::WildMatch;

/// Options of `run`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    subjects: Subjects,
    /// Operations, comma-separated: spmm, spmv, sddmm, spgemm, transpose, convert.
    #[arg(long = "ops", alias = "op", value_delimiter = ',', value_parser = op, value_name = "OP")]
    ops: Vec<Op>,
    /// Element types of the operands, comma-separated: f64, f32, tf32, f16, bf16, e4m3, e5m2.
    #[arg(long, alias = "precision", value_delimiter = ',', value_parser = precision, value_name = "TYPE")]
    precisions: Vec<Precision>,
    /// Contracts, comma-separated; `*` is any text: 'spmm.csr.*' (`conformance list contracts`).
    #[arg(long = "contracts", alias = "contract", value_delimiter = ',', value_parser = contracts, value_name = "PATTERN")]
    contracts: Vec<String>,
    /// How much to run.
    #[arg(long, value_parser = super::tier(), default_value = Tier::Quick.name())]
    tier: Tier,
    /// A matrix file (.mtx, .mtx.gz, .smtx, .smtx.gz), a folder of them, or a source: embedded:karate, rmat:scale=8,seed=7; may be
    /// repeated. Runs these only.
    #[arg(long = "matrix", value_name = "FILE|DIR|SOURCE")]
    matrices: Vec<PathBuf>,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 0, value_parser = super::seed)]
    seed: u64,
    /// Threads; all cores by default. The report does not depend on it.
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Folder for report.json, report.html and the other files of a report.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Run every passing case so many times again and compare the bits; by default one case in four, twice or for 0.2 ms. 0: none.
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// Exit with 0 where nothing was found but some contracts were judged on too little; the report calls it thin all the same.
    #[arg(long)]
    allow_thin: bool,
    /// Run nothing: say how many cases there would be, on how many matrices, and about how long they take, from some that are tried.
    #[arg(long, conflicts_with = "report")]
    dry_run: bool,
    /// Stop at the first finding: print the line that runs it again, and exit with 1. With --report, what was judged is kept for --resume.
    #[arg(long)]
    fail_fast: bool,
    /// Print the last line only, and no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Print what came of the run as one JSON object, and no progress: outcome, verdicts by backend, the first findings with the commands that
    /// run them again, files written.
    #[arg(long, conflicts_with_all = ["quiet", "dry_run", "fail_fast"])]
    json: bool,
    #[command(flatten)]
    shrinking: super::shrink::Effort,
    #[command(flatten)]
    extent: Extent,
}

pub(super) fn op(name: &str) -> Result<Op, String> {
    let known = || Op::ALL.map(Op::name).join(", ");
    Op::from_name(name).ok_or_else(|| format!("unknown operation; there are {}", known()))
}

/// A pattern that some contract fits: a mistyped one must not pass for a clean run.
pub(super) fn contracts(pattern: &str) -> Result<String, String> {
    let matcher = WildMatch::new(pattern);
    if all_contracts().iter().any(|c| matcher.matches(&c.to_string())) {
        Ok(pattern.to_owned())
    } else {
        let begin_so = |name: String| name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('_'));
        let meant = match all_contracts().iter().any(|contract| begin_so(contract.to_string())) {
            true => format!("; those that begin so are {:?}", format!("{pattern}_*")),
            false => meant_contract(pattern),
        };
        Err(format!("no contract's name fits; `conformance list contracts` shows them{meant}"))
    }
}

pub(super) fn precision(name: &str) -> Result<Precision, String> {
    let known = || Precision::ALL.map(Precision::name).join(", ");
    Precision::from_name(name).ok_or_else(|| format!("unknown element type; there are {}", known()))
}

/// Runs, prints the summary, writes the report. 0 clean, 1 findings or thin, 2 if nothing was judged.
pub(super) fn run(args: &Args, backends: Vec<Box<dyn Backend>>) -> Result<u8> {
    let summary = args.extent.summary()?;
    // Before the work, not after it.
    let _folder = args.report.as_deref().map(ReportFolder::new).transpose()?;
    if let Some(folder) = &args.report {
        args.subjects.keep_from(folder)?;
    }
    let backends = args.subjects.open(backends)?;
    let mut options = Options {
        tier: args.tier,
        seed: args.seed,
        ops: args.ops.clone(),
        precisions: args.precisions.clone(),
        contracts: args.contracts.clone(),
        optional: false,
        matrices: matrices(&args.matrices)?,
        shard: args.extent.shard()?,
        repeats: match args.repeat {
            None => Repeats::default(),
            Some(0) => Repeats::NONE,
            Some(times) => Repeats::all(times),
        },
    };
    options.optional = args.subjects.named_none() && options.are_filtered();
    let planned = Planned::new(&options, &backends);
    // A shard of a small plan may be empty.
    let is_none = options.shard.is_none() && planned.cases().next().is_none();
    if args.dry_run {
        return match is_none {
            true => Err(no_case::error(&options, &backends)),
            false => dry_run(&planned, &backends, args.jobs),
        };
    }
    let mut extras = args.extent.extras(&planned, &backends, args.report.as_deref())?;
    on_interrupt(args.report.is_some());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.map_or(0, usize::from))
        .build()
        .context("the threads can't be started; try a smaller --jobs")?;
    let mut environment = Environment::here(pool.current_num_threads());
    if let Some(held) = super::sandboxed::held() {
        environment.notes.insert("sandbox".to_owned(), held.to_string());
    }
    let kept = match &args.report {
        Some(_) => {
            "\nno report is written; the same command with --resume and without --fail-fast goes on from here and writes it"
        }
        None => "",
    };
    let stop = args.fail_fast.then(|| Stop { selection: selection(&backends), kept });
    let shown = Shown::new(args.quiet || args.json, stop);
    let mut report = pool.install(|| campaign::run_with(planned, &backends, environment, &shown, &extras));
    drop(shown);
    report.plan.allow_thin = args.allow_thin;
    for record in &mut report.backends {
        let backend = backends.iter().find(|b| b.name() == record.name);
        record.selection = backend.and_then(|b| outside(b.as_ref()));
    }
    if let Some(folder) = &args.report {
        args.shrinking.shrink_findings(&mut report, (&backends, folder), args.quiet || args.json);
    }
    let unread = if options.matrices.is_empty() { Vec::new() } else { unread_matrices(&report) };
    let paths = match &args.report {
        Some(folder) => report::write_all(&report, folder),
        None => Ok(Vec::new()),
    };
    // What was found is said whether it could be written or not; without its files the run can go on from its journal.
    let mut out = output();
    let colour = report::Colour::for_output(out.is_terminal());
    let written = paths.as_deref().unwrap_or_default();
    let text = match args.json {
        true => format!("{:#}\n", brief(&report, written, &unread)),
        false => report::to_text(&report, written, colour),
    };
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let text = if args.quiet { format!("{last}\n") } else { text };
    // Nobody may be listening: what is left to write is written all the same.
    let said = write!(out, "{text}").and_then(|()| out.flush());
    paths.context("the run can go on when there is room again: the same command with --resume")?;
    if let Some(journal) = extras.journal.take() {
        journal.close()?;
    }
    if let Some(file) = &summary {
        github::append(&report, file)?;
    }
    said.context("standard output")?;
    if is_none {
        return Err(no_case::error(&options, &backends));
    }
    if !unread.is_empty() {
        let is_all = report.outcome() == report::Outcome::NothingJudged;
        let others = if is_all { "there was nothing else" } else { "what else there was is judged" };
        bail!(
            "{} of the matrices could not be read or made; {others}:\n  {}",
            unread.len(),
            unread.join("\n  ")
        );
    }
    Ok(report.exit_code())
}

/// What came of it as JSON; a matrix that could not be read decides the exit code, as it does below.
fn brief(report: &report::Report, written: &[PathBuf], unread: &[String]) -> serde_json::Value {
    let mut brief = report::to_brief(report, written);
    if !unread.is_empty() {
        brief["exit_code"] = 2.into();
        brief["unread"] = unread.into();
    }
    brief
}

/// Options that select these backends again.
fn selection(backends: &[Box<dyn Backend>]) -> String {
    backends.iter().map(|backend| backend.selection()).collect::<Vec<_>>().join(" ")
}

/// Ctrl-C, or a scheduler that ends its job, ends the run at once, with a word on how it goes on.
fn on_interrupt(kept: bool) {
    let words = if kept {
        "interrupted; what was judged is kept: the same command with --resume goes on"
    } else {
        "interrupted; nothing is kept: with --report, --resume would go on"
    };
    // Without a handler a signal ends the run as well, without a word.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            say(words);
            // What a shell says of a command that the signal ended.
            std::process::exit(128 + signal);
        }
    });
}

/// One line per matrix that no case could be run on because it could not be read or made.
fn unread_matrices(report: &report::Report) -> Vec<String> {
    let known: std::collections::HashSet<&str> = report.sources.iter().map(|s| s.spec.as_str()).collect();
    let mut lines: Vec<String> = Vec::new();
    for record in &report.cases {
        let report::VerdictRecord::NotRun { reason } = &record.verdict else {
            continue;
        };
        let read = known.iter().any(|spec| record.case.contains(*spec));
        if !read && !lines.contains(reason) {
            lines.push(reason.clone());
        }
    }
    lines
}
