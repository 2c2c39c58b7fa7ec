//! Parameters of Libra's two formats: thresholds and their rounding, what is refused, what reads back, limits; and that an
//! encoder which follows Algorithm 1 as printed is caught.

use crate::libra;
use sparse_oracle::prelude::*;

use libra::{full_columns, numbered, padded, params, picture, sddmm, spmm, two_windows, wrapped_diagonal};
use sparse_oracle::format::{
    AnyParts, AnySparse, FormatKind, FormatParams, LibraSddmm, LibraSpmm, PAD, Parts, SLOT_LIMIT, Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::verdict::{Defect, Verdict};
use sparse_oracle::{Limit, Refusal, RequestError};

/// What a judge says of another encoding of the same matrix.
fn structure_defect(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Wrong(mismatch) if mismatch.defect == Defect::Structure)
}

/// Slip 4, SpMM: three entries of eight at a threshold of 0.375 are enough. Algorithm 1 compares with `>`: with the
/// number of entries, it leaves the vector to the CUDA cores (as a threshold of four would); with the density itself, as
/// its letters say, it takes every vector (as a threshold of one would).
#[test]
fn slip_4_a_vector_at_the_threshold_goes_to_the_tensor_part() {
    let entries = numbered(8, 4, &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 1), (3, 2), (4, 3)]);
    let right = spmm(&entries, params(48, 8, false));
    assert_eq!(right.block_col, padded(8, &[&[1]]));
    let expected = AnySparse::from(Sparse::LibraSpmm(right));
    for (as_printed, columns) in [(64, &[][..]), (16, &[&[0, 1, 2, 3][..]][..])] {
        let printed = spmm(&entries, params(as_printed, 8, false));
        assert_eq!(printed.block_col, padded(8, columns));
        assert_eq!(printed.entries(), entries, "the right matrix, distributed otherwise");
        let verdict = judge_encoded(&expected, AnyParts::F32(Parts::LibraSpmm(printed.into_parts())));
        assert!(structure_defect(&verdict), "{verdict:?}");
    }
}

/// Slip 4, SDDMM: 25 entries in four columns, one block. A threshold of 25 takes it, and `>` would not.
#[test]
fn slip_4_a_block_at_the_threshold_goes_to_the_tensor_part() {
    let entries = full_columns(3);
    let right = sddmm(&entries, 25);
    assert_eq!((right.blocks(), right.values.len()), (1, 25));
    let printed = sddmm(&entries, 26);
    assert_eq!((printed.blocks(), printed.entries()), (0, entries));
    let expected = AnySparse::from(Sparse::LibraSddmm(right));
    let verdict = judge_encoded(&expected, AnyParts::F32(Parts::LibraSddmm(printed.into_parts())));
    assert!(structure_defect(&verdict), "{verdict:?}");
}

/// 0.1875 of 128 slots is 24.
#[test]
fn sddmm_takes_24_entries_by_default() {
    for (entries, blocks) in [(full_columns(3), 1), (numbered(8, 20, &[(0, 0)]), 0)] {
        let matrix = LibraSddmm::from_entries_with(&entries, &FormatParams::default()).expect("encodes");
        assert_eq!(matrix.blocks(), blocks);
    }
    let list = |n: usize| (0..n as u32).map(|i| (i / 3, i % 3)).collect::<Vec<_>>();
    for (n, blocks) in [(24, 1), (23, 0)] {
        let matrix = LibraSddmm::from_entries_with(&numbered(8, 3, &list(n)), &FormatParams::default());
        assert_eq!(matrix.expect("encodes").blocks(), blocks, "{n} entries");
    }
}

#[test]
fn thresholds_round_up_to_whole_entries() {
    // Columns 0 to 7 with 1 to 8 entries.
    let positions: Vec<_> = (0..8).flat_map(|row| (row..8).map(move |col| (row, col))).collect();
    let entries = numbered(8, 8, &positions);
    for (eta, taken) in [(1, 8), (16, 8), (17, 7), (32, 7), (33, 6), (48, 6), (112, 2), (113, 1), (128, 1)] {
        let matrix = spmm(&entries, params(eta, 8, false));
        let real = matrix.block_col.iter().filter(|&&col| col != PAD).count();
        assert_eq!(real, taken, "eta {eta}");
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let too_dense = |found| Err(Refusal::Request(RequestError::TooLarge { field: "eta", found, limit: 128 }));
    for kind in [FormatKind::LibraSpmm, FormatKind::LibraSddmm] {
        let encode = |params| Sparse::from_entries(kind, params, &picture());
        assert_eq!(encode(params(0, 8, false)), Err(Refusal::Request(RequestError::Zero { field: "eta" })));
        assert_eq!(encode(params(129, 8, false)), too_dense(129));
        assert_eq!(encode(params(u32::MAX, 8, true)), too_dense(u128::from(u32::MAX)));
        assert!(encode(params(1, 8, false)).is_ok() && encode(params(128, 8, true)).is_ok());
    }
    for kb in [0, 1, 2, 5, 12, 32, u32::MAX] {
        let refusal = Refusal::Request(RequestError::Parameter {
            field: "kb",
            expected: "4, 8 or 16",
            found: u64::from(kb),
        });
        let refused = LibraSpmm::from_entries_with(&picture(), &params(48, kb, false));
        assert_eq!(refused, Err(refusal), "kb {kb}");
        // The other format does not read it.
        assert!(LibraSddmm::from_entries_with(&picture(), &params(24, kb, true)).is_ok());
    }
}

#[test]
fn parameters_read_back_encode_alike() {
    let read = |p: FormatParams| {
        let found = spmm(&two_windows(), p).params();
        (found.eta, found.kb, found.fill)
    };
    // Thresholds of 1, 2, 3 and 4 entries; 3 is the default.
    assert_eq!(read(params(1, 8, false)), (Some(16), 8, false));
    assert_eq!(read(params(32, 8, false)), (Some(32), 8, false));
    assert_eq!(read(params(48, 8, false)), (None, 8, false));
    assert_eq!(read(params(64, 8, false)), (Some(64), 8, false));
    assert_eq!(read(params(128, 16, false)), (Some(64), 16, false), "nothing has more than 3");
    // Filling takes 8, 10 and 1 as well, which no threshold does; of blocks of 8 columns, everything in the window.
    assert_eq!(read(params(48, 4, true)), (None, 4, true));
    assert_eq!(read(params(32, 8, true)), (None, 8, true));
    let found = sddmm(&wrapped_diagonal(), 16).params();
    assert_eq!((found.eta, found.kb, found.fill), (Some(2), 8, false));
    assert_eq!(sddmm(&full_columns(3), 25).params().eta, None, "24 takes it too");
    assert_eq!(sddmm(&full_columns(3), 26).params().eta, Some(26));
    let none = LibraSpmm::<f32>::from_entries_with(&numbered(0, 0, &[]), &params(128, 4, true));
    assert_eq!(none.expect("empty").params().eta, None);
}

#[test]
fn tall_and_wide_matrices_cost_little_or_are_refused() {
    let corners = |rows: usize, cols: usize| {
        let (bottom, right) = (rows as u32 - 1, cols as u32 - 1);
        numbered(rows, cols, &[(0, 0), (0, right), (bottom, right)])
    };
    for kind in [FormatKind::LibraSpmm, FormatKind::LibraSddmm] {
        let wide = corners(9, u32::MAX as usize);
        for eta in [1, 128] {
            let matrix = Sparse::from_entries(kind, params(eta, 16, true), &wide).expect("three entries");
            assert_eq!(matrix.entries(), wide);
            assert_eq!(Parts::from(matrix.clone()).check(), Ok(matrix), "the last column is not a pad");
        }
        for rows in [1 << 31, SLOT_LIMIT as usize] {
            let refused = Sparse::from_entries(kind, FormatParams::default(), &corners(rows, 3));
            let refusal =
                Refusal::Limit(Limit { field: "row_ptr", found: rows as u128 + 1, limit: SLOT_LIMIT });
            assert_eq!(refused, Err(refusal));
        }
    }
}
