//! Matrix Market: reading (`.mtx`, plain or gzip) and writing.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric     banner: object, format, field, symmetry (any case)
//! % any number of comments and blank lines
//! 3 3 2                                               size: rows, columns, entries ("array": rows, columns)
//! 1 1 4.0                                             one entry per line, 1-based: row, column, value
//! 3 1 -0.5                                            symmetric: stands for (3, 1) and (1, 3)
//! ```
//!
//! Choices where the published description is silent or readers differ:
//!
//! - Entries stay in file order; the mirror image of an off-diagonal entry follows its original. Duplicates are
//!   kept, as COO means them: summed later, exactly. A symmetric file may use both triangles; a position given in
//!   both is a duplicate like any other.
//! - `array` stores every position it states, zeros included (columns first; symmetric: lower triangle with, skew-
//!   symmetric: without the diagonal).
//! - `real` (also `double`): decimal or `nan`, `inf`, `infinity`, any case, any sign; rounded to the nearest f64,
//!   ties to even; underflow rounds, overflow of a finite decimal is refused. Any NaN reads as the canonical one.
//! - `integer`: -2^63 to 2^64 - 1, `unsigned-integer`: 0 to 2^64 - 1, read exactly, then the nearest f64, ties to
//!   even (exact up to 2^53); past 64 bits refused. An integer zero is +0.0, also its skew-symmetric mirror.
//! - `pattern`: every value is 1.0.
//! - `complex` is refused by name, as unsupported. `hermitian` with a real or integer field means symmetric.
//!   Refused: `array pattern`, `pattern skew-symmetric`, `pattern hermitian`, `unsigned-integer` that is
//!   skew-symmetric, and a symmetry other than general on a rectangular matrix.
//! - A skew-symmetric diagonal entry must be exactly zero; it is kept, once, as an explicit zero.
//! - Comments and blank lines may stand anywhere after line 1; line 1 may be indented and may have a single `%`.
//! - One entry per line, and nothing behind it. The last line may lack its line end, so a file cut inside its last
//!   number cannot be told from a whole one.

mod body;
mod header;
mod value;
mod write;

pub use super::input::Limits;
pub use header::{Field, Header, Storage, Symmetry};
pub use write::{write_matrix_market, write_matrix_market_csr, write_matrix_market_pattern};

use super::file_error::FileError;
use super::input::{Lines, plain};
use crate::format::Coo;
use std::io::{BufRead, Read};

/// Reads a whole Matrix Market stream, plain or gzip, with the default [`Limits`].
///
/// # Errors
/// The first defect found, with its line.
pub fn read_matrix_market(input: impl Read) -> Result<(Header, Coo<f64>), FileError> {
    read_matrix_market_within(input, Limits::default())
}

/// Reads a whole Matrix Market stream, plain or gzip. Memory grows with the entries that are there, never with the
/// number that the header promises.
///
/// # Errors
/// The first defect found, with its line, or the limit that was crossed.
pub fn read_matrix_market_within(input: impl Read, limits: Limits) -> Result<(Header, Coo<f64>), FileError> {
    read_text(plain(input)?.text, limits)
}

/// Reads no further than the size line.
pub(super) fn read_header(text: impl BufRead, limits: Limits) -> Result<Header, FileError> {
    header::read(&mut Lines::new(text, limits))
}

/// Reads text that is known not to be gzip.
pub(super) fn read_text(text: impl BufRead, limits: Limits) -> Result<(Header, Coo<f64>), FileError> {
    let mut lines = Lines::new(text, limits);
    let header = header::read(&mut lines)?;
    let parts = body::read(&mut lines, &header, limits)?;
    let line = lines.number();
    let coo = Coo::try_new(parts).map_err(|source| FileError::Encoding { line, source })?;
    Ok((header, coo))
}
