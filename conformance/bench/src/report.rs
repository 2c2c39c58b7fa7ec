//! What a bench run found, as data: `bench.json` is this, and so are the table and the page. See `docs/bench.md`.

use super::machine::Machine;
use super::statistics::Ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sparse_conformance_core::report::{Environment, VerdictRecord};
use std::collections::BTreeMap;

/// Name and version of this structure.
pub const SCHEMA: &str = "sparse-bench/1";

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the suite.
    pub suite_version: String,
    /// Machine, compiler, command, start.
    pub environment: Environment,
    /// What the machine can do at most, measured.
    pub machine: Machine,
    /// The preset, if one was named.
    pub preset: Option<String>,
    /// Columns of B and C (SDDMM: inner dimension).
    pub n: u64,
    /// Threads of contenders that use several.
    pub threads: u64,
    /// Seconds for each measurement.
    pub seconds: f64,
    /// Most products of elements that were judged per contender; beyond it a sample of the rows.
    pub judged_terms: u64,
    /// The peers asked for.
    pub peers: Vec<PeerRecord>,
    /// One entry per matrix, operation and element types.
    pub comparisons: Vec<Comparison>,
    /// What was asked for and not measured, with the reason.
    pub skipped: Vec<Skipped>,
    /// Over all matrices.
    pub summary: Vec<Summary>,
    /// What hybrids chose, one entry per comparison with a LOOPS kernel.
    pub hybrids: Vec<Hybrid>,
}

/// A library that kernels are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerRecord {
    /// `sprs`, `nalgebra-sparse`, `mkl`.
    pub name: String,
    /// Its version; empty where it is absent.
    pub version: String,
    /// Threads that it uses.
    pub threads: u64,
    /// How it is called, where it was found; or why it is absent.
    pub note: String,
    /// False where it could not be had.
    pub present: bool,
}

/// Everyone on one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The matrix, as case lines name it.
    pub matrix: String,
    /// The operation.
    pub op: String,
    /// Element types of both operands, accumulator and result.
    pub types: String,
    /// Replays the operands: `conformance replay CASE`.
    pub case: String,
    /// Rows of A.
    pub rows: u64,
    /// Columns of A.
    pub cols: u64,
    /// Stored entries of A.
    pub nnz: u64,
    /// Multiplications and additions of one product.
    pub operations: u64,
    /// Rounds that were timed.
    pub rounds: u64,
    /// Kernels in the order of the registry, then peers.
    pub contenders: Vec<Measured>,
}

/// One kernel or peer on one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Kernel or peer.
    pub name: String,
    /// True for peers.
    pub peer: bool,
    /// Parameters of its format that are not the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, u64>,
    /// What the judge said about it on these operands.
    pub verdict: VerdictRecord,
    /// Tiers that decided elements.
    pub tiers: Vec<String>,
    /// Share of the elements that were judged.
    pub judged: f64,
    /// The command that shows the verdict again, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Seconds to encode, copy or optimise; not in the times.
    pub preparation: f64,
    /// Bytes that must move: its arrays of A, B and C, each once.
    pub bytes: u64,
    /// The times; absent for what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
}

/// How fast it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Speed {
    /// Median seconds of a call.
    pub median: f64,
    /// Fastest round.
    pub fastest: f64,
    /// 10^9 operations per second, by the median.
    pub gflops: f64,
    /// Bytes that must move by time, as a share of the measured bandwidth. Above 1: the caches hold some of it.
    pub bandwidth_share: f64,
    /// Operations per second as a share of the measured peak; 0 for element types that no peak is measured for.
    pub peak_share: f64,
    /// Timed calls in a round.
    pub calls: u64,
    /// Mean seconds of a call, round by round.
    pub rounds: Vec<f64>,
    /// How many times as fast as each peer that was timed; empty for peers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub against: BTreeMap<String, Ratio>,
}

/// [`Skipped::on`] of a matrix that could not be read.
pub(super) const UNREAD: &str = "not read";

/// Something that was asked for and not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// Matrix, kernel or peer.
    pub what: String,
    /// Where, if not everywhere.
    pub on: String,
    /// Why.
    pub reason: String,
}

/// One kernel against one peer over all matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The kernel, with its parameters where they are not the default.
    pub kernel: String,
    /// True where a preset names it for its claim.
    pub claimed: bool,
    /// The peer.
    pub peer: String,
    /// Matrices that both were timed on.
    pub matrices: u64,
    /// Geometric mean of the ratios.
    pub mean: f64,
    /// The smallest ratio, with its interval.
    pub worst: Ratio,
    /// Where that was.
    pub worst_matrix: String,
}

/// What a hybrid made of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hybrid {
    /// The kernel.
    pub kernel: String,
    /// The matrix.
    pub matrix: String,
    /// Rows of it.
    pub rows: u64,
    /// Rows of the CSR part.
    pub boundary: u64,
    /// Who chose it: `scheduler`, or `half the rows` where there is none.
    pub chosen_by: String,
    /// Threads of the CSR part and of the tile part; absent where no scheduler chose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<[u32; 2]>,
    /// True where both parts have rows.
    pub hybrid: bool,
    /// Speed of the chosen split over that of the better of the two parts alone.
    pub over_better_part: Option<Ratio>,
}

impl Measured {
    /// True where a scheduler chose the threads of both parts, and maybe one part alone.
    #[must_use]
    pub fn is_planned(&self) -> bool {
        self.parameters.contains_key("csr_threads")
    }

    /// The name with its parameters: `spmm_loops_..__avx512 boundary=7`.
    #[must_use]
    pub fn label(&self) -> String {
        let words = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.name, words.collect::<String>())
    }

    /// True where the judge found it wrong.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        !matches!(self.verdict, VerdictRecord::Exact | VerdictRecord::Within { .. })
    }
}

impl BenchReport {
    /// Contenders that were not right, with where.
    pub fn wrong(&self) -> impl Iterator<Item = (&Comparison, &Measured)> {
        self.comparisons.iter().flat_map(Comparison::wrong)
    }

    /// 1 where a kernel of ours was wrong, else 2 where a matrix could not be read.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.wrong().any(|(_, measured)| !measured.peer) {
            return 1;
        }
        2 * u8::from(self.skipped.iter().any(|skipped| skipped.on == UNREAD))
    }
}

impl Comparison {
    /// Those that are ours.
    pub fn kernels(&self) -> impl Iterator<Item = &Measured> {
        self.contenders.iter().filter(|m| !m.peer)
    }

    fn wrong(&self) -> impl Iterator<Item = (&Comparison, &Measured)> {
        self.contenders.iter().filter(|m| m.is_wrong()).map(move |m| (self, m))
    }
}

#[cfg(test)]
pub(crate) mod sample {
    //! A small report by hand.

    use super::*;

    /// One kernel against `sprs` on matrices of these names, with these ratios.
    pub(crate) fn report(ratios: &[(&str, f64)]) -> BenchReport {
        let comparisons = ratios.iter().map(|&(matrix, ratio)| comparison(matrix, ratio)).collect();
        BenchReport {
            schema: SCHEMA.to_owned(),
            suite_version: "0".to_owned(),
            environment: Environment::default(),
            machine: Machine {
                bandwidth: 10.0,
                peak_f32: 100.0,
                peak_f64: 50.0,
                vector_bits: 256,
                caches: vec![(1, 32768)],
                load_before: Some(0.5),
            },
            preset: None,
            n: 32,
            threads: 2,
            seconds: 1.0,
            judged_terms: 1,
            peers: Vec::new(),
            comparisons,
            skipped: vec![Skipped {
                what: "mkl".to_owned(),
                on: "one".to_owned(),
                reason: "it is <absent>".to_owned(),
            }],
            summary: Vec::new(),
            hybrids: Vec::new(),
        }
    }

    fn comparison(matrix: &str, ratio: f64) -> Comparison {
        let speed = |median: f64, against: BTreeMap<String, Ratio>| Speed {
            median,
            fastest: median,
            gflops: 1.0 / median,
            bandwidth_share: 0.5,
            peak_share: 0.25,
            calls: 1,
            rounds: vec![median; 3],
            against,
        };
        let measured = |name: &str, peer: bool, speed: Option<Speed>| Measured {
            name: name.to_owned(),
            peer,
            parameters: BTreeMap::new(),
            verdict: VerdictRecord::Exact,
            tiers: vec!["T2".to_owned()],
            judged: 1.0,
            replay: None,
            preparation: 0.0,
            bytes: 8,
            speed,
        };
        let interval = Ratio { ratio, low: ratio / 2.0, high: ratio * 2.0 };
        let against = BTreeMap::from([("sprs".to_owned(), interval)]);
        Comparison {
            matrix: matrix.to_owned(),
            op: "spmm".to_owned(),
            types: "f32_f32_f32_f32".to_owned(),
            case: format!("spmm.csr.f32_f32_f32_f32/{matrix}"),
            rows: 4,
            cols: 4,
            nnz: 4,
            operations: 256,
            rounds: 3,
            contenders: vec![
                measured("spmm_csr_f32_f32_f32_f32__portable", false, Some(speed(1.0, against))),
                measured("sprs", true, Some(speed(ratio, BTreeMap::new()))),
            ],
        }
    }
}
