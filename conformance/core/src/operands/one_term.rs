//! Zeros in all places of B but one in each column, so that an element of C is one product: what a kernel loses of it is not excused by
//! roundings of other terms, however many entries a row of A has.
//!
//! ```text
//! B  0 x 0 0     op(B) of a product: the row is one that entries of A meet, which a long row of A mostly does
//!    x 0 0 x     Y of an SDDMM: one place in each of its rows, any
//!    0 0 x 0
//! ```
//!
//! "A rounded to 16 bits in rows of 256 entries and more" was clean in the quick tier: n roundings of other terms covered it.

use super::{DenseOperand, seed_of};
use crate::case::{Case, Filling};
use crate::placed::Placed;
use sparse_oracle::each_sparse;
use sparse_oracle::format::AnySparse;
use sparse_oracle::prelude::*;
use sparse_oracle::source::values::{ValueFamily, placed};

/// Puts the zeros into B (x, Y), for the family that asks for them.
pub(super) fn overlay(
    case: &Case,
    b: &mut DenseOperand,
    transpose_b: bool,
    a: &AnySparse,
    transpose_a: bool,
) {
    if !matches!(case.filling, Filling::Drawn(ValueFamily::OneTerm, _)) {
        return;
    }
    // Sums run down the columns of op(B), and along the rows of Y.
    let is_sampled = case.contract.op.is_sampled();
    let along_rows = is_sampled || transpose_b;
    let (columns, inner) = if along_rows { (b.rows, b.cols) } else { (b.cols, b.rows) };
    let rows: Vec<usize> = if is_sampled {
        (0..inner).collect()
    } else {
        let met = |row, col| if transpose_a { row } else { col } as usize;
        each_sparse!(a, m => m.entries().list.iter().map(|entry| met(entry.row, entry.col)).collect())
    };
    let kept = placed::one_a_column(&rows, columns, seed_of(case));
    let old = b.data.to_f64();
    let mut data = old.clone();
    for (i, j) in (0..b.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
        data[b.offset(i, j)] = 0.0;
    }
    for (column, row) in kept.into_iter().enumerate() {
        let (i, j) = if along_rows { (column, row) } else { (row, column) };
        data[b.offset(i, j)] = old[b.offset(i, j)];
    }
    b.data = Placed::from_f64(b.data.precision(), &data, case.params.align);
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use crate::operands::build;

    /// One value in each column of op(B) and in each row of Y, at a row that A meets, in every layout; NaN stays in the padding.
    #[test]
    fn each_sum_has_one_term_in_every_layout() {
        for rest in ["", "/tb", "/lb=col", "/tb/lb=col/ldb=+3", "/ta", "/ta/tb/ldb=+1"] {
            // Rows and columns 0 to 29 of 40 hold an entry.
            let line = format!(
                "spmm.csr.f32_f32_f32_f32/diagonal:rows=40,cols=40,shift=10,seed=1/values=one-term,5/n=6{rest}"
            );
            let case: Case = line.parse().expect("a case line");
            let loaded = case.origin.load().expect("a generator");
            let b = build(&case, &loaded).expect("operands").b.expect("B");
            let at = |k, j| {
                if case.params.transpose_b { b.at(j, k) } else { b.at(k, j) }
            };
            let is_met = |k| if case.params.transpose_a { k < 30 } else { k >= 10 };
            for j in 0..6 {
                let kept: Vec<usize> = (0..40).filter(|&k| at(k, j) != 0.0).collect();
                assert!(kept.len() == 1 && is_met(kept[0]), "{line}: column {j}, {kept:?}");
            }
            let pads = b.data.to_f64().iter().filter(|x| x.is_nan()).count();
            assert_eq!(pads, b.data.len() - 240, "{line}");
        }
        let line =
            "sddmm.csr.f32_f32_f32_f32/uniform:rows=9,cols=7,density=0.4,seed=1/values=one-term,5/n=50";
        let case: Case = line.parse().expect("a case line");
        let y = build(&case, &case.origin.load().expect("a generator")).expect("operands").y.expect("Y");
        let of_row = |i| (0..y.cols).filter(|&k| y.at(i, k) != 0.0).count();
        assert!((0..y.rows).all(|i| of_row(i) == 1), "{line}");
    }
}
