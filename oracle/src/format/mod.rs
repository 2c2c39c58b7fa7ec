//! Storage layouts. Each file holds one format: its parts as plain data, a checked constructor, exact decoding
//! into entries. Encoder (`from_entries`), decoder (`entries`) and validator (`try_new`) do not call one another.
//!
//! All indices and offsets are u32 and 0-based; a dimension, or a number of stored elements, past 2^32 - 1 is
//! refused. Lengths are in elements, never bytes.

mod bcsr;
mod blocked_ell;
mod coo;
mod csc;
mod csr;
mod dense;
mod ell;
mod sparse;

pub use bcsr::{Bcsr, BcsrParts};
pub use blocked_ell::{BlockedEll, BlockedEllParts};
pub use coo::{Coo, CooParts};
pub use csc::{Csc, CscParts};
pub use csr::{Csr, CsrParts};
pub use dense::{Dense, Layout};
pub use ell::{Ell, EllParts};
pub use sparse::{AnySparse, FormatKind, FormatParams, Sparse};

/// The column id that marks a slot without an entry in ELL, Blocked-ELL and the residual part of RS-Tile.
pub const PAD: u32 = u32::MAX;

/// One stored entry: row, column, value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<T> {
    /// Row, 0-based.
    pub row: u32,
    /// Column, 0-based.
    pub col: u32,
    /// Stored value; may be an explicit zero.
    pub value: T,
}

/// A matrix as its entries: the common ground of all formats. Rows in order, columns ascending inside a row,
/// no position twice; explicit zeros allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The entries, sorted by (row, column).
    pub list: Vec<Entry<T>>,
}
