//! Storage layouts. Each file holds one format: its parts as plain data, a checked constructor, exact decoding
//! into entries. Encoder (`from_entries`), decoder (`entries`) and validator (`try_new`) do not call one another.
//!
//! All indices and offsets are u32 and 0-based; a dimension, or a number of stored elements, past 2^32 - 1 is
//! refused. Lengths are in elements, never bytes. Constructors do not allocate; encoders allocate in proportion to
//! the entries, or at most [`SLOT_LIMIT`] elements per array.

mod bcsr;
mod blocked_ell;
mod check;
mod coo;
mod csc;
mod csr;
mod dense;
mod duplicates;
mod ell;
mod entries;
mod sparse;

pub use bcsr::{Bcsr, BcsrParts};
pub use blocked_ell::{BlockedEll, BlockedEllParts};
pub use check::BLOCK_AREA_LIMIT;
pub use coo::{Coo, CooParts};
pub use csc::{Csc, CscParts};
pub use csr::{Csr, CsrParts};
pub use dense::{Dense, Layout};
pub use duplicates::Duplicates;
pub use ell::{Ell, EllParts};
pub use entries::{Entries, Entry};
pub use sparse::{AnySparse, FormatKind, FormatParams, Sparse};

/// The column id that marks a slot without an entry in ELL, Blocked-ELL and the residual part of RS-Tile.
pub const PAD: u32 = u32::MAX;

/// The most elements that an encoder allocates for one array whose length the entries do not bound: offsets, and
/// the slots of the padded formats. 2^28, i.e. 2 GiB of f64. Past it `from_entries` refuses, so that a matrix of
/// 2^31 rows and three entries cannot take the machine down.
pub const SLOT_LIMIT: u64 = 1 << 28;
