//! `conformance sandboxed --folder DIR [--own-shm] [--read PATH].. [--env N=V].. -- COMMAND`: restricts itself and becomes the program. `--sandbox` starts it;
//! nobody else needs to. Without a command it says what this machine enforces.

use super::subjects::variable;
use crate::remote::{self, Held, Sandbox};
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Arguments of `sandboxed`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The only folder that the program may write to.
    #[arg(long)]
    folder: PathBuf,
    /// It has a `/dev/shm` of its own.
    #[arg(long)]
    own_shm: bool,
    /// What it may read besides what it needs; may be repeated.
    #[arg(long)]
    read: Vec<String>,
    /// A variable that the program has, and what restricts it has not; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The program and its arguments.
    #[arg(last = true)]
    command: Vec<String>,
}

/// Becomes the program; where it can't, says why and ends as a warden does that could not start it.
pub(super) fn run(args: &Args) -> u8 {
    if args.command.is_empty() {
        return match probe(args) {
            Ok(text) => {
                println!("{text}");
                0
            }
            Err(error) => {
                crate::notice::say(&format!("{error:#}"));
                2
            }
        };
    }
    let error =
        remote::become_sandboxed((&args.folder, args.own_shm), (&args.read, &args.env), &args.command);
    crate::notice::say(&format!("{}{error}", remote::SAYS));
    remote::NOT_STARTED
}

fn probe(args: &Args) -> Result<String> {
    Ok(serde_json::to_string(&remote::probe_sandbox(&args.folder)?)?)
}

static OPENED: OnceLock<Sandbox> = OnceLock::new();

/// The sandbox of this command, tried out when it is first asked for; says then what is not enforced.
pub(super) fn sandbox(read: &[String]) -> Result<&'static Sandbox> {
    if let Some(sandbox) = OPENED.get() {
        return Ok(sandbox);
    }
    let program = super::warden::this_program().context("--sandbox: this program's own file is not known")?;
    let sandbox = Sandbox::open(program, read)?;
    for missing in &sandbox.held().missing {
        crate::notice::say(&format!("conformance: --sandbox: NOT ENFORCED: {missing}"));
    }
    Ok(OPENED.get_or_init(|| sandbox))
}

/// What holds the programs of this command, where they are in a sandbox.
pub(super) fn held() -> Option<&'static Held> {
    OPENED.get().map(Sandbox::held)
}
