//! `golden`: what is pinned, one element of it again, and recordings of real hardware beside it.
//!
//! ```text
//! golden list                    rows of the table
//! golden table SYSTEM            a table, computed now
//! golden replay CASE             one element, step by step
//! golden compare DIR [sm_90]     recordings: errors of the hardware beside those of the model
//! ```
//!
//! Exit code 0: fine. 1: a finding. 2: nothing could be said.

#![forbid(unsafe_code)]

use sparse_golden::case::Case;
use sparse_golden::table::{ROWS, System};
use sparse_golden::{compare, pinned, replay};
use sparse_oracle::arithmetic::Architecture;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: golden list | table SYSTEM | replay CASE | compare DIR [ARCHITECTURE]
  list              the rows of the table: system.operation.type.unit.architecture
  table SYSTEM      the errors of a system (loops, rsh, libra, nm, cuda-core), computed now
  replay CASE       one element, as the snapshots name it: terms, sums, exact value, error; the worst one without at=ROW,COLUMN
  compare DIR       recordings of hardware (*.bin, see oracle/data/silicon/README.md): errors beside those of the model
exit code: 0 fine, 1 a finding, 2 nothing could be said";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok((text, code)) => {
            // A closed pipe is no failure of what was asked.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::from(code)
        }
        Err(error) => {
            eprintln!("golden: {error}");
            ExitCode::from(2)
        }
    }
}

/// The answer and the exit code.
fn run(arguments: &[&str]) -> Result<(String, u8), Box<dyn Error>> {
    match arguments {
        ["list"] => {
            let names = ROWS.iter().flat_map(|row| row.targets.iter().map(|&t| row.name(t) + "\n"));
            Ok((names.collect(), 0))
        }
        ["table", name] => {
            let system = System::ALL.into_iter().find(|system| system.name() == *name);
            let known = System::ALL.map(System::name).join(", ");
            let system = system.ok_or_else(|| format!("no system {name}; there are {known}"))?;
            Ok((pinned::table(system)?, 0))
        }
        ["replay", line] => {
            let replay = replay::replay(&line.parse::<Case>()?)?;
            let failed = !replay.agrees || replay.share > 1.0;
            Ok((replay.text, u8::from(failed)))
        }
        ["compare", folder] => compared(folder, None),
        ["compare", folder, architecture] => {
            let known = Architecture::ALL.map(Architecture::name).join(", ");
            let asked = Architecture::from_name(architecture)
                .ok_or_else(|| format!("no architecture {architecture}; there are {known}"))?;
            compared(folder, Some(asked))
        }
        _ => Err(USAGE.into()),
    }
}

fn compared(folder: &str, asked: Option<Architecture>) -> Result<(String, u8), Box<dyn Error>> {
    let (compared, skipped) = compare::compare(Path::new(folder), asked)?;
    let failed = compared.iter().any(|c| !c.findings().is_empty());
    Ok((compare::report(&compared, &skipped), u8::from(failed)))
}
