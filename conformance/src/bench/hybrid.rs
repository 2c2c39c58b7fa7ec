//! LOOPS kernels: which boundaries are timed, and what a split gains over its better part alone.
//!
//! ```text
//! boundary 0      all rows in tiles          boundary = rows   all rows in CSR
//! between         a true hybrid: both parts have rows
//! ```

use super::operands::Shared;
use super::report::{Comparison, Hybrid, Measured};
use super::statistics::ratio;
use sparse_kernels::registry::Kernel;
use sparse_oracle::format::{FormatKind, FormatParams};

/// The parameters that a kernel is timed with on these operands.
pub(super) fn variants(kernel: &Kernel, shared: &Shared) -> Vec<FormatParams> {
    if kernel.contract.format != FormatKind::Loops {
        return vec![FormatParams::default()];
    }
    let rows = shared.operands.a.shape().0 as u32;
    let mut boundaries = vec![0, rows / 2, rows];
    boundaries.dedup();
    let with = |boundary| FormatParams {
        boundary: Some(boundary),
        ..FormatParams::default()
    };
    boundaries.into_iter().map(with).collect()
}

/// What each LOOPS kernel's split gained.
pub(super) fn hybrids(comparison: &Comparison) -> Vec<Hybrid> {
    let mut names: Vec<&str> = comparison
        .contenders
        .iter()
        .filter(|m| boundary(m).is_some())
        .map(|m| m.name.as_str())
        .collect();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| of(comparison, name))
        .collect()
}

fn of(comparison: &Comparison, name: &str) -> Option<Hybrid> {
    let rows = comparison.rows;
    let at = |wanted: u64| {
        let mut all = comparison.contenders.iter().filter(|m| m.name == name);
        all.find(|m| boundary(m) == Some(wanted))
    };
    let split = rows / 2;
    let times = |m: &Measured| m.speed.as_ref().map(|speed| (speed.median, speed.rounds.clone()));
    let parts = [at(0).and_then(times), at(rows).and_then(times)];
    let better = parts.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    let chosen = at(split).and_then(times);
    Some(Hybrid {
        kernel: name.to_owned(),
        matrix: comparison.matrix.clone(),
        rows,
        boundary: split,
        chosen_by: "half the rows".to_owned(),
        hybrid: split > 0 && split < rows,
        over_better_part: chosen
            .zip(better)
            .map(|(chosen, better)| ratio(&chosen.1, &better.1)),
    })
}

fn boundary(measured: &Measured) -> Option<u64> {
    measured.parameters.get("boundary").copied()
}
