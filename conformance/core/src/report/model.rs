//! The report as data: what was planned, who was asked, what the oracle said, on what machine.
//!
//! Every field but `environment` and `timings` is a function of the plan and its seed: two runs with any number
//! of threads write the same bytes there. [`Report::seal`] brings cases into their one order and lists findings.

use super::environment::{Environment, Timings};
use super::evidence::{DeterminismGrade, Repeated, Reproducer};
use super::expectation::Expectation;
use super::finding::Finding;
use super::outcome::Thin;
#[cfg(feature = "files")]
use super::stored::{self, StoredCases};
use super::verdict::{Criterion, VerdictKind, VerdictRecord};
use super::worth::Worth;
use crate::shard::Shard;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// Value of [`Report::schema`]; a change that breaks readers changes the number.
pub const SCHEMA_NAME: &str = "sparse-conformance-report-2";

/// One run of the suite.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize, Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "files", serde(deny_unknown_fields))]
pub struct Report {
    /// Always [`SCHEMA_NAME`].
    #[cfg_attr(feature = "files", schemars(extend("const" = SCHEMA_NAME)))]
    pub schema: String,
    /// Version of the suite, as in Cargo.toml.
    pub suite_version: String,
    /// The machine. May differ between runs of one seed.
    pub environment: Environment,
    /// The time taken. May differ between runs of one seed.
    pub timings: Timings,
    /// What was asked for.
    pub plan: Plan,
    /// Who was asked, in the order of the columns of the scoreboard.
    pub backends: Vec<Backend>,
    /// Rows of the contract table in the plan, in the table's order.
    pub contracts: Vec<Contract>,
    /// Matrices in the plan.
    pub sources: Vec<Source>,
    /// Deviations that were known beforehand.
    #[cfg_attr(feature = "files", serde(default))]
    pub expectations: Vec<Expectation>,
    /// One record per case and backend: by contract, case line, backend. In `report.json` they are stored in columns.
    #[cfg_attr(feature = "files", serde(with = "stored"), schemars(with = "StoredCases"))]
    pub cases: Vec<CaseRecord>,
    /// Why the exit code is 1; empty for a clean run.
    pub findings: Vec<Finding>,
    /// What stands behind the verdicts, for each contract that a backend claims.
    #[cfg_attr(feature = "files", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub worth: Vec<Worth>,
    /// What was judged on too little for "clean" to mean anything. Absent: nothing.
    #[cfg_attr(feature = "files", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub thin: Vec<Thin>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// "quick", "full" or "extensive".
    pub tier: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Names of the backends.
    pub backends: Vec<String>,
    /// Names of the operations.
    pub operations: Vec<String>,
    /// Names of the element types.
    pub precisions: Vec<String>,
    /// Patterns of contracts' names that were asked for. Absent: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<String>,
    /// Matrix files given on the command line, as typed.
    pub matrices: Vec<String>,
    /// Number of different case lines.
    pub distinct_cases: u64,
    /// Digest of the case lines of the whole plan, in hex.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// True if the options left a part of the tier's plan out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub filtered: bool,
    /// True if a thin run may exit with 0 (`--allow-thin`); it is called thin all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_thin: bool,
    /// The part of the plan that this report is about; counts are those of the part. Absent: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// Something that was asked to run cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Backend {
    /// Name, as in `--backend`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// One line.
    pub description: String,
    /// The options that select a backend from outside the program, as `run` was given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// True if a run in which it runs no case fails.
    pub required: bool,
    /// Whether its bits stay from run to run.
    #[serde(default)]
    pub determinism: DeterminismGrade,
    /// Where its declared profile leaves the default semantics.
    pub deviations: Vec<Deviation>,
    /// Cases that its manifest excludes.
    pub excluded: Vec<Exclusion>,
}

/// A choice point at which a backend declares something else than the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The choice point ("duplicates").
    pub point: String,
    /// What the backend declares ("last-wins").
    pub choice: String,
    /// Why.
    pub reason: String,
}

/// Cases that a backend does not support, said beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// Which contracts or cases ("spmm.ell.*").
    pub pattern: String,
    /// Why.
    pub reason: String,
}

/// A row of the contract table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Name, `operation.format.types`.
    pub name: String,
    /// Case lines planned for it; each is offered to every backend.
    pub cases_planned: u64,
}

impl Contract {
    /// The operation: the name up to its first dot.
    #[must_use]
    pub fn operation(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// A matrix that cases are made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// How to get it again ("rmat:scale=8,seed=7", a file name).
    pub spec: String,
    /// Family ("rmat", "file").
    pub family: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub cols: u64,
    /// Number of stored entries.
    pub nnz: u64,
    /// Stored entries per row; absent for a matrix without rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_nnz: Option<RowStatistics>,
    /// Where the entries lie, coarsely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spy: Option<SpyGrid>,
}

/// Stored entries per row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RowStatistics {
    /// Fewest.
    pub min: u64,
    /// Most.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Population standard deviation.
    pub std: f64,
    /// Rows without an entry.
    pub empty: u64,
}

/// A coarse picture of where the entries lie. Row-major; 0 is an empty cell, 255 the densest one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SpyGrid {
    /// Cells per row, at most 255.
    pub width: u32,
    /// Rows of cells, at most 255.
    pub height: u32,
    /// `width * height` densities; two hex digits each in JSON.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    #[cfg_attr(feature = "files", schemars(with = "String", regex(pattern = r"^([0-9a-f]{2})*$")))]
    pub cells: Vec<u8>,
}

fn to_hex<S: Serializer>(cells: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = cells.iter().map(|cell| format!("{cell:02x}")).collect();
    serializer.serialize_str(&digits)
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return Err(D::Error::custom("spy cells have an odd number of hex digits"));
    };
    let digit = |byte: u8| (byte as char).to_digit(16).map(|d| d as u8);
    let cell = |pair: &[u8; 2]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    pairs
        .iter()
        .map(|pair| {
            cell(pair).ok_or_else(|| D::Error::custom("spy cells hold a character that is no hex digit"))
        })
        .collect()
}

/// One case on one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CaseRecord {
    /// The case line: all that is needed to run it again.
    pub case: String,
    /// Name of its contract.
    pub contract: String,
    /// Family of its source.
    pub family: String,
    /// Name of the backend.
    pub backend: String,
    /// What the oracle says.
    pub verdict: VerdictRecord,
    /// Tiers that were applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Criterion>,
    /// Largest error as a share of the bound where T1 was applied; above 1 in a wrong case; absent if not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Alternatives that this case cannot tell from the right answer ("alpha=0", "nnz=0").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degenerate: Vec<String>,
    /// Content hash of the operands, if the backend was asked: 128 bits of XXH3 in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Content hash of the bits that came back, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Findings of backends from outside the program: the options that select the backend again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Index into [`Report::expectations`] of the entry that waives the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<usize>,
    /// No answer came in time at first: this is what it gave when it was asked again after all others, with nothing beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_again: bool,
    /// What running it again gave, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// The minimal case of this failure, where it was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproducer: Option<Reproducer>,
}

impl CaseRecord {
    /// The verdict's kind, or that it is waived.
    #[must_use]
    pub fn kind(&self) -> VerdictKind {
        match self.waived {
            Some(_) => VerdictKind::Waived,
            None => self.verdict.kind(),
        }
    }

    /// True if it makes the run fail.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        self.kind().is_finding()
    }

    /// The share that a histogram shows: of the record, or of its verdict, or 0 if exact.
    #[must_use]
    pub fn share_of_bound(&self) -> Option<f64> {
        let of_verdict = match self.verdict {
            VerdictRecord::Exact => Some(0.0),
            VerdictRecord::Within { share } => Some(share),
            VerdictRecord::Wrong(_)
            | VerdictRecord::AgreedRefusal { .. }
            | VerdictRecord::LoneRefusal { .. }
            | VerdictRecord::LoneAcceptance { .. }
            | VerdictRecord::Crashed { .. }
            | VerdictRecord::TimedOut { .. }
            | VerdictRecord::Unsupported { .. }
            | VerdictRecord::NotRun { .. } => None,
        };
        self.share.or(of_verdict).filter(|share| share.is_finite())
    }
}

/// Digest of a set of case lines, in any order: the sum of their 128-bit hashes, in hex.
pub fn plan_digest<T: AsRef<[u8]>>(lines: impl IntoIterator<Item = T>) -> String {
    let sum = lines.into_iter().fold(0u128, |sum, line| sum.wrapping_add(xxh3_128(line.as_ref())));
    format!("{sum:032x}")
}

impl Report {
    /// An empty report of this version of the suite.
    #[must_use]
    pub fn new(plan: Plan, environment: Environment) -> Report {
        Report {
            schema: SCHEMA_NAME.to_owned(),
            suite_version: env!("CARGO_PKG_VERSION").to_owned(),
            environment,
            timings: Timings::default(),
            plan,
            backends: Vec::new(),
            contracts: Vec::new(),
            sources: Vec::new(),
            expectations: Vec::new(),
            cases: Vec::new(),
            findings: Vec::new(),
            worth: Vec::new(),
            thin: Vec::new(),
        }
    }

    /// Brings the cases into their one order, whatever order they finished in, marks what is waived, and lists the
    /// findings.
    pub fn seal(&mut self) {
        let contract: HashMap<&str, usize> = places(self.contracts.iter().map(|c| c.name.as_str()));
        let backend: HashMap<&str, usize> = places(self.backends.iter().map(|b| b.name.as_str()));
        let place = |of: &HashMap<&str, usize>, name: &str| of.get(name).copied().unwrap_or(usize::MAX);
        self.cases.sort_by(|a, b| {
            let key = |c: &CaseRecord| (place(&contract, &c.contract), place(&backend, &c.backend));
            let ((ca, ba), (cb, bb)) = (key(a), key(b));
            ca.cmp(&cb).then_with(|| a.case.cmp(&b.case)).then(ba.cmp(&bb))
        });
        DeterminismGrade::regrade(&mut self.backends, &self.cases);
        self.waive();
        self.findings = self.find();
    }
}

fn places<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}
