//! `conformance warden JUDGE MEMORY -- COMMAND`: the process between the judge and a program. `--exec` and `--plugin` start it; nobody
//! else needs to.

use super::subjects::variable;
use crate::remote;
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Arguments of `warden`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Process number of the judge.
    judge: i32,
    /// Bytes of memory that the program may have.
    memory: u64,
    /// Variables of the program.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// A folder that was made for the program, to be removed after its end.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true)]
    command: Vec<String>,
}

/// Watches over the program, and ends as it does.
pub(super) fn run(args: &Args) -> u8 {
    remote::watch_over(args.judge, args.memory, (&args.env, args.folder.as_deref()), &args.command)
}

/// This program, which is a warden when it is asked to be one: the file that runs, even where another one has its name by now.
pub(super) fn this_program() -> Option<&'static Path> {
    static HERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let link = Path::new("/proc/self/exe");
    let path = || if link.exists() { Some(link.to_owned()) } else { std::env::current_exe().ok() };
    HERE.get_or_init(path).as_deref()
}
