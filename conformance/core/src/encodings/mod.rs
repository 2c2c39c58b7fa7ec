//! Encodings that are valid and not the one that an encoder writes: blocks, columns and vectors without an entry, pads in other
//! places, parts cut elsewhere.
//!
//! ```text
//! entries --encoder of the oracle-->  canonical arrays  (which says whether the format holds the matrix at all)
//!         --written here by hand--->  loose arrays      --constructor of the oracle-->  operand of the case
//! ```
//!
//! A loose encoding decodes to the same entries; which of the free choices it takes depends on the case's seed alone. What the
//! constructors allow is said in the files of `oracle/types/src/format` and in SEMANTICS.md; [`ENCODINGS`] says it for every format.
//! Nothing here calls an encoder.

mod general;
mod libra;
mod room;
mod squeezed;
mod structured;
mod tiles;
mod windows;

use room::Room;
use sparse_oracle::format::{Entries, FormatKind, FormatParams, Parts};
use sparse_oracle::scalar::Scalar;

/// Which of its valid encodings the sparse operand of a case has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    /// The one that encoders write.
    #[default]
    Canonical,
    /// Another, drawn by the case's seed.
    Loose,
}

/// What a format leaves open.
#[derive(Clone, Copy, Debug)]
pub struct EncodingInfo {
    /// The format.
    pub format: FormatKind,
    /// True where it holds a matrix in more than one way.
    pub is_loose: bool,
    /// What a loose encoding varies, or why there is only one.
    pub doc: &'static str,
}

const fn loose(format: FormatKind, doc: &'static str) -> EncodingInfo {
    EncodingInfo { format, is_loose: true, doc }
}

const fn single(format: FormatKind, doc: &'static str) -> EncodingInfo {
    EncodingInfo { format, is_loose: false, doc }
}

/// Every format, in the order of [`FormatKind::ALL`].
pub const ENCODINGS: [EncodingInfo; 19] = [
    loose(FormatKind::Coo, "triples in any order"),
    single(FormatKind::Csr, "columns of a row ascend, each is stored once"),
    single(FormatKind::Csc, "rows of a column ascend, each is stored once"),
    loose(FormatKind::Bcsr, "blocks that hold no entry, in empty block rows too"),
    loose(FormatKind::Ell, "more slots than the longest row needs"),
    loose(
        FormatKind::BlockedEll,
        "blocks that hold no entry, and more slots than the longest block row needs",
    ),
    loose(FormatKind::Loops, "tiles that hold no entry, in empty blocks too"),
    loose(
        FormatKind::RsTile,
        "windows at other rows, other residual rows, empty ones too; columns and blocks without a bit; a wider residual part",
    ),
    loose(
        FormatKind::LibraSpmm,
        "other vectors in the tensor part; columns and blocks without a bit, in empty windows too",
    ),
    loose(
        FormatKind::LibraSddmm,
        "other vectors in the tensor part, in any order; columns and blocks without a bit, in empty windows too",
    ),
    single(
        FormatKind::RpCsc,
        "a column without an entry is refused, in all groups as in one, and rows of a column ascend",
    ),
    single(
        FormatKind::CpCsr,
        "a row without an entry is refused, in all groups as in one, and columns of a row ascend",
    ),
    loose(
        FormatKind::Nm,
        "windows that store fewer than n vectors name other rows beside them, past the end too",
    ),
    loose(
        FormatKind::TwoFour,
        "chunks that store fewer than half their columns name other columns beside them",
    ),
    loose(
        FormatKind::Vnm,
        "blocks and rows that store fewer columns than they keep name other ones beside them",
    ),
    single(FormatKind::Tcf, "CSR order, and the arrays beside it follow from the columns"),
    loose(FormatKind::MeTcf, "columns and blocks without an entry, in empty windows too"),
    loose(FormatKind::BitTcf, "columns and blocks without an entry, in empty windows too"),
    loose(FormatKind::SrBcrs, "vectors that hold no entry, in empty windows too, and whole groups of pads"),
];

impl EncodingInfo {
    /// The row of a format.
    #[must_use]
    pub const fn of(format: FormatKind) -> &'static EncodingInfo {
        &ENCODINGS[format as usize]
    }
}

/// Arrays of a loose encoding of sorted entries that the format holds; `None` where it has one encoding only. `params` are those
/// that the canonical encoding was made with. `apart` allows that the two parts of a Libra format share a column of a window.
#[must_use]
pub fn loosened<T: Scalar>(
    format: FormatKind,
    params: &FormatParams,
    entries: &Entries<T>,
    seed: u64,
    apart: bool,
) -> Option<Parts<T>> {
    let room = &mut Room::new(seed, format, entries, apart);
    Some(match format {
        FormatKind::Coo => Parts::Coo(general::coo(entries, room)),
        FormatKind::Bcsr => Parts::Bcsr(general::bcsr(entries, params, room)),
        FormatKind::Ell => Parts::Ell(general::ell(entries, room)),
        FormatKind::BlockedEll => Parts::BlockedEll(general::blocked_ell(entries, params, room)),
        FormatKind::Loops => Parts::Loops(tiles::loops(entries, params, room)),
        FormatKind::SrBcrs => Parts::SrBcrs(tiles::sr_bcrs(entries, params, room)),
        FormatKind::RsTile => Parts::RsTile(windows::rs_tile(entries, room)),
        FormatKind::LibraSpmm => Parts::LibraSpmm(libra::spmm(entries, params, room)),
        FormatKind::LibraSddmm => Parts::LibraSddmm(libra::sddmm(entries, room)),
        FormatKind::MeTcf => Parts::MeTcf(squeezed::me_tcf(entries, params, room)),
        FormatKind::BitTcf => Parts::BitTcf(squeezed::bit_tcf(entries, params, room)),
        FormatKind::Nm => Parts::Nm(structured::nm(entries, params, room)),
        FormatKind::TwoFour => Parts::TwoFour(structured::two_four(entries, params, room)?),
        FormatKind::Vnm => Parts::Vnm(structured::vnm(entries, params, room)),
        FormatKind::Csr | FormatKind::Csc | FormatKind::RpCsc | FormatKind::CpCsr | FormatKind::Tcf => {
            return None;
        }
    })
}
