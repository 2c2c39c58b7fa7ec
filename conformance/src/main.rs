//! The `conformance` command over the built-in backends.

use sparse_conformance::{backend, cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(backend::all())
}
