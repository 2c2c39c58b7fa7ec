//! Libra's two formats, element by element: the pictures in the format files and larger matrices worked out by hand.

use crate::libra;
use sparse_oracle::prelude::*;

use libra::{numbered, padded, params, picture, sddmm, spmm, two_windows, wrapped_diagonal};
use sparse_oracle::format::{
    Entries, Entry, FormatKind, FormatParams, LibraSddmm, LibraSddmmParts, LibraSpmm, LibraSpmmParts, Parts,
    Sparse,
};

#[test]
fn spmm_picture() {
    let parts = LibraSpmmParts {
        rows: 3,
        cols: 6,
        kb: 4,
        window_block_ptr: vec![0, 1],
        bitmap: vec![0x133],
        block_value_ptr: vec![0, 5],
        block_col: padded(4, &[&[1, 4]]),
        values: vec![1.0, 2.0, 3.0, 5.0, 6.0],
        row_ptr: vec![0, 0, 1, 2],
        col_idx: vec![2, 3],
        rest_values: vec![4.0, 7.0],
    };
    assert_eq!(spmm(&picture(), params(32, 4, false)).into_parts(), parts);
    assert_eq!(LibraSpmm::try_new(parts).expect("valid").entries(), picture());
}

/// With a threshold of 3 entries only column 4 is dense. Filling takes 8 and 10 before 1, 6 and 11, and 1 before the
/// other two; the second window has no block to fill.
#[test]
fn spmm_of_two_windows_with_and_without_fill() {
    let sparse = LibraSpmmParts {
        rows: 10,
        cols: 12,
        kb: 4,
        window_block_ptr: vec![0, 1, 1],
        bitmap: vec![0x111],
        block_value_ptr: vec![0, 3],
        block_col: padded(4, &[&[4]]),
        values: vec![1.0, 3.0, 5.0],
        row_ptr: vec![0, 1, 2, 3, 4, 4, 5, 5, 7, 8, 9],
        col_idx: vec![8, 10, 6, 1, 10, 8, 11, 0, 2],
        rest_values: vec![2.0, 4.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    };
    let filled = LibraSpmmParts {
        bitmap: vec![0x4080_12a6],
        block_value_ptr: vec![0, 8],
        block_col: padded(4, &[&[1, 4, 8, 10]]),
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0],
        row_ptr: vec![0, 0, 0, 1, 1, 1, 1, 1, 2, 3, 4],
        col_idx: vec![6, 11, 0, 2],
        rest_values: vec![6.0, 10.0, 11.0, 12.0],
        ..sparse.clone()
    };
    for (fill, parts) in [(false, sparse), (true, filled)] {
        let matrix = spmm(&two_windows(), params(48, 4, fill));
        assert_eq!(matrix.clone().into_parts(), parts, "fill {fill}");
        assert_eq!(matrix.entries(), two_windows());
        assert_eq!((matrix.nnz(), matrix.blocks()), (12, 1));
        assert_eq!(LibraSpmm::try_new(parts), Ok(matrix));
    }
    let default = FormatParams { kb: 4, ..FormatParams::default() };
    assert_eq!(spmm(&two_windows(), default).block_col, padded(4, &[&[4]]), "3 of 8 by default");
}

#[test]
fn spmm_in_blocks_of_sixteen_columns_has_two_words() {
    let matrix = spmm(&wrapped_diagonal(), params(1, 16, false));
    let columns: Vec<u32> = (0..16).collect();
    let parts = LibraSpmmParts {
        rows: 8,
        cols: 17,
        kb: 16,
        window_block_ptr: vec![0, 2],
        bitmap: vec![0x0808_0404_0202_0101, 0x8080_4040_2020_1010, 1, 0],
        block_value_ptr: vec![0, 16, 17],
        block_col: padded(16, &[&columns, &[16]]),
        // Row 0 has a third entry, number 3, which is in the second block.
        values: [&[1.0, 2.0][..], &(4u8..=17).map(f32::from).collect::<Vec<_>>(), &[3.0]].concat(),
        row_ptr: vec![0; 9],
        col_idx: Vec::new(),
        rest_values: Vec::new(),
    };
    assert_eq!(matrix.clone().into_parts(), parts);
    assert_eq!(LibraSpmm::try_new(parts).expect("valid").entries(), wrapped_diagonal());
    // In blocks of 8: rows and columns agree, and the last column is alone.
    let bitmap = spmm(&wrapped_diagonal(), params(1, 8, false)).bitmap.clone();
    assert_eq!(bitmap, [0x8040_2010_0804_0201, 0x8040_2010_0804_0201, 1]);
}

#[test]
fn sddmm_picture() {
    let parts = LibraSddmmParts {
        rows: 3,
        cols: 6,
        window_block_ptr: vec![0, 1],
        bitmap: vec![0x0009_0007_0003, 0],
        block_value_ptr: vec![0, 7],
        block_col: padded(16, &[&[1, 4, 2, 3]]),
        values: vec![1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0],
        position: vec![0, 1, 2, 4, 3, 5, 6],
        row_ptr: vec![0; 4],
        col_idx: Vec::new(),
        rest_values: Vec::new(),
        rest_position: Vec::new(),
    };
    assert_eq!(sddmm(&picture(), 7).into_parts(), parts);
    assert_eq!(LibraSddmm::try_new(parts).expect("valid").entries(), picture());
    let all_rest = sddmm(&picture(), 8);
    assert_eq!((all_rest.blocks(), all_rest.col_idx.len()), (0, 7));
    assert_eq!(all_rest.rest_position, [0, 1, 2, 3, 4, 5, 6]);
}

/// 17 vectors of one entry: a block of 16 by column, and a short one of a single entry, each by its own density.
#[test]
fn sddmm_blocks_are_judged_by_their_own_density() {
    let columns: Vec<u32> = (0..16).collect();
    let parts = LibraSddmmParts {
        rows: 8,
        cols: 17,
        window_block_ptr: vec![0, 1],
        bitmap: vec![0x0808_0404_0202_0101, 0x8080_4040_2020_1010],
        block_value_ptr: vec![0, 16],
        block_col: columns,
        values: [&[1.0, 2.0][..], &(4u8..=17).map(f32::from).collect::<Vec<_>>()].concat(),
        position: [&[0, 1][..], &(3..=16).collect::<Vec<_>>()].concat(),
        row_ptr: vec![0, 1, 1, 1, 1, 1, 1, 1, 1],
        col_idx: vec![16],
        rest_values: vec![3.0],
        rest_position: vec![2],
    };
    for eta in [2, 16] {
        assert_eq!(sddmm(&wrapped_diagonal(), eta).into_parts(), parts, "eta {eta}");
    }
    assert_eq!(sddmm(&wrapped_diagonal(), 1).blocks(), 2);
    assert_eq!(sddmm(&wrapped_diagonal(), 17).blocks(), 0);
    assert_eq!(LibraSddmm::try_new(parts).expect("valid").entries(), wrapped_diagonal());
}

#[test]
fn a_matrix_need_not_be_distributed_as_an_encoder_would() {
    // Column 4 in both parts, one entry each; columns and a block without a bit.
    let entries = numbered(8, 7, &[(0, 4), (1, 4)]);
    let parts = LibraSpmmParts {
        rows: 8,
        cols: 7,
        kb: 4,
        window_block_ptr: vec![0, 2],
        bitmap: vec![1 << 6, 0],
        block_value_ptr: vec![0, 1, 1],
        block_col: padded(4, &[&[0, 3, 4, 5], &[6]]),
        values: vec![2.0],
        row_ptr: vec![0, 1, 1, 1, 1, 1, 1, 1, 1],
        col_idx: vec![4],
        rest_values: vec![1.0f32],
    };
    let matrix = LibraSpmm::try_new(parts).expect("every position once");
    assert_eq!((matrix.entries(), matrix.nnz()), (entries.clone(), 2));
    // SDDMM: the same in any order of columns.
    let parts = LibraSddmmParts {
        rows: 8,
        cols: 7,
        window_block_ptr: vec![0, 1],
        bitmap: vec![1 << 17, 0],
        block_value_ptr: vec![0, 1],
        block_col: padded(16, &[&[5, 4, 0]]),
        values: vec![2.0],
        position: vec![1],
        row_ptr: vec![0, 1, 1, 1, 1, 1, 1, 1, 1],
        col_idx: vec![4],
        rest_values: vec![1.0],
        rest_position: vec![0],
    };
    let matrix = LibraSddmm::try_new(parts).expect("every position once");
    assert_eq!((matrix.entries(), matrix.nnz()), (entries, 2));
}

#[test]
fn explicit_zeros_and_nan_are_kept() {
    let at = |row, col, value| Entry { row, col, value };
    let values = [0.0, -0.0, f32::from_bits(0x7fc0_1234), f32::NEG_INFINITY];
    let list: Vec<_> = (0..4).map(|i| at(i, i / 3, values[i as usize])).collect();
    let entries = Entries::try_new(4, 2, list).expect("sorted");
    for kind in [FormatKind::LibraSpmm, FormatKind::LibraSddmm] {
        for eta in [1, 48, 128] {
            let matrix = Sparse::from_entries(kind, params(eta, 8, false), &entries).expect("encodes");
            assert_eq!(matrix.entries().bits(), entries.bits(), "{kind:?}, eta {eta}");
        }
    }
}

#[test]
fn matrices_without_rows_columns_or_entries() {
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (9, 9)] {
        let empty = numbered(rows, cols, &[]);
        for kind in [FormatKind::LibraSpmm, FormatKind::LibraSddmm] {
            let matrix = Sparse::from_entries(kind, FormatParams::default(), &empty).expect("encodes");
            assert_eq!((matrix.entries(), matrix.nnz()), (empty.clone(), 0));
            assert_eq!(Parts::from(matrix.clone()).check(), Ok(matrix));
        }
    }
}
