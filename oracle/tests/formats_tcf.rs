//! TCF, ME-TCF and BitTCF of one matrix, written out by hand, and what lies at their edges.
//!
//! ```text
//!          0  1  2  3  4  5  6  7  8  9 10 11       columns of the window
//! row  0   .  1  .  2  .  .  .  .  .  3  .  .   \
//! row  2   4  .  .  0  .  .  .  .  .  .  .  6    |  8 rows: 0 1 2 3 4 5 6 7 | 9 11      16 rows: the same
//! row  7   .  .  7  .  8  9 10 11  .  .  .  .   /   (the 0 is an explicit zero)
//! row  9   .  .  . 12 13  .  .  .  .  .  .  .       8 rows: 3 4
//! row 17   .  .  .  .  .  .  .  .  .  .  . 14       8 and 16 rows: 11
//! ```

use sparse_oracle::format::{
    BitTcf, BitTcfParts, Entries, Entry, Fields, FormatKind, FormatParams, MeTcf, MeTcfParts, PAD,
    SLOT_LIMIT, Sparse, Tcf, TcfParts,
};
use sparse_oracle::prelude::*;
use sparse_oracle::{EncodingError, Limit, Refusal};

const KINDS: [FormatKind; 3] = [FormatKind::Tcf, FormatKind::MeTcf, FormatKind::BitTcf];

fn entries(rows: usize, cols: usize, list: &[(u32, u32, f32)]) -> Entries<f32> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

#[rustfmt::skip]
fn picture() -> Entries<f32> {
    entries(20, 12, &[
        (0, 1, 1.0), (0, 3, 2.0), (0, 9, 3.0),
        (2, 0, 4.0), (2, 3, 0.0), (2, 11, 6.0),
        (7, 2, 7.0), (7, 4, 8.0), (7, 5, 9.0), (7, 6, 10.0), (7, 7, 11.0),
        (9, 3, 12.0), (9, 4, 13.0),
        (17, 11, 14.0),
    ])
}

fn params(balanced: bool) -> FormatParams {
    FormatParams { balanced, ..FormatParams::default() }
}

const P: u32 = PAD;

#[rustfmt::skip]
fn tcf() -> TcfParts<f32> {
    TcfParts {
        rows: 20,
        cols: 12,
        node_pointer: vec![0, 3, 3, 6, 6, 6, 6, 6, 11, 11, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14, 14],
        edge_list: vec![1, 3, 9,  0, 3, 11,  2, 4, 5, 6, 7,  3, 4,  11],
        edge_to_column: vec![1, 3, 8,  0, 3, 9,  2, 4, 5, 6, 7,  3, 4,  0],
        edge_to_row: vec![0, 0, 0,  2, 2, 2,  7, 7, 7, 7, 7,  9, 9,  17],
        block_partition: vec![2, 1],
        values: vec![1.0, 2.0, 3.0,  4.0, 0.0, 6.0,  7.0, 8.0, 9.0, 10.0, 11.0,  12.0, 13.0,  14.0],
    }
}

#[rustfmt::skip]
fn me_tcf() -> MeTcfParts<f32> {
    MeTcfParts {
        rows: 20,
        cols: 12,
        balanced: true,
        row_window_offset: vec![0, 2, 3],
        tc_offset: vec![0, 11, 13, 14],
        tc_local_id: vec![1, 3,  16, 19,  58, 60, 61, 62, 63,  75, 76,    0, 17,    8],
        sparse_a_to_b: vec![0, 1, 2, 3, 4, 5, 6, 7,  9, 11, P, P, P, P, P, P,  11, P, P, P, P, P, P, P],
        block_window: vec![0, 0, 1],
        values: vec![1.0, 2.0,  4.0, 0.0,  7.0, 8.0, 9.0, 10.0, 11.0,  12.0, 13.0,    3.0, 6.0,    14.0],
    }
}

#[rustfmt::skip]
fn bit_tcf() -> BitTcfParts<f32> {
    let bits = |list: &[u32]| list.iter().map(|bit| 1u64 << bit).sum();
    BitTcfParts {
        rows: 20,
        cols: 12,
        balanced: true,
        row_window_offset: vec![0, 2, 3, 4],
        tc_offset: vec![0, 9, 11, 13, 14],
        tc_local_bit: vec![bits(&[1, 3, 16, 19, 58, 60, 61, 62, 63]), bits(&[0, 17]), bits(&[8, 9]), bits(&[8])],
        sparse_a_to_b: vec![
            0, 1, 2, 3, 4, 5, 6, 7,  9, 11, P, P, P, P, P, P,  3, 4, P, P, P, P, P, P,  11, P, P, P, P, P, P, P,
        ],
        block_window: vec![0, 0, 1, 2],
        values: vec![1.0, 2.0,  4.0, 0.0,  7.0, 8.0, 9.0, 10.0, 11.0,    3.0, 6.0,    12.0, 13.0,    14.0],
    }
}

#[test]
fn tcf_by_hand() {
    let matrix = Tcf::from_entries_with(&picture(), &params(false)).expect("encodes");
    assert_eq!((matrix.blocks(), matrix.nnz()), (3, 14));
    assert_eq!(matrix.into_parts(), tcf());
    let taken = Tcf::try_new(tcf()).expect("valid");
    assert_eq!((taken.entries(), taken.params()), (picture(), params(false)));
}

#[test]
fn me_tcf_by_hand() {
    let matrix = MeTcf::from_entries_with(&picture(), &params(true)).expect("encodes");
    assert_eq!((matrix.blocks(), matrix.nnz()), (3, 14));
    assert_eq!(matrix.into_parts(), me_tcf());
    let taken = MeTcf::try_new(me_tcf()).expect("valid");
    assert_eq!((taken.entries(), taken.params()), (picture(), params(true)));
}

#[test]
fn bit_tcf_by_hand() {
    let matrix = BitTcf::from_entries_with(&picture(), &params(true)).expect("encodes");
    assert_eq!((matrix.blocks(), matrix.nnz()), (4, 14));
    assert_eq!(matrix.into_parts(), bit_tcf());
    let taken = BitTcf::try_new(bit_tcf()).expect("valid");
    assert_eq!((taken.entries(), taken.params()), (picture(), params(true)));
}

/// The balanced variant is the plain one and four bytes per block.
#[test]
fn balance_adds_the_window_of_each_block_and_nothing_else() {
    let plain = MeTcf::from_entries_with(&picture(), &params(false)).expect("encodes").into_parts();
    assert_eq!((plain.index_bytes(), me_tcf().index_bytes()), (138, 138 + 3 * 4));
    assert_eq!(plain, MeTcfParts { balanced: false, block_window: vec![], ..me_tcf() });
    let plain = BitTcf::from_entries_with(&picture(), &params(false)).expect("encodes").into_parts();
    assert_eq!((plain.index_bytes(), bit_tcf().index_bytes()), (196, 196 + 4 * 4));
    assert_eq!(plain, BitTcfParts { balanced: false, block_window: vec![], ..bit_tcf() });
}

/// Bytes by hand: ME-TCF 3 + 4 + 24 words and 14 bytes, BitTCF 4 + 5 + 32 words and 4 double words, TCF 21 + 3 * 14 + 2.
#[test]
fn sizes_are_those_of_the_arrays() {
    assert_eq!(me_tcf().index_bytes() - 12, (3 + 4 + 24) * 4 + 14);
    assert_eq!(bit_tcf().index_bytes() - 16, (4 + 5 + 32) * 4 + 4 * 8);
    assert_eq!(tcf().index_bytes(), (21 + 3 * 14 + 2) * 4);
    for values in [me_tcf().value_bytes(), bit_tcf().value_bytes(), tcf().value_bytes()] {
        assert_eq!(values, 14 * 4);
    }
}

/// As TC-GNN's published code does: one block for a window that has no entry.
#[test]
fn a_block_of_an_empty_window_is_refused() {
    let far = entries(40, 3, &[(0, 0, 1.0), (39, 2, 2.0)]);
    let parts = Tcf::from_entries_with(&far, &params(false)).expect("encodes").into_parts();
    assert_eq!(parts.block_partition, [1, 0, 1]);
    let printed = TcfParts { block_partition: vec![1, 1, 1], ..parts };
    let refusal =
        Refusal::Encoding(EncodingError::Unequal { field: "block_partition", at: 1, expected: 0, found: 1 });
    assert_eq!(Tcf::try_new(printed).err(), Some(refusal));
    let parts = MeTcf::from_entries_with(&far, &params(false)).expect("encodes").into_parts();
    assert_eq!(parts.row_window_offset, [0, 1, 1, 2]);
    let parts = BitTcf::from_entries_with(&far, &params(false)).expect("encodes").into_parts();
    assert_eq!(parts.row_window_offset, [0, 1, 1, 1, 1, 2]);
}

/// As TC-GNN's published code does: one window more than there are when 16 divides the rows.
#[test]
fn a_window_past_the_last_row_is_refused() {
    let exact = entries(32, 3, &[(31, 2, 2.0)]);
    let mut parts = Tcf::from_entries_with(&exact, &params(false)).expect("encodes").into_parts();
    parts.block_partition.push(1);
    let refusal =
        Refusal::Encoding(EncodingError::Length { field: "block_partition", expected: 2, found: 3 });
    assert_eq!(Tcf::try_new(parts).err(), Some(refusal));
}

/// Valid, though no encoder writes it: the judge of conversions names such an encoding as not canonical.
#[test]
fn unused_columns_and_blocks_are_valid_and_decode_to_nothing() {
    let mut me = me_tcf();
    (me.row_window_offset, me.tc_offset, me.block_window) =
        (vec![0, 2, 4], vec![0, 11, 13, 14, 14], vec![0, 0, 1, 1]);
    me.sparse_a_to_b.splice(16.., [1, 2, 3, 4, 5, 6, 7, 11, 0, P, P, P, P, P, P, P]);
    me.sparse_a_to_b[24] = 12;
    me.cols = 13;
    me.tc_local_id[13] = 15;
    let expected = Entries { cols: 13, ..picture() };
    assert_eq!(MeTcf::try_new(me).expect("valid").entries(), expected);
    let mut bit = bit_tcf();
    bit.sparse_a_to_b[10] = 12;
    bit.cols = 13;
    assert_eq!(BitTcf::try_new(bit).expect("valid").entries(), expected);
}

#[test]
fn empty_matrices_of_every_shape_survive() {
    for (rows, cols) in [(0, 0), (0, 9), (9, 0), (1, 1), (16, 8), (17, 9), (8, u32::MAX as usize)] {
        let empty = entries(rows, cols, &[]);
        for kind in KINDS {
            let matrix = Sparse::from_entries(kind, params(true), &empty).expect("encodes");
            assert_eq!((matrix.entries(), matrix.nnz()), (empty.clone(), 0), "{kind:?} {rows} x {cols}");
        }
    }
}

#[test]
fn the_last_column_of_the_widest_matrix_is_not_a_pad() {
    let wide = entries(2, u32::MAX as usize, &[(0, 0, 1.0), (1, u32::MAX - 1, 2.0)]);
    for kind in KINDS {
        let matrix = Sparse::from_entries(kind, params(true), &wide).expect("encodes");
        assert_eq!(matrix.entries(), wide, "{kind:?}");
    }
    let matrix = BitTcf::from_entries_with(&wide, &params(false)).expect("encodes");
    assert_eq!(matrix.sparse_a_to_b[..3], [0, u32::MAX - 1, PAD]);
}

#[test]
fn a_tall_matrix_of_three_entries_costs_little_or_is_refused() {
    let tall = |rows: usize| entries(rows, 3, &[(0, 0, 1.0), (7, 2, 2.0), (rows as u32 - 1, 0, 3.0)]);
    for (kind, rows, field, found) in [
        (FormatKind::Tcf, 1 << 31, "node_pointer", (1u128 << 31) + 1),
        (FormatKind::BitTcf, 1 << 31, "row_window_offset", (1 << 28) + 1),
        (FormatKind::MeTcf, u32::MAX as usize, "row_window_offset", (1 << 28) + 1),
    ] {
        let refusal = Refusal::Limit(Limit { field, found, limit: SLOT_LIMIT });
        assert_eq!(Sparse::from_entries(kind, params(true), &tall(rows)).err(), Some(refusal));
    }
    for kind in KINDS {
        let matrix = Sparse::from_entries(kind, params(true), &tall(1 << 20)).expect("encodes");
        assert_eq!(matrix.entries(), tall(1 << 20), "{kind:?}");
    }
}

#[test]
fn no_encoder_takes_what_is_not_a_matrix() {
    let at = |row, col| Entry { row, col, value: 1.0f32 };
    let past = |rows, cols, list| Entries { rows, cols, list };
    for bad in [
        past(1 << 32, 1, Vec::new()),
        past(1, usize::MAX, Vec::new()),
        past(2, 2, vec![at(2, 0)]),
        past(2, 2, vec![at(0, 2)]),
        past(2, 2, vec![at(1, 0), at(0, 0)]),
        past(2, 2, vec![at(1, 0), at(1, 0)]),
    ] {
        let expected = bad.check().err();
        assert!(expected.is_some());
        for kind in KINDS {
            assert_eq!(Sparse::from_entries(kind, params(false), &bad).err(), expected, "{kind:?}");
        }
    }
}
