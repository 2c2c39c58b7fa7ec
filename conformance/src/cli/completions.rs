//! `conformance completions` and `conformance man`: what a shell and `man` know of the command, made from its own description.

use super::output::output;
use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Options of `completions`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Options of `man`.
#[derive(Debug, ClapArgs)]
pub(super) struct ManArgs {
    /// Folder for `conformance.1`, `conformance-run.1` and so on; it is made.
    folder: PathBuf,
}

/// Prints the script.
pub(super) fn run(args: &Args, mut command: Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "conformance", &mut script);
    output().write_all(&script)?;
    Ok(0)
}

/// Writes the pages.
pub(super) fn man(args: &ManArgs, command: Command) -> Result<u8> {
    let about = || format!("the manual pages can't be written to {}", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(about)?;
    clap_mangen::generate_to(command, &args.folder).with_context(about)?;
    Ok(0)
}
