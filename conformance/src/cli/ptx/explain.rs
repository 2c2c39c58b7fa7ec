//! `conformance ptx explain`: what a module has, or all that keeps its entries from running.

use crate::ptx::{ExplainedModule, Inventory, Refusal};
use anyhow::Result;
use std::io::Write;

/// Lines that are named of instructions with the same fault.
const LINES: usize = 8;

/// Prints it.
pub(super) fn module(out: &mut impl Write, explained: &ExplainedModule) -> Result<()> {
    writeln!(out, "PTX {} for {}", explained.version, explained.target)?;
    for entry in &explained.entries {
        writeln!(out, "\nentry {}", entry.name)?;
        match &entry.has {
            Some(has) => inventory(out, has)?,
            None => {
                writeln!(out, "  it can't be run, for {} reason(s):", entry.reasons)?;
                entry.refusals.iter().try_for_each(|refusal| reason(out, refusal))?;
            }
        }
    }
    Ok(())
}

fn reason(out: &mut impl Write, refusal: &Refusal) -> Result<()> {
    let Refusal { line, column, error, again } = refusal;
    let named: Vec<String> = again.iter().take(LINES).map(u32::to_string).collect();
    let more = if again.len() > LINES { ", .." } else { "" };
    let again = match again.len() {
        0 => String::new(),
        1 => format!(" (and once more, at line {})", named.join(", ")),
        count => format!(" (and {count} times more, at lines {}{more})", named.join(", ")),
    };
    writeln!(out, "    line {line}, column {column}: {error}{again}")?;
    Ok(())
}

fn inventory(out: &mut impl Write, has: &Inventory) -> Result<()> {
    for (parameter, number) in has.parameters.iter().zip(1..) {
        let (name, bytes, offset) = (&parameter.name, parameter.bytes, parameter.offset);
        writeln!(out, "  parameter {number}  {name}, {bytes} bytes at {offset}")?;
    }
    if let Some(threads) = has.most_threads {
        writeln!(out, "  threads of a block  at most {threads}")?;
    }
    if let Some(block) = has.required_block {
        writeln!(out, "  block          {}, and no other", block.map(|side| side.to_string()).join(" x "))?;
    }
    writeln!(out, "  shared memory  {} bytes, not counting dynamic", has.shared)?;
    writeln!(out, "  local memory   {} bytes a thread", has.local)?;
    writeln!(out, "  instructions   {}", has.instructions)?;
    for row in &has.rows {
        let sure = match row.result {
            "model" => "  (by a model that was compared with silicon)",
            "approximate" => "  (PTX allows an error; this is one of the results)",
            _ => "",
        };
        writeln!(out, "    {:>6}  {}{sure}", row.count, row.forms)?;
    }
    Ok(())
}
