//! Where operands lie in memory, for bugs of kernels that look at it.

use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, Sparse};
use sparse_oracle::scalar::{AnySlice, Precision};

/// Address of the first element.
#[must_use]
pub(super) fn of_slice(data: AnySlice<'_>) -> usize {
    each_precision!(AnySlice, data, s => s.as_ptr() as usize)
}

/// Address of the stored values; 0 for the formats of the papers.
#[must_use]
pub(super) fn of_values(a: &AnySparse) -> usize {
    sparse_oracle::each_sparse!(a, m => match m {
        Sparse::Coo(m) => m.values.as_ptr() as usize,
        Sparse::Csr(m) => m.values.as_ptr() as usize,
        Sparse::Csc(m) => m.values.as_ptr() as usize,
        Sparse::Ell(m) => m.values.as_ptr() as usize,
        Sparse::Bcsr(m) => m.values.as_ptr() as usize,
        Sparse::BlockedEll(m) => m.values.as_ptr() as usize,
        _ => 0,
    })
}

/// Elements from the last address before this one that `bytes` divides.
#[must_use]
pub(super) const fn past(address: usize, bytes: usize, precision: Precision) -> usize {
    address % bytes / precision.bytes()
}
