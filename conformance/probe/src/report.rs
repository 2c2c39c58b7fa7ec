//! What a run of probes found: data, a table for people, and the line printed while it runs.

use serde::{Deserialize, Serialize};
use sparse_conformance_core::report::environment::Environment;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// `sparse-conformance-probe-1`.
    pub schema: String,
    /// Version of the suite.
    pub suite_version: String,
    /// Commit of the suite.
    pub commit: String,
    /// The machine, the command, the date.
    pub environment: Environment,
    /// The device's name.
    pub device: String,
    /// Its compute capability, `9.0`.
    pub compute_capability: String,
    /// Its multiprocessors.
    pub multiprocessors: i64,
    /// Version of the kernel driver, as it says itself.
    pub driver: String,
    /// CUDA version that the driver supports.
    pub cuda: String,
    /// Version of the compiler.
    pub nvrtc: String,
    /// Seed of all operands.
    pub seed: u64,
    /// Wall time of everything.
    pub seconds: f64,
    /// One an instruction and variant.
    pub probes: Vec<ProbeReport>,
}

/// Groups of the sample: 128 of each distribution.
pub(super) const SAMPLE: usize = 13 * 128;

/// Counts by name, for reports.
pub(super) type Counts = BTreeMap<String, u64>;

/// The name of the schema.
#[cfg(feature = "cuda")]
pub const SCHEMA: &str = "sparse-conformance-probe-1";

/// How one probe ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every output is the model's, and the same in every run and place.
    Confirmed,
    /// Not the model, but one of the alternatives gives every output.
    OtherFits,
    /// Nothing gives every output, or outputs differ between runs or places.
    Wrong,
    /// Operands outside what the PTX ISA defines: observed, no finding.
    Undefined,
    /// The kernel did not run.
    NotRun(String),
}

impl Status {
    /// In words.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Status::Confirmed => "confirmed",
            Status::OtherFits => "OTHER MODEL FITS",
            Status::Wrong => "MISMATCH",
            Status::Undefined => "observed (undefined operands)",
            Status::NotRun(_) => "NOT RUN",
        }
    }

    /// True if nobody has to look.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        matches!(self, Status::Confirmed | Status::Undefined)
    }
}

/// One instruction and variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Its name.
    pub name: String,
    /// The instruction as PTX writes it.
    pub ptx: String,
    /// How it ended.
    pub status: Status,
    /// What the outputs were compared with.
    pub model: String,
    /// Outputs compared.
    pub outputs: u64,
    /// Outputs that differ from `model`.
    pub mismatches: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Mismatch>,
    /// In which operands they are.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub mismatches_by_distribution: Counts,
    /// NaN on both sides where the bits are not modelled.
    pub unmodelled_nans: u64,
    /// NaN patterns seen, eight at most.
    pub nan_patterns: Vec<String>,
    /// What the device returned.
    pub classes: Counts,
    /// Every candidate on the sample: what the data tells apart.
    pub alternatives: Vec<Alternative>,
    /// The sample gave the same bits twice.
    pub repeatable: bool,
    /// One group repeated over the device gave the same bits everywhere.
    pub uniform: bool,
    /// Outputs for which `TensorCore::apply` was asked too.
    pub applied: u64,
    /// Those for which it says something else than the comparison's fast path.
    pub applied_otherwise: u64,
    /// Wall time.
    pub seconds: f64,
    /// Of that, copies and kernel.
    pub device_seconds: f64,
}

/// An output that was not predicted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mismatch {
    /// Group, counted from the seed.
    pub group: u64,
    /// Output in the group, row-major.
    pub output: u64,
    /// Distribution of the operands.
    pub distribution: String,
    /// Row of A, as bits.
    pub a: Vec<String>,
    /// The values of B that it meets.
    pub b: Vec<String>,
    /// Accumulator.
    pub acc: String,
    /// Expected bits.
    pub model: String,
    /// The device's bits.
    pub device: String,
}

/// A candidate's score on the sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alternative {
    /// What it says.
    pub name: String,
    /// Outputs compared.
    pub outputs: u64,
    /// Outputs that differ.
    pub mismatches: u64,
}

impl ProbeReport {
    /// Nothing has run yet.
    pub(super) fn new(name: String, ptx: String) -> ProbeReport {
        ProbeReport {
            name,
            ptx,
            status: Status::NotRun("not reached".to_owned()),
            model: String::new(),
            outputs: 0,
            mismatches: 0,
            first: None,
            mismatches_by_distribution: Counts::new(),
            unmodelled_nans: 0,
            nan_patterns: Vec::new(),
            classes: Counts::new(),
            alternatives: Vec::new(),
            repeatable: false,
            uniform: false,
            applied: 0,
            applied_otherwise: 0,
            seconds: 0.0,
            device_seconds: 0.0,
        }
    }

    /// One line, more where something is wrong.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:34} {:>12} outputs {:>10} mismatches {:7.2} s  {}",
            self.name,
            self.outputs,
            self.mismatches,
            self.seconds,
            self.status.text()
        );
        if let Status::NotRun(reason) = &self.status {
            let _ = write!(text, ": {reason}");
        }
        if !self.status.is_clean() && self.outputs > 0 {
            let _ = write!(
                text,
                "\n    compared with {}; repeatable {}, uniform {}, apply differs {} of {}",
                self.model, self.repeatable, self.uniform, self.applied_otherwise, self.applied
            );
            for other in &self.alternatives {
                let _ = write!(
                    text,
                    "\n    {:>9} of {} differ from {}",
                    other.mismatches, other.outputs, other.name
                );
            }
        }
        if let Some(first) = &self.first {
            let _ = write!(
                text,
                "\n    first in group {} ({}), output {}: model {}, device {}, acc {}\n      a {}\n      b {}",
                first.group,
                first.distribution,
                first.output,
                first.model,
                first.device,
                first.acc,
                first.a.join(" "),
                first.b.join(" ")
            );
        }
        text
    }
}

impl Summary {
    /// True if every probe is clean.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.probes.is_empty() && self.probes.iter().all(|probe| probe.status.is_clean())
    }

    /// Outputs compared, over all probes.
    #[must_use]
    pub fn outputs(&self) -> u64 {
        self.probes.iter().map(|probe| probe.outputs).sum()
    }

    /// The page that is kept as evidence.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# {}: models against silicon\n\n\
             {} outputs of {} instructions and variants, compared bit for bit with the models; {} are not clean.\n\n\
             | | |\n|---|---|\n| date | {} |\n| device | {}, compute capability {}, {} multiprocessors |\n\
             | driver | {}, CUDA {} |\n| compiler | NVRTC {} |\n| suite | {} at {} |\n| seed | {} |\n| time | {:.0} s |\n\n\
             Each row: random operands of 13 distributions, the same in every run of this seed. \"Told apart\" is how many of the \
             wrong models tried on the first {} groups are refuted by them.\n\n\
             | instruction | outputs | mismatches | NaN | infinity | subnormal | zero | told apart | verdict |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---|\n",
            self.device,
            self.outputs(),
            self.probes.len(),
            self.probes.iter().filter(|p| !p.status.is_clean()).count(),
            self.environment.started,
            self.device,
            self.compute_capability,
            self.multiprocessors,
            self.driver,
            self.cuda,
            self.nvrtc,
            self.suite_version,
            self.commit,
            self.seed,
            self.seconds,
            SAMPLE,
        );
        for probe in &self.probes {
            let class = |name: &str| probe.classes.get(name).copied().unwrap_or(0);
            let others = probe.alternatives.iter().filter(|a| a.name != probe.model);
            let (refuted, tried) =
                others.fold((0, 0), |(refuted, tried), a| (refuted + u64::from(a.mismatches > 0), tried + 1));
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {} | {} + {} negative | {refuted} of {tried} | {} |",
                probe.name,
                probe.outputs,
                probe.mismatches,
                class("NaN"),
                class("infinity"),
                class("subnormal"),
                class("+0"),
                class("-0"),
                probe.status.text()
            );
        }
        self.details(&mut text);
        text
    }

    /// What a row cannot say.
    fn details(&self, text: &mut String) {
        text.push_str("\n## Models and what the sample tells apart\n\n");
        for probe in &self.probes {
            let _ = writeln!(text, "- `{}` (`{}`): {}.", probe.name, probe.ptx, probe.model);
            let others: Vec<String> = probe
                .alternatives
                .iter()
                .filter(|a| a.name != probe.model)
                .map(|a| format!("{}: {} of {}", a.name, a.mismatches, a.outputs))
                .collect();
            if !others.is_empty() {
                let _ = writeln!(text, "  Mismatches of others: {}.", others.join("; "));
            }
            if probe.unmodelled_nans > 0 || !probe.nan_patterns.is_empty() {
                let _ = writeln!(
                    text,
                    "  NaN patterns: {}{}.",
                    probe.nan_patterns.join(", "),
                    if probe.unmodelled_nans > 0 { " (not modelled)" } else { "" }
                );
            }
        }
        let unclean: Vec<&ProbeReport> = self.probes.iter().filter(|p| !p.status.is_clean()).collect();
        if !unclean.is_empty() {
            text.push_str("\n## Not clean\n\n```text\n");
            for probe in unclean {
                let _ = writeln!(text, "{}", probe.text());
            }
            text.push_str("```\n");
        }
    }
}
