//! The `conformance` command over any set of backends: thin, the library does the work.
//!
//! [`main`] is what the program itself calls with the built-in backends; a crate of yours calls it with its own, and
//! gets the same command (see `examples/own-backend`).

mod bench;
mod completions;
mod diff;
mod dry_run;
mod explain;
mod extent;
mod host;
mod inspect;
mod list;
mod matrices;
mod meant;
mod merge;
mod model;
mod no_case;
mod output;
mod progress;
mod ptx;
mod replay;
mod report_folder;
mod run;
mod sandboxed;
mod self_test;
mod serve;
mod shrink;
mod subjects;
mod warden;

use crate::backend::Backend;
use crate::memory::MemoryBudget;
use crate::plan::Tier;
use crate::report::CaseRecord;
use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Reads the name of a tier; the help lists them.
fn tier() -> impl TypedValueParser<Value = Tier> {
    let names = Tier::ALL.map(|tier| PossibleValue::new(tier.name()).help(tier.explanation()));
    // No other name comes through.
    PossibleValuesParser::new(names).map(|name| Tier::from_name(&name).unwrap_or_default())
}

/// The seed of an option.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Judge sparse matrix kernels against exact arithmetic.
///
/// Exit code 0: clean. 1: findings, or judged on too little (thin). 2: nothing judged, usage or environment error.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, max_term_width = 100)]
struct Cli {
    /// MiB of memory that this command itself may take for matrices, operands and results; what needs more is not run, and says so.
    /// By default three quarters of what the machine, the control group and `ulimit` leave. Programs and plug-ins have `--memory`.
    #[arg(long, global = true, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..=1 << 24))]
    judge_memory: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run cases on backends and write a report.
    Run(run::Args),
    /// Print the tables: contracts, backends, kernels, keys of a case line, sources, values, choices, embedded matrices.
    List(list::Args),
    /// Bring the reports of all shards of one plan together.
    Merge(merge::Args),
    /// Compare two reports: what fails now and did not, what changed.
    Diff(diff::Args),
    /// Run one case line again and print the verdict of each backend.
    Replay(replay::Args),
    /// Reduce a failing case to a minimal one and write a reproducer.
    Shrink(shrink::Args),
    /// Show what a case consists of, and one output element from its terms to its verdict.
    Explain(explain::Args),
    /// Describe a matrix: shape, row statistics, spy plot.
    Inspect(inspect::Args),
    /// Time kernels and other libraries side by side, on operands on which each was judged right.
    ///
    /// With --plugin or --exec those are timed instead of our kernels, unless --kernel names some: a plug-in in this process, by the time
    /// that its function takes; a program with all that goes through its pipes.
    Bench(bench::Args),
    /// Models of hardware: compare recordings, or this machine's GPU, with them.
    Model(model::Args),
    /// Run PTX of yours without a GPU: findings, counters, what it leaves in memory.
    Ptx(ptx::Args),
    /// Print a script that completes commands and options in a shell: `conformance completions bash > ~/.local/share/bash-completion/completions/conformance`.
    Completions(completions::Args),
    /// Write manual pages, one for each command: `conformance man ~/.local/share/man/man1`.
    Man(completions::ManArgs),
    /// Answer the protocol with a plug-in: what `--plugin` starts as a child.
    #[command(hide = true)]
    Host(host::Args),
    /// Answer the protocol on standard input and output with a built-in backend.
    #[command(hide = true)]
    Serve(serve::Args),
    /// Run a program for the judge and live as long as both: what --exec and --plugin start.
    #[command(hide = true)]
    Warden(warden::Args),
    /// Restrict itself and become a program: what --sandbox starts.
    #[command(hide = true)]
    Sandboxed(sandboxed::Args),
    /// Hunt seeded bugs and broken comparators: does the judge judge?
    SelfTest(self_test::Args),
}

/// The command line over these backends: parses the process's arguments, runs, prints.
#[must_use]
pub fn main(backends: Vec<Box<dyn Backend>>) -> ExitCode {
    // A usage error exits 2 from within clap.
    let cli = Cli::parse();
    if let Some(mib) = cli.judge_memory {
        // Nothing has asked for memory yet.
        MemoryBudget::set_process(mib << 20);
    }
    let result = match &cli.command {
        Command::Run(args) => run::run(args, backends),
        Command::List(args) => list::run(args, &backends),
        Command::Merge(args) => merge::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Replay(args) => replay::run(args, backends),
        Command::Shrink(args) => shrink::run(args, backends),
        Command::Explain(args) => explain::run(args, backends),
        Command::Inspect(args) => inspect::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Model(args) => model::run(args),
        Command::Ptx(args) => ptx::run(args),
        Command::Completions(args) => completions::run(args, Cli::command()),
        Command::Man(args) => completions::man(args, Cli::command()),
        Command::Host(args) => host::run(args),
        Command::Serve(args) => serve::run(args, &backends),
        Command::Warden(args) => return ExitCode::from(warden::run(args)),
        Command::Sandboxed(args) => return ExitCode::from(sandboxed::run(args)),
        Command::SelfTest(args) => self_test::run(args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            crate::notice::say(&format!("conformance: {}", message(&error)));
            ExitCode::from(2)
        }
    }
}

/// The error and its causes, without those that the text already holds.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// True when the reader of our output has gone (`conformance list | head`).
fn broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
    };
    error.chain().any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

/// 1 with a finding, 2 where no backend answered for the case: what was not run is no pass.
fn exit_code(records: &[CaseRecord]) -> Result<u8> {
    if records.iter().any(|r| r.verdict.is_finding()) {
        return Ok(1);
    }
    if !records.iter().any(|r| r.verdict.kind().ran()) {
        bail!("no backend was judged on this case");
    }
    Ok(0)
}
