//! Encoders and decoders of RS-Tile, Libra, LOOPS and SR-BCRS with one bug each.
//!
//! ```text
//! CSR --portable encoder--> arrays --edit--> judged: kind, validity, matrix, canonical layout
//! ```

use super::super::bug::symptom::{PATTERN, STRUCTURE, VALUE};
use super::super::bug::{
    Bug,
    Effect::{Encodes, Parts, Result},
    Family, Symptom,
};
use super::super::edit::{
    bitmaps, drop_last_entry, indices, off_by_one, pad_is_column_zero, swap_values, transposed,
};
use sparse_conformance_core::case::Case;
use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;

const F: Family = Family::Encoding;

/// An encoding that is invalid, or holds another matrix.
pub(super) const WRONG: &[Symptom] = &[STRUCTURE, PATTERN, VALUE];

/// The right matrix, laid out otherwise.
pub(super) const LAYOUT: &[Symptom] = &[STRUCTURE];

/// Conversions of CSR into a format.
pub(super) fn encodes(case: &Case, format: FormatKind) -> bool {
    case.contract.op == Op::Convert
        && (case.contract.format, case.contract.to) == (FormatKind::Csr, Some(format))
}

/// Conversions of a format into CSR.
pub(super) fn decodes(case: &Case, format: FormatKind) -> bool {
    case.contract.op == Op::Convert
        && (case.contract.format, case.contract.to) == (format, Some(FormatKind::Csr))
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "rs_tile: bitmap by columns",
        "bit 8 c + r is set where bit 8 r + c is meant",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| bitmaps(p, "bitmap", |b| b.iter_mut().for_each(|w| *w = transposed(*w)))),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: bitmap shifted",
        "bits are counted from 1",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| bitmaps(p, "bitmap", |b| b.iter_mut().for_each(|w| *w = w.rotate_left(1)))),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: popcount prefix off by one",
        "values of a block are counted inclusively",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| off_by_one(p, "block_value_ptr")),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: pad is column 0",
        "the last block is filled up with column 0, whose row of B is then read",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| pad_is_column_zero(p, "block_col")),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: last residual row dropped",
        "the residual part is one row short",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| {
            indices(p, "residual_row", |rows| {
                rows.truncate(rows.len().saturating_sub(1));
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: windows aligned at 8",
        "windows start at multiples of 8 only",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| indices(p, "window_row", |rows| rows.iter_mut().for_each(|r| *r &= !7))),
        WRONG,
    ),
    Bug::new(
        F,
        "rs_tile: no residual part",
        "short rows stay in windows",
        |c| encodes(c, FormatKind::RsTile),
        Encodes(|p, _| p.tau_nnz = Some(0)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "rs_tile: values swapped",
        "two values are in each other's place",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| swap_values(p, "values")),
        &[VALUE],
    ),
    Bug::new(
        F,
        "rs_tile: decoder loses the last entry",
        "the decoder stops one entry early",
        |c| decodes(c, FormatKind::RsTile),
        Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "libra_spmm: fill forgotten",
        "free columns of the last block stay free",
        |c| encodes(c, FormatKind::LibraSpmm),
        Encodes(|p, _| p.fill = false),
        LAYOUT,
    ),
    Bug::new(
        F,
        "libra_spmm: blocks of 8 always",
        "kb is ignored",
        |c| encodes(c, FormatKind::LibraSpmm),
        Encodes(|p, _| p.kb = 8),
        WRONG,
    ),
    Bug::new(
        F,
        "libra_spmm: pad is column 0",
        "the last block is filled up with column 0",
        |c| encodes(c, FormatKind::LibraSpmm),
        Parts(|p| pad_is_column_zero(p, "block_col")),
        WRONG,
    ),
    Bug::new(
        F,
        "libra_spmm: decoder loses the last entry",
        "the decoder stops one entry early",
        |c| decodes(c, FormatKind::LibraSpmm),
        Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "libra_sddmm: positions in block order",
        "the permutation back to CSR is left out",
        |c| encodes(c, FormatKind::LibraSddmm),
        Parts(|p| indices(p, "position", |list| list.sort_unstable())),
        WRONG,
    ),
    Bug::new(
        F,
        "libra_sddmm: columns sorted by id",
        "columns of a block are sorted by number, not by density",
        |c| encodes(c, FormatKind::LibraSddmm),
        Parts(|p| {
            indices(p, "block_col", |cols| {
                cols.chunks_mut(16).for_each(<[u32]>::sort_unstable);
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "libra_sddmm: threshold of SpMM",
        "the density threshold of the other operation is used",
        |c| encodes(c, FormatKind::LibraSddmm),
        Encodes(|p, _| p.eta = Some(48)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "loops: tile columns shifted",
        "columns of tiles are those of their neighbours",
        |c| encodes(c, FormatKind::Loops),
        Parts(|p| {
            indices(p, "block_col", |cols| {
                if !cols.is_empty() {
                    cols.rotate_left(1);
                }
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "loops: decoder loses the last entry",
        "the decoder stops one entry early",
        |c| decodes(c, FormatKind::Loops),
        Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "sr_bcrs: pad is column 0",
        "vectors that fill up a group have column 0",
        |c| encodes(c, FormatKind::SrBcrs),
        Parts(|p| pad_is_column_zero(p, "vector_col")),
        WRONG,
    ),
    Bug::new(
        F,
        "sr_bcrs: stride of 1",
        "groups are not filled up",
        |c| encodes(c, FormatKind::SrBcrs),
        Encodes(|p, _| p.stride = 1),
        LAYOUT,
    ),
];
