//! Matrices of other libraries, both ways: checked, lossless, bit for bit.
//!
//! ```text
//! sprs::CsMat (csr, csc)                         <->  Csr, Csc
//! sprs::TriMat                                   <->  Coo       (order, duplicates and explicit zeros are kept)
//! nalgebra_sparse::{CsrMatrix, CscMatrix, CooMatrix}  <->  Csr, Csc, Coo
//! nalgebra::DMatrix                              <->  Dense
//! ```
//!
//! Nothing is converted on the way: a CSC matrix does not become a CSR one here (see [`convert`](crate::convert)).
//! Matrices that come in pass the same constructors as any other; those libraries index by `usize` or wider, so a
//! shape, an offset or an index past u32 is refused.

pub mod nalgebra;
pub mod sprs;

use crate::refusal::{RequestError, check_u32};

/// Narrows offsets or indices to u32.
fn narrow(field: &'static str, wide: impl Iterator<Item = usize>) -> Result<Vec<u32>, RequestError> {
    wide.map(|index| check_u32(field, index as u128)).collect()
}

/// Checks a shape before anything is allocated for it.
fn check_shape(rows: usize, cols: usize) -> Result<(), RequestError> {
    check_u32("rows", rows as u128)?;
    check_u32("cols", cols as u128)?;
    Ok(())
}
