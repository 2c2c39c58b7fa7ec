//! `conformance ptx explain`: what a module has, or all that keeps its entries from running.

use anyhow::Result;
use sparse_ptx::decode::{self, DecodeError};
use sparse_ptx::isa::Evidence;
use sparse_ptx::program::Program;
use sparse_ptx::text::Module;
use std::collections::BTreeMap;
use std::io::Write;

/// Lines that are named of instructions with the same fault.
const LINES: usize = 8;

/// Explains each entry; 2 where one can't run.
pub(super) fn module(out: &mut impl Write, module: &Module<'_>) -> Result<u8> {
    writeln!(out, "PTX {}.{} for {}", module.version.0, module.version.1, module.target)?;
    let first = match decode::programs(module) {
        Ok(programs) => {
            programs.iter().try_for_each(|program| entry(out, program))?;
            return Ok(0);
        }
        Err(error) => error,
    };
    let mut refused = false;
    for named in &module.entries {
        let all = decode::refusals(module, named);
        if all.is_empty() {
            entry(out, &decode::program(module, named.name)?)?;
            continue;
        }
        refused = true;
        writeln!(out, "\nentry {}", named.name)?;
        writeln!(out, "  it can't be run, for {} reason(s):", all.len())?;
        refusals(out, &all)?;
    }
    if refused { Ok(2) } else { Err(first.into()) }
}

/// Each fault once, with the lines that have it.
fn refusals(out: &mut impl Write, all: &[DecodeError]) -> Result<()> {
    let mut faults: Vec<(&DecodeError, String, Vec<u32>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for error in all {
        let words = error.fault.to_string();
        let at = *known.entry(words.clone()).or_insert(faults.len());
        match faults.get_mut(at) {
            Some((_, _, lines)) => lines.push(error.at.line),
            None => faults.push((error, words, Vec::new())),
        }
    }
    for (first, words, lines) in faults {
        let named: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
        let more = if lines.len() > LINES { ", .." } else { "" };
        let again = match lines.len() {
            0 => String::new(),
            count => format!(" (and {count} times more, at line {}{more})", named.join(", ")),
        };
        writeln!(out, "    {}: {words}{again}", first.at)?;
    }
    Ok(())
}

fn entry(out: &mut impl Write, program: &Program) -> Result<()> {
    writeln!(out, "\nentry {}", program.name)?;
    for (number, param) in program.params.iter().enumerate() {
        writeln!(
            out,
            "  parameter {}  {}, {} bytes at {}",
            number + 1,
            param.name,
            param.bytes,
            param.offset
        )?;
    }
    if let Some(threads) = program.max_threads {
        writeln!(out, "  threads of a block  at most {threads}")?;
    }
    writeln!(out, "  shared memory  {} bytes, not counting dynamic", program.shared_bytes)?;
    writeln!(out, "  local memory   {} bytes a thread", program.local_bytes)?;
    writeln!(out, "  instructions   {}", program.steps.len())?;
    let mut rows: BTreeMap<&str, (usize, Evidence)> = BTreeMap::new();
    for step in &program.steps {
        rows.entry(step.row.forms).or_insert((0, step.row.evidence)).0 += 1;
    }
    for (forms, (count, evidence)) in rows {
        let sure = match evidence {
            Evidence::Exact => "",
            Evidence::Model => "  (by a model that was compared with silicon)",
            Evidence::Approximate => "  (PTX allows an error; this is one of the results)",
        };
        writeln!(out, "    {count:>6}  {forms}{sure}")?;
    }
    Ok(())
}
