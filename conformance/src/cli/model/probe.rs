//! `conformance model probe`: the models against this machine's GPU.

use crate::probe::Summary;
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};

/// Options of `model probe`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Outputs of each instruction: 100000000, or 1e8.
    #[arg(long, value_parser = count, default_value = "1e6")]
    outputs: u64,
    /// Only instructions whose name contains this: mma.sp, f64, wgmma.m64n8k16.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Stop after this many seconds; instructions share what is left.
    #[arg(long)]
    seconds: Option<f64>,
    /// Write the summary as JSON, and as a page (.md) beside it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write recordings of the first warps of each instruction, as `conformance model check` reads them.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// How recordings call the device: h200. Taken from its name by default.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Seed of the operands.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Commit that the summary names; known if the program was built with `SPARSE_COMMIT`.
    #[arg(long, default_value = option_env!("SPARSE_COMMIT").unwrap_or("unknown"))]
    commit: String,
    /// Print the instructions, run nothing.
    #[arg(long)]
    list: bool,
}

/// `1e8`, `100000000`.
fn count(text: &str) -> Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if (1.0..=1e15).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(format!("'{text}' is no whole number from 1 to 1e15"))
    }
}

/// Probes the GPU. 0: everything confirmed. 1: something is not. An error (2) where there is no GPU.
pub(super) fn run(args: &Args) -> Result<u8> {
    if args.seconds.is_some_and(|s| !(s.is_finite() && s > 0.0)) {
        bail!("--seconds must be a positive number");
    }
    let mut probes = sparse_kernels::cuda::probe::sm90();
    if let Some(text) = &args.only {
        probes.retain(|probe| probe.name().contains(text));
        if probes.is_empty() {
            bail!("no instruction's name contains '{text}'; --list prints them");
        }
    }
    if args.list {
        for probe in &probes {
            println!("{:34} {}", probe.name(), probe.ptx());
        }
        return Ok(0);
    }
    measure(args, &probes)
}

#[cfg(not(feature = "cuda"))]
fn measure(_: &Args, _: &[sparse_kernels::cuda::probe::Probe]) -> Result<u8> {
    bail!("this program was built without the feature 'cuda'; build it with default features")
}

#[cfg(feature = "cuda")]
fn measure(args: &Args, probes: &[sparse_kernels::cuda::probe::Probe]) -> Result<u8> {
    use crate::notice::say;
    use crate::probe::{Gpu, Options, Subject, probe_all};
    use sparse_oracle::arithmetic::Architecture;
    use std::time::{Duration, Instant};

    let start = Instant::now();
    let mut gpu = Gpu::open()?;
    let (major, minor) = gpu.found().capability();
    let Some(architecture @ Architecture::Sm90) = gpu.found().architecture() else {
        bail!(
            "{} has compute capability {major}.{minor}; probes are listed for 9.0 alone (kernels/src/cuda/probe/list.rs)",
            gpu.found().name()
        );
    };
    let subjects: Vec<Subject> = probes.iter().map(|&probe| Subject { probe, architecture }).collect();
    let mut summary = describe(args, &gpu)?;
    say(&format!("{}: {} instructions", summary.device, subjects.len()));
    let options = Options {
        outputs: args.outputs,
        time: args.seconds.map(Duration::from_secs_f64),
        seed: args.seed,
        record: args.record.clone(),
        device: args.device.clone().unwrap_or_else(|| short_name(&summary.device)),
    };
    let mut lost = None;
    let reports = probe_all(&mut gpu, &subjects, &options, |report, earlier| {
        say(&report.text());
        // What was found so far survives a run that is cut off.
        if let Some(path) = &args.out {
            summary.probes = earlier.iter().chain([report]).cloned().collect();
            summary.seconds = start.elapsed().as_secs_f64();
            lost = write(path, &summary).err();
        }
    });
    if let Some(error) = lost {
        return Err(error);
    }
    summary.probes = reports;
    summary.seconds = start.elapsed().as_secs_f64();
    let clean = summary.probes.iter().filter(|p| p.status.is_clean()).count();
    println!(
        "{} outputs, {clean} of {} instructions clean, {:.0} s",
        summary.outputs(),
        summary.probes.len(),
        summary.seconds
    );
    Ok(u8::from(!summary.is_clean()))
}

#[cfg(feature = "cuda")]
fn describe(args: &Args, gpu: &crate::probe::Gpu) -> Result<Summary> {
    let device = gpu.found();
    let (major, minor) = device.capability();
    let cuda = device.driver_version()?;
    let nvrtc = sparse_kernels::cuda::nvrtc_version()?;
    let driver = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let driver = driver.lines().next().unwrap_or("unknown").to_owned();
    Ok(Summary {
        schema: crate::probe::SCHEMA.to_owned(),
        suite_version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: args.commit.clone(),
        environment: crate::report::Environment::here(rayon::current_num_threads()),
        device: device.name().to_owned(),
        compute_capability: format!("{major}.{minor}"),
        multiprocessors: i64::try_from(device.multiprocessors()?)?,
        driver,
        cuda: format!("{}.{}", cuda / 1000, cuda % 1000 / 10),
        nvrtc: format!("{}.{}", nvrtc.0, nvrtc.1),
        seed: args.seed,
        seconds: 0.0,
        probes: Vec::new(),
    })
}

/// `NVIDIA H200` -> `h200`; the model number without what follows it.
#[cfg(feature = "cuda")]
fn short_name(name: &str) -> String {
    let word = name.split_whitespace().find(|word| word.chars().any(|c| c.is_ascii_digit()));
    word.unwrap_or("gpu").to_ascii_lowercase()
}

/// The summary as JSON, and as a page beside it.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only a run on a GPU has a summary"))]
fn write(path: &Path, summary: &Summary) -> Result<()> {
    let place = || format!("cannot write {}", path.display());
    let json = serde_json::to_string_pretty(summary).with_context(place)?;
    std::fs::write(path, json + "\n").with_context(place)?;
    std::fs::write(path.with_extension("md"), summary.markdown()).with_context(place)
}
