//! Storage layouts. Each file holds one format: its parts as plain data, and the constructor that checks them. Encoders and
//! decoders are the oracle's, and the kernels' own.
//!
//! All indices and offsets are u32 and 0-based; a dimension, or a number of stored elements, past 2^32 - 1 is
//! refused. Lengths are in elements, never bytes. Constructors allocate no more than one window needs; encoders allocate in proportion to
//! the entries, or at most [`SLOT_LIMIT`] elements per array.

mod bcsr;
pub mod bit_tcf;
mod blocked_ell;
pub mod check;
mod coo;
pub mod cp_csr;
mod csc;
mod csr;
mod dense;
mod ell;
mod fields;
pub mod libra_sddmm;
pub mod libra_spmm;
pub mod loops;
pub mod me_tcf;
pub mod nm;
mod params;
mod parts;
pub mod rp_csc;
pub mod rs_tile;
mod sparse;
pub mod sr_bcrs;
mod table;
pub mod tcf;
pub mod two_four;
pub mod vnm;

pub use crate::refusal::{BLOCK_AREA_LIMIT, SLOT_LIMIT};
pub use bcsr::{Bcsr, BcsrParts};
pub use bit_tcf::{BitTcf, BitTcfParts};
pub use blocked_ell::{BlockedEll, BlockedEllParts};
pub use coo::{Coo, CooParts};
pub use cp_csr::{CpCsr, CpCsrParts};
pub use csc::{Csc, CscParts};
pub use csr::{Csr, CsrParts};
pub use dense::{Dense, Layout};
pub use ell::{Ell, EllParts};
pub use fields::{FieldMut, FieldRef, Fields};
pub use libra_sddmm::{LibraSddmm, LibraSddmmParts};
pub use libra_spmm::{LibraSpmm, LibraSpmmParts};
pub use loops::{Loops, LoopsParts};
pub use me_tcf::{MeTcf, MeTcfParts};
pub use nm::{Nm, NmParts};
pub use params::{FormatParams, ImpactRule, PARAMETERS, Parameter};
pub use parts::{AnyParts, Parts, PartsElement};
pub use rp_csc::{EXTENT_LIMIT, GROUP_LIMIT, LANE_LIMIT, RpCsc, RpCscParts};
pub use rs_tile::{RsTile, RsTileParts};
pub use sparse::{AnySparse, FormatKind, Sparse};
pub use sr_bcrs::{SrBcrs, SrBcrsParts};
pub use tcf::{Tcf, TcfParts};
pub use two_four::{SparseMma, TwoFour, TwoFourParts};
pub use vnm::{Vnm, VnmParts};

/// The column id that marks a slot without an entry in ELL, Blocked-ELL and the residual part of RS-Tile.
pub const PAD: u32 = u32::MAX;
