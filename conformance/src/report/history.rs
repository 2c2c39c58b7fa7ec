//! The runs that were reported into one folder, one line each, oldest first: `history.jsonl`, and what `report.html` shows of it.
//!
//! ```text
//! history.jsonl of the folder --+-> lines of runs before   -+-> history.jsonl, with this run's line
//! this report ------------------+-> this run's line        -+-> "Earlier runs" on the page
//! ```
//!
//! Runs are compared by their findings' fingerprints, and only where they ran the same plan on the same backends: what was not asked is
//! not mended.

use super::Report;
use serde::{Deserialize, Serialize};
use sparse_oracle::plain_file;
use std::collections::HashSet;
use std::path::Path;

/// The file's name.
pub const FILE: &str = "history.jsonl";

/// Runs that are kept, the last ones.
const MOST: usize = 200;

/// Findings of a run that are named; where it has more, it is not compared.
const MOST_NAMED: usize = 1000;

/// Bytes of a file that is read: several times as many as the runs take.
const MOST_BYTES: u64 = 64 << 20;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastRun {
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// Version of the suite.
    pub suite_version: String,
    /// The tier of the plan.
    pub tier: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Digest of the plan's case lines.
    pub digest: String,
    /// The part of the plan that was run; none: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Names of the backends.
    pub backends: Vec<String>,
    /// Their versions.
    pub versions: Vec<String>,
    /// "clean", "findings", "thin", "nothing judged".
    pub outcome: String,
    /// Cases that ran.
    pub ran: u64,
    /// Findings.
    pub findings: u64,
    /// Findings that an expectation waives.
    pub waived: u64,
    /// The whole run, in seconds.
    pub seconds: f64,
    /// The findings' fingerprints, half of each; none where there are more than are named.
    pub fingerprints: Vec<String>,
}

/// Findings of a run beside those of the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// That the run before did not have.
    pub new: u64,
    /// That only the run before had.
    pub gone: u64,
}

impl PastRun {
    /// What a line keeps of a report.
    #[must_use]
    pub fn of(report: &Report) -> PastRun {
        let found = report.find();
        let named = if found.len() > MOST_NAMED { &[] } else { &found[..] };
        let half = |print: String| print.chars().take(16).collect();
        PastRun {
            started: report.environment.started.clone(),
            suite_version: report.suite_version.clone(),
            tier: report.plan.tier.clone(),
            seed: report.plan.seed,
            digest: report.plan.digest.clone(),
            shard: report.plan.shard.map(|shard| shard.to_string()),
            backends: report.backends.iter().map(|b| b.name.clone()).collect(),
            versions: report.backends.iter().map(|b| b.version.clone()).collect(),
            outcome: report.outcome().word().to_owned(),
            ran: report.cases.iter().filter(|case| case.verdict.kind().ran()).count() as u64,
            findings: found.len() as u64,
            waived: report.waived().count() as u64,
            seconds: (report.timings.total_seconds * 10.0).round() / 10.0,
            fingerprints: named.iter().map(|finding| half(report.describe(finding).fingerprint())).collect(),
        }
    }

    /// What came and went since `before`; `None` where one ran another plan or other backends, or has too many findings to name.
    #[must_use]
    pub fn since(&self, before: &PastRun) -> Option<Moved> {
        let is_named = |run: &PastRun| run.fingerprints.len() as u64 == run.findings;
        let asked = |run: &PastRun| (run.digest.clone(), run.shard.clone(), run.backends.clone());
        if asked(self) != asked(before) || !is_named(self) || !is_named(before) {
            return None;
        }
        let [now, then] = [self, before].map(|run| run.fingerprints.iter().collect::<HashSet<_>>());
        Some(Moved { new: now.difference(&then).count() as u64, gone: then.difference(&now).count() as u64 })
    }
}

/// The runs of a folder with this one, oldest first. A report that is written again is the same run. What is no line of a run is left out.
#[must_use]
pub fn runs(report: &Report, folder: &Path) -> Vec<PastRun> {
    // A torn line is lost, and no other.
    let bytes = plain_file::read(&folder.join(FILE), MOST_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut runs: Vec<PastRun> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let this = PastRun::of(report);
    if runs.last() != Some(&this) {
        runs.push(this);
    }
    runs.split_off(runs.len().saturating_sub(MOST))
}

/// The text of the file.
///
/// # Errors
/// A number that JSON has no place for.
pub fn to_lines(report: &Report, folder: &Path) -> serde_json::Result<String> {
    let lines: serde_json::Result<Vec<String>> =
        runs(report, folder).iter().map(serde_json::to_string).collect();
    Ok(lines?.join("\n") + "\n")
}
