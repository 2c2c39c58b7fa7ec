//! Runs one probe after another: sample, alternatives, the long comparison.
//!
//! ```text
//! sample   1,664 groups: every candidate scored, run twice, one group repeated over the whole device, apply checked
//! long     batches until the outputs or the time are used up, against the best candidate
//! ```

use super::candidate::{Candidate, Subject};
use super::group::{Judge, sections};
use super::operands::{Batch, DISTRIBUTIONS};
use super::record;
use super::report::{Alternative, Mismatch, ProbeReport, SAMPLE, Status};
use rayon::prelude::*;
use sparse_kernels::cuda::probe::Probe;
use sparse_oracle::Precision;
use sparse_oracle::scalar::decode;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Whatever runs an instruction: a GPU, or a stand-in for tests.
pub trait Executor {
    /// Makes a kernel ready; those that follow are run with it.
    ///
    /// # Errors
    /// In words, for the report.
    fn load(&mut self, probe: &Probe) -> Result<(), String>;

    /// Fills `batch.d`.
    ///
    /// # Errors
    /// In words, for the report.
    fn run(&mut self, batch: &mut Batch) -> Result<(), String>;
}

/// How much is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Outputs of each probe.
    pub outputs: u64,
    /// Wall time for all probes together; each gets its share of what is left.
    pub time: Option<Duration>,
    /// Seed of all operands.
    pub seed: u64,
    /// Folder for recordings.
    pub record: Option<PathBuf>,
    /// How recordings call the device.
    pub device: String,
}

/// Groups whose every output is also computed by `TensorCore::apply`.
const APPLIED: usize = 26;
/// Outputs of a batch, about.
const BATCH: usize = 1 << 22;

/// Runs all, reporting each as it ends.
pub fn probe_all(
    executor: &mut dyn Executor,
    subjects: &[Subject],
    options: &Options,
    mut done: impl FnMut(&ProbeReport, &[ProbeReport]),
) -> Vec<ProbeReport> {
    let start = Instant::now();
    let mut reports = Vec::with_capacity(subjects.len());
    let mut batch = Batch::default();
    for (i, subject) in subjects.iter().enumerate() {
        let left = options.time.map(|time| time.saturating_sub(start.elapsed()));
        let share = left.map(|left| left / (subjects.len() - i) as u32);
        let report = probe_one(executor, subject, options, share, &mut batch);
        done(&report, &reports);
        reports.push(report);
    }
    reports
}

fn probe_one(
    executor: &mut dyn Executor,
    subject: &Subject,
    options: &Options,
    share: Option<Duration>,
    batch: &mut Batch,
) -> ProbeReport {
    let start = Instant::now();
    let mut run = Run {
        subject,
        options,
        batch,
        device: Duration::ZERO,
        report: ProbeReport::new(subject.probe.name(), subject.probe.ptx()),
    };
    if let Err(reason) = run.all(executor, start, share) {
        run.report.status = Status::NotRun(reason);
    }
    run.report.seconds = start.elapsed().as_secs_f64();
    run.report.device_seconds = run.device.as_secs_f64();
    run.report
}

struct Run<'a> {
    subject: &'a Subject,
    options: &'a Options,
    batch: &'a mut Batch,
    device: Duration,
    report: ProbeReport,
}

impl Run<'_> {
    fn all(
        &mut self,
        executor: &mut dyn Executor,
        start: Instant,
        share: Option<Duration>,
    ) -> Result<(), String> {
        executor.load(&self.subject.probe)?;
        let candidates = self.subject.candidates();
        let best = self.sample(executor, &candidates)?;
        let judge = self.judge(&candidates[best])?;
        let step = BATCH.div_ceil(judge.outputs()).next_multiple_of(13);
        let mut tally = Tally::default();
        let mut first = 0;
        while tally.outputs < self.options.outputs
            && share.is_none_or(|share| first == 0 || start.elapsed() < share)
        {
            let left = self.options.outputs - tally.outputs;
            let groups = step.min(left.div_ceil(judge.outputs() as u64) as usize);
            self.batch.fill(&self.subject.probe, self.options.seed, first, groups);
            self.execute(executor)?;
            tally = tally.and(compare(&judge, self.batch, first, self.subject.fixes_nan()));
            first += groups as u64;
        }
        self.conclude(&candidates, best, &judge, &tally);
        Ok(())
    }

    fn judge(&self, candidate: &Candidate) -> Result<Judge, String> {
        Judge::new(&self.subject.probe, candidate).ok_or_else(|| "no arithmetic to compare with".to_owned())
    }

    fn execute(&mut self, executor: &mut dyn Executor) -> Result<(), String> {
        let start = Instant::now();
        let result = executor.run(self.batch);
        self.device += start.elapsed();
        result
    }

    /// Scores every candidate; the index of the best, the model if it is among them.
    fn sample(&mut self, executor: &mut dyn Executor, candidates: &[Candidate]) -> Result<usize, String> {
        let probe = self.subject.probe;
        self.batch.fill(&probe, self.options.seed, 0, SAMPLE);
        self.execute(executor)?;
        let outputs = self.batch.d.clone();
        self.batch.poison();
        self.execute(executor)?;
        self.report.repeatable = outputs == self.batch.d;
        if let (Some(folder), Some(name)) =
            (&self.options.record, record::recording_name(&self.options.device, &probe))
        {
            record::write(&folder.join(name), self.batch, &probe).map_err(|e| format!("recording: {e}"))?;
        }
        let mut best = (u64::MAX, 0);
        for (i, candidate) in candidates.iter().enumerate() {
            let judge = self.judge(candidate)?;
            let tally = compare(&judge, self.batch, 0, self.subject.fixes_nan());
            self.report.alternatives.push(Alternative {
                name: candidate.name.clone(),
                outputs: tally.outputs,
                mismatches: tally.mismatches,
            });
            best = best.min((tally.mismatches, i));
        }
        self.apply(&self.judge(&candidates[0])?);
        self.batch.fill(&probe, self.options.seed, 0, SAMPLE);
        self.batch.repeat_first();
        self.execute(executor)?;
        let size = self.batch.d.len() / SAMPLE;
        self.report.uniform = self.batch.d.chunks(size).all(|d| d == &self.batch.d[..size]);
        Ok(best.1)
    }

    /// The comparison works on decoded lines; here they are compared with the model's own definition.
    fn apply(&mut self, judge: &Judge) {
        let Some(core) = self.subject.core() else { return };
        let mut judge = judge.clone();
        let mut expected = Vec::new();
        for group in 0..APPLIED.min(self.batch.groups) {
            let sections = sections(self.batch, group);
            judge.expect(sections, &mut expected);
            for (at, &bits) in expected.iter().enumerate() {
                let element = judge.element(sections, at);
                self.report.applied += 1;
                let same = core.apply(element.acc, &element.a, &element.b) == Ok(bits);
                self.report.applied_otherwise += u64::from(!same && !nan(bits, judge.output()));
            }
        }
    }

    fn conclude(&mut self, candidates: &[Candidate], best: usize, judge: &Judge, tally: &Tally) {
        let first = tally.first.as_ref().map(|found| self.show(judge, found));
        let report = &mut self.report;
        report.first = first;
        report.model = candidates[best].name.clone();
        report.outputs = tally.outputs;
        report.mismatches = tally.mismatches;
        report.unmodelled_nans = tally.unmodelled_nans;
        report.nan_patterns = tally.nan_patterns.iter().map(|bits| format!("{bits:#x}")).collect();
        report.classes =
            CLASSES.iter().zip(&tally.classes).map(|(name, count)| ((*name).to_owned(), *count)).collect();
        report.mismatches_by_distribution = DISTRIBUTIONS
            .iter()
            .zip(&tally.by_distribution)
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        let sound = report.repeatable && report.uniform && report.applied_otherwise == 0;
        report.status = match (sound, best, report.mismatches) {
            (true, 0, 0) => Status::Confirmed,
            _ if !self.subject.is_defined() => Status::Undefined,
            (true, _, 0) => Status::OtherFits,
            _ => Status::Wrong,
        };
    }

    /// A mismatch with its operands, which are drawn again.
    fn show(&self, judge: &Judge, found: &Found) -> Mismatch {
        let mut one = Batch::default();
        one.fill(&self.subject.probe, self.options.seed, found.group, 1);
        let element = judge.element(sections(&one, 0), found.at);
        let hex = |bits: &[u64]| bits.iter().map(|b| format!("{b:#x}")).collect();
        Mismatch {
            group: found.group,
            output: found.at as u64,
            distribution: DISTRIBUTIONS[(found.group % 13) as usize].to_owned(),
            a: hex(&element.a),
            b: hex(&element.b),
            acc: format!("{:#x}", element.acc),
            model: format!("{:#x}", found.expected),
            device: format!("{:#x}", found.got),
        }
    }
}

const CLASSES: [&str; 6] = ["NaN", "infinity", "+0", "-0", "subnormal", "normal"];

#[derive(Clone, Debug)]
struct Found {
    group: u64,
    at: usize,
    expected: u64,
    got: u64,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    outputs: u64,
    mismatches: u64,
    unmodelled_nans: u64,
    /// The first few, in order of value.
    nan_patterns: BTreeSet<u64>,
    classes: [u64; 6],
    by_distribution: [u64; 13],
    first: Option<Found>,
}

impl Tally {
    fn and(mut self, other: Tally) -> Tally {
        self.outputs += other.outputs;
        self.mismatches += other.mismatches;
        self.unmodelled_nans += other.unmodelled_nans;
        self.nan_patterns.extend(other.nan_patterns);
        while self.nan_patterns.len() > 8 {
            self.nan_patterns.pop_last();
        }
        for (mine, its) in self.classes.iter_mut().zip(other.classes) {
            *mine += its;
        }
        for (mine, its) in self.by_distribution.iter_mut().zip(other.by_distribution) {
            *mine += its;
        }
        self.first = [self.first, other.first].into_iter().flatten().min_by_key(|f| (f.group, f.at));
        self
    }
}

/// Outputs of a batch and how many of them a candidate does not predict.
#[must_use]
pub fn mismatches(subject: &Subject, judge: &Judge, batch: &Batch) -> (u64, u64) {
    let tally = compare(judge, batch, 0, subject.fixes_nan());
    (tally.outputs, tally.mismatches)
}

/// Every output of a batch against a candidate; the same for any number of threads.
fn compare(judge: &Judge, batch: &Batch, first: u64, fixes_nan: bool) -> Tally {
    const GROUPS: usize = 52;
    let scratch = || (judge.clone(), Vec::new(), Vec::new());
    (0..batch.groups.div_ceil(GROUPS))
        .into_par_iter()
        .map_init(scratch, |(judge, expected, got), part| {
            let mut tally = Tally::default();
            let size = batch.d.len() / batch.groups;
            for group in part * GROUPS..((part + 1) * GROUPS).min(batch.groups) {
                judge.expect(sections(batch, group), expected);
                judge.read(&batch.d[group * size..][..size], got);
                tally.count(judge.output(), first + group as u64, expected, got, fixes_nan);
            }
            tally
        })
        .reduce(Tally::default, Tally::and)
}

impl Tally {
    fn count(&mut self, precision: Precision, group: u64, expected: &[u64], got: &[u64], fixes_nan: bool) {
        self.outputs += expected.len() as u64;
        for (at, (&expected, &got)) in expected.iter().zip(got).enumerate() {
            let class = class(got, precision);
            self.classes[class] += 1;
            if class == 0 && self.nan_patterns.len() < 8 {
                self.nan_patterns.insert(got);
            }
            if expected == got {
                continue;
            }
            if !fixes_nan && class == 0 && nan(expected, precision) {
                self.unmodelled_nans += 1;
                continue;
            }
            self.mismatches += 1;
            self.by_distribution[(group % 13) as usize] += 1;
            if self.first.is_none() {
                self.first = Some(Found { group, at, expected, got });
            }
        }
    }
}

/// Index into [`CLASSES`].
#[inline]
fn class(bits: u64, precision: Precision) -> usize {
    let spec = precision.spec();
    let sign = 1u64 << (spec.storage_bits - 1);
    let magnitude = bits & (sign - 1);
    let fraction = spec.significand - 1;
    let infinity = (sign - 1) >> fraction << fraction;
    match magnitude {
        0 if bits & sign == 0 => 2,
        0 => 3,
        m if m > infinity => 0,
        m if m == infinity => 1,
        m if m >> fraction == 0 => 4,
        _ => 5,
    }
}

fn nan(bits: u64, precision: Precision) -> bool {
    decode(bits, precision).is_nan()
}
