//! The pictures in the format files, element by element: what the encoders write and the constructors take.
//!
//! ```text
//! . 1 . 2
//! . . . .
//! 3 . . .
//! ```

use sparse_oracle::format::FormatParams;
use sparse_oracle::format::{
    Bcsr, BcsrParts, BlockedEll, BlockedEllParts, Coo, CooParts, Csc, CscParts, Csr, CsrParts, Ell, EllParts,
    Entries, Entry, PAD,
};
use sparse_oracle::prelude::*;

const SHAPE: (usize, usize) = (3, 4);

fn picture() -> Entries<f32> {
    let at = |row, col, value| Entry { row, col, value };
    Entries::try_new(SHAPE.0, SHAPE.1, vec![at(0, 1, 1.0), at(0, 3, 2.0), at(2, 0, 3.0)]).expect("sorted")
}

#[test]
fn coo() {
    let (rows, cols) = SHAPE;
    let parts =
        CooParts { rows, cols, row_idx: vec![0, 0, 2], col_idx: vec![1, 3, 0], values: vec![1.0, 2.0, 3.0] };
    assert_eq!(Coo::from_entries(&picture()).expect("encodes").into_parts(), parts);
    assert_eq!(Coo::try_new(parts).expect("valid").entries(), picture());
}

#[test]
fn csr() {
    let (rows, cols) = SHAPE;
    let parts = CsrParts {
        rows,
        cols,
        row_ptr: vec![0, 2, 2, 3],
        col_idx: vec![1, 3, 0],
        values: vec![1.0, 2.0, 3.0],
    };
    assert_eq!(Csr::from_entries(&picture()).expect("encodes").into_parts(), parts);
    let matrix = Csr::try_new(parts).expect("valid");
    assert_eq!(matrix.entries(), picture());
    assert_eq!(matrix.row(0), (&[1, 3][..], &[1.0, 2.0][..]));
}

#[test]
fn csc() {
    let (rows, cols) = SHAPE;
    let parts = CscParts {
        rows,
        cols,
        col_ptr: vec![0, 1, 2, 2, 3],
        row_idx: vec![2, 0, 0],
        values: vec![3.0, 1.0, 2.0],
    };
    assert_eq!(Csc::from_entries(&picture()).expect("encodes").into_parts(), parts);
    let matrix = Csc::try_new(parts).expect("valid");
    assert_eq!(matrix.entries(), picture());
    assert_eq!(matrix.col(3), (&[0][..], &[2.0][..]));
}

#[test]
fn bcsr() {
    let (rows, cols) = SHAPE;
    let parts = BcsrParts {
        rows,
        cols,
        block_rows: 2,
        block_cols: 2,
        block_row_ptr: vec![0, 2, 3],
        block_col: vec![0, 1, 0],
        values: vec![0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0],
    };
    assert_eq!(
        Bcsr::from_entries_with(&picture(), &FormatParams::blocks(2, 2)).expect("encodes").into_parts(),
        parts
    );
    let matrix = Bcsr::try_new(parts).expect("valid");
    assert_eq!(matrix.entries(), picture());
    assert_eq!(matrix.block(1), [0.0, 2.0, 0.0, 0.0]);
}

#[test]
fn ell() {
    let (rows, cols) = SHAPE;
    let parts = EllParts {
        rows,
        cols,
        width: 2,
        col_idx: vec![1, 3, PAD, PAD, 0, PAD],
        values: vec![1.0, 2.0, 0.0, 0.0, 3.0, 0.0],
    };
    assert_eq!(Ell::from_entries(&picture()).expect("encodes").into_parts(), parts);
    let matrix = Ell::try_new(parts).expect("valid");
    assert_eq!(matrix.entries(), picture());
    assert_eq!(matrix.row(2), (&[0, PAD][..], &[3.0, 0.0][..]));
}

#[test]
fn blocked_ell() {
    let (rows, cols) = SHAPE;
    let mut values = vec![0.0; 16];
    (values[1], values[5], values[8]) = (1.0, 2.0, 3.0);
    let parts = BlockedEllParts {
        rows,
        cols,
        block_rows: 2,
        block_cols: 2,
        width: 2,
        block_col: vec![0, 1, 0, PAD],
        values,
    };
    assert_eq!(
        BlockedEll::from_entries_with(&picture(), &FormatParams::blocks(2, 2)).expect("encodes").into_parts(),
        parts
    );
    let matrix = BlockedEll::try_new(parts).expect("valid");
    assert_eq!(matrix.entries(), picture());
    assert_eq!(matrix.block(2), [3.0, 0.0, 0.0, 0.0]);
}

#[test]
fn slots_beyond_the_longest_row_are_legal() {
    let parts =
        EllParts { rows: 1, cols: 1, width: 3, col_idx: vec![0, PAD, PAD], values: vec![0.0f32, 0.0, 0.0] };
    let matrix = Ell::try_new(parts).expect("pads only");
    assert_eq!((matrix.nnz(), matrix.stored()), (1, 3));
    assert_eq!(matrix.entries().list.len(), 1, "the explicit zero is kept, the pads are not");
}

#[test]
fn a_stored_block_of_pads_holds_no_entries() {
    let parts = BcsrParts {
        rows: 2,
        cols: 2,
        block_rows: 2,
        block_cols: 2,
        block_row_ptr: vec![0, 1],
        block_col: vec![0],
        values: vec![0.0f32; 4],
    };
    let matrix = Bcsr::try_new(parts).expect("pads only");
    assert_eq!((matrix.blocks(), matrix.nnz()), (1, 0));
    assert!(matrix.entries().list.is_empty());
}
