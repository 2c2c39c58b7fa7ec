//! Whole tasks, judged. Found by mutation: slower tests saw these, none of this file's own did.

use super::*;
use crate::arithmetic::Reduction;
use crate::contract::Op;
use crate::format::{AnySparse, Csr, CsrParts, Sparse};
use crate::prelude::*;
use crate::scalar::Precision::F64;

fn matrix((rows, cols): (usize, usize), row_ptr: &[u32], col_idx: &[u32], values: &[f64]) -> Csr<f64> {
    let (row_ptr, col_idx, values) = (row_ptr.to_vec(), col_idx.to_vec(), values.to_vec());
    Csr::try_new(CsrParts { rows, cols, row_ptr, col_idx, values }).expect("legal")
}

fn verdict(a: &AnySparse, b: &AnySparse, found: &Csr<f64>) -> Verdict {
    let inputs = Inputs { b_sparse: Some(b), ..Inputs::plain(Op::Spgemm, a) };
    let declared = Arithmetic::chain(Reduction::FmaChain, F64, F64);
    let found = Found::Sparse(RawSparse::of(Sparse::Csr(found.clone())));
    judge(&inputs, (&declared, &Profile::default()), found).verdict
}

#[test]
fn a_product_of_sparse_matrices_is_judged_by_its_entries() {
    let a = AnySparse::from(Sparse::Csr(matrix((2, 2), &[0, 1, 3], &[0, 0, 1], &[2.0, 3.0, 4.0])));
    let b = AnySparse::from(Sparse::Csr(matrix((2, 1), &[0, 1, 2], &[0, 0], &[5.0, 6.0])));
    let right = matrix((2, 1), &[0, 1, 2], &[0, 0], &[10.0, 39.0]);
    assert_eq!(verdict(&a, &b, &right), Verdict::Exact);
    let wrong = matrix((2, 1), &[0, 1, 2], &[0, 0], &[10.0, 40.0]);
    assert!(matches!(verdict(&a, &b, &wrong), Verdict::Wrong(_)));
}

/// On operands that do not fit together nobody is judged, also where only their inner extents differ.
#[test]
fn operands_that_do_not_fit_are_not_judged() {
    let a = AnySparse::from(Sparse::Csr(matrix((2, 2), &[0, 1, 3], &[0, 0, 1], &[2.0, 3.0, 4.0])));
    let b = AnySparse::from(Sparse::Csr(matrix((3, 1), &[0, 1, 2, 2], &[0, 0], &[5.0, 6.0])));
    let right = matrix((2, 1), &[0, 1, 2], &[0, 0], &[10.0, 39.0]);
    let Verdict::NotRun { reason } = verdict(&a, &b, &right) else { panic!("B has a row too many") };
    assert!(reason.contains("does not fit A"), "{reason}");
}
