//! How a distribution divides the work, and what it fetches (figures 13 and 14).
//!
//! ```text
//!                 fetched, per column of B (SpMM) or inner step (SDDMM)           multiplied
//! tensor part     SpMM: one element of B per vector                               every slot of every block
//!                 SDDMM: one of X per row, one of Y per column of each block
//! CUDA-core part  SpMM: one per entry; SDDMM: two                                 every entry
//! ```
//!
//! Equations (2) and (4) count a full block, k or m + n elements. A column that pads a short last block, and a row past
//! the end of the matrix, fetch nothing and are not counted here; their slots are.

use super::reuse::needed_entries;
use super::{Profile, SDDMM_COLS, WINDOW, WindowVectors};
use sparse_oracle::refusal::{Refusal, RequestError};

/// Which units are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedUnits {
    /// Both: the tensor cores from density `eta` / 128 on.
    Hybrid {
        /// Density, in 1/128.
        eta: u32,
    },
    /// Tensor cores alone.
    TensorOnly,
    /// CUDA cores alone.
    CudaOnly,
}

/// The work of both parts. Counts, never times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Entries of the tensor part.
    pub tensor_nnz: u64,
    /// Entries of the CUDA-core part.
    pub cuda_nnz: u64,
    /// Blocks of the tensor part.
    pub tensor_blocks: u64,
    /// Slots of those blocks, all of which are multiplied.
    pub tensor_slots: u64,
    /// Elements that the tensor part fetches.
    pub tensor_access: u64,
    /// Elements that the CUDA-core part fetches.
    pub cuda_access: u64,
}

impl Work {
    /// Entries of the tensor part over all entries; `None` without entries.
    #[must_use]
    pub fn tensor_share(&self) -> Option<f64> {
        share(self.tensor_nnz, self.tensor_nnz + self.cuda_nnz)
    }

    /// Figure 13: entries of the tensor part over its slots; `None` without a tensor part.
    #[must_use]
    pub fn utilisation(&self) -> Option<f64> {
        share(self.tensor_nnz, self.tensor_slots)
    }

    /// Figure 14, data access cost: elements fetched by both parts.
    #[must_use]
    pub fn access(&self) -> u64 {
        self.tensor_access + self.cuda_access
    }

    fn add(&mut self, other: Work) {
        self.tensor_nnz += other.tensor_nnz;
        self.cuda_nnz += other.cuda_nnz;
        self.tensor_blocks += other.tensor_blocks;
        self.tensor_slots += other.tensor_slots;
        self.tensor_access += other.tensor_access;
        self.cuda_access += other.cuda_access;
    }
}

/// `part / whole`, `None` of nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// SpMM in blocks of `kb` columns. With `fill`, the free columns of a window's last block take the densest remaining
/// vectors.
///
/// # Errors
/// A density outside `0 < eta <= 128`, a `kb` other than 4, 8, 16.
pub fn spmm_work(profile: &Profile, mode: UsedUnits, kb: u32, fill: bool) -> Result<Work, Refusal> {
    let least = least_entries(mode, WINDOW as u32)?;
    if ![4, 8, 16].contains(&kb) {
        return Err(Refusal::Request(RequestError::Parameter {
            field: "kb",
            expected: "4, 8 or 16",
            found: u64::from(kb),
        }));
    }
    let mut total = Work::default();
    for window in profile.windows() {
        total.add(spmm_window(window, least, u64::from(kb), fill));
    }
    Ok(total)
}

/// SDDMM in blocks of 16 columns, densest vectors first.
///
/// # Errors
/// A density outside `0 < eta <= 128`.
pub fn sddmm_work(profile: &Profile, mode: UsedUnits) -> Result<Work, Refusal> {
    let least = least_entries(mode, (WINDOW * SDDMM_COLS) as u32)?;
    let mut total = Work::default();
    for window in profile.windows() {
        total.add(sddmm_window(window, least));
    }
    Ok(total)
}

/// The fewest entries of a unit that go to the tensor part; `None` when nothing does.
fn least_entries(mode: UsedUnits, slots: u32) -> Result<Option<u64>, Refusal> {
    Ok(match mode {
        UsedUnits::Hybrid { eta } => Some(u64::from(needed_entries(eta, slots)?)),
        UsedUnits::TensorOnly => Some(1),
        UsedUnits::CudaOnly => None,
    })
}

/// Entries of each vector of a window, densest first.
fn densities(window: &WindowVectors) -> impl Iterator<Item = u64> {
    (1..=WINDOW).rev().flat_map(|nnz| std::iter::repeat_n(nnz as u64, window.vectors[nnz - 1] as usize))
}

fn spmm_window(window: &WindowVectors, least: Option<u64>, kb: u64, fill: bool) -> Work {
    let dense = densities(window).filter(|&nnz| least.is_some_and(|least| nnz >= least));
    let mut columns = dense.count() as u64;
    let blocks = columns.div_ceil(kb);
    if fill {
        columns = (blocks * kb).min(window.count());
    }
    let tensor_nnz = densities(window).take(columns as usize).sum();
    let cuda_nnz = window.nnz() - tensor_nnz;
    Work {
        tensor_nnz,
        cuda_nnz,
        tensor_blocks: blocks,
        tensor_slots: blocks * kb * WINDOW as u64,
        tensor_access: columns,
        cuda_access: cuda_nnz,
    }
}

fn sddmm_window(window: &WindowVectors, least: Option<u64>) -> Work {
    let mut work = Work::default();
    let vectors: Vec<u64> = densities(window).collect();
    for block in vectors.chunks(SDDMM_COLS) {
        let nnz = block.iter().sum();
        if least.is_some_and(|least| nnz >= least) {
            work.add(Work {
                tensor_nnz: nnz,
                tensor_blocks: 1,
                tensor_slots: (WINDOW * SDDMM_COLS) as u64,
                tensor_access: u64::from(window.rows) + block.len() as u64,
                ..Work::default()
            });
        } else {
            work.add(Work { cuda_nnz: nnz, cuda_access: 2 * nnz, ..Work::default() });
        }
    }
    work
}
