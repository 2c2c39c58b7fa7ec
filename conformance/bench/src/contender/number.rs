//! The element types that all peers have: f32 and f64.

use num_traits::Num;
use sparse_oracle::format::{AnySparse, Csr, Sparse};
use sparse_oracle::scalar::{AnySlice, Element};
use std::ops::Add;

/// f32 or f64, as every library wants it.
pub(in super::super) trait Number:
    Element
    + Num
    + Add<Output = Self>
    + ::sprs::MulAcc<Self, Self>
    + ::nalgebra::RealField
    + Copy
    + sparse_mkl::Number
{
    /// The matrix, if it is CSR of this type.
    fn csr(matrix: &AnySparse) -> Option<&Csr<Self>>;
}

impl Number for f32 {
    fn csr(matrix: &AnySparse) -> Option<&Csr<f32>> {
        match matrix {
            AnySparse::F32(Sparse::Csr(m)) => Some(m),
            _ => None,
        }
    }
}

impl Number for f64 {
    fn csr(matrix: &AnySparse) -> Option<&Csr<f64>> {
        match matrix {
            AnySparse::F64(Sparse::Csr(m)) => Some(m),
            _ => None,
        }
    }
}

/// The matrix, or why a peer can't have it.
pub(super) fn csr<T: Number>(matrix: &AnySparse) -> Result<&Csr<T>, String> {
    T::csr(matrix).ok_or_else(|| "the operands are not CSR of the peer's type".to_owned())
}

/// The elements of this type.
pub(super) fn elements<T: Number>(values: AnySlice<'_>) -> Result<&[T], String> {
    T::unwrap_slice(values).ok_or_else(|| "the operands are not of the peer's type".to_owned())
}

/// Bytes of a CSR matrix with offsets and columns of these widths.
pub(super) fn csr_bytes<T>(matrix: &Csr<T>, offset: usize, column: usize) -> u64 {
    (matrix.row_ptr.len() * offset + matrix.nnz() * (column + size_of::<T>())) as u64
}
