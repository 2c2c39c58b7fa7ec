//! Encoders and decoders of the IOPS formats, N:M, 2:4, V:N:M and the TCF family with one bug each; see
//! [`encoding`](super::encoding).

use super::super::bug::symptom::PATTERN;
use super::super::bug::{
    Bug,
    Effect::{Encodes, Parts, Result},
    Family,
};
use super::super::edit::{
    bitmaps, bytes, drop_last_entry, indices, pad_is_column_zero, swap_neighbours, swap_values, transposed,
};
use super::encoding::{LAYOUT, WRONG, decodes, encodes};
use sparse_oracle::format::FormatKind;

const F: Family = Family::Encoding;

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "rp_csc: group bitmap shifted",
        "group g has bit g + 1",
        |c| encodes(c, FormatKind::RpCsc),
        Parts(|p| bitmaps(p, "group_bitmap", |b| b.iter_mut().for_each(|w| *w <<= 1))),
        WRONG,
    ),
    Bug::new(
        F,
        "rp_csc: column lengths swapped",
        "two columns have each other's length",
        |c| encodes(c, FormatKind::RpCsc),
        Parts(|p| {
            bytes(p, "col_len", |len| {
                swap_neighbours(len);
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "rp_csc: one group fewer",
        "the matrix is cut into one group fewer than asked for",
        |c| encodes(c, FormatKind::RpCsc),
        Encodes(|p, _| p.groups = (p.groups - 1).max(1)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "cp_csr: row lengths swapped",
        "two rows have each other's length",
        |c| encodes(c, FormatKind::CpCsr),
        Parts(|p| {
            bytes(p, "row_len", |len| {
                swap_neighbours(len);
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "cp_csr: decoder loses the last entry",
        "the decoder stops one entry early",
        |c| decodes(c, FormatKind::CpCsr),
        Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "nm: index one too large",
        "offsets inside a window are counted from 1",
        |c| encodes(c, FormatKind::Nm),
        Parts(|p| indices(p, "index", |d| d.iter_mut().for_each(|d| *d += 1))),
        WRONG,
    ),
    Bug::new(
        F,
        "nm: values swapped",
        "two values are in each other's place",
        |c| encodes(c, FormatKind::Nm),
        Parts(|p| swap_values(p, "values")),
        WRONG,
    ),
    Bug::new(
        F,
        "two_four: metadata halves exchanged",
        "the halves of a metadata word are in the other order",
        |c| encodes(c, FormatKind::TwoFour),
        Parts(|p| {
            indices(p, "metadata", |m| {
                m.iter_mut().for_each(|w| *w = w.rotate_left(16));
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "two_four: other instruction shape",
        "metadata is laid out for the other k",
        |c| encodes(c, FormatKind::TwoFour),
        Encodes(|p, _| p.short_k = !p.short_k),
        WRONG,
    ),
    Bug::new(
        F,
        "vnm: columns rotated",
        "the four columns of a block are named from the second on",
        |c| encodes(c, FormatKind::Vnm),
        Parts(|p| indices(p, "column", |c| c.chunks_mut(4).for_each(|c| c.rotate_left(1)))),
        WRONG,
    ),
    Bug::new(
        F,
        "tcf: ranks not per window",
        "ranks are counted from 1",
        |c| encodes(c, FormatKind::Tcf),
        Parts(|p| indices(p, "edge_to_column", |c| c.iter_mut().for_each(|c| *c += 1))),
        WRONG,
    ),
    Bug::new(
        F,
        "tcf: block count rounded down",
        "blocks of a window are counted without the last, short one",
        |c| encodes(c, FormatKind::Tcf),
        Parts(|p| {
            indices(p, "block_partition", |b| {
                b.iter_mut().for_each(|b| *b = b.saturating_sub(1));
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "me_tcf: ids by columns",
        "local ids are counted by columns",
        |c| encodes(c, FormatKind::MeTcf),
        Parts(|p| {
            bytes(p, "tc_local_id", |ids| {
                ids.iter_mut().for_each(|id| *id = *id % 8 * 16 + *id / 8);
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "me_tcf: balance forgotten",
        "the arrays of the balanced variant are left out",
        |c| encodes(c, FormatKind::MeTcf),
        Encodes(|p, _| p.balanced = false),
        WRONG,
    ),
    Bug::new(
        F,
        "bit_tcf: bitmap by columns",
        "bits are counted by columns",
        |c| encodes(c, FormatKind::BitTcf),
        Parts(|p| {
            bitmaps(p, "tc_local_bit", |b| {
                b.iter_mut().for_each(|w| *w = transposed(*w));
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "bit_tcf: pad is column 0",
        "the last block is filled up with column 0",
        |c| encodes(c, FormatKind::BitTcf),
        Parts(|p| pad_is_column_zero(p, "sparse_a_to_b")),
        WRONG,
    ),
    Bug::new(
        F,
        "bit_tcf: decoder loses the last entry",
        "the decoder stops one entry early",
        |c| decodes(c, FormatKind::BitTcf),
        Result(drop_last_entry),
        &[PATTERN],
    ),
];
