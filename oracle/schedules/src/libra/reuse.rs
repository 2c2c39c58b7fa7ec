//! Equations (2) to (6): how often a fetched operand is used again, and which share of a unit's slots does work.

use sparse_oracle::refusal::{Refusal, RequestError};

/// Shape of one matrix instruction as the sparse operand sees it: for SpMM the sparse block is m x k and the dense one
/// k x n; for SDDMM the sparse block is m x n. Libra exchanges the operands, so that m is 8 where the instruction's
/// own m is 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mma {
    m: u32,
    n: u32,
    k: u32,
}

impl Mma {
    /// m16n8k8 with its operands exchanged: SpMM in blocks of 8 columns (TF32), SDDMM in slices of 8.
    pub const K8: Mma = Mma { m: 8, n: 16, k: 8 };

    /// m16n8k16 with its operands exchanged: blocks or slices of 16 (FP16).
    pub const K16: Mma = Mma { m: 8, n: 16, k: 16 };

    /// A shape.
    ///
    /// # Errors
    /// [`RequestError::Zero`] for an empty one.
    pub fn try_new(m: u32, n: u32, k: u32) -> Result<Mma, Refusal> {
        for (field, extent) in [("m", m), ("n", n), ("k", k)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        Ok(Mma { m, n, k })
    }

    /// (2): cost of fetching the dense block on CUDA cores over that on tensor cores, for a sparse block of `nnz`
    /// entries. A CUDA core fetches n elements per entry, the instruction k * n per block: `nnz / k`.
    #[must_use]
    pub fn spmm_reuse(self, nnz: u32) -> f64 {
        f64::from(nnz) / f64::from(self.k)
    }

    /// (3): the same by the density of the sparse block: `m * density`, the mean number of entries of a vector.
    #[must_use]
    pub fn spmm_reuse_of_density(self, density: f64) -> f64 {
        f64::from(self.m) * density
    }

    /// (4): the same for SDDMM, where each entry takes a row of X and a column of Y, and a block m rows and n columns:
    /// `2 nnz / (m + n)`.
    #[must_use]
    pub fn sddmm_reuse(self, nnz: u32) -> f64 {
        2.0 * f64::from(nnz) / (f64::from(self.m) + f64::from(self.n))
    }

    /// (5): the least value of (2) for a block without empty vectors: 1.
    #[must_use]
    pub fn least_spmm_reuse(self) -> f64 {
        self.spmm_reuse(self.k)
    }

    /// (5): the least value of (4) for a block of n vectors, none of them empty: `2 n / (m + n)`, above 1 where m < n.
    #[must_use]
    pub fn least_sddmm_reuse(self) -> f64 {
        self.sddmm_reuse(self.n)
    }

    /// (6): share of a vector's m slots that hold an entry.
    #[must_use]
    pub fn spmm_utilisation(self, vector_nnz: u32) -> f64 {
        f64::from(vector_nnz) / f64::from(self.m)
    }

    /// (6): share of a block's m * n slots that hold an entry.
    #[must_use]
    pub fn sddmm_utilisation(self, block_nnz: u32) -> f64 {
        f64::from(block_nnz) / (f64::from(self.m) * f64::from(self.n))
    }
}

/// The fewest entries with which a unit of `slots` slots reaches density `eta` / 128: `ceil(eta * slots / 128)`.
///
/// # Errors
/// [`RequestError::Zero`] and [`RequestError::TooLarge`] unless `0 < eta <= 128`.
pub fn needed_entries(eta: u32, slots: u32) -> Result<u32, Refusal> {
    match eta {
        0 => Err(RequestError::Zero { field: "eta" }.into()),
        1..=128 => Ok((u64::from(eta) * u64::from(slots)).div_ceil(128) as u32),
        _ => Err(RequestError::TooLarge { field: "eta", found: u128::from(eta), limit: 128 }.into()),
    }
}
