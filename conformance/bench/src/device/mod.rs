//! `conformance bench --device`: kernels for the GPU and NVIDIA's libraries side by side, by the device's clock.
//!
//! ```text
//! matrices x N x operation -> operands of each element type, drawn once
//!    -> each kernel in its format -> run once, judged -> launched again and again between events   (kernels::cuda::metered)
//!    -> bytes that must move / measured bandwidth = the time that no kernel can go below
//! ```
//!
//! A kernel that is wrong is printed, not timed against. Times are of the kernel alone, L2 flushed before each launch (cold) or
//! not (warm); preparing, copying and converting are apart.

mod convert;
mod markdown;
mod report;
mod turn;
mod workload;

pub use convert::Conversion;
pub use markdown::to_markdown;
pub use report::{DeviceReport, Row};
pub use workload::Structured;

use super::contender::{Contender, Entrant};
use super::encoded::encoded;
use super::judging::judge;
use super::operands::Shared;
use super::statistics::median;
use sparse_conformance_core::operands::Operands;
use sparse_conformance_core::origin::{Loaded, Origin};
use sparse_conformance_core::record::verdict_record;
use sparse_conformance_core::report::Environment;
use sparse_conformance_peers::OneKernel;
use sparse_kernels::cuda::{Found, Gpu, LaunchPlan, baselines, copy_bandwidth, metered, peak_f32};
use sparse_kernels::registry::{Kernel, kernels_here};
use sparse_oracle::contract::{Op, Types};
use sparse_oracle::format::{FormatKind, FormatParams};
use sparse_oracle::refusal::{EngineError, Refusal};
use sparse_oracle::scalar::Precision;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use turn::{InTurn, Turn};
use workload::touched;

/// Launches that are timed.
const PLAN: LaunchPlan = LaunchPlan { cold: 21, warm: 50 };

/// What to measure.
#[derive(Debug)]
pub struct DeviceOptions {
    /// Operations: spmm, sddmm; convert for preprocessing.
    pub ops: Vec<Op>,
    /// Element types of the operands.
    pub precisions: Vec<Precision>,
    /// Formats of kernels of ours; none for all.
    pub formats: Vec<FormatKind>,
    /// Kernels of ours by name; none for all.
    pub kernels: Vec<String>,
    /// The matrices.
    pub origins: Vec<Origin>,
    /// Products of N:M pattern.
    pub structured: Vec<Structured>,
    /// Columns of B and C, inner extent of SDDMM.
    pub ns: Vec<usize>,
    /// Files with fewer entries are left out.
    pub fewest_entries: usize,
    /// Most products of elements that are judged for each contender.
    pub judged_terms: u64,
    /// A file whose lock is held while the GPU is used, where several such processes run side by side.
    pub turn: Option<PathBuf>,
}

/// Measures everything. `shown` is told what is going on, line by line; `keep` gets the report after each matrix, so that one who is
/// interrupted loses no more than that.
///
/// # Errors
/// No GPU, or one that does not do what it is asked for the machine's own figures; a file for turns that can't be locked.
pub fn run(
    options: &DeviceOptions,
    shown: &mut dyn FnMut(&str),
    keep: &mut dyn FnMut(&DeviceReport),
) -> Result<DeviceReport, Refusal> {
    let gpu = Gpu::get()?;
    let found = Found::first().map_err(|error| EngineError::from(error.clone()))?;
    let failed = |error: std::io::Error| {
        Refusal::Engine(EngineError::Device { device: "CUDA", reason: format!("turns on the GPU: {error}") })
    };
    let turn = Turn::new(options.turn.as_deref()).map_err(failed)?;
    let (bandwidth, peak_f32) = turn.take(|| (copy_bandwidth(gpu), peak_f32(gpu))).map_err(failed)?;
    let mut report = DeviceReport {
        schema: report::SCHEMA.to_owned(),
        suite_version: env!("CARGO_PKG_VERSION").to_owned(),
        environment: Environment::here(rayon::current_num_threads()),
        device: found.name().to_owned(),
        capability: found.capability(),
        driver: found.driver_version()?,
        bandwidth: bandwidth?,
        peak_f32: peak_f32?,
        rows: Vec::new(),
        conversions: Vec::new(),
        skipped: Vec::new(),
    };
    shown(&report.heading());
    for origin in &options.origins {
        match origin.load() {
            Ok(loaded) => on_matrix(origin, &loaded, (options, &turn), &mut report, shown),
            Err(error) => report.skip(origin.to_string(), error.to_string()),
        }
        report.compare();
        keep(&report);
    }
    for structured in &options.structured {
        for (_, types) in groups(options).into_iter().filter(|group| group.0 == Op::Spmm) {
            let made: Vec<_> = structured.shared(types).collect();
            // 2:4 comes beside N:M where its instruction knows the pattern: that it doesn't is no gap.
            if !made.iter().any(|shared| shared.case.contract.format == FormatKind::Nm) {
                let reason = "N:M has no such product of these element types or extents".to_owned();
                report.skip(format!("{structured} {types}"), reason);
            }
            for shared in made {
                one(&shared, (options, &turn), &mut report, shown);
                report.compare();
                keep(&report);
            }
        }
    }
    Ok(report)
}

fn on_matrix(
    origin: &Origin,
    loaded: &Loaded,
    (options, turn): (&DeviceOptions, &Turn),
    report: &mut DeviceReport,
    shown: &mut dyn FnMut(&str),
) {
    let entries = loaded.coo.nnz();
    if matches!(origin, Origin::File(_)) && entries < options.fewest_entries {
        let reason = format!("{entries} entries, fewer than {}", options.fewest_entries);
        report.skip(origin.to_string(), reason);
        return;
    }
    for &n in &options.ns {
        for (op, types) in groups(options) {
            match Shared::new(origin, loaded, (op, types), n) {
                Ok(shared) => one(&shared, (options, turn), report, shown),
                Err(error) => report.skip(format!("{origin} n={n}"), error.to_string()),
            }
        }
    }
    if options.ops.contains(&Op::Convert) {
        convert::on_matrix(origin, loaded, options, report, shown);
    }
}

/// Operations and element types that a contender here has.
fn groups(options: &DeviceOptions) -> Vec<(Op, Types)> {
    let mut groups = Vec::new();
    for kernel in contenders(options) {
        let group = (kernel.contract.op, kernel.contract.types);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The kernels for the GPU and the libraries that fit the options.
fn contenders(options: &DeviceOptions) -> Vec<Kernel> {
    fn named<T: PartialEq>(list: &[T], value: &T) -> bool {
        list.is_empty() || list.contains(value)
    }
    let ours = kernels_here().filter(|k| {
        k.engine == "cuda" && named(&options.formats, &k.contract.format) && named(&options.kernels, &k.name)
    });
    let here = baselines().iter().filter(|library| library.is_here());
    let fits = |k: &&Kernel| {
        options.ops.contains(&k.contract.op)
            && k.contract.op != Op::Convert
            && options.precisions.contains(&k.contract.types.a)
            && k.contract.types.out == k.contract.types.acc
    };
    let libraries = here.flat_map(|library| library.kernels.iter());
    ours.chain(libraries).filter(fits).cloned().collect()
}

/// Every contender on these operands.
fn one(
    shared: &Shared,
    (options, turn): (&DeviceOptions, &Turn),
    report: &mut DeviceReport,
    shown: &mut dyn FnMut(&str),
) {
    let contract = shared.case.contract;
    let mut encodings: BTreeMap<FormatKind, Result<(Arc<Operands>, f64), String>> = BTreeMap::new();
    let dense_bytes = touched(shared);
    for kernel in contenders(options) {
        let format = kernel.contract.format;
        let fits = (kernel.contract.op, kernel.contract.types) == (contract.op, contract.types);
        if !fits || format != contract.format && (is_pattern(format) || is_pattern(contract.format)) {
            continue;
        }
        let made = encodings.entry(format).or_insert_with(|| {
            if format == contract.format {
                Ok((Arc::clone(&shared.operands), 0.0))
            } else {
                encoded(shared, format, FormatParams::default())
            }
        });
        let (operands, conversion) = match made {
            Ok((operands, seconds)) => (Arc::clone(operands), *seconds),
            Err(reason) => {
                report.skip(format!("{} on {}", kernel.name, shared.case.origin), reason.clone());
                continue;
            }
        };
        let mut case = shared.case.clone();
        case.contract.format = format;
        let backend = OneKernel::new(kernel.clone());
        let entrant = Entrant {
            backend: &backend,
            peer: false,
            case,
            operands: Arc::clone(&operands),
            split: None,
            conversion,
        };
        let mut contender = match Contender::prepare(&entrant) {
            Ok(contender) => contender.wrapped(|prepared| Box::new(InTurn { prepared, turn })),
            Err(reason) => {
                report.skip(format!("{} on {}", kernel.name, shared.case.origin), reason);
                continue;
            }
        };
        let (judged, times) = metered(PLAN, || judge(&mut contender, options.judged_terms));
        let times = times.unwrap_or_default();
        let bytes = contender.sparse_bytes() + dense_bytes;
        let row = Row {
            matrix: shared.case.origin.to_string(),
            case: shared.case.to_string(),
            op: contract.op.name().to_owned(),
            rows: operands.a.shape().0 as u64,
            cols: operands.a.shape().1 as u64,
            nnz: shared.nnz as u64,
            n: shared.case.params.n as u64,
            kernel: kernel.name.clone(),
            ours: kernels_here().any(|k| k.name == kernel.name),
            input: contract.types.a.name().to_owned(),
            right: judged.is_right(),
            tiers: judged.tiers.iter().map(|tier| format!("{tier:?}")).collect(),
            judged: judged.share,
            verdict: verdict_record(judged.verdict),
            conversion,
            preparation: times.preparation,
            // JSON has no NaN: 0 where it was not timed.
            cold: if times.cold.is_empty() { 0.0 } else { median(&times.cold) },
            warm: times.warm,
            bytes,
            bound: bytes as f64 / report.bandwidth,
            operations: shared.operations(),
            against: None,
        };
        shown(&row.line());
        report.rows.push(row);
    }
}

/// Formats that hold matrices of one pattern only.
fn is_pattern(format: FormatKind) -> bool {
    matches!(format, FormatKind::Nm | FormatKind::Vnm | FormatKind::TwoFour)
}
