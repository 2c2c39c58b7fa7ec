//! `sprs`: compressed matrices with any of its index types, and triplets.
//!
//! `sprs` holds CSR and CSC in one type and says at run time which it is, so taking one as the other is refused.
//! Indices go out as the type asked for; one too narrow for the shape or the number of entries is refused.

use super::{check_shape, narrow};
use crate::format::{Coo, CooParts, Csc, CscParts, Csr, CsrParts};
use crate::refusal::{EngineError, Refusal, RequestError};
use ::sprs::errors::StructureError;
use ::sprs::{CsMatI, CsMatViewI, SpIndex, TriMatI};

/// Takes a CSR matrix.
///
/// # Errors
/// A matrix stored as CSC; a shape or a number of entries past u32.
pub fn csr<T: Clone, I: SpIndex, P: SpIndex>(matrix: &CsMatViewI<'_, T, I, P>) -> Result<Csr<T>, Refusal> {
    check_storage("csr", matrix.is_csr())?;
    let (rows, cols) = matrix.shape();
    check_shape(rows, cols)?;
    Csr::try_new(CsrParts {
        rows,
        cols,
        row_ptr: narrow("indptr", matrix.proper_indptr().iter().map(|i| i.index()))?,
        col_idx: narrow("indices", matrix.indices().iter().map(|i| i.index()))?,
        values: matrix.data().to_vec(),
    })
}

/// Gives a CSR matrix.
///
/// # Errors
/// [`RequestError::TooLarge`] where an index type is too narrow; [`EngineError::Foreign`] should `sprs` not take what is
/// valid here.
pub fn to_csr<T: Clone, I: SpIndex, P: SpIndex>(matrix: &Csr<T>) -> Result<CsMatI<T, I, P>, Refusal> {
    check_index::<I>("cols", matrix.cols)?;
    let (offsets, indices) = (widen("indptr", &matrix.row_ptr)?, widen("indices", &matrix.col_idx)?);
    CsMatI::try_new((matrix.rows, matrix.cols), offsets, indices, matrix.values.clone())
        .map_err(|(.., error)| foreign(error))
}

/// Takes a CSC matrix.
///
/// # Errors
/// A matrix stored as CSR; a shape or a number of entries past u32.
pub fn csc<T: Clone, I: SpIndex, P: SpIndex>(matrix: &CsMatViewI<'_, T, I, P>) -> Result<Csc<T>, Refusal> {
    check_storage("csc", matrix.is_csc())?;
    let (rows, cols) = matrix.shape();
    check_shape(rows, cols)?;
    Csc::try_new(CscParts {
        rows,
        cols,
        col_ptr: narrow("indptr", matrix.proper_indptr().iter().map(|i| i.index()))?,
        row_idx: narrow("indices", matrix.indices().iter().map(|i| i.index()))?,
        values: matrix.data().to_vec(),
    })
}

/// Gives a CSC matrix.
///
/// # Errors
/// [`RequestError::TooLarge`] where an index type is too narrow; [`EngineError::Foreign`] should `sprs` not take what is
/// valid here.
pub fn to_csc<T: Clone, I: SpIndex, P: SpIndex>(matrix: &Csc<T>) -> Result<CsMatI<T, I, P>, Refusal> {
    check_index::<I>("rows", matrix.rows)?;
    let (offsets, indices) = (widen("indptr", &matrix.col_ptr)?, widen("indices", &matrix.row_idx)?);
    CsMatI::try_new_csc((matrix.rows, matrix.cols), offsets, indices, matrix.values.clone())
        .map_err(|(.., error)| foreign(error))
}

/// Takes triplets: the same triples in the same order, duplicates included.
///
/// # Errors
/// A shape or a number of triples past u32.
pub fn coo<T: Clone, I: SpIndex>(matrix: &TriMatI<T, I>) -> Result<Coo<T>, Refusal> {
    let (rows, cols) = matrix.shape();
    check_shape(rows, cols)?;
    Coo::try_new(CooParts {
        rows,
        cols,
        row_idx: narrow("row_inds", matrix.row_inds().iter().map(|i| i.index()))?,
        col_idx: narrow("col_inds", matrix.col_inds().iter().map(|i| i.index()))?,
        values: matrix.data().to_vec(),
    })
}

/// Gives triplets: the same triples in the same order, duplicates included.
///
/// # Errors
/// [`RequestError::TooLarge`] where the index type is too narrow.
pub fn to_trimat<T: Clone, I: SpIndex>(matrix: &Coo<T>) -> Result<TriMatI<T, I>, Refusal> {
    let (rows, cols) = (widen("row_idx", &matrix.row_idx)?, widen("col_idx", &matrix.col_idx)?);
    // Equal lengths and indices in range, which `from_triplets` asserts, are what a valid `Coo` is.
    Ok(TriMatI::from_triplets((matrix.rows, matrix.cols), rows, cols, matrix.values.clone()))
}

fn check_storage(expected: &'static str, matches: bool) -> Result<(), Refusal> {
    if matches {
        return Ok(());
    }
    let found = if expected == "csr" { "csc" } else { "csr" };
    Err(Refusal::Request(RequestError::Kind {
        field: "storage of the sprs matrix",
        expected: expected.to_owned(),
        found: found.to_owned(),
    }))
}

/// Checks that an index type can hold `value`.
fn check_index<I: SpIndex>(field: &'static str, value: usize) -> Result<I, Refusal> {
    I::try_from_usize(value).ok_or_else(|| {
        Refusal::Request(RequestError::TooLarge { field, found: value as u128, limit: largest::<I>() })
    })
}

/// The largest value of an index type, `2^bits - 1`, found by trying: `sprs` does not name it.
fn largest<I: SpIndex>() -> u64 {
    let all_ones = |bits: u32| u64::MAX >> (64 - bits);
    let fits = |value: u64| usize::try_from(value).is_ok_and(|v| I::try_from_usize(v).is_some());
    (1..=64).map(all_ones).take_while(|&value| fits(value)).last().unwrap_or(0)
}

fn widen<I: SpIndex>(field: &'static str, indices: &[u32]) -> Result<Vec<I>, Refusal> {
    indices.iter().map(|&i| check_index(field, i as usize)).collect()
}

fn foreign(error: StructureError) -> Refusal {
    Refusal::Engine(EngineError::Foreign { library: "sprs", reason: error.to_string() })
}
