//! The element types that all peers have: f32 and f64.

use num_traits::Num;
use sparse_oracle::format::{AnySparse, Csr, Sparse};
use sparse_oracle::scalar::Element;
use std::ops::Add;

/// f32 or f64, as every library wants it.
pub(crate) trait Number:
    Element
    + Num
    + Add<Output = Self>
    + ::sprs::MulAcc<Self, Self>
    + ::nalgebra::RealField
    + Copy
    + sparse_mkl::Number
{
    /// The number of this type that is nearest.
    fn of(value: f64) -> Self;

    /// The matrix, if its elements are of this type.
    fn sparse(matrix: &AnySparse) -> Option<&Sparse<Self>>;
}

impl Number for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn sparse(matrix: &AnySparse) -> Option<&Sparse<f32>> {
        if let AnySparse::F32(m) = matrix { Some(m) } else { None }
    }
}

impl Number for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn sparse(matrix: &AnySparse) -> Option<&Sparse<f64>> {
        if let AnySparse::F64(m) = matrix { Some(m) } else { None }
    }
}

/// The matrix, or why the peer can't have it.
pub(crate) fn sparse<T: Number>(matrix: &AnySparse) -> Result<&Sparse<T>, String> {
    T::sparse(matrix).ok_or_else(|| format!("expected {}", T::PRECISION))
}

/// The CSR matrix, or why the peer can't have it.
pub(crate) fn csr<T: Number>(matrix: &AnySparse) -> Result<&Csr<T>, String> {
    match sparse::<T>(matrix)? {
        Sparse::Csr(m) => Ok(m),
        _ => Err("the operands are not CSR".to_owned()),
    }
}
