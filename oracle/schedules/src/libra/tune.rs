//! The threshold tuner: the density from which the tensor cores are worth it, by a model of the cost.
//!
//! Equation (1) without what the paper finds negligible: `T = T_mem^dense + T_compute`. With a the cost of fetching one
//! dense element, s that of one slot of a matrix instruction and e that of one multiply-add on a CUDA core,
//!
//! ```text
//! T(eta) = a * access(eta) + s * tensor_slots(eta) + e * cuda_nnz(eta)
//! ```
//!
//! The second term is the paper's "peak performance scaled by eta": a tensor core spends a slot on every position of a
//! block, entry or not. Where blocks are full, T falls as long as `a + 8 s < nnz (a + e)` for a vector of SpMM, and
//! `24 a + 128 s < nnz (2 a + e)` for a block of SDDMM, whatever the matrix: the paper's hypothesis that the best
//! threshold belongs to the hardware. Unfilled last blocks move it.

use super::{Profile, UsedUnits, Work, sddmm_work, spmm_work};
use sparse_oracle::refusal::Refusal;

/// The thresholds that the paper tries for SpMM, in 1/128: 0.125 to 1 by 0.125.
pub const SPMM_GRID: [u32; 8] = [16, 32, 48, 64, 80, 96, 112, 128];

/// The thresholds that the paper tries for SDDMM, in 1/128: 0.0625 to 0.5 by 0.0625.
pub const SDDMM_GRID: [u32; 8] = [8, 16, 24, 32, 40, 48, 56, 64];

/// Relative costs of a device, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostModel {
    /// Fetching one element of a dense operand.
    pub access: u32,
    /// One slot of a matrix instruction.
    pub tensor_slot: u32,
    /// One multiply-add on a CUDA core.
    pub cuda_entry: u32,
}

/// What the tuner found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// The cheapest threshold, in 1/128; the smallest of those that cost the same.
    pub eta: u32,
    /// Its cost.
    pub cost: u128,
    /// Every threshold tried with its cost, ascending.
    pub tried: [(u32, u128); 8],
}

impl CostModel {
    /// The smallest whole numbers for which full blocks cross over where the paper measured it, at 3 entries of 8 (0.375)
    /// and between 16 and 24 of 128 (0.1875): `(5 + 8) / (5 + 1) = 2.2` and `(24 * 5 + 128) / (2 * 5 + 1) = 22.5`. A device has its own.
    pub const PUBLISHED_OPTIMA: CostModel = CostModel { access: 5, tensor_slot: 1, cuda_entry: 1 };

    /// The modelled cost of a distribution.
    #[must_use]
    pub fn cost(&self, work: &Work) -> u128 {
        let terms = [
            (self.access, work.access()),
            (self.tensor_slot, work.tensor_slots),
            (self.cuda_entry, work.cuda_nnz),
        ];
        terms.iter().map(|&(w, count)| u128::from(w) * u128::from(count)).sum()
    }
}

/// The cheapest threshold of [`SPMM_GRID`] for blocks of `kb` columns. Equal costs: the smaller threshold, which keeps
/// more on the tensor cores.
///
/// # Errors
/// A `kb` other than 4, 8, 16.
pub fn tune_spmm(profile: &Profile, model: &CostModel, kb: u32, fill: bool) -> Result<Tuned, Refusal> {
    tune(SPMM_GRID, model, |mode| spmm_work(profile, mode, kb, fill))
}

/// The cheapest threshold of [`SDDMM_GRID`]. Equal costs: the smaller one.
///
/// # Errors
/// None for this grid.
pub fn tune_sddmm(profile: &Profile, model: &CostModel) -> Result<Tuned, Refusal> {
    tune(SDDMM_GRID, model, |mode| sddmm_work(profile, mode))
}

fn tune(
    grid: [u32; 8],
    model: &CostModel,
    work: impl Fn(UsedUnits) -> Result<Work, Refusal>,
) -> Result<Tuned, Refusal> {
    let mut tried = [(0, 0); 8];
    for (slot, eta) in tried.iter_mut().zip(grid) {
        *slot = (eta, model.cost(&work(UsedUnits::Hybrid { eta })?));
    }
    // The grid ascends, and the first of equal costs wins.
    let (mut eta, mut cost) = tried[0];
    for &(other, its_cost) in &tried[1..] {
        if its_cost < cost {
            (eta, cost) = (other, its_cost);
        }
    }
    Ok(Tuned { eta, cost, tried })
}
