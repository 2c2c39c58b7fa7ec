//! `--ops convert`: preprocessing on the GPU beside the conversion on all cores of the CPU, on the same matrix, in turns.
//!
//! ```text
//! CSR -> kernel on the GPU, kernel on the CPU: each judged against the oracle's encoding, array by array
//!     -> CPU: whole call    GPU: passes alone; all from CSR on the device to the format on the device; upload apart
//! ```

use super::super::operands::Shared;
use super::super::statistics::median;
use super::{DeviceOptions, DeviceReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sparse_conformance_core::origin::{Loaded, Origin};
use sparse_conformance_core::record::verdict_record;
use sparse_conformance_core::report::VerdictRecord;
use sparse_kernels::cuda::conversion_times;
use sparse_kernels::registry::{Kernel, kernels_here};
use sparse_oracle::contract::{Op, Types};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use std::time::Instant;

/// Timed conversions of each; one before them is not timed.
const ROUNDS: usize = 9;

/// One conversion of one matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conversion {
    /// The matrix, as case lines name it.
    pub matrix: String,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// The kernel on the GPU.
    pub kernel: String,
    /// The one on the CPU.
    pub beside: String,
    /// Threads of the CPU.
    pub threads: usize,
    /// True where the judge agrees with both.
    pub right: bool,
    /// What the judge said of the GPU's arrays.
    pub verdict: VerdictRecord,
    /// Seconds to copy CSR to the device.
    pub upload: f64,
    /// Median seconds from CSR on the device to the format on the device, memory and waiting for sizes included.
    pub whole: f64,
    /// Median seconds of the passes alone, by the device's clock, L2 flushed before.
    pub passes: f64,
    /// Median seconds of the conversion on the CPU, memory included.
    pub cpu: f64,
}

impl Conversion {
    /// How many times as fast as the CPU: whole, passes alone.
    #[must_use]
    pub fn against(&self) -> (f64, f64) {
        (self.cpu / self.whole, self.cpu / self.passes)
    }

    fn line(&self) -> String {
        let (whole, passes) = self.against();
        format!(
            "{} {}: {} whole {:.3} ms, passes {:.3} ms, upload {:.2} ms, {} on {} threads {:.2} ms: {whole:.1} times, passes alone {passes:.1} times",
            self.matrix,
            self.kernel,
            if self.right { "right" } else { "WRONG" },
            self.whole * 1e3,
            self.passes * 1e3,
            self.upload * 1e3,
            self.beside,
            self.threads,
            self.cpu * 1e3,
        )
    }
}

/// Every conversion from CSR that the GPU has, in the element types asked for.
pub(super) fn on_matrix(
    origin: &Origin,
    loaded: &Loaded,
    options: &DeviceOptions,
    report: &mut DeviceReport,
    shown: &mut dyn FnMut(&str),
) {
    if options.turn.is_some() {
        let reason = "the CPU is timed on all cores, without other processes: leave --turn out";
        report.skip(format!("conversions of {origin}"), reason.to_owned());
        return;
    }
    for &precision in &options.precisions {
        let ours = kernels_here().filter(|k| {
            (k.engine, k.contract.op, k.contract.types.a) == ("cuda", Op::Convert, precision)
                && k.contract.format == FormatKind::Csr
                && (options.kernels.is_empty() || options.kernels.contains(&k.name))
        });
        let ours: Vec<&Kernel> = ours
            .filter(|k| {
                options.formats.is_empty() || k.contract.to.is_some_and(|to| options.formats.contains(&to))
            })
            .collect();
        if ours.is_empty() {
            continue;
        }
        let csr = match csr(origin, loaded, precision) {
            Ok(csr) => csr,
            Err(reason) => {
                report.skip(format!("{origin} {}", precision.name()), reason);
                continue;
            }
        };
        for kernel in ours {
            match one(origin, &csr, kernel) {
                Ok(conversion) => {
                    shown(&conversion.line());
                    report.conversions.push(conversion);
                }
                Err(reason) => report.skip(format!("{} on {origin}", kernel.name), reason),
            }
        }
    }
}

/// The matrix in CSR, with values as products get them.
fn csr(origin: &Origin, loaded: &Loaded, precision: Precision) -> Result<AnySparse, String> {
    let wide = if precision == Precision::F64 { Precision::F64 } else { Precision::F32 };
    let types = Types { a: precision, b: precision, acc: wide, out: wide };
    let shared = Shared::new(origin, loaded, (Op::Spmm, types), 1).map_err(|error| error.to_string())?;
    Ok(shared.operands.a.clone())
}

fn one(origin: &Origin, csr: &AnySparse, kernel: &Kernel) -> Result<Conversion, String> {
    let to = kernel.contract.to.ok_or("no target")?;
    let params = FormatParams::default();
    // Later rows of the registry are for faster engines.
    let beside = kernels_here().filter(|k| k.contract == kernel.contract && k.engine != "cuda");
    let beside = beside.last().ok_or("no kernel for the CPU")?;
    let wanted = csr.convert(to, params).map_err(|refusal| refusal.to_string())?;
    let judged = |kernel: &Kernel| -> Result<Verdict, String> {
        match call(kernel, csr, to)? {
            (Answer::Parts(parts), _) => Ok(judge_encoded(&wanted, parts)),
            _ => Err(format!("{} returned no arrays", kernel.name)),
        }
    };
    let (verdict, reference) = (judged(kernel)?, judged(beside)?);
    let right = verdict == Verdict::Exact && reference == Verdict::Exact;
    let times = conversion_times(csr, to, params, ROUNDS).map_err(|refusal| refusal.to_string())?;
    let mut cpu = Vec::new();
    for _ in 0..ROUNDS {
        // The arrays go after the clock is read.
        let (_arrays, seconds) = call(beside, csr, to)?;
        cpu.push(seconds);
    }
    let (rows, cols) = csr.shape();
    Ok(Conversion {
        matrix: origin.to_string(),
        rows: rows as u64,
        cols: cols as u64,
        nnz: csr.nnz() as u64,
        kernel: kernel.name.clone(),
        beside: beside.name.clone(),
        threads: rayon::current_num_threads(),
        right,
        verdict: verdict_record(verdict),
        upload: times.upload,
        whole: median(&times.whole),
        passes: median(&times.passes),
        cpu: median(&cpu),
    })
}

/// Calls a kernel: what it answers, and the seconds that it took.
fn call(kernel: &Kernel, a: &AnySparse, to: FormatKind) -> Result<(Answer, f64), String> {
    let start = Instant::now();
    let params = FormatParams::default();
    let answer = (kernel.run)(Task::Convert { a, to, params }).map_err(|refusal| refusal.to_string())?;
    Ok((answer, start.elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::super::{report, to_markdown};
    use super::*;
    use sparse_conformance_core::report::Environment;

    fn conversion(right: bool) -> Conversion {
        Conversion {
            matrix: "synth:pwtk,seed=1".to_owned(),
            rows: 8,
            cols: 8,
            nnz: 16,
            kernel: "on_the_gpu".to_owned(),
            beside: "on_the_cpu".to_owned(),
            threads: 4,
            right,
            verdict: verdict_record(Verdict::Exact),
            upload: 0.002,
            whole: 0.001,
            passes: 0.0005,
            cpu: 0.02,
        }
    }

    /// A wrong conversion of ours decides the exit code as a wrong product does, and both reports name it.
    #[test]
    fn a_wrong_conversion_fails_the_bench() {
        for right in [true, false] {
            let conversion = conversion(right);
            assert!(conversion.line().ends_with("20.0 times, passes alone 40.0 times"));
            assert_eq!(conversion.line().contains("WRONG"), !right);
            let report = DeviceReport {
                schema: report::SCHEMA.to_owned(),
                suite_version: String::new(),
                environment: Environment::detect(1, Vec::new()),
                device: String::new(),
                capability: (9, 0),
                driver: 13_000,
                bandwidth: 1.0,
                peak_f32: 1.0,
                rows: Vec::new(),
                conversions: vec![conversion],
                skipped: Vec::new(),
            };
            assert_eq!(report.exit_code(), u8::from(!right));
            let text = to_markdown(&report);
            assert_eq!(text.contains("| 20.0 | 40.0 | WRONG |"), !right);
            assert_eq!(text.contains("| 20.0 | 40.0 | right |"), right);
        }
    }
}
