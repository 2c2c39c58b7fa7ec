//! `conformance model check DIR`: how many recorded outputs the models predict.
//!
//! ```text
//! DIR/h200_f16_k16.bin  ->  name: device, instruction  ->  model of its architecture  ->  predicted, first that is not
//!                           unknown device             ->  every model, the best one counts
//! ```

use crate::cli::output::output;
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::model::recording::{Check, Recording, RecordingName, Sample};
use sparse_oracle::model::tensor_core::TensorCore;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Options of `model check`.
///
/// A recording is named after its device and instruction: `h200_f16_k16.bin`, `h200_spf16_k32_s1.bin`, `h200_wg_e4m3_k32.bin`; the
/// layout is described in oracle/data/silicon/README.md. Exit code 0: every output is predicted. 1: some are not. 2: nothing could be read.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A folder of recordings, or one recording.
    path: PathBuf,
    /// Compare with this architecture (`sm_80`, `sm_90`, ...), whatever the device is.
    #[arg(long, value_name = "SM", value_parser = architecture)]
    architecture: Option<Architecture>,
}

fn architecture(text: &str) -> Result<Architecture, String> {
    let names = || Architecture::ALL.map(Architecture::name).join(", ");
    Architecture::from_name(text).ok_or_else(|| format!("no such architecture; there are {}", names()))
}

/// One recording and what came out.
struct Line {
    file: String,
    instruction: String,
    architecture: Architecture,
    /// The device is not in the table of devices: this architecture predicts most.
    guessed: bool,
    check: Check,
}

/// Compares, prints, counts.
pub(super) fn run(args: &Args) -> Result<u8> {
    let (mut lines, mut skipped) = (Vec::new(), Vec::new());
    for path in recordings(&args.path)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match compare(&path, args.architecture) {
            Ok(line) => lines.push(line),
            Err(error) => skipped.push(format!("{file}: {error:#}")),
        }
    }
    let mut out = output();
    for reason in &skipped {
        writeln!(out, "skipped {reason}")?;
    }
    if lines.is_empty() {
        bail!(
            "no recording in {} could be compared ({} skipped); see oracle/data/silicon/README.md for names and layout",
            args.path.display(),
            skipped.len()
        );
    }
    table(&mut out, &lines, skipped.len())?;
    Ok(u8::from(lines.iter().any(|line| line.check.predicted < line.check.outputs)))
}

/// The files of a folder that end in .bin, sorted; a file is itself.
fn recordings(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("reading {}", path.display()))?.path();
        if entry.extension().is_some_and(|e| e == "bin") {
            paths.push(entry);
        }
    }
    paths.sort();
    Ok(paths)
}

/// One file against the asked architecture, else its device's, else the best.
fn compare(path: &Path, asked: Option<Architecture>) -> Result<Line> {
    let recording = Recording::read(path)?;
    let RecordingName { architecture, instruction, .. } = recording.name();
    let known = asked.or(*architecture);
    let (architecture, check) = match known {
        Some(architecture) => (architecture, recording.check(architecture)?),
        None => recording
            .nearest()?
            .with_context(|| format!("the device is unknown, and no architecture has {instruction}"))?,
    };
    Ok(Line {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        instruction: instruction.to_string(),
        architecture,
        guessed: known.is_none(),
        check,
    })
}

fn table(out: &mut impl Write, lines: &[Line], skipped: usize) -> Result<()> {
    let width = |of: fn(&Line) -> usize, least| lines.iter().map(of).fold(least, usize::max);
    let file = width(|l| l.file.len(), 9);
    let name = width(|l| l.instruction.len(), 11);
    writeln!(
        out,
        "{:file$}  {:name$}  {:8}  {:>11}  {:>11}  evidence of the model",
        "recording", "instruction", "model", "outputs", "predicted"
    )?;
    for line in lines {
        let Check { outputs, predicted, .. } = line.check;
        let evidence = line.instruction.parse().ok().and_then(|i| TensorCore::new(line.architecture, i).ok());
        write!(
            out,
            "{:file$}  {:name$}  {:8}  {outputs:>11}  {predicted:>11}  {}",
            line.file,
            line.instruction,
            line.architecture.name(),
            evidence.map_or("", |core| core.evidence().name())
        )?;
        if predicted < outputs {
            write!(out, ", FAILS {}", outputs - predicted)?;
        }
        if line.guessed {
            write!(out, "; unknown device, nearest model")?;
        }
        if line.check.unmodelled_nans > 0 {
            write!(out, "; {} NaN of any bits", line.check.unmodelled_nans)?;
        }
        writeln!(out)?;
    }
    let sum = |of: fn(&Check) -> usize| lines.iter().map(|line| of(&line.check)).sum::<usize>();
    writeln!(
        out,
        "total: {} of {} outputs predicted bit for bit, {} recordings, {skipped} skipped",
        sum(|c| c.predicted),
        sum(|c| c.outputs),
        lines.len()
    )?;
    for line in lines {
        if let Some((sample, model)) = &line.check.first {
            first(out, line, sample, *model)?;
        }
    }
    Ok(())
}

/// The first output that is not predicted.
fn first(out: &mut impl Write, line: &Line, sample: &Sample, model: u64) -> Result<()> {
    let hex = |bits: &[u64]| bits.iter().map(|b| format!("{b:x}")).collect::<Vec<_>>().join(" ");
    let Sample { group, row, col, c, d, .. } = sample;
    writeln!(
        out,
        "\n{}: first at warp {group}, row {row}, column {col}:\n  model {model:#x}, hardware {d:#x}, accumulator {c:#x}\n  a {}\n  b {}",
        line.file,
        hex(&sample.a),
        hex(&sample.b)
    )?;
    Ok(())
}
