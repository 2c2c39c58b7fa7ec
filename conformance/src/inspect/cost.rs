//! What a distribution costs: Libra's hybrid against either unit alone, and RS-Tile's partition over its threshold.
//!
//! ```text
//! entries -> vectors of 8-row windows -> work of both units      Libra, figures 13 and 14
//! entries -> partition at tau 0..8, both rules                   RSH-SpMM, figure 14
//! ```
//!
//! Counts, not times: elements fetched (for one column of the dense operand in SpMM, one inner step in SDDMM), and entries
//! over the slots that the tensor cores multiply.

use super::numbers::ratio;
use serde::Serialize;
use sparse_oracle::Refusal;
use sparse_oracle::format::{Entries, FormatParams, ImpactRule};
use sparse_schedules::libra::{Profile, SDDMM_ETA, SPMM_ETA, UsedUnits, Work, sddmm_work, spmm_work};
use sparse_schedules::rs_tile::{Statistics, sweep};

/// Thresholds of the sweep.
pub const TAUS: [u32; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// Libra's work, or why its parameters are refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Costs {
    /// SpMM, then SDDMM.
    Counted(Vec<Cost>),
    /// The formats refuse the parameters too.
    Refused(String),
}

/// Work of one operation by mode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// `spmm` or `sddmm`.
    pub op: &'static str,
    /// Density from which the hybrid uses tensor cores, in 1/128.
    pub eta: u32,
    /// Hybrid, tensor cores alone, CUDA cores alone.
    pub modes: Vec<ModeCost>,
}

/// One way to do it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeCost {
    /// `hybrid`, `tensor only` or `cuda only`.
    pub mode: &'static str,
    /// Entries on tensor cores.
    pub tensor: u64,
    /// Entries on CUDA cores.
    pub cuda: u64,
    /// Blocks of the tensor cores.
    pub blocks: u64,
    /// Entries over slots of those blocks; `None` without blocks.
    pub utilisation: Option<f64>,
    /// Elements of dense operands fetched.
    pub access: u64,
    /// The same over that of CUDA cores alone; `None` without entries.
    pub access_to_cuda: Option<f64>,
}

/// RS-Tile's partition at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// `tau_nnz`.
    pub tau: u32,
    /// Rows that overlap little go to CUDA cores, as the text describes it.
    pub as_described: Partition,
    /// Rows that add few columns go to CUDA cores, as Algorithm 1 is printed.
    pub as_printed: Partition,
}

/// Densities of one partition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Partition {
    /// Mean entries of a block; 0 without blocks.
    pub per_tile: f64,
    /// Mean entries of a window; 0 without windows.
    pub per_window: f64,
    /// Share of the entries on CUDA cores.
    pub cuda_share: f64,
}

/// The costs of both operations.
#[must_use]
pub fn costs(entries: &Entries<f64>, params: &FormatParams) -> Costs {
    match both(entries, params) {
        Ok(costs) => Costs::Counted(costs),
        Err(refusal) => Costs::Refused(refusal.to_string()),
    }
}

fn both(entries: &Entries<f64>, params: &FormatParams) -> Result<Vec<Cost>, Refusal> {
    let profile = Profile::of(entries)?;
    let spmm = |mode| spmm_work(&profile, mode, params.kb, params.fill);
    let sddmm = |mode| sddmm_work(&profile, mode);
    Ok(vec![
        cost("spmm", params.eta.unwrap_or(SPMM_ETA), spmm)?,
        cost("sddmm", params.eta.unwrap_or(SDDMM_ETA), sddmm)?,
    ])
}

fn cost(
    op: &'static str,
    eta: u32,
    work: impl Fn(UsedUnits) -> Result<Work, Refusal>,
) -> Result<Cost, Refusal> {
    let all = work(UsedUnits::CudaOnly)?.access();
    let modes = [
        ("hybrid", UsedUnits::Hybrid { eta }),
        ("tensor only", UsedUnits::TensorOnly),
        ("cuda only", UsedUnits::CudaOnly),
    ];
    let row = |(mode, how)| {
        let work = work(how)?;
        Ok(ModeCost {
            mode,
            tensor: work.tensor_nnz,
            cuda: work.cuda_nnz,
            blocks: work.tensor_blocks,
            utilisation: work.utilisation(),
            access: work.access(),
            access_to_cuda: ratio(work.access(), all),
        })
    };
    let modes = modes.into_iter().map(row).collect::<Result<_, Refusal>>()?;
    Ok(Cost { op, eta, modes })
}

/// RS-Tile's partitions by threshold, under both rules.
#[must_use]
pub fn partitions(entries: &Entries<f64>) -> Vec<Step> {
    let of = |rule| sweep(entries, rule, &TAUS).iter().map(partition).collect::<Vec<_>>();
    let (described, printed) = (of(ImpactRule::AsDescribed), of(ImpactRule::AsPrinted));
    let rules = described.into_iter().zip(printed);
    let step = |(tau, (as_described, as_printed))| Step { tau, as_described, as_printed };
    TAUS.into_iter().zip(rules).map(step).collect()
}

fn partition(counts: &Statistics) -> Partition {
    Partition {
        per_tile: counts.nnz_per_block(),
        per_window: counts.nnz_per_window(),
        cuda_share: counts.cuda_share(),
    }
}
