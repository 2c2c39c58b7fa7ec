//! Zeros in most places of B, so that sums over long rows of A are exact: what a kernel loses of them is not excused by roundings of other
//! terms, however many entries a row has.
//!
//! ```text
//! one-term                    B  0 x 0 0     op(B) of a product: the row is one that entries of A meet, which a long row of A mostly does
//!                                x 0 0 x     Y of an SDDMM: one place in each of its rows, any
//!                                0 0 x 0
//! small-int, where 16 bits    B  x 0 0 x     a 1 or -1 at every so many places of a column, from another row on in each: so few that any
//! hold sums so long that         0 0 x 0     order adds them without rounding where entries of a row lie evenly; the judge tells from the
//! they have no bound             0 x 0 0     operands whether it is so
//! ```
//!
//! "A rounded to 16 bits in rows of 256 entries and more" was clean in the quick tier: n roundings of other terms covered it. Of sums in
//! f16 of more than 2,000 terms in any order nothing is promised, and who cut such rows was not judged on one.

use super::{DenseOperand, seed_of};
use crate::case::{Case, Filling};
use crate::placed::Placed;
use sparse_oracle::each_sparse;
use sparse_oracle::format::AnySparse;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::values::{ValueFamily, placed};

/// Puts the zeros into B (x, Y), for the families that ask for them.
pub(super) fn overlay(
    case: &Case,
    b: &mut DenseOperand,
    transpose_b: bool,
    a: &AnySparse,
    transpose_a: bool,
) {
    // Sums run down the columns of op(B), and along the rows of Y.
    let is_sampled = case.contract.op.is_sampled();
    let along_rows = is_sampled || transpose_b;
    let (columns, inner) = if along_rows { (b.rows, b.cols) } else { (b.cols, b.rows) };
    match case.filling {
        Filling::Drawn(ValueFamily::OneTerm, _) => {
            let rows = if is_sampled { (0..inner).collect() } else { met(a, transpose_a) };
            let kept = placed::one_a_column(&rows, columns, seed_of(case));
            put(
                case,
                b,
                along_rows,
                |column, row, value| {
                    if kept.get(column) == Some(&row) { value } else { 0.0 }
                },
            );
        }
        Filling::Drawn(ValueFamily::SmallInt, _) => {
            let terms = if is_sampled { inner } else { longest(a, transpose_a) };
            let Some(apart) = apart(case.contract.types.acc, terms) else { return };
            let first = seed_of(case) as usize % apart;
            put(case, b, along_rows, |column, row, value| {
                if (row + column + first).is_multiple_of(apart) { value.signum() } else { 0.0 }
            });
        }
        _ => {}
    }
}

/// How far apart the ones are; none where the full sum has a bound, which judges more of its terms.
fn apart(acc: Precision, terms: usize) -> Option<usize> {
    // A product of a value of 1 to 4 with 1 or -1, twice, since entries need not lie as evenly as the ones.
    let largest = 8;
    is_unbounded(acc, terms as u64).then(|| (terms * largest).div_ceil(1 << acc.spec().significand).max(1))
}

/// True for sums of so many terms in 16 bits that a kernel which adds in any order promises nothing, or hardly anything, about them.
pub(crate) fn is_unbounded(acc: Precision, terms: u64) -> bool {
    acc.bytes() == 2 && 2 * terms > 1 << acc.spec().significand
}

/// The rows of op(B) that entries meet.
fn met(a: &AnySparse, transpose_a: bool) -> Vec<usize> {
    let met = |row, col| if transpose_a { row } else { col } as usize;
    each_sparse!(a, m => m.entries().list.iter().map(|entry| met(entry.row, entry.col)).collect())
}

/// Entries of the longest row of op(A).
fn longest(a: &AnySparse, transpose_a: bool) -> usize {
    let of_rows = met(a, !transpose_a);
    let mut lengths = vec![0; of_rows.iter().max().map_or(0, |&last| last + 1)];
    of_rows.iter().for_each(|&row| lengths[row] += 1);
    lengths.into_iter().max().unwrap_or(0)
}

/// Changes each value, of which column and row of op(B), or of the transpose of Y, and what it was are told.
fn put(case: &Case, b: &mut DenseOperand, along_rows: bool, value: impl Fn(usize, usize, f64) -> f64) {
    let mut data = b.data.to_f64();
    for (i, j) in (0..b.rows).flat_map(|i| (0..b.cols).map(move |j| (i, j))) {
        let (column, row) = if along_rows { (i, j) } else { (j, i) };
        let at = b.offset(i, j);
        data[at] = value(column, row, data[at]);
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

    /// An f16 kernel that cut rows past 1,024 was called thin: no sum of more than 2,000 terms was judged, and none was exact.
    #[test]
    fn sums_of_small_integers_over_long_rows_are_exact_in_16_bits() {
        for (acc, most) in [("f16", 2048.0), ("bf16", 256.0)] {
            let line = format!(
                "spmm.csr.{acc}_{acc}_{acc}_{acc}/longrows:rows=3,cols=9000,length=8700,seed=1/values=small-int,5/n=4"
            );
            let case: Case = line.parse().expect("a case line");
            let b = build(&case, &case.origin.load().expect("a generator")).expect("operands").b.expect("B");
            for j in 0..4 {
                let kept: Vec<usize> = (0..9000).filter(|&k| b.at(k, j) != 0.0).collect();
                assert!(
                    kept.iter().all(|&k| b.at(k, j).abs() == 1.0) && kept.len() >= 16,
                    "{line}: {kept:?}"
                );
                assert!(4.0 * kept.len() as f64 <= most, "{line}: {}", kept.len());
            }
        }
        // Rows of 500 terms have a bound in f16: nothing is left out of them.
        let short = "spmm.csr.f16_f16_f16_f16/dense:rows=2,cols=500,seed=1/values=small-int,5/n=4";
        let case: Case = short.parse().expect("a case line");
        let b = build(&case, &case.origin.load().expect("a generator")).expect("operands").b.expect("B");
        assert!((0..500).all(|k| b.at(k, 0) != 0.0));
    }
}
