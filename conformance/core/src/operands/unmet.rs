//! Puts NaN and Inf into rows of B that no entry of A multiplies, so that they must not reach C, and single ones into rows that are
//! multiplied, so that they must reach certain elements only. Also pairs a zero of A with an Inf of B, and the other way round.
//!
//! A family of values draws elements by their number and does not know which rows of B are multiplied. That is known here, once A
//! is built. What C must hold then is worked out by the exact result, as for any other case.

use super::{DenseOperand, seed_of};
use crate::case::{Case, Filling};
use crate::placed::Placed;
use sparse_oracle::each_sparse;
use sparse_oracle::format::AnySparse;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar, Specials};
use sparse_oracle::source::values::{ValueFamily, placed};

/// One place of B: a row, one of its columns or all, and the value.
type UnmetPlace = (usize, Option<usize>, f64);

/// Where a case's B of this many rows and columns holds NaN and Inf; empty but for the family that asks for it.
pub(crate) fn places(
    case: &Case,
    (rows, cols): (usize, usize),
    precision: Precision,
    a: &AnySparse,
    transpose_a: bool,
) -> Vec<UnmetPlace> {
    if !matches!(case.filling, Filling::Drawn(ValueFamily::PlacedSpecial, _)) {
        return Vec::new();
    }
    let mut met = vec![false; rows];
    let (mut by_zero, mut by_special) = (Vec::new(), Vec::new());
    each_sparse!(a, m => for entry in m.entries().list {
        let k = if transpose_a { entry.row } else { entry.col } as usize;
        met[k] = true;
        let value = entry.value.to_f64();
        if value == 0.0 {
            by_zero.push(k);
        } else if !value.is_finite() {
            by_special.push(k);
        }
    });
    let seed = seed_of(case);
    let mut places = placed::in_rows(&met, cols, seed, precision);
    // A kernel may multiply pads by such a row. NaN in all of its columns would then fill the rows of C with pads there and hide
    // everything else: half of the seeds leave whole rows out.
    if case.contract.format.has_pads() && seed.is_multiple_of(2) {
        places.retain(|place| place.1.is_some());
    }
    // 0 times Inf must arrive, whichever operand holds the zero.
    let infinite = match precision.spec().specials {
        Specials::Ieee => f64::INFINITY,
        _ => f64::NAN,
    };
    let turn = (seed % 65_537) as usize;
    if cols > 0 {
        places.extend(free(&places, &by_zero, turn, turn % cols).map(|(k, j)| (k, j, infinite)));
        places.extend(free(&places, &by_special, turn, (turn + 1) % cols).map(|(k, j)| (k, j, 0.0)));
    }
    places
}

/// The first of these rows of B, counted from the `turn`-th, whose element in this column is in none of the places yet.
fn free(places: &[UnmetPlace], rows: &[usize], turn: usize, column: usize) -> Option<(usize, Option<usize>)> {
    let is_free = |k: &usize| {
        let holds = |p: &UnmetPlace| p.0 == *k && p.1.is_none_or(|j| j == column);
        !places.iter().any(holds)
    };
    let mut rows_in_turn = (0..rows.len()).map(|i| rows[(turn + i) % rows.len()]);
    rows_in_turn.find(is_free).map(|k| (k, Some(column)))
}

/// Puts them into B (x, Y), whose rows are those of op(B): its columns as stored where `transpose_b` is set.
pub(crate) fn overlay(
    case: &Case,
    b: &mut DenseOperand,
    transpose_b: bool,
    a: &AnySparse,
    transpose_a: bool,
) {
    let (rows, cols) = if transpose_b { (b.cols, b.rows) } else { (b.rows, b.cols) };
    let precision = b.data.precision();
    let places = places(case, (rows, cols), precision, a, transpose_a);
    if places.is_empty() {
        return;
    }
    let mut data = b.data.to_f64();
    for (row, column, value) in places {
        for j in column.map_or(0..cols, |j| j..j + 1) {
            let (i, j) = if transpose_b { (j, row) } else { (row, j) };
            data[b.offset(i, j)] = value;
        }
    }
    b.data = Placed::from_f64(precision, &data, case.params.align);
}

/// Puts them into the values of a sparse B whose positions come row by row: into all entries of a row, or into its first.
pub(crate) fn overlay_sparse(places: &[UnmetPlace], positions: &[(u32, u32)], values: &mut [f64]) {
    for &(row, column, value) in places {
        let first = positions.partition_point(|at| (at.0 as usize) < row);
        let end = positions.partition_point(|at| at.0 as usize <= row);
        let end = if column.is_some() { end.min(first + 1) } else { end };
        values[first..end].fill(value);
    }
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use crate::operands::build;
    use sparse_oracle::prelude::*;

    /// The places of B with a NaN or Inf are those of unmet rows, and a single one elsewhere, in every layout.
    #[test]
    fn unmet_rows_of_b_are_special_in_every_layout() {
        for rest in ["", "/tb", "/lb=col", "/tb/lb=col/ldb=+3", "/ta", "/ta/tb/ldb=+1"] {
            // Rows and columns 0 to 29 of 40 hold an entry.
            let line = format!(
                "spmm.csr.f32_f32_f32_f32/diagonal:rows=40,cols=40,shift=10,seed=1/values=placed-special,5/n=6{rest}"
            );
            let case: Case = line.parse().expect("a case line");
            let loaded = case.origin.load().expect("a generator");
            let b = build(&case, &loaded).expect("operands").b.expect("B");
            let at = |k, j| {
                if case.params.transpose_b { b.at(j, k) } else { b.at(k, j) }
            };
            let is_met = |k| if case.params.transpose_a { k < 30 } else { k >= 10 };
            let special = |k| (0..6).filter(|&j| !at(k, j).is_finite()).count();
            for k in (0..40).filter(|&k| !is_met(k)) {
                assert_eq!(special(k), 6, "{line}: row {k}");
            }
            // One, and one that faces a zero of A.
            let in_met: usize = (0..40).filter(|&k| is_met(k)).map(special).sum();
            assert_eq!(in_met, 2, "{line}");
        }
    }

    /// "zero: explicit zeros of A skipped" survived all 166 cases of an SpMV: an infinity met a stored zero by chance only.
    #[test]
    fn zeros_and_infinities_face_each_other() {
        for contract in
            ["spmv.csr.f32_f32_f32_f32", "spmm.blocked_ell.f32_f32_f32_f32", "spmm.csr.e4m3_e4m3_f32_f32"]
        {
            for seed in 0..20 {
                let line = format!(
                    "{contract}/uniform:rows=40,cols=40,density=0.2,seed=1/values=placed-special,{seed}"
                );
                let case: Case = line.parse().expect("a case line");
                let loaded = case.origin.load().expect("a generator");
                let operands = build(&case, &loaded).expect("operands");
                let b = operands.b.expect("B");
                let faces = |of_a: fn(f64) -> bool, of_b: fn(f64) -> bool| {
                    sparse_oracle::each_sparse!(&operands.a, m => m.entries().list.iter().any(|e| {
                        of_a(sparse_oracle::scalar::Scalar::to_f64(e.value))
                            && (0..b.cols).any(|j| of_b(b.at(e.col as usize, j)))
                    }))
                };
                assert!(faces(|a| a == 0.0, |b| !b.is_finite()), "{line}");
                assert!(faces(|a| !a.is_finite(), |b| b == 0.0), "{line}");
            }
        }
    }
}
