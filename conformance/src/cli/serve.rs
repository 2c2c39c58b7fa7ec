//! `conformance serve`: one of this program's backends as a program that speaks the protocol. For tests and measurements.

use crate::backend::Backend;
use crate::remote::{manifest_of, serve};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::io::{BufReader, BufWriter};

/// Options of `serve`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The backend.
    #[arg(long, default_value = "portable", value_name = "NAME")]
    backend: String,
}

/// Serves until told to stop.
pub(super) fn run(args: &Args, backends: &[Box<dyn Backend>]) -> Result<u8> {
    let Some(backend) = backends.iter().find(|b| b.name() == args.backend) else {
        let known: Vec<&str> = backends.iter().map(|b| b.name()).collect();
        bail!("unknown backend {:?}; there are {}", args.backend, known.join(", "));
    };
    let mut manifest = manifest_of(backend.as_ref());
    manifest.name = format!("{}-served", manifest.name);
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    serve(backend.as_ref(), &manifest, &mut input, &mut output).context("the conversation with the judge")?;
    Ok(0)
}
