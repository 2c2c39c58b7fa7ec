//! Recordings of real hardware against the model, in the units that are pinned: does the hardware round as well as we say?
//!
//! ```text
//! DIR/h200_f16_k16.bin --operands--> exact sum, gauge --> error of the hardware's output | error of the model's, on the same operands
//! ```
//!
//! `conformance model check` asks whether every bit is predicted. This asks how large errors are, so it says something about hardware
//! that no model predicts yet. Outputs that are not finite, or need not be, have no error and are counted only.

use crate::error::GoldenError;
use crate::statistics::Statistics;
use crate::ulp::Ulp;
use sparse_oracle::arithmetic::{Architecture, Arithmetic};
use sparse_oracle::bound::{SubnormalSums, SubnormalThresholds, TermCounts, Tolerance, tolerance_of};
use sparse_oracle::exact::{Element, Value, dot};
use sparse_oracle::model::ModelError;
use sparse_oracle::model::recording::{Recording, RecordingError, Sample};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::op::input;
use sparse_oracle::scalar::{Precision, decode};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// An output by warp, row and column.
pub type Place = (usize, usize, usize);

/// One recording.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Its file.
    pub file: String,
    /// The instruction.
    pub instruction: String,
    /// Whose model, and whose bound.
    pub architecture: Architecture,
    /// The device is not known: the architecture whose model predicts most.
    pub guessed: bool,
    /// Errors of the recorded outputs.
    pub hardware: Statistics<Place>,
    /// Errors of the model on the same operands.
    pub model: Statistics<Place>,
    /// Outputs that are infinite or NaN, or may be.
    pub not_finite: usize,
    /// Outputs that are so and must not be: the operands are finite, and so far from overflow.
    pub wrongly_not_finite: Vec<Place>,
    /// Outputs outside the bound, decided exactly.
    pub outside: Vec<Place>,
}

impl Comparison {
    /// What is wrong with the hardware, if something is.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let worst = |of: &Statistics<Place>| of.worst.map_or(0.0, |w| w.error);
        let share = |of: &Statistics<Place>| of.share.map_or(0.0, |w| w.error);
        for (what, hardware, model) in [
            ("worst error", worst(&self.hardware), worst(&self.model)),
            ("99.9 % error", self.hardware.most(), self.model.most()),
            ("share of the bound", share(&self.hardware), share(&self.model)),
        ] {
            if hardware > model {
                let place = self.hardware.worst.map(|w| w.place).unwrap_or_default();
                findings.push(format!(
                    "{what} {hardware:.4} above the model's {model:.4}, worst at {}",
                    shown(place)
                ));
            }
        }
        for (what, places) in [
            ("outside the bound", &self.outside),
            ("infinite or NaN from finite operands", &self.wrongly_not_finite),
        ] {
            if let Some(&first) = places.first() {
                findings.push(format!("{} outputs {what}, first at {}", places.len(), shown(first)));
            }
        }
        findings
    }
}

fn shown((group, row, col): Place) -> String {
    format!("warp {group}, row {row}, column {col}")
}

/// Every recording of a folder, and files that are none with the reason. With `asked`, against that architecture whatever the name says.
///
/// # Errors
/// [`GoldenError::NoRecordings`] where nothing could be compared; [`GoldenError::Read`].
pub fn compare(
    folder: &Path,
    asked: Option<Architecture>,
) -> Result<(Vec<Comparison>, Vec<String>), GoldenError> {
    let (mut compared, mut skipped) = (Vec::new(), Vec::new());
    for path in recordings(folder)? {
        match of_file(&path, asked) {
            Ok(comparison) => compared.push(comparison),
            Err(error) => skipped.push(error.to_string()),
        }
    }
    if compared.is_empty() {
        return Err(GoldenError::NoRecordings(folder.to_owned()));
    }
    Ok((compared, skipped))
}

/// Files that end in .bin, sorted; a file is itself.
fn recordings(path: &Path) -> Result<Vec<PathBuf>, GoldenError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let refuse = |error| GoldenError::Read { path: path.to_owned(), error };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(path).map_err(refuse)? {
        paths.push(entry.map_err(refuse)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "bin"));
    paths.sort();
    Ok(paths)
}

fn of_file(path: &Path, asked: Option<Architecture>) -> Result<Comparison, GoldenError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let refuse = |error: RecordingError| GoldenError::Recording { file: file.clone(), error };
    let recording = Recording::read(path).map_err(refuse)?;
    let known = asked.or(recording.name().architecture);
    let nearest = || recording.nearest().map(|found| found.map(|(a, _)| a));
    let architecture = match known {
        Some(architecture) => architecture,
        // None has the instruction; the model says so.
        None => nearest().map_err(|e| refuse(e.into()))?.unwrap_or(Architecture::Sm90),
    };
    of_recording(&recording, architecture, file.clone(), known.is_none()).map_err(|e| refuse(e.into()))
}

fn of_recording(
    recording: &Recording,
    architecture: Architecture,
    file: String,
    guessed: bool,
) -> Result<Comparison, ModelError> {
    let instruction = recording.name().instruction;
    let core = TensorCore::new(architecture, instruction)?;
    let mut judge = Judge::new(architecture, &core);
    let mut comparison = Comparison {
        file,
        instruction: instruction.to_string(),
        architecture,
        guessed,
        hardware: Statistics::default(),
        model: Statistics::default(),
        not_finite: 0,
        wrongly_not_finite: Vec::new(),
        outside: Vec::new(),
    };
    recording.for_each(|sample| {
        let bits = core.apply(sample.c, &sample.a, &sample.b)?;
        judge.sample(&sample, bits, &mut comparison);
        Ok(())
    })?;
    Ok(comparison)
}

/// What one instruction promises.
struct Judge {
    arithmetic: Arithmetic,
    input: Precision,
    acc: Precision,
    links: u64,
    known: HashMap<TermCounts, Option<Tolerance>>,
}

impl Judge {
    fn new(architecture: Architecture, core: &TensorCore) -> Judge {
        let instruction = core.instruction();
        Judge {
            arithmetic: Arithmetic::mma(Some(architecture), instruction, instruction.acc).from_c(),
            input: instruction.input,
            acc: instruction.acc,
            links: 1,
            known: HashMap::new(),
        }
    }

    fn sample(&mut self, sample: &Sample, model: u64, into: &mut Comparison) {
        let place = (sample.group, sample.row, sample.col);
        let rounding = self.arithmetic.part().input;
        let number = |bits: &u64| input(decode(*bits, self.input), rounding);
        let a: Vec<f64> = sample.a.iter().map(number).chain([1.0]).collect();
        let c = decode(sample.c, self.acc);
        let b: Vec<f64> = sample.b.iter().map(number).chain([c]).collect();
        let exact = dot(&a, &b);
        let [hardware, model] = [sample.d, model].map(|bits| decode(bits, self.acc));
        if !exact.value.is_finite() {
            into.not_finite += 1;
            return;
        }
        let (census, gauge) = self.load(&a, &b, &exact);
        let fresh = || tolerance_of(&self.arithmetic, |_| census, (1.0, 1.0), 1.0);
        let Some(tolerance) = self.known.entry(census).or_insert_with(fresh) else {
            into.not_finite += 1;
            return;
        };
        if tolerance.may_overflow(&gauge) {
            into.not_finite += 1;
            return;
        }
        if !hardware.is_finite() {
            into.wrongly_not_finite.push(place);
            return;
        }
        // Of the terms themselves: `gauge` may be raised by subnormal operands, which is the bound's business.
        let size = exact.gauge.approx();
        let unit = Ulp::of(self.acc);
        for (y, statistics) in [(hardware, &mut into.hardware), (model, &mut into.model)] {
            let distance = tolerance.distance(y, &exact.value, &gauge);
            let result = unit.of_result(&exact.value, size).map(|ulp| distance.error / ulp);
            statistics.add(distance.error / unit.at(size), result, distance.share(), place);
        }
        if !tolerance.distance(hardware, &exact.value, &gauge).within {
            into.outside.push(place);
        }
    }

    /// How many products are not zero, and the gauge with subnormal operands counted as they are aligned. The last term is c.
    fn load(&self, a: &[f64], b: &[f64], exact: &Element) -> (TermCounts, Value) {
        let part = self.arithmetic.part();
        let thresholds = SubnormalThresholds::new(&self.arithmetic, part);
        let mut operands = SubnormalSums::default();
        let products = a.len() - 1;
        let mut filled = 0;
        for (&a, &b) in a.iter().zip(b).take(products) {
            operands.add(&thresholds, a, b);
            filled += u64::from(a != 0.0 && b != 0.0);
        }
        let census = TermCounts {
            terms: products as u64,
            products: filled,
            blocks: u64::from(filled > 0),
            extent: self.links,
        };
        (census, &exact.gauge + &Value::from_dyadic(operands.raised))
    }
}

/// All comparisons as text.
#[must_use]
pub fn report(compared: &[Comparison], skipped: &[String]) -> String {
    let mut text = String::from(
        "errors in ulp(g): an f32 (f16 for f16 accumulators) as large as the gauge sum |a||b| + |c|; share: of the bound of tier T1\n\n",
    );
    for reason in skipped {
        let _ = writeln!(text, "skipped {reason}");
    }
    let width = |of: fn(&Comparison) -> usize, least| compared.iter().map(of).fold(least, usize::max);
    let file = width(|c| c.file.len(), 9);
    let name = width(|c| c.instruction.len(), 11);
    let _ = writeln!(
        text,
        "{:file$}  {:name$}  {:6}  {:>9}  {:>10}  | {:>9} {:>9} {:>7}  | {:>9} {:>9} {:>7}",
        "recording",
        "instruction",
        "model",
        "outputs",
        "not finite",
        "hw worst",
        "hw 99.9%",
        "share",
        "worst",
        "99.9%",
        "share"
    );
    for c in compared {
        let numbers = |s: &Statistics<Place>| {
            let worst = s.worst.map_or(0.0, |w| w.error);
            let share = s.share.map_or(0.0, |w| w.error);
            format!("{worst:>9.4} {:>9.4} {share:>7.4}", s.most())
        };
        let _ = writeln!(
            text,
            "{:file$}  {:name$}  {:6}  {:>9}  {:>10}  | {}  | {}{}",
            c.file,
            c.instruction,
            c.architecture.name(),
            c.hardware.elements(),
            c.not_finite,
            numbers(&c.hardware),
            numbers(&c.model),
            if c.guessed { "  unknown device, nearest model" } else { "" }
        );
    }
    let mut findings = 0;
    for c in compared {
        for finding in c.findings() {
            let _ = writeln!(text, "FAILS {}: {finding}", c.file);
            findings += 1;
        }
    }
    let _ = writeln!(text, "\n{} recordings, {} skipped, {findings} findings", compared.len(), skipped.len());
    text
}
