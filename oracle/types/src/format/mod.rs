//! Storage layouts. Each file holds one format: its parts as plain data, and the constructor that checks them. Encoders and
//! decoders are the oracle's, and the kernels' own.
//!
//! All indices and offsets are u32 and 0-based; a dimension, or a number of stored elements, past 2^32 - 1 is
//! refused. Lengths are in elements, never bytes. Constructors allocate no more than one window needs; encoders allocate in proportion to
//! the entries, or at most [`SLOT_LIMIT`] elements per array.
//!
//! Two tables stand here, and every list, name and visitor of formats and of their parameters is made from their rows:
//!
//! ```text
//! formats!     -> FormatKind, its lists, names and properties     each_format!, with_format!
//!              -> Sparse<T> (checked), Parts<T> (unchecked)       and, by the table of element types, AnySparse, AnyParts
//! parameters!  -> FormatParams, PARAMETERS                        keys of case lines, axes of plans, docs/formats.md
//! ```

/// Hands the rows to a macro, a dollar sign first, for macros that make macros. New formats go to the end: the order is that of
/// contracts.
macro_rules! formats {
    ($d:tt $then:ident) => {
        $then! { $d
            // Matrix   arrays        name          group      in slots without an entry   of element types
            Coo        CooParts        "coo"         General    Nothing Every;
            Csr        CsrParts        "csr"         General    Nothing Every;
            Csc        CscParts        "csc"         General    Nothing Every;
            Bcsr       BcsrParts       "bcsr"        General    Zeros   Every;
            Ell        EllParts        "ell"         General    Nothing Every;
            BlockedEll BlockedEllParts "blocked_ell" General    Zeros   Every;
            Loops      LoopsParts      "loops"       Paper      Zeros   Every;
            RsTile     RsTileParts     "rs_tile"     Paper      Bits    Every;
            LibraSpmm  LibraSpmmParts  "libra_spmm"  Paper      Bits    Every;
            LibraSddmm LibraSddmmParts "libra_sddmm" Paper      Bits    Every;
            RpCsc      RpCscParts      "rp_csc"      Paper      Nothing Every;
            CpCsr      CpCsrParts      "cp_csr"      Paper      Nothing Every;
            Nm         NmParts         "nm"          Structured Zeros   Every;
            TwoFour    TwoFourParts    "two_four"    Structured Zeros   OfSparseMma;
            Vnm        VnmParts        "vnm"         Structured Zeros   Every;
            Tcf        TcfParts        "tcf"         Paper      Bits    Every;
            MeTcf      MeTcfParts      "me_tcf"      Paper      Bits    Every;
            BitTcf     BitTcfParts     "bit_tcf"     Paper      Bits    Every;
            SrBcrs     SrBcrsParts     "sr_bcrs"     Paper      Zeros   Every;
        }
    };
}

/// Hands the rows to a macro: what it says and its field of [`FormatParams`] with type and default; its name in case lines, its unit,
/// what holds where it is not given (empty where that is the default), the formats that read it, and values that plans and fuzzers
/// choose from beside the default. New parameters go to the end.
macro_rules! parameters {
    ($then:ident) => {
        $then! {
            /// Rows of a block.
            block_rows: u32 = 4, "block_rows", "rows", "", [Bcsr BlockedEll], [1, 2, 3, 8, 16, 32];
            /// Columns of a block.
            block_cols: u32 = 4, "block_cols", "columns", "", [Bcsr BlockedEll], [1, 3, 5, 8, 16, 32];
            /// Rows of the CSR part, at most those of the matrix; tiles begin below.
            boundary: Option<u32> = None, "boundary", "rows", "half the rows, rounded down", [Loops], [0];
            /// Rows of a tile.
            br: u32 = 8, "br", "rows", "", [Loops], [1, 2, 4, 16, 32];
            /// Most entries of a residual row; 0 for no residual part.
            tau_nnz: Option<u32> = None, "tau", "entries", "estimated (SEMANTICS.md 7.4)", [RsTile], [0, 1, 2, 4, 8, 64];
            /// Threshold on the columns that a row adds to its window.
            tau_inc: Option<u32> = None, "tau_inc", "columns", "derived (SEMANTICS.md 7.4)", [RsTile], [1, 2, 3];
            /// Which short rows go to the CUDA part: by Algorithm 1 as printed (1), or as the text describes it (0).
            impact: ImpactRule = ImpactRule::AsDescribed, "as_printed", "0 or 1", "", [RsTile], [1];
            /// Density from which a vector (a block) goes to the tensor part.
            eta: Option<u32> = None, "eta", "1/128, 0 to 128", "48 for SpMM, 24 for SDDMM", [LibraSpmm LibraSddmm],
                [1, 16, 32, 64, 128];
            /// Columns of a block: 4, 8 or 16.
            kb: u32 = 8, "kb", "columns", "", [LibraSpmm], [4, 16];
            /// Fill the last block of a window with the densest remaining vectors.
            fill: bool = false, "fill", "0 or 1", "", [LibraSpmm], [1];
            /// Number of groups, 1 to 64.
            groups: u32 = 4, "groups", "groups", "", [RpCsc CpCsr], [1, 2, 8, 64];
            /// How many of a window are kept.
            n: u32 = 2, "nm_n", "elements", "", [Nm Vnm], [1, 3, 4];
            /// The window.
            m: u32 = 4, "nm_m", "elements", "", [Nm Vnm], [8, 10, 16, 32, 64];
            /// Columns of a window (length of a vector).
            l: u32 = 4, "nm_l", "columns", "", [Nm], [1, 2, 8, 16, 32];
            /// Rows of a block or vector.
            v: u32 = 8, "v", "rows", "", [Vnm SrBcrs], [1, 2, 4, 16, 32];
            /// Vectors per group.
            stride: u32 = 4, "stride", "vectors", "", [SrBcrs], [1, 2, 3, 8, 16];
            /// Packed for the shorter (1) or the longer (0) of the two shapes of the instruction.
            short_k: bool = false, "short_k", "0 or 1", "", [TwoFour], [1];
            /// With the arrays of the load-balanced variant.
            balanced: bool = false, "balanced", "0 or 1", "", [MeTcf BitTcf], [1];
        }
    };
}

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
pub use sparse::{AnySparse, FormatKind, Sparse, SparseFormat};
pub use sr_bcrs::{SrBcrs, SrBcrsParts};
pub use tcf::{Tcf, TcfParts};
pub use two_four::{SparseMma, TwoFour, TwoFourParts};
pub use vnm::{Vnm, VnmParts};

/// The column id that marks a slot without an entry in ELL, Blocked-ELL and the residual part of RS-Tile.
pub const PAD: u32 = u32::MAX;
