//! The `conformance` command: thin; the library does the work.

mod cmd;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Judge sparse matrix kernels against exact arithmetic.
///
/// Exit code 0: clean. 1: findings. 2: usage or environment error.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run cases on backends and write a report.
    Run(cmd::run::Args),
    /// Print the tables: contracts, backends, kernels, sources, values, choices, embedded matrices.
    List(cmd::list::Args),
    /// Run one case line again and print the verdict of each backend.
    Replay(cmd::replay::Args),
    /// Show what a case consists of and how its result is judged, element by element where it matters.
    Explain(cmd::explain::Args),
    /// Describe a matrix: shape, row statistics, spy plot.
    Inspect(cmd::inspect::Args),
}

fn main() -> ExitCode {
    // A usage error exits 2 from within clap.
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Run(args) => cmd::run::run(args),
        Command::List(args) => cmd::list::run(args),
        Command::Replay(args) => cmd::replay::run(args),
        Command::Explain(args) => cmd::explain::run(args),
        Command::Inspect(args) => cmd::inspect::run(args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {}", message(&error));
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
    error
        .chain()
        .any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}
