//! `conformance ptx`: PTX of yours, run, checked and counted on the machine that plays a GPU.

use crate::ptx::{Described, Ran};
use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Subcommand};
use sparse_oracle::plain_file;
use sparse_ptx::check::Severity;
use sparse_ptx::decode;
use sparse_ptx::isa::Evidence;
use sparse_ptx::machine::Counters;
use sparse_ptx::program::Program;
use sparse_ptx::text;
use std::collections::BTreeMap;
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
        /// The order of fragments, warps and blocks: 0 is forward, 1 backward, all others are random.
        #[arg(long, value_name = "K", default_value_t = 0)]
        order: u64,
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
    },
    /// Say what a module has: entries, their parameters, memory, and the instructions they use.
    Explain {
        /// The PTX.
        file: PathBuf,
    },
}

/// What is launched.
#[derive(Debug, ClapArgs)]
struct Launched {
    /// The PTX.
    file: PathBuf,
    /// A TOML file that says which entry is launched, how, and on what (docs/ptx.md has an example).
    #[arg(long, value_name = "LAUNCH.toml")]
    launch: PathBuf,
}

/// Runs one of them; 1 where something was found.
pub(super) fn run(args: &Args) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    match &args.command {
        Command::Run { launched, show, order } => launched.with(|program, described| {
            let ran = described.run(program, *order)?;
            print_buffers(&mut out, &ran, *show)?;
            findings(&mut out, &ran)
        }),
        Command::Count { launched } => launched.with(|program, described| {
            let ran = described.run(program, 0)?;
            print_counters(&mut out, &ran.outcome.counters)?;
            findings(&mut out, &ran)
        }),
        Command::Check { launched, orders } => {
            launched.with(|program, described| check(&mut out, launched, program, described, *orders))
        }
        Command::Explain { file } => {
            let source = read(file, MOST_TEXT)?;
            let module = text::parse(&source).with_context(|| file.display().to_string())?;
            writeln!(out, "PTX {}.{} for {}", module.version.0, module.version.1, module.target)?;
            for program in decode::programs(&module).with_context(|| file.display().to_string())? {
                explain(&mut out, &program)?;
            }
            Ok(0)
        }
    }
}

fn read(path: &Path, most: u64) -> Result<String> {
    plain_file::read_text(path, most).with_context(|| path.display().to_string())
}

impl Launched {
    /// With the entry and its launch.
    fn with<R>(&self, then: impl FnOnce(&Program, &Described) -> Result<R>) -> Result<R> {
        let (ptx, toml) = (read(&self.file, MOST_TEXT)?, read(&self.launch, MOST_LAUNCH)?);
        let module = text::parse(&ptx).with_context(|| self.file.display().to_string())?;
        let folder = self.launch.parent().unwrap_or(Path::new(""));
        let described =
            Described::read(&toml, folder, &module).with_context(|| self.launch.display().to_string())?;
        let program =
            decode::program(&module, &described.entry).with_context(|| self.file.display().to_string())?;
        then(&program, &described)
            .with_context(|| format!("entry {} as {}", described.entry, self.launch.display()))
    }
}

/// All orders, one after another; what the first finds is printed, and what a later one finds or leaves otherwise.
fn check(
    out: &mut impl Write,
    launched: &Launched,
    program: &Program,
    described: &Described,
    orders: u64,
) -> Result<u8> {
    let first = described.run(program, 0)?;
    if findings(out, &first)? != 0 {
        return Ok(1);
    }
    for order in 1..orders {
        let other = described.run(program, order)?;
        let mut said = Vec::new();
        if findings(&mut said, &other)? != 0 {
            writeln!(out, "in order {order}:")?;
            out.write_all(&said)?;
        } else if let Some((buffer, element)) = first.difference(&other) {
            writeln!(
                out,
                "order-dependent: element {element} of {buffer} is another after order {order} than after order 0"
            )?;
        } else {
            continue;
        }
        let (file, launch) = (launched.file.display(), launched.launch.display());
        writeln!(out, "  again: conformance ptx run {file} --launch {launch} --order {order}")?;
        return Ok(1);
    }
    writeln!(out, "the same in {orders} order(s) as {}", described.architecture)?;
    Ok(0)
}

/// Prints what was found; 1 where that is more than notes.
fn findings(out: &mut impl Write, ran: &Ran<'_>) -> Result<u8> {
    for finding in &ran.outcome.findings {
        let note = if finding.kind.severity() == Severity::Note { "note: " } else { "" };
        writeln!(out, "{note}{finding}")?;
    }
    if ran.outcome.is_clean() {
        writeln!(out, "clean: {} warp instructions", ran.outcome.counters.instructions)?;
        return Ok(0);
    }
    Ok(1)
}

fn print_buffers(out: &mut impl Write, ran: &Ran<'_>, show: usize) -> Result<()> {
    for (buffer, found) in &ran.buffers {
        let (width, defined) = (buffer.width(), found.defined());
        let elements = found.bytes.chunks(width).zip(defined.chunks(width)).take(show);
        let shown: Vec<String> = elements
            .map(
                |(element, defined)| {
                    if defined.contains(&false) { "-".to_owned() } else { buffer.shown(element) }
                },
            )
            .collect();
        let more = if buffer.count > show as u64 { ", .." } else { "" };
        writeln!(out, "{} ({} x {:?}): {}{more}", buffer.name, buffer.count, buffer.ty, shown.join(", "))?;
    }
    Ok(())
}

fn print_counters(out: &mut impl Write, c: &Counters) -> Result<()> {
    let per = |n: u64, of: u64| {
        if of == 0 { String::new() } else { format!(" ({:.2} each)", n as f64 / of as f64) }
    };
    for (name, count, beside) in [
        ("blocks", c.blocks, String::new()),
        ("warp instructions", c.instructions, String::new()),
        ("  arithmetic and moves", c.lanes, String::new()),
        ("  ld", c.loads, String::new()),
        ("  st", c.stores, String::new()),
        ("  cp.async, commit, wait", c.copies, String::new()),
        ("  ldmatrix", c.matrix_loads, String::new()),
        ("  mma", c.mma, String::new()),
        ("  shfl, vote, redux", c.collectives, String::new()),
        ("  barriers", c.barriers, String::new()),
        ("  branches", c.branches, String::new()),
        ("  exits", c.exits, String::new()),
        ("lanes off by guard", c.guarded_off, String::new()),
        ("divergent branches", c.divergences, String::new()),
        ("waits at barriers", c.barrier_waits, String::new()),
        ("global requests", c.global_requests, String::new()),
        ("sectors of 32 bytes", c.global_sectors, per(c.global_sectors, c.global_requests)),
        ("shared requests", c.shared_requests, String::new()),
        ("bank conflicts", c.bank_conflicts, per(c.bank_conflicts, c.shared_requests)),
    ] {
        writeln!(out, "{name:<26} {count:>14}{beside}")?;
    }
    Ok(())
}

fn explain(out: &mut impl Write, program: &Program) -> Result<()> {
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
