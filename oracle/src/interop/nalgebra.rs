//! `nalgebra-sparse` and the dense matrices of `nalgebra`.

use super::{check_shape, narrow};
use crate::format::{Coo, CooParts, Csc, CscParts, Csr, CsrParts, Dense, Layout};
use crate::refusal::{EngineError, Refusal};
use ::nalgebra::{DMatrix, Scalar};
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix, SparseFormatError};

/// Takes a CSR matrix.
///
/// # Errors
/// A shape or a number of entries past u32.
pub fn csr<T: Clone>(matrix: &CsrMatrix<T>) -> Result<Csr<T>, Refusal> {
    check_shape(matrix.nrows(), matrix.ncols())?;
    Csr::try_new(CsrParts {
        rows: matrix.nrows(),
        cols: matrix.ncols(),
        row_ptr: narrow("row_offsets", matrix.row_offsets().iter().copied())?,
        col_idx: narrow("col_indices", matrix.col_indices().iter().copied())?,
        values: matrix.values().to_vec(),
    })
}

/// Gives a CSR matrix.
///
/// # Errors
/// [`EngineError::Foreign`] should `nalgebra-sparse` not take what is valid here.
pub fn to_csr<T: Scalar>(matrix: &Csr<T>) -> Result<CsrMatrix<T>, Refusal> {
    let (offsets, indices) = (widen(&matrix.row_ptr), widen(&matrix.col_idx));
    CsrMatrix::try_from_csr_data(matrix.rows, matrix.cols, offsets, indices, matrix.values.clone())
        .map_err(foreign)
}

/// Takes a CSC matrix.
///
/// # Errors
/// A shape or a number of entries past u32.
pub fn csc<T: Clone>(matrix: &CscMatrix<T>) -> Result<Csc<T>, Refusal> {
    check_shape(matrix.nrows(), matrix.ncols())?;
    Csc::try_new(CscParts {
        rows: matrix.nrows(),
        cols: matrix.ncols(),
        col_ptr: narrow("col_offsets", matrix.col_offsets().iter().copied())?,
        row_idx: narrow("row_indices", matrix.row_indices().iter().copied())?,
        values: matrix.values().to_vec(),
    })
}

/// Gives a CSC matrix.
///
/// # Errors
/// [`EngineError::Foreign`] should `nalgebra-sparse` not take what is valid here.
pub fn to_csc<T: Scalar>(matrix: &Csc<T>) -> Result<CscMatrix<T>, Refusal> {
    let (offsets, indices) = (widen(&matrix.col_ptr), widen(&matrix.row_idx));
    CscMatrix::try_from_csc_data(matrix.rows, matrix.cols, offsets, indices, matrix.values.clone())
        .map_err(foreign)
}

/// Takes a COO matrix: the same triples in the same order, duplicates included.
///
/// # Errors
/// A shape or a number of entries past u32.
pub fn coo<T: Clone>(matrix: &CooMatrix<T>) -> Result<Coo<T>, Refusal> {
    check_shape(matrix.nrows(), matrix.ncols())?;
    Coo::try_new(CooParts {
        rows: matrix.nrows(),
        cols: matrix.ncols(),
        row_idx: narrow("row_indices", matrix.row_indices().iter().copied())?,
        col_idx: narrow("col_indices", matrix.col_indices().iter().copied())?,
        values: matrix.values().to_vec(),
    })
}

/// Gives a COO matrix: the same triples in the same order, duplicates included.
///
/// # Errors
/// [`EngineError::Foreign`] should `nalgebra-sparse` not take what is valid here.
pub fn to_coo<T: Clone>(matrix: &Coo<T>) -> Result<CooMatrix<T>, Refusal> {
    let (rows, cols) = (widen(&matrix.row_idx), widen(&matrix.col_idx));
    CooMatrix::try_from_triplets(matrix.rows, matrix.cols, rows, cols, matrix.values.clone()).map_err(foreign)
}

/// Takes a dense matrix, column-major as `nalgebra` stores it.
///
/// # Errors
/// A shape past u32.
pub fn dense<T: Scalar>(matrix: &DMatrix<T>) -> Result<Dense<T>, Refusal> {
    let (rows, cols) = matrix.shape();
    Dense::try_new(rows, cols, rows, Layout::ColMajor, matrix.as_slice().to_vec())
}

/// Gives a dense matrix. The padding between `rows` (`cols`) and the leading dimension stays behind.
pub fn to_dmatrix<T: Scalar + Copy>(matrix: &Dense<T>) -> DMatrix<T> {
    DMatrix::from_fn(matrix.rows(), matrix.cols(), |i, j| matrix.at(i, j))
}

fn widen(indices: &[u32]) -> Vec<usize> {
    indices.iter().map(|&i| i as usize).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn foreign(error: SparseFormatError) -> Refusal {
    Refusal::Engine(EngineError::Foreign { library: "nalgebra-sparse", reason: error.to_string() })
}
