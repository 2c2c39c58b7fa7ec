//! `mma.sp`: which products take part (PTX ISA 9.1, section 9.7.14.6).
//!
//! ```text
//! compressed row of A    a0 a1 | a2 a3 | ...       two values a chunk of 4 columns (tf32: one of 2)
//! nibbles                (1,2) | (0,3) | ...
//! products               a0*b[1] a1*b[2] a2*b[4+0] a3*b[4+3] ...
//! ```
//!
//! Rows of B that no nibble names are never multiplied, so a NaN there does not reach the result; a stored 0 is multiplied.

use crate::format::SparseMma;
use crate::model::ModelError;

/// The rows of B that meet the compressed values of one row of A, in their order.
///
/// # Errors
/// [`ModelError::Metadata`] for a nibble whose indices are not ascending.
pub fn selected_rows(mma: SparseMma, nibbles: &[u32]) -> Result<Vec<usize>, ModelError> {
    let kept = mma.chunk() / 2;
    let mut rows = Vec::with_capacity(nibbles.len() * kept);
    for (chunk, &nibble) in nibbles.iter().enumerate() {
        let offsets = mma.offsets(nibble).ok_or(ModelError::Metadata { chunk, nibble })?;
        rows.extend(offsets[..kept].iter().map(|offset| chunk * mma.chunk() + offset));
    }
    Ok(rows)
}

/// The values of one column of B that meet the compressed values of one row of A.
///
/// # Errors
/// [`ModelError::Metadata`] as in [`selected_rows`]; [`ModelError::Column`] where the column is not as long as the chunks are.
pub fn select(mma: SparseMma, nibbles: &[u32], column: &[u64]) -> Result<Vec<u64>, ModelError> {
    let expected = nibbles.len() * mma.chunk();
    if column.len() != expected {
        return Err(ModelError::Column { expected, found: column.len() });
    }
    let rows = selected_rows(mma, nibbles)?;
    Ok(rows.into_iter().map(|row| column[row]).collect())
}
