//! What a report says beside verdicts: whether bits stayed from run to run, and where the minimal case of a failure is.

use super::model::{Backend, CaseRecord};
use super::show::count;
use crate::backend::Determinism;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether two results are the same, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Same {
    /// Every bit.
    Same,
    /// At least one bit differs.
    Different,
}

impl Same {
    /// From a comparison.
    #[must_use]
    pub const fn of(equal: bool) -> Same {
        if equal { Same::Same } else { Same::Different }
    }
}

/// What running a passing case again gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Repeated {
    /// From run to run.
    pub runs: Same,
    /// From one thread to four, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Same>,
}

/// What a backend claims about its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Nothing.
    #[default]
    Nothing,
    /// The same from run to run.
    Runs,
    /// The same whatever the number of threads.
    Threads,
}

impl From<Determinism> for Claim {
    fn from(claimed: Determinism) -> Claim {
        match claimed {
            Determinism::Unclaimed => Claim::Nothing,
            Determinism::Runs => Claim::Runs,
            Determinism::Threads => Claim::Threads,
        }
    }
}

/// How deterministic a backend was seen to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeterminismGrade {
    /// What it claims.
    pub claimed: Claim,
    /// Cases that were run again.
    pub repeated: u64,
    /// Of these, those with other bits.
    pub differing: u64,
    /// Cases that were run with one thread and with four.
    pub threads_compared: u64,
    /// Of these, those with other bits.
    pub threads_differing: u64,
    /// The first case with other bits, in the order of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_differing: Option<String>,
}

impl DeterminismGrade {
    /// Adds one case.
    fn add(&mut self, record: &CaseRecord) {
        let Some(repeated) = record.repeated else {
            return;
        };
        let differs = |same: Option<Same>| same == Some(Same::Different);
        let runs = differs(Some(repeated.runs));
        self.repeated += 1;
        self.differing += u64::from(runs);
        self.threads_compared += u64::from(repeated.threads.is_some());
        self.threads_differing += u64::from(differs(repeated.threads));
        if self.first_differing.is_none() && (runs || differs(repeated.threads)) {
            self.first_differing = Some(record.case.clone());
        }
    }

    /// The grades of all backends, from the cases.
    pub(super) fn regrade(backends: &mut [Backend], cases: &[CaseRecord]) {
        for backend in backends {
            backend.determinism =
                DeterminismGrade { claimed: backend.determinism.claimed, ..DeterminismGrade::default() };
            let mine = cases.iter().filter(|record| record.backend == backend.name);
            mine.for_each(|record| backend.determinism.add(record));
        }
    }

    /// True when nothing differed in at least one case run again.
    #[must_use]
    pub fn held(&self) -> bool {
        self.repeated > 0 && self.differing + self.threads_differing == 0
    }
}

/// `claims nothing; same bits in 120 repeated cases, 4 of 30 differ between 1 thread and 4`.
impl fmt::Display for DeterminismGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.claimed {
            Claim::Nothing => "claims nothing",
            Claim::Runs => "claims the same bits from run to run",
            Claim::Threads => "claims the same bits with any number of threads",
        })?;
        if self.repeated == 0 {
            return f.write_str("; no case was repeated");
        }
        let part = |f: &mut fmt::Formatter<'_>, differing: u64, all: u64, what: &str| {
            let all = count(all);
            match differing {
                0 => write!(f, "; the same {what} in {all} of {all}"),
                _ => write!(f, "; other bits {what} in {} of {all}", count(differing)),
            }
        };
        part(f, self.differing, self.repeated, "from run to run")?;
        if self.threads_compared > 0 {
            part(f, self.threads_differing, self.threads_compared, "with 1 thread and 4")?;
        }
        self.first_differing.iter().try_for_each(|line| write!(f, ", first in {line}"))
    }
}

/// A minimal case that fails for the same reason as the one it stands beside, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// Its folder, from the report's folder; absent where there is nothing to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its case line, with a path from the report's folder; absent for a failure that comes and goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// What became of it, in one sentence.
    pub summary: String,
    /// Candidates that were run.
    pub candidates: u64,
    /// Rows of its matrix.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// Columns of the dense operand, or what n is in the operation; 1 where it has none.
    pub n: u64,
}
