//! Which vectors of a window go to the tensor part, and to which slot of it.

use super::vectors::{ColumnVector, WINDOW};
use sparse_types::format::FormatParams;
use sparse_types::refusal::{Refusal, RequestError};

/// Slot of a vector that stays with the CUDA cores.
pub(in crate::portable::convert) const REST: u32 = u32::MAX;

/// Columns of an SDDMM block.
pub(in crate::portable::convert) const SDDMM_COLS: usize = 16;

/// How vectors are distributed.
#[derive(Clone, Copy, Debug)]
pub(in crate::portable::convert) enum DistributionRule {
    /// Vectors of at least `least` entries, by column.
    Spmm { least: u32, kb: usize, fill: bool },
    /// Blocks of at least `least` entries, vectors by density.
    Sddmm { least: u32 },
}

impl DistributionRule {
    /// Reads `eta`, `kb` and `fill`.
    pub(in crate::portable::convert) fn spmm(params: FormatParams) -> Result<DistributionRule, Refusal> {
        let least = eta(params, 48)?.div_ceil(128 / WINDOW as u32);
        let kb = params.kb as usize;
        if !matches!(kb, 4 | 8 | 16) {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "kb",
                expected: "4, 8 or 16",
                found: kb as u64,
            }));
        }
        let fill = params.fill;
        Ok(DistributionRule::Spmm { least, kb, fill })
    }

    /// Reads `eta`.
    pub(in crate::portable::convert) fn sddmm(params: FormatParams) -> Result<DistributionRule, Refusal> {
        Ok(DistributionRule::Sddmm { least: eta(params, 24)? })
    }

    /// Columns of a block.
    pub(in crate::portable::convert) fn kb(self) -> usize {
        match self {
            DistributionRule::Spmm { kb, .. } => kb,
            DistributionRule::Sddmm { .. } => SDDMM_COLS,
        }
    }

    /// False for windows that surely have no tensor part, by their row pointers.
    pub(in crate::portable::convert) fn may_take(self, ends: &[u32]) -> bool {
        match self {
            // A vector has at most one entry per row.
            DistributionRule::Spmm { least, .. } => {
                ends.windows(2).filter(|e| e[0] < e[1]).count() >= least as usize
            }
            DistributionRule::Sddmm { least } => ends[ends.len() - 1] - ends[0] >= least,
        }
    }

    /// The slot of each vector of a window in its tensor part, or [`REST`]; returns how many have one.
    pub(in crate::portable::convert) fn assign(
        self,
        vectors: &[ColumnVector],
        slots: &mut Vec<u32>,
    ) -> usize {
        match self {
            DistributionRule::Spmm { least, kb, fill } => {
                let cut = if fill {
                    let dense = vectors.iter().filter(|v| v.nnz() >= least).count();
                    VectorThreshold::filling(vectors, least, dense.next_multiple_of(kb) - dense)
                } else {
                    VectorThreshold { least, extra: 0 }
                };
                by_column(vectors, cut, slots)
            }
            DistributionRule::Sddmm { least } => by_density(vectors, least, slots),
        }
    }
}

fn eta(params: FormatParams, default: u32) -> Result<u32, Refusal> {
    let field = "eta";
    match params.eta.unwrap_or(default) {
        0 => Err(RequestError::Zero { field }.into()),
        eta if eta > 128 => Err(RequestError::TooLarge { field, found: u128::from(eta), limit: 128 }.into()),
        eta => Ok(eta),
    }
}

/// Takes every vector of at least `least` entries, and the first `extra` of one entry less.
#[derive(Clone, Copy)]
struct VectorThreshold {
    least: u32,
    extra: usize,
}

impl VectorThreshold {
    /// Room for `free` vectors more than those of at least `least` entries.
    fn filling(vectors: &[ColumnVector], mut least: u32, mut free: usize) -> VectorThreshold {
        let counts = histogram(vectors);
        while least > 1 && counts[least as usize - 1] <= free {
            least -= 1;
            free -= counts[least as usize];
        }
        VectorThreshold { least, extra: free }
    }
}

/// Number of vectors by their number of entries.
fn histogram(vectors: &[ColumnVector]) -> [usize; WINDOW + 1] {
    let mut counts = [0; WINDOW + 1];
    for vector in vectors {
        counts[vector.nnz() as usize] += 1;
    }
    counts
}

fn by_column(vectors: &[ColumnVector], cut: VectorThreshold, slots: &mut Vec<u32>) -> usize {
    slots.clear();
    let (mut taken, mut extra) = (0, cut.extra);
    slots.extend(vectors.iter().map(|vector| {
        let nnz = vector.nnz();
        let filler = nnz + 1 == cut.least && extra > 0;
        extra -= usize::from(filler);
        // No branch: which vectors are dense is hard to predict.
        let dense = filler | (nnz >= cut.least);
        let slot = if dense { taken } else { REST };
        taken += u32::from(dense);
        slot
    }));
    taken as usize
}

fn by_density(vectors: &[ColumnVector], least: u32, slots: &mut Vec<u32>) -> usize {
    let counts = histogram(vectors);
    // Where vectors of each density start in the order.
    let mut next = [0; WINDOW + 1];
    for nnz in (1..WINDOW).rev() {
        next[nnz] = next[nnz + 1] + counts[nnz + 1];
    }
    let taken = front(&counts, vectors.len(), least);
    slots.clear();
    slots.extend(vectors.iter().map(|vector| {
        let place = &mut next[vector.nnz() as usize];
        *place += 1;
        let slot = *place - 1;
        if slot < taken { slot as u32 } else { REST }
    }));
    taken
}

/// Vectors of the blocks of at least `least` entries: densities fall, so those blocks come first.
fn front(counts: &[usize; WINDOW + 1], vectors: usize, least: u32) -> usize {
    let mut left = *counts;
    let mut nnz = WINDOW;
    for start in (0..vectors).step_by(SDDMM_COLS) {
        let mut room = SDDMM_COLS.min(vectors - start);
        let mut block = 0;
        while room > 0 {
            let some = left[nnz].min(room);
            left[nnz] -= some;
            room -= some;
            block += some * nnz;
            nnz -= usize::from(room > 0);
        }
        if block < least as usize {
            return start;
        }
    }
    vectors
}
