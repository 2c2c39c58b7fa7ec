//! LOOPS kernels: which boundaries are timed, and what the scheduler's split gains over its better part alone.
//!
//! ```text
//! boundary 0      all rows in tiles          boundary = rows   all rows in CSR
//! between         a true hybrid: both parts have rows, where the scheduler of sparse-kernels put the boundary
//! ```

use super::operands::Shared;
use super::report::{Comparison, Hybrid, Measured};
use super::statistics::ratio;
use sparse_kernels::registry::Kernel;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FormatKind, FormatParams};
use std::time::Instant;

/// How one kernel's operands are encoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Variation {
    pub(super) params: FormatParams,
    /// Who chose the boundary; absent where it is one of the two ends.
    pub(super) chosen_by: Option<&'static str>,
    /// Seconds that the choice took.
    pub(super) seconds: f64,
}

/// The boundary of a comparison's hybrids, by kernel.
pub(super) type Chosen = Vec<(String, u64, &'static str)>;

/// The encodings that a kernel is timed with on these operands.
///
/// # Errors
/// The scheduler's.
pub(super) fn variations(kernel: &Kernel, shared: &Shared) -> Result<Vec<Variation>, String> {
    if kernel.contract.format != FormatKind::Loops || kernel.contract.op != Op::Spmm {
        return Ok(vec![Variation::default()]);
    }
    let rows = shared.operands.a.shape().0 as u32;
    let start = Instant::now();
    let (params, chosen_by) = match schedule(kernel, shared)? {
        Some(params) => (params, "scheduler"),
        None => (with_boundary(FormatParams::default(), rows / 2), "half the rows"),
    };
    let chosen = Variation { params, chosen_by: Some(chosen_by), seconds: start.elapsed().as_secs_f64() };
    let ends = [0, rows].into_iter().filter(|&end| params.boundary != Some(end));
    let end = |end| Variation { params: with_boundary(params, end), ..Variation::default() };
    Ok(ends.map(end).chain([chosen]).collect())
}

fn with_boundary(params: FormatParams, boundary: u32) -> FormatParams {
    FormatParams { boundary: Some(boundary), ..params }
}

/// The scheduler's plan, calibrated on a sample of the rows of these very operands.
#[cfg(target_arch = "x86_64")]
fn schedule(kernel: &Kernel, shared: &Shared) -> Result<Option<FormatParams>, String> {
    use sparse_conformance_core::operands::Operands;
    use sparse_kernels::Engine;
    use sparse_kernels::x86::plan_with;

    let Some(engine @ (Engine::Avx512 | Engine::Avx2)) = Engine::from_name(kernel.engine) else {
        return Ok(None);
    };
    let Operands { a, b: Some(b), result: (rows, _), .. } = shared.operands.as_ref() else {
        return Ok(None);
    };
    let wanted = (rows / SAMPLED).max(FEWEST).min(*rows);
    let tiles = (wanted, FormatParams::DEFAULT.br);
    let plan = plan_with(a, b.as_ref(), kernel.contract.types.out, tiles, engine);
    plan.map(|plan| Some(plan.params())).map_err(|error| format!("the scheduler: {error}"))
}

/// One row in so many is in the scheduler's sample, but no fewer rows than this.
#[cfg(target_arch = "x86_64")]
const SAMPLED: usize = 16;
#[cfg(target_arch = "x86_64")]
const FEWEST: usize = 4096;

#[cfg(not(target_arch = "x86_64"))]
fn schedule(_: &Kernel, _: &Shared) -> Result<Option<FormatParams>, String> {
    Ok(None)
}

/// What each split gained.
pub(super) fn hybrids(comparison: &Comparison, chosen: &Chosen) -> Vec<Hybrid> {
    let of = |(kernel, boundary, by): &(String, u64, &'static str)| {
        let rows = comparison.rows;
        let at = |wanted: u64| {
            let mut all = comparison.contenders.iter().filter(|m| m.name == *kernel);
            all.find(|m| m.parameters.get("boundary") == Some(&wanted))
        };
        let times = |m: &Measured| m.speed.as_ref().map(|speed| (speed.median, speed.rounds.clone()));
        let parts = [at(0).and_then(times), at(rows).and_then(times)];
        let better = parts.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        let split = at(*boundary).and_then(times);
        Hybrid {
            kernel: kernel.clone(),
            matrix: comparison.matrix.clone(),
            rows,
            boundary: *boundary,
            chosen_by: (*by).to_owned(),
            hybrid: *boundary > 0 && *boundary < rows,
            over_better_part: split.zip(better).map(|(split, better)| ratio(&split.1, &better.1)),
        }
    };
    chosen.iter().map(of).collect()
}
