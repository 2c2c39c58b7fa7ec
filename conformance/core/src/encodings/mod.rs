//! Encodings that are valid and not the one that an encoder writes: blocks, columns and vectors without an entry, pads in other
//! places, parts cut elsewhere.
//!
//! ```text
//! entries --encoder of the oracle-->  canonical arrays  (which says whether the format holds the matrix at all)
//!         --written here by hand--->  loose arrays      --constructor of the oracle-->  operand of the case
//! ```
//!
//! A loose encoding decodes to the same entries; which of the free choices it takes depends on the case's seed alone. What the
//! constructors allow is said in the files of `oracle/types/src/format` and in SEMANTICS.md, what a loose encoding varies in `writer`.
//! A format that is not there has one encoding, and a test looks for others. Nothing here calls an encoder.

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

/// Writes the arrays of a loose encoding, where the choices leave one.
type Writer<T> = fn(&Entries<T>, &FormatParams, &mut Room) -> Option<Parts<T>>;

/// The writer of a format's loose encodings; `None` where its entries and parameters say all of its arrays.
fn writer<T: Scalar>(format: FormatKind) -> Option<Writer<T>> {
    let table: [(FormatKind, Writer<T>); 14] = [
        // Triples in any order.
        (FormatKind::Coo, |e, _, room| Some(Parts::Coo(general::coo(e, room)))),
        // Blocks that hold no entry, in empty block rows too.
        (FormatKind::Bcsr, |e, p, room| Some(Parts::Bcsr(general::bcsr(e, p, room)))),
        // More slots than the longest row needs.
        (FormatKind::Ell, |e, _, room| Some(Parts::Ell(general::ell(e, room)))),
        // Blocks that hold no entry, and more slots than the longest block row needs.
        (FormatKind::BlockedEll, |e, p, room| Some(Parts::BlockedEll(general::blocked_ell(e, p, room)))),
        // Tiles that hold no entry, in empty blocks too.
        (FormatKind::Loops, |e, p, room| Some(Parts::Loops(tiles::loops(e, p, room)))),
        // Windows at other rows, other residual rows, empty ones too; columns and blocks without a bit; a wider residual part.
        (FormatKind::RsTile, |e, _, room| Some(Parts::RsTile(windows::rs_tile(e, room)))),
        // Other vectors in the tensor part; columns and blocks without a bit, in empty windows too.
        (FormatKind::LibraSpmm, |e, p, room| Some(Parts::LibraSpmm(libra::spmm(e, p, room)))),
        // The same, and vectors in any order.
        (FormatKind::LibraSddmm, |e, _, room| Some(Parts::LibraSddmm(libra::sddmm(e, room)))),
        // Windows that store fewer than n vectors name other rows beside them, past the end too.
        (FormatKind::Nm, |e, p, room| Some(Parts::Nm(structured::nm(e, p, room)))),
        // Chunks that store fewer than half their columns name other columns beside them.
        (FormatKind::TwoFour, |e, p, room| Some(Parts::TwoFour(structured::two_four(e, p, room)?))),
        // Blocks and rows that store fewer columns than they keep name other ones beside them.
        (FormatKind::Vnm, |e, p, room| Some(Parts::Vnm(structured::vnm(e, p, room)))),
        // Columns and blocks without an entry, in empty windows too.
        (FormatKind::MeTcf, |e, p, room| Some(Parts::MeTcf(squeezed::me_tcf(e, p, room)))),
        (FormatKind::BitTcf, |e, p, room| Some(Parts::BitTcf(squeezed::bit_tcf(e, p, room)))),
        // Vectors that hold no entry, in empty windows too, and whole groups of pads.
        (FormatKind::SrBcrs, |e, p, room| Some(Parts::SrBcrs(tiles::sr_bcrs(e, p, room)))),
    ];
    table.into_iter().find(|row| row.0 == format).map(|row| row.1)
}

/// True where a format holds a matrix in more than one way.
#[must_use]
pub fn is_loose(format: FormatKind) -> bool {
    writer::<f32>(format).is_some()
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
    writer(format)?(entries, params, room)
}
