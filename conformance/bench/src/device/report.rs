//! What a run on the device found, as data.

use super::convert::Conversion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sparse_conformance_core::report::{Environment, VerdictRecord};

/// Name and version of this structure.
pub(super) const SCHEMA: &str = "sparse-device-bench/1";

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceReport {
    /// `sparse-device-bench/1`.
    pub schema: String,
    /// Version of the suite.
    pub suite_version: String,
    /// Machine, compiler, command, start.
    pub environment: Environment,
    /// The GPU's product name.
    pub device: String,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// CUDA version that the driver supports: 13000 for 13.0.
    pub driver: i32,
    /// Bytes per second that a copy on the device reads and writes; best of its repetitions.
    pub bandwidth: f64,
    /// Fused multiply-adds of f32 per second, twice; best of its repetitions.
    pub peak_f32: f64,
    /// One row for each kernel on each matrix.
    pub rows: Vec<Row>,
    /// One for each conversion of each matrix, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<Conversion>,
    /// What was not measured, and why.
    pub skipped: Vec<(String, String)>,
}

/// One kernel on one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The matrix, as case lines name it.
    pub matrix: String,
    /// Replays the operands, but for products of N:M pattern.
    pub case: String,
    /// The operation.
    pub op: String,
    /// Rows of A as stored.
    pub rows: u64,
    /// Columns of A as stored.
    pub cols: u64,
    /// Stored entries of A.
    pub nnz: u64,
    /// Columns of B and C, inner extent of SDDMM.
    pub n: u64,
    /// Who.
    pub kernel: String,
    /// False for NVIDIA's libraries.
    pub ours: bool,
    /// Element type of the operands.
    pub input: String,
    /// True where the judge agrees.
    pub right: bool,
    /// What the judge said.
    pub verdict: VerdictRecord,
    /// Tiers that decided elements.
    pub tiers: Vec<String>,
    /// Share of the elements that were judged.
    pub judged: f64,
    /// Seconds to convert CSR to the format on the CPU.
    pub conversion: f64,
    /// Seconds to prepare the format on the device.
    pub preparation: f64,
    /// Median seconds of a launch with L2 flushed before; 0 where it was not timed.
    pub cold: f64,
    /// Mean seconds of a launch in a row of launches.
    pub warm: f64,
    /// Bytes that must move: the format's arrays, the rows of B that are named, C.
    pub bytes: u64,
    /// Seconds that these bytes take at the measured bandwidth.
    pub bound: f64,
    /// Multiplications and additions.
    pub operations: u64,
    /// How many times as fast as the fastest f32 product of NVIDIA's on the same matrix: cold, warm.
    pub against: Option<(f64, f64)>,
}

impl Row {
    /// True for what can be compared.
    pub(super) fn is_timed(&self) -> bool {
        self.right && self.cold > 0.0 && self.warm > 0.0
    }

    /// On one line.
    pub(super) fn line(&self) -> String {
        let name = self.matrix.rsplit('/').next().unwrap_or_default();
        format!(
            "{name} n={} {}: {} {} cold {:.2} us, warm {:.2} us, {:.0} % of the byte bound, {:.1} GFLOP/s",
            self.n,
            self.kernel,
            if self.right { "right" } else { "WRONG" },
            self.tiers.join("+"),
            self.cold * 1e6,
            self.warm * 1e6,
            100.0 * self.bound / self.cold,
            self.operations as f64 / self.cold / 1e9,
        )
    }

    fn problem(&self) -> (&str, &str, &str, u64) {
        // A case line names pattern, shape and seed, but for its element types.
        let rest = self.case.split_once('/').map_or("", |(_, rest)| rest);
        (&self.matrix, &self.op, rest, self.n)
    }
}

impl DeviceReport {
    /// Notes what is left out.
    pub(super) fn skip(&mut self, what: String, reason: String) {
        self.skipped.push((what, reason));
    }

    /// The device on one line.
    pub(super) fn heading(&self) -> String {
        format!(
            "{}, compute capability {}.{}, driver for CUDA {}.{}, copies {:.2} TB/s, f32 {:.1} TFLOP/s",
            self.device,
            self.capability.0,
            self.capability.1,
            self.driver / 1000,
            self.driver % 1000 / 10,
            self.bandwidth / 1e12,
            self.peak_f32 / 1e12
        )
    }

    /// Fills in [`Row::against`].
    pub(super) fn compare(&mut self) {
        let best = |row: &Row, time: fn(&Row) -> f64| {
            let peers = self.rows.iter().filter(|peer| {
                !peer.ours && peer.is_timed() && peer.input == "f32" && peer.problem() == row.problem()
            });
            peers.map(time).fold(f64::INFINITY, f64::min)
        };
        let compared = |row: &Row| {
            let (cold, warm) = (best(row, |peer| peer.cold), best(row, |peer| peer.warm));
            (row.is_timed() && cold.is_finite()).then(|| (cold / row.cold, warm / row.warm))
        };
        let against: Vec<_> = self.rows.iter().map(compared).collect();
        for (row, against) in self.rows.iter_mut().zip(against) {
            row.against = against;
        }
    }

    /// 1 where a kernel of ours was wrong.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let product = self.rows.iter().any(|row| row.ours && !row.right);
        u8::from(product || self.conversions.iter().any(|conversion| !conversion.right))
    }
}
