//! Sparse operands as lanes: the rows of CSR, COO, ELL, BCSR, Blocked-ELL and the formats of the papers, the columns of CSC.
//!
//! ```text
//! . a . b      by rows: lane 0 visits (1, a) (3, b); lane 2 visits (0, c)
//! . . . .      by columns: lane 0 visits (2, c); lane 1 visits (0, a); ...
//! c . . .
//! ```
//!
//! A lane is visited in ascending index, every stored entry once, explicit zeros included; block formats also visit the
//! pads inside the matrix, as +0.0. One file per format.

mod bcsr;
mod blocked_ell;
mod coo;
mod csc;
mod csr;
mod decoded;
mod ell;

pub(crate) use bcsr::AsBcsr;
pub(crate) use blocked_ell::AsBlockedEll;
pub(crate) use coo::{AsCoo, group};
pub(crate) use csc::AsCsc;
pub(crate) use csr::AsCsr;
pub(crate) use decoded::Decoded;
pub(crate) use ell::AsEll;

use super::element::Stored;
use super::unit::Chain;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// A matrix that can be read lane by lane.
pub(crate) trait Lanes<T> {
    /// Visits the entries of one lane as (index in the lane, value), ascending.
    fn walk(&self, lane: usize, visit: impl FnMut(usize, T));
}

/// How a storage format becomes lanes.
pub(crate) trait LaneFormat {
    /// Which format.
    const KIND: FormatKind;
    /// Lanes are rows, else columns.
    const BY_ROWS: bool;
    /// Whether lanes visit the pads inside the matrix.
    const PADS: Pads;
    /// How SpMM adds a term.
    type Spmm: Chain;

    /// The lanes.
    ///
    /// # Errors
    /// A matrix in another format; one too large to be decoded.
    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal>;
}
