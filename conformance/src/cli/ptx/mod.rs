//! `conformance ptx`: PTX of yours, run, checked and counted on the machine that plays a GPU.

mod explain;
mod print;

use crate::ptx::{Described, Difference, ExplainedModule, Ran, Said, source};
use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Subcommand};
use serde::Serialize;
use sparse_oracle::plain_file;
use sparse_ptx::decode;
use sparse_ptx::program::{Act, Program};
use sparse_ptx::text;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a text at most; larger ones are refused before they are read.
const MOST_TEXT: u64 = 64 << 20;
/// Bytes of a description.
const MOST_LAUNCH: u64 = 16 << 20;

/// Options of `ptx`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an entry and print what its buffers hold afterwards.
    Run {
        #[command(flatten)]
        launched: Launched,
        /// Elements of each buffer that are printed.
        #[arg(long, value_name = "N", default_value_t = 8)]
        show: usize,
        #[command(flatten)]
        ordered: Ordered,
    },
    /// Run an entry in several orders: findings of each, and whether they leave the same memory.
    Check {
        #[command(flatten)]
        launched: Launched,
        /// How many orders: forward, backward, then random ones.
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
        orders: u64,
    },
    /// Run an entry and print what it did: instructions by class, sectors, bank conflicts, divergence.
    Count {
        #[command(flatten)]
        launched: Launched,
        #[command(flatten)]
        ordered: Ordered,
    },
    /// Say what a module has: entries, their parameters, memory, and the instructions they use, or all that keeps them from running.
    Explain {
        /// The PTX.
        file: PathBuf,
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
}

/// In which order it runs.
#[derive(Clone, Copy, Debug, ClapArgs)]
struct Ordered {
    /// The order of fragments, warps and blocks: 0 is forward, 1 backward, all others are random.
    #[arg(long, value_name = "K", default_value_t = 0)]
    order: u64,
}

/// What is launched.
#[derive(Debug, ClapArgs)]
struct Launched {
    /// The PTX.
    file: PathBuf,
    /// A TOML file that says which entry is launched, how, and on what (docs/ptx.md has an example).
    #[arg(long, value_name = "LAUNCH.toml")]
    launch: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs one of them; 1 where something was found, 2 where `explain` met an entry that can't run. An error is an object too where JSON
/// is asked for.
pub(super) fn run(args: &Args) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    let json = match &args.command {
        Command::Run { launched, .. } | Command::Check { launched, .. } | Command::Count { launched, .. } => {
            launched.json
        }
        Command::Explain { json, .. } => *json,
    };
    let done = said(&mut out, &args.command);
    if let (true, Err(error)) = (json, &done) {
        object(&mut out, &serde_json::json!({ "error": format!("{error:#}") }))?;
    }
    done
}

fn object(out: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Runs one of them and prints what it says.
fn said(out: &mut impl Write, command: &Command) -> Result<u8> {
    match command {
        Command::Run { launched, show, ordered } => {
            let said = launched.once(*ordered, |said, ran| said.show(ran, *show))?;
            said_by(out, launched, &said)
        }
        Command::Count { launched, ordered } => {
            let said = launched.once(*ordered, Said::count)?;
            said_by(out, launched, &said)
        }
        Command::Check { launched, orders } => {
            let said = launched.with(|program, described| check(program, described, *orders))?;
            said_by(out, launched, &said)
        }
        Command::Explain { file, json } => {
            let source = ptx(file)?;
            let module = text::parse(&source).with_context(|| file.display().to_string())?;
            let explained = ExplainedModule::of(&module).with_context(|| file.display().to_string())?;
            if *json {
                object(out, &explained)?;
            } else {
                explain::module(out, &explained)?;
            }
            Ok(if explained.runs() { 0 } else { 2 })
        }
    }
}

/// The text of a file of PTX.
fn ptx(path: &Path) -> Result<String> {
    let bytes = plain_file::read(path, MOST_TEXT).with_context(|| path.display().to_string())?;
    source(bytes).with_context(|| path.display().to_string())
}

impl Launched {
    /// Runs it in one order; `take` takes up what more is said of it.
    fn once(&self, ordered: Ordered, take: impl FnOnce(&mut Said, &Ran<'_>)) -> Result<Said> {
        self.with(|program, described| {
            let ran = described.run(program, ordered.order)?;
            let mut said = Said::of(program, described, ordered.order, &ran);
            take(&mut said, &ran);
            Ok(said)
        })
    }

    /// With the entry and its launch.
    fn with<R>(&self, then: impl FnOnce(&Program, &Described) -> Result<R>) -> Result<R> {
        let named = |path: &Path| path.display().to_string();
        let ptx = ptx(&self.file)?;
        let toml = plain_file::read_text(&self.launch, MOST_LAUNCH).with_context(|| named(&self.launch))?;
        let module = text::parse(&ptx).with_context(|| named(&self.file))?;
        let folder = self.launch.parent().unwrap_or(Path::new(""));
        let described = Described::read(&toml, folder, &module).with_context(|| named(&self.launch))?;
        let program = decode::program(&module, &described.entry).with_context(|| named(&self.file))?;
        then(&program, &described)
            .with_context(|| format!("entry {} as {}", described.entry, self.launch.display()))
    }
}

/// All orders, one after another: a finding of one may hide what another shows. That orders leave something else is only said where
/// nothing but notes was found in both, as it follows from errors.
fn check(program: &Program, described: &Described, orders: u64) -> Result<Said> {
    let first = described.run(program, 0)?;
    let mut said = Said::of(program, described, 0, &first);
    for order in 1..orders {
        let other = described.run(program, order)?;
        said.launch.orders.push(order);
        let clean = first.outcome.is_clean() && other.outcome.is_clean();
        said.saw(order, &other);
        if clean
            && said.difference.is_none()
            && let Some((buffer, element)) = first.difference(&other)
        {
            said.clean = false;
            said.difference = Some(Difference { order, buffer, element, atomics: atomics(program) });
        }
    }
    Ok(said)
}

/// The lines of the atomics of an entry.
fn atomics(program: &Program) -> Vec<u32> {
    let steps = program.steps.iter().filter(|step| matches!(step.act, Act::Atomic(_)));
    let mut lines: Vec<u32> = steps.map(|step| step.line).collect();
    lines.dedup();
    lines
}

/// Prints it; 1 where something is wrong.
fn said_by(out: &mut impl Write, launched: &Launched, said: &Said) -> Result<u8> {
    if launched.json {
        object(out, said)?;
        return Ok(u8::from(!said.clean));
    }
    print::shape(out, &said.launch)?;
    if let Some(buffers) = &said.buffers {
        print::buffers(out, buffers)?;
    }
    if let Some(counters) = &said.counters {
        print::counters(out, counters)?;
    }
    let is_check = said.buffers.is_none() && said.counters.is_none();
    print::findings(out, said, is_check)?;
    if let Some(Difference { order, buffer, element, atomics }) = &said.difference {
        let lines: Vec<String> = atomics.iter().map(u32::to_string).collect();
        let why = match lines.as_slice() {
            [] => String::new(),
            lines => format!(": its atomics (line {}) came in another order", lines.join(", ")),
        };
        writeln!(
            out,
            "order-dependent: element {element} of {buffer} is another after order {order} than after order 0{why}"
        )?;
    }
    print::clean(out, said)?;
    match said.launch.orders.as_slice() {
        orders if said.clean && is_check => {
            writeln!(out, "the same in {} order(s) as {}", orders.len(), said.launch.architecture)?;
        }
        _ => {
            let errors = said.findings.iter().filter(|finding| finding.severity != "note");
            let orders = errors.map(|finding| finding.order).chain(said.difference.iter().map(|d| d.order));
            let later: BTreeSet<u64> = orders.filter(|&order| order > 0 && is_check).collect();
            for order in later {
                let (file, launch) = (launched.file.display(), launched.launch.display());
                writeln!(out, "  again: conformance ptx run {file} --launch {launch} --order {order}")?;
            }
        }
    }
    Ok(u8::from(!said.clean))
}
