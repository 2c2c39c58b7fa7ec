//! The two blocks of a report that may differ between runs of one seed: the machine, and the time it took.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where and how the run took place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Operating system ("linux").
    pub os: String,
    /// Architecture, as Rust names it (`x86_64`).
    pub arch: String,
    /// Name of the processor, empty where the system does not tell.
    pub cpu: String,
    /// Vector extensions that the suite looks for and found.
    pub cpu_features: Vec<String>,
    /// Logical cores available to the process.
    pub cores: u64,
    /// Compiler that built the suite.
    pub rustc: String,
    /// Threads that ran cases.
    pub threads: u64,
    /// The command, as typed.
    pub command_line: Vec<String>,
    /// Start, UTC, RFC 3339 ("2026-01-31T09:30:00Z").
    pub started: String,
    /// Anything else that a backend wants known (device, driver, library versions), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// How long the run took, in seconds of wall time unless said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Timings {
    /// The whole run.
    pub total_seconds: f64,
    /// Inside each backend, summed over threads.
    pub backend_seconds: BTreeMap<String, f64>,
    /// Inside the oracle, summed over threads.
    pub oracle_seconds: f64,
    /// Reading or making matrices, summed over threads.
    pub source_seconds: f64,
    /// The case that each backend took longest for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slowest: BTreeMap<String, SlowestCase>,
}

/// The case that a backend took longest for, of those that this run judged: what an earlier one had judged (`--resume`) was not timed again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlowestCase {
    /// Its line.
    pub case: String,
    /// Inside the backend, in all calls for the case together, but for those of asking again where no answer had come in time.
    pub seconds: f64,
}

impl Timings {
    /// Notes how long a backend took for a case, where it took longer for none so far.
    pub fn note(&mut self, backend: &str, seconds: f64, case: impl FnOnce() -> String) {
        if seconds > self.slowest.get(backend).map_or(0.0, |slow| slow.seconds) {
            self.slowest.insert(backend.to_owned(), SlowestCase { case: case(), seconds });
        }
    }

    /// Where one case took a tenth of the run and more than a second: the backend, and that case. The longest first.
    pub fn conspicuous(&self) -> Vec<(&str, &SlowestCase)> {
        let long = |slow: &SlowestCase| slow.seconds > f64::max(1.0, self.total_seconds / 10.0);
        let mut found: Vec<_> = self.slowest.iter().map(|(name, slow)| (name.as_str(), slow)).collect();
        found.retain(|(_, slow)| long(slow));
        found.sort_by(|(_, a), (_, b)| b.seconds.total_cmp(&a.seconds));
        found
    }
}
