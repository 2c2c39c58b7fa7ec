//! `conformance model`: the models of hardware, against what hardware did.

use super::probe;
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
    /// Run matrix instructions on this machine's GPU and compare every output with the model.
    Probe(probe::Args),
}

/// Runs one of them.
pub(super) fn run(args: &Args) -> Result<u8> {
    match &args.command {
        Command::Probe(args) => probe::run(args),
    }
}
