//! `conformance host LIB`: serves a plug-in over the protocol of `--exec`. `--plugin LIB` starts it; nobody else needs to.
//!
//! ```text
//! judge --- stdin, stdout --- this process --- sc_run --- the library
//!                             the library's own stdin is empty, its stdout goes to stderr: the protocol is out of its reach
//! ```

use crate::remote::PluginBackend;
use crate::remote::serve;
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use std::fs::File;
use std::io::{BufReader, stderr, stdin, stdout};
use std::path::PathBuf;

/// The name of this command.
pub(super) const NAME: &str = "host";

/// Arguments of `host`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The shared library.
    library: PathBuf,
}

/// Serves until the judge says good-bye.
pub(super) fn run(args: &Args) -> Result<u8> {
    let (input, mut output) = withdraw().context("moving the protocol away from the library's reach")?;
    let backend = PluginBackend::open(&args.library)?;
    serve(&backend, backend.manifest(), &mut BufReader::new(input), &mut output)?;
    Ok(0)
}

/// Moves standard input and output to descriptors of our own, and leaves the library an empty input and standard error: a
/// stray `printf` is then no message.
fn withdraw() -> Result<(File, File)> {
    let input = rustix::io::fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(stderr())?;
    Ok((File::from(input), File::from(output)))
}
