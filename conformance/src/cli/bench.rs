//! `conformance bench`.

use super::matrices::matrices;
use super::meant::{meant, source};
use super::output::output;
use super::progress::Gauge;
use super::report_folder::ReportFolder;
use super::run::{op, precision};
use super::subjects::{Outsiders, seconds};
use crate::bench::preset::{PRESETS, Preset, preset};
use crate::bench::report::Skipped;
use crate::bench::{self, BenchReport, Options, Peer, html, markdown, text};
use crate::origin::Origin;
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use sparse_kernels::registry::{Kernel, all_kernels, kernel, kernels_here};
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Options of `bench`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A named choice of kernels, matrices, N and threads: cpu. Other options win over it; --matrix adds files to it.
    #[arg(long, value_parser = preset_named, value_name = "NAME")]
    preset: Option<&'static Preset>,
    /// A kernel (`conformance list kernels`); may be repeated. By default every one here of the operations, formats and
    /// element types asked for.
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Operations, comma-separated: spmm, spmv, sddmm, spgemm; spmm by default.
    #[arg(long = "ops", alias = "op", value_delimiter = ',', value_parser = op, value_name = "OP")]
    ops: Vec<Op>,
    /// Formats of the sparse operand, comma-separated; csr and loops by default.
    #[arg(long = "format", alias = "formats", value_delimiter = ',', value_parser = format, value_name = "FORMAT")]
    formats: Vec<FormatKind>,
    /// Element types of the operands, comma-separated; f32 and f64 by default.
    #[arg(long, alias = "precision", value_delimiter = ',', value_parser = precision, value_name = "TYPE")]
    precisions: Vec<Precision>,
    /// A matrix file, a folder of them, or a source as for --synth; may be repeated.
    #[arg(long = "matrix", value_name = "FILE|DIR|SOURCE")]
    matrices: Vec<PathBuf>,
    /// A generated or embedded matrix: synth:scircuit,seed=0, rmat:scale=16,seed=1, embedded:karate; may be repeated.
    #[arg(long = "synth", alias = "source", value_name = "SOURCE")]
    sources: Vec<String>,
    /// Columns of B and C (inner dimension of SDDMM); 32 by default. With --device several, comma-separated.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 16), value_name = "N")]
    n: Vec<u32>,
    /// Time kernels for the GPU and NVIDIA's libraries by the device's clock, without copies; spmm and sddmm, and
    /// with convert the conversions to formats, beside those on all cores of the CPU.
    #[cfg(feature = "cuda")]
    #[arg(long)]
    device: bool,
    /// With --device: a dense matrix times one of N:M pattern, m=4096,k=4096,n=4096,keep=16,of=32,l=32; may be repeated. With
    /// keep=2,of=4,l=1 (tf32: keep=1,of=2,l=1) 2:4 too.
    #[cfg(feature = "cuda")]
    #[arg(long = "nm", value_name = "SHAPE", requires = "device")]
    structured: Vec<crate::bench::device::Structured>,
    /// With --device: leave out files with fewer entries.
    #[cfg(feature = "cuda")]
    #[arg(long, default_value_t = 0, value_name = "N", requires = "device")]
    fewest: usize,
    /// With --device: hold this file's lock while the GPU is used, so that several processes may judge side by side.
    #[cfg(feature = "cuda")]
    #[arg(long, value_name = "FILE", requires = "device")]
    turn: Option<PathBuf>,
    #[command(flatten)]
    outside: Outsiders,
    /// Threads of every contender that has several; 2 by default.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    threads: Option<u16>,
    /// Libraries to compare with, comma-separated: sprs, nalgebra-sparse, mkl; `none` for none. All by default.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    peers: Vec<String>,
    /// Seconds for each contender on each matrix.
    #[arg(long, default_value = "1", value_parser = |text: &str| seconds(text, (0.001, 3600.0)), value_name = "SECONDS")]
    time: Duration,
    /// Judge at most so many million products for each contender; where a matrix has more, a sample of its rows.
    #[arg(long, default_value_t = 2000, value_name = "MILLIONS")]
    judge: u64,
    /// `libmkl_rt`, or the folder or virtual environment that has it; else the variable `MKL_RT`, else the usual places.
    #[arg(long, value_name = "PATH")]
    mkl: Option<PathBuf>,
    /// Folder for bench.json and bench.html.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Print nothing but the figures as JSON: what bench.json holds, with --device what device.json does.
    #[arg(long)]
    json: bool,
    /// File for the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

fn preset_named(name: &str) -> Result<&'static Preset, String> {
    let known = || PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    preset(name).ok_or_else(|| format!("unknown preset; there are {}", known()))
}

fn format(name: &str) -> Result<FormatKind, String> {
    let known = || FormatKind::ALL.map(FormatKind::name).join(", ");
    FormatKind::from_name(name).ok_or_else(|| format!("unknown format; there are {}", known()))
}

/// Measures, prints, writes. 0 clean, 1 where a kernel of ours was wrong.
pub(super) fn run(args: &Args) -> Result<u8> {
    let _folder = args.report.as_deref().map(ReportFolder::new).transpose()?;
    #[cfg(feature = "cuda")]
    if args.device {
        return run_device(args);
    }
    if args.n.len() > 1 {
        bail!("several --n go with --device only");
    }
    let mut skipped = Vec::new();
    let options = Options {
        kernels: kernels(args, &mut skipped)?,
        subjects: args.outside.to_time()?,
        asked: all_contracts().iter().filter(|c| wanted(args, c, &FormatKind::ALL)).copied().collect(),
        origins: origins(args)?,
        peers: peers(&args.peers)?,
        n: args.n.first().map_or_else(|| args.preset.map_or(32, |p| p.n), |&n| n as usize),
        threads: args.threads.map_or_else(|| args.preset.map_or(2, |p| p.threads), usize::from),
        time: args.time,
        judged_terms: args.judge.saturating_mul(1_000_000).max(1),
        preset: args.preset,
        fewest_entries: args.preset.map_or(0, |p| p.fewest_entries),
        mkl: args.mkl.clone(),
        skipped,
    };
    for skipped in &options.skipped {
        crate::notice::say(&format!("SKIPPED {}: {}", skipped.what, skipped.reason));
    }
    let gauge = Measuring::new(args, options.origins.len());
    let mut kept = |report: &BenchReport| {
        gauge.next();
        write_files(args, report).map_err(|error| format!("{error:#}"))
    };
    let report = bench::run(&options, &mut |line| gauge.line(line), &mut kept)?;
    drop(gauge);
    match args.json {
        true => writeln!(output(), "{}", serde_json::to_string_pretty(&report)?)?,
        false => write!(output(), "\n{}", text::ending(&report))?,
    }
    Ok(report.exit_code())
}

/// How many inputs are measured, and the lines that say what came of it, where no JSON was asked for.
struct Measuring {
    gauge: Gauge,
    json: bool,
    done: AtomicUsize,
    of: usize,
}

impl Measuring {
    fn new(args: &Args, of: usize) -> Measuring {
        // Without a terminal the lines say how far it is.
        let quiet = args.json || !std::io::stderr().is_terminal();
        let measuring =
            Measuring { gauge: Gauge::new("inputs", quiet), json: args.json, done: AtomicUsize::new(0), of };
        measuring.gauge.at(0, of, String::new);
        measuring
    }

    fn next(&self) {
        // A structured shape is measured in several element types and formats.
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.gauge.at(done.min(self.of), self.of, String::new);
    }

    fn line(&self, line: &str) {
        if !self.json {
            self.gauge.beside(|| output().line(line));
        }
    }
}

/// Measures by the device's clock, prints, writes device.json and the Markdown.
#[cfg(feature = "cuda")]
fn run_device(args: &Args) -> Result<u8> {
    use crate::bench::device;
    fn or<T: Clone>(list: &[T], default: &[T]) -> Vec<T> {
        if list.is_empty() { default } else { list }.to_vec()
    }
    let ns: Vec<usize> = args.n.iter().map(|&n| n as usize).collect();
    let options = device::DeviceOptions {
        ops: or(&args.ops, &[Op::Spmm]),
        precisions: or(&args.precisions, &[Precision::F32, Precision::Tf32, Precision::F16]),
        formats: args.formats.clone(),
        kernels: args.kernels.clone(),
        origins: if args.structured.is_empty() || !args.matrices.is_empty() {
            origins(args)?
        } else {
            Vec::new()
        },
        structured: args.structured.clone(),
        ns: or(&ns, &[32]),
        fewest_entries: args.fewest,
        judged_terms: args.judge.saturating_mul(1_000_000).max(1),
        turn: args.turn.clone(),
    };
    let mut kept = Ok(());
    let gauge = Measuring::new(args, options.origins.len() + options.structured.len());
    let report = device::run(&options, &mut |line| gauge.line(line), &mut |report| {
        gauge.next();
        kept = write_device_files(args, report);
    })?;
    drop(gauge);
    for (what, reason) in &report.skipped {
        crate::notice::say(&format!("SKIPPED {what}: {reason}"));
    }
    kept.and_then(|()| write_device_files(args, &report))?;
    if args.json {
        writeln!(output(), "{}", serde_json::to_string_pretty(&report)?)?;
    }
    Ok(report.exit_code())
}

#[cfg(feature = "cuda")]
fn write_device_files(args: &Args, report: &crate::bench::device::DeviceReport) -> Result<()> {
    if let Some(folder) = &args.report {
        let text = format!("{}\n", serde_json::to_string_pretty(report)?);
        write(&folder.join("device.json"), &text)?;
    }
    if let Some(path) = &args.markdown {
        write(path, &crate::bench::device::to_markdown(report))?;
    }
    Ok(())
}

/// Writes a file beside its place and moves it there, so that whoever is stopped in between leaves the one before.
fn write(path: &Path, content: &str) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    std::fs::write(partial, content)
        .and_then(|()| std::fs::rename(partial, path))
        .with_context(|| format!("writing {}", path.display()))
}

fn write_files(args: &Args, report: &BenchReport) -> Result<()> {
    if let Some(folder) = &args.report {
        write(&folder.join("bench.json"), &format!("{}\n", serde_json::to_string_pretty(report)?))?;
        write(&folder.join("bench.html"), &html::to_html(report))?;
    }
    if let Some(path) = &args.markdown {
        write(path, &markdown::to_markdown(report))?;
    }
    Ok(())
}

/// The kernels named, else the preset's, else all here that fit. Those of a preset that can't run here are skipped; one that
/// was named and can't run is an error.
fn kernels(args: &Args, skipped: &mut Vec<Skipped>) -> Result<Vec<Kernel>> {
    let mut chosen = Vec::new();
    for name in &args.kernels {
        let known = kernel(name).with_context(|| unknown(name))?;
        if let Some(feature) = known.missing() {
            bail!("kernel {name} needs {}, which this machine lacks", feature.name());
        }
        if !bench::is_timed(known.contract.op) {
            let timed: Vec<&str> =
                Op::ALL.into_iter().filter(|op| bench::is_timed(*op)).map(Op::name).collect();
            let (op, timed) = (known.contract.op.name(), timed.join(", "));
            bail!("kernel {name} is not timed: {op} is no product; there are {timed}");
        }
        chosen.push(known.clone());
    }
    let all_by_name = !args.kernels.is_empty();
    if args.outside.are_there() && !all_by_name {
        return Ok(chosen);
    }
    let chosen_kinds = !(args.ops.is_empty() && args.formats.is_empty() && args.precisions.is_empty());
    match args.preset.filter(|_| !all_by_name && !chosen_kinds) {
        Some(preset) => {
            for name in preset.claims.iter().chain(preset.beside) {
                let reason = match kernel(name) {
                    None => "no such kernel is registered for this architecture".to_owned(),
                    Some(known) => match known.missing() {
                        Some(feature) => format!("it needs {}, which this machine lacks", feature.name()),
                        None => {
                            chosen.push(known.clone());
                            continue;
                        }
                    },
                };
                skipped.push(Skipped { what: (*name).to_owned(), on: String::new(), reason });
            }
        }
        None if !all_by_name => {
            let few = [FormatKind::Csr, FormatKind::Loops];
            chosen.extend(kernels_here().filter(|k| wanted(args, &k.contract, &few)).cloned());
        }
        None => {}
    }
    if chosen.is_empty() {
        bail!("no kernel here fits; `conformance list kernels` prints them all");
    }
    Ok(chosen)
}

/// True for contracts of the operations, formats and element types that were asked for; without a choice of formats, of these.
fn wanted(args: &Args, contract: &Contract, formats: &[FormatKind]) -> bool {
    fn fits<T: PartialEq>(list: &[T], default: &[T], value: &T) -> bool {
        if list.is_empty() { default.contains(value) } else { list.contains(value) }
    }
    bench::is_timed(contract.op)
        && fits(&args.ops, &[Op::Spmm], &contract.op)
        && fits(&args.formats, formats, &contract.format)
        && fits(&args.precisions, &[Precision::F32, Precision::F64], &contract.types.a)
}

/// The message about a kernel that there is none of, with those that come closest.
fn unknown(name: &str) -> String {
    let stem = name.split("__").next().unwrap_or(name);
    let near: Vec<&str> =
        all_kernels().iter().map(|k| k.name.as_str()).filter(|k| k.starts_with(stem)).take(4).collect();
    if !near.is_empty() {
        return format!("unknown kernel {name:?}; there are {}", near.join(", "));
    }
    let meant = meant(name, all_kernels().iter().map(|k| &k.name));
    format!("unknown kernel {name:?}; `conformance list kernels` prints them all{meant}")
}

fn origins(args: &Args) -> Result<Vec<Origin>> {
    let mut origins = matrices(&args.matrices)?;
    let preset = args.preset.filter(|_| args.sources.is_empty());
    let named = args.sources.iter().map(String::as_str);
    for line in named.chain(preset.iter().flat_map(|p| p.sources.iter().copied())) {
        origins.push(source(line).with_context(|| format!("--synth {line}"))?);
    }
    if origins.is_empty() {
        bail!("no matrix: give --matrix FILE|DIR, --synth SOURCE or --preset NAME");
    }
    Ok(origins)
}

fn peers(names: &[String]) -> Result<Vec<Peer>> {
    if names.is_empty() {
        return Ok(Peer::ALL.to_vec());
    }
    if names == ["none"] {
        return Ok(Vec::new());
    }
    let named = |name: &String| {
        let known = || Peer::ALL.map(Peer::name).join(", ");
        Peer::from_name(name).with_context(|| format!("unknown peer {name:?}; there are {}, none", known()))
    };
    names.iter().map(named).collect()
}
