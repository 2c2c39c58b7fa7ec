//! LOOPS kernels: which boundaries are timed, and what the scheduler's split gains over its better part alone.
//!
//! ```text
//! boundary 0      all rows in tiles          boundary = rows   all rows in CSR
//! between         a true hybrid: both parts have rows, where the scheduler of sparse-kernels put the boundary
//! ```

use super::operands::Shared;
use super::report::{Comparison, Hybrid, Measured};
use super::statistics::ratio;
use sparse_conformance_core::operands::Operands;
use sparse_conformance_peers::OneKernel;
use sparse_kernels::Split;
use sparse_kernels::planned::{plan_with, tile_rows};
use sparse_kernels::registry::Kernel;
use sparse_kernels::schedule::Plan;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FormatKind, FormatParams};
use std::time::Instant;

/// How one kernel's operands are encoded and computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Variation {
    pub(super) params: FormatParams,
    /// Workers of each part, where the scheduler chose them.
    pub(super) split: Option<Split>,
    /// Who chose the boundary; absent where it is one of the two ends.
    pub(super) chosen_by: Option<&'static str>,
    /// Seconds that the choice took.
    pub(super) seconds: f64,
}

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
    let plan = schedule(kernel, shared)?;
    let (params, chosen_by) = match plan {
        Some(plan) => (plan.params(), "scheduler"),
        None => (with_boundary(FormatParams::default(), rows / 2), "half the rows"),
    };
    let seconds = start.elapsed().as_secs_f64();
    let chosen = Variation { params, split: plan.map(Split::from), chosen_by: Some(chosen_by), seconds };
    let end = |end| Variation { params: with_boundary(params, end), ..Variation::default() };
    Ok(vec![end(0), end(rows), chosen])
}

fn with_boundary(params: FormatParams, boundary: u32) -> FormatParams {
    FormatParams { boundary: Some(boundary), ..params }
}

/// The scheduler's plan, calibrated on a sample of the rows of these very operands; `None` for a kernel whose parts take no workers of
/// their own.
fn schedule(kernel: &Kernel, shared: &Shared) -> Result<Option<Plan>, String> {
    let Operands { a, b: Some(b), result: (rows, _), .. } = shared.operands.as_ref() else {
        return Ok(None);
    };
    if kernel.run_split.is_none() {
        return Ok(None);
    }
    let wanted = (rows / SAMPLED).max(FEWEST).min(*rows);
    let plan = plan_with(kernel, a, b.as_ref(), (wanted, tile_rows(kernel)));
    plan.map(Some).map_err(|error| format!("the scheduler: {error}"))
}

/// One row in so many is in the scheduler's sample, but no fewer rows than this.
const SAMPLED: usize = 16;
const FEWEST: usize = 4096;

/// What each split gained.
pub(super) fn hybrids(comparison: &Comparison, ways: &[(OneKernel, Variation)]) -> Vec<Hybrid> {
    let of = |(kernel, way): &(OneKernel, Variation)| {
        let (by, boundary) = (way.chosen_by?, u64::from(way.params.boundary?));
        let kernel = &kernel.kernel().name;
        let rows = comparison.rows;
        let of_kernel = || comparison.contenders.iter().filter(|m| m.name == *kernel);
        let end = |end| of_kernel().find(|m| !m.is_planned() && m.parameters.get("boundary") == Some(&end));
        let of_plan = |m: &&Measured| {
            m.is_planned() == way.split.is_some() && m.parameters.get("boundary") == Some(&boundary)
        };
        let times = |m: &Measured| m.speed.as_ref().map(|speed| (speed.median, speed.rounds.clone()));
        let parts = [end(0).and_then(times), end(rows).and_then(times)];
        let better = parts.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        let split = of_kernel().find(of_plan).and_then(times);
        Some(Hybrid {
            kernel: kernel.clone(),
            matrix: comparison.matrix.clone(),
            rows,
            boundary,
            chosen_by: by.to_owned(),
            threads: way.split.map(|split| [split.csr as u32, split.tiles as u32]),
            hybrid: boundary > 0 && boundary < rows,
            over_better_part: split.zip(better).map(|(split, better)| ratio(&split.1, &better.1)),
        })
    };
    ways.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;
    use sparse_kernels::all_kernels;

    /// Found by a review: a plan of one part with fewer threads stood for that part too, and was compared with itself.
    #[test]
    fn a_plan_of_one_part_is_compared_with_that_part_on_all_threads() {
        let kernel =
            all_kernels().iter().find(|k| k.contract.format == FormatKind::Loops).expect("there is one");
        let mut comparison = sample::report(&[("one", 1.0)]).comparisons.remove(0);
        let of = comparison.contenders[0].clone();
        let timed = |boundary, threads: Option<u64>, seconds| {
            let mut measured = Measured { name: kernel.name.clone(), ..of.clone() };
            measured.parameters = threads.map(|x| ("csr_threads".to_owned(), x)).into_iter().collect();
            measured.parameters.insert("boundary".to_owned(), boundary);
            let speed = measured.speed.as_mut().expect("it was timed");
            (speed.median, speed.rounds) = (seconds, vec![seconds; 3]);
            measured
        };
        let rows = comparison.rows;
        comparison.contenders = vec![timed(0, None, 8.0), timed(rows, None, 1.0), timed(rows, Some(1), 2.0)];
        let way = Variation {
            params: with_boundary(FormatParams::default(), rows as u32),
            split: Some(Split { csr: 1, tiles: 0 }),
            chosen_by: Some("scheduler"),
            seconds: 0.0,
        };
        let found = hybrids(&comparison, &[(OneKernel::new(kernel.clone()), way)]);
        let ratio = found[0].over_better_part.expect("all were timed").ratio;
        assert!((ratio - 0.5).abs() < 1e-12 && !found[0].hybrid, "{ratio}");
        assert_eq!(found[0].threads, Some([1, 0]));
    }
}
