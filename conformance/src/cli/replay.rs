//! `conformance replay`: one case line again.

use super::meant::case;
use super::output::output;
use super::subjects::Subjects;
use crate::backend::Backend;
use crate::determinism::Repeats;
use crate::report::show::CRITERIA;
use crate::runner::run_case_repeated;
use anyhow::Result;
use clap::Args as ClapArgs;
use std::io::Write;

/// Options of `replay`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The case line, as printed by a report.
    case: String,
    #[command(flatten)]
    subjects: Subjects,
    /// As JSON: an array with the record of each backend, as in report.json.
    #[arg(long)]
    json: bool,
}

/// Further runs of a case that passes: their bits are compared.
const REPEATS: u32 = 3;

/// Runs the case and prints each verdict. 0 clean, 1 findings, 2 if nobody was judged.
pub(super) fn run(args: &Args, backends: Vec<Box<dyn Backend>>) -> Result<u8> {
    let case = case(&args.case)?;
    let backends = args.subjects.open(backends)?;
    let loaded = case.origin.load()?;
    let ran = run_case_repeated(&case, &loaded, &backends, Repeats::all(REPEATS));
    let mut out = output();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&ran.records)?)?;
        return super::exit_code(&ran.records);
    }
    writeln!(out, "{case}")?;
    for record in &ran.records {
        let tiers: Vec<String> = record.tiers.iter().map(ToString::to_string).collect();
        let tiers = if tiers.is_empty() { String::new() } else { format!("  [{}]", tiers.join(" ")) };
        writeln!(out, "  {:16} {}{tiers}", record.backend, record.verdict)?;
    }
    if let Some(tags) = ran.records.first().map(|r| r.degenerate.join(", ")).filter(|t| !t.is_empty()) {
        writeln!(out, "  degenerate: this case alone would not notice {tags}")?;
    }
    if ran.records.iter().any(|record| !record.tiers.is_empty()) {
        writeln!(out, "  {CRITERIA}")?;
    }
    if args.subjects.named_none() {
        writeln!(out, "  only built-in backends were asked: name yours with --plugin LIB or --exec CMD")?;
    }
    super::exit_code(&ran.records)
}
