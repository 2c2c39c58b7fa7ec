//! `conformance model`: the models of hardware beside what hardware did.

mod check;
mod probe;

use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};

/// Options of `model`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare recordings of tensor cores with their models, bit for bit.
    Check(check::Args),
    /// Run matrix instructions on this machine's GPU and compare every output with the models.
    Probe(probe::Args),
}

/// Runs one of them.
pub(super) fn run(args: &Args) -> Result<u8> {
    match &args.command {
        Command::Check(args) => check::run(args),
        Command::Probe(args) => probe::run(args),
    }
}
