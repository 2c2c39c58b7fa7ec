//! Products with an N:M matrix on the right, and what pruning does to them.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::{nm, picture};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;
use proptest::prelude::*;
use sparse_oracle::exact::{Element, Value};
use sparse_oracle::format::{Dense, Entries, Entry, FormatKind, Nm};
use sparse_oracle::op::nm::{confusion, definition, product};
use sparse_oracle::op::prune;
use sparse_oracle::{Refusal, RequestError};

fn dense(rows: &[&[f64]]) -> Dense<f64> {
    Dense::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn numbers(rows: &[Vec<Element>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|e| e.value.approx()).collect()).collect()
}

#[test]
fn a_product_by_hand() {
    let b: Entries<f64> = picture(&["1 .", ". 2", "3 4"]);
    let a = dense(&[&[1.0, 10.0, 100.0], &[2.0, 20.0, 200.0]]);
    let expected = vec![vec![301.0, 420.0], vec![602.0, 840.0]];
    assert_eq!(numbers(&product(&a, &b).expect("fits")), expected);
    let b = Nm::from_entries_with(&b, &nm(2, 3, 1)).expect("fits");
    let found = definition(&a, &b).expect("fits");
    assert_eq!(numbers(&found), expected);
    assert_eq!((found[0][0].terms, found[1][1].gauge.approx()), (2, 840.0));
    let narrow = dense(&[&[1.0, 10.0]]);
    let shape = Refusal::Request(RequestError::Shape {
        left_name: "columns of A",
        left: 2,
        right_name: "rows of B",
        right: 3,
    });
    assert_eq!(definition(&narrow, &b).map(|_| ()), Err(shape.clone()));
    assert_eq!(product(&narrow, &b.entries()).map(|_| ()), Err(shape));
}

#[test]
fn slots_without_an_entry_take_no_part() {
    // Row 1 is named as a free slot, and row 3 does not exist: neither meets the infinity or the NaN.
    let b: Entries<f64> = picture(&["1", ".", "."]);
    let b = Nm::from_entries_with(&b, &nm(2, 2, 1)).expect("fits");
    assert_eq!(b.index, [0, 1, 0, 1]);
    let a = dense(&[&[7.0, f64::INFINITY, f64::NAN]]);
    let found = definition(&a, &b).expect("fits");
    assert_eq!((found[0][0].value.approx(), found[0][0].terms), (7.0, 1));
}

#[test]
fn the_confusion_matrix_by_hand() {
    let full: Entries<f64> = picture(&["1 5", "2 -4"]);
    let pruned = prune(&full, FormatKind::Nm, &nm(1, 2, 1)).expect("legal parameters");
    assert_eq!(pruned, picture(&[". 5", "2 ."]));
    let a = dense(&[&[1.0, 1.0], &[3.0, 1.0]]);
    // C = [3 1; 5 11], C' = [2 5; 2 15]: differences 1 4 3 4 over 2 * 2 elements.
    let w = confusion(&a, &full, &pruned, 1.0).expect("shapes fit");
    assert_eq!([w.at(0, 0), w.at(0, 1), w.at(1, 0), w.at(1, 1)], [0.25, 1.0, 0.75, 1.0]);
    assert_eq!((w.total(), w.elements), (3.0, 4));
    // With the factor M / N = 2 of equation (1): C' = [4 10; 4 30].
    let w = confusion(&a, &full, &pruned, 2.0).expect("shapes fit");
    assert_eq!([w.at(0, 0), w.at(0, 1), w.at(1, 0), w.at(1, 1)], [0.25, 2.25, 0.25, 4.75]);
    // What loses nothing has none; exactly, where rounded products would leave a rest.
    let none = confusion(&dense(&[&[0.1, 0.3], &[1e-300, 1e300]]), &full, &full, 1.0).expect("shapes fit");
    assert_eq!((none.total(), none.differences[1][1].is_zero()), (0.0, true));
    // 2^53 + 1 has no f64; the difference to 2^53 is exactly 1.
    let (full, pruned) = (picture(&["9007199254740992", "1"]), picture(&["9007199254740992", "."]));
    let one = confusion(&dense(&[&[1.0, 1.0]]), &full, &pruned, 1.0).expect("shapes fit");
    assert_eq!(one.differences, [[Value::from_f64(1.0)]]);
}

#[test]
fn the_confusion_matrix_of_other_shapes_and_numbers() {
    let full: Entries<f64> = picture(&["1 5", "2 4"]);
    let shape = |left_name, left, right_name, right| {
        Err(Refusal::Request(RequestError::Shape { left_name, left, right_name, right }))
    };
    let narrow: Entries<f64> = picture(&["1", "2"]);
    let found = confusion(&dense(&[&[1.0, 1.0]]), &full, &narrow, 1.0);
    assert_eq!(found, shape("columns of the full matrix", 2, "columns of the pruned one", 1));
    let found = confusion(&dense(&[&[1.0]]), &full, &full, 1.0);
    assert_eq!(found, shape("columns of A", 1, "rows of B", 2));
    let empty = Entries { rows: 2, cols: 0, list: Vec::new() };
    let found = confusion(&dense(&[&[1.0, 1.0]]), &empty, &empty, 1.0).expect("shapes fit");
    assert_eq!((found.total(), found.elements), (0.0, 0));
    let infinite = confusion(&dense(&[&[f64::INFINITY, 1.0]]), &full, &picture(&[". .", "2 4"]), 1.0);
    assert_eq!(infinite.expect("shapes fit").at(0, 0), f64::INFINITY);
}

fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn products_and_differences_agree_with_rationals(
        cells in prop::collection::btree_map((0u32..9, 0u32..5), -1e3f64..1e3, 0..40),
        left in prop::collection::vec(-1e3f64..1e3, 18),
        ratio in (1u32..=9).prop_flat_map(|m| (1..=m, Just(m), 1u32..=5)),
    ) {
        let list = cells.into_iter().map(|((row, col), value)| Entry { row, col, value });
        let full = Entries::try_new(9, 5, list.collect()).expect("sorted");
        let params = nm(ratio.0, ratio.1, ratio.2);
        let pruned = prune(&full, FormatKind::Nm, &params).expect("legal parameters");
        let matrix = Nm::from_entries_with(&pruned, &params).expect("pruned");
        let a = Dense::from_fn(2, 9, |i, k| left[9 * i + k]);
        prop_assert_eq!(definition(&a, &matrix), product(&a, &matrix.entries()));
        let w = confusion(&a, &full, &pruned, 1.5).expect("shapes fit");
        let zero = || BigRational::from_integer(BigInt::from(0));
        let sum = |e: &Entries<f64>, i: usize, j: usize| {
            let column = e.list.iter().filter(|e| e.col as usize == j);
            column.fold(zero(), |sum, e| sum + rational(a.at(i, e.row as usize)) * rational(e.value))
        };
        for (i, j) in (0..2).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let expected = (rational(1.5) * sum(&pruned, i, j) - sum(&full, i, j)).abs();
            // The exact difference is a pair of floats, or more of them than f64's range needs here.
            let mut rest = expected.clone();
            let mut found = w.differences[i][j].clone();
            for _ in 0..8 {
                let head = found.approx();
                rest -= rational(head);
                found = &found - &Value::from_f64(head);
            }
            prop_assert!(found.is_zero() && rest == zero(), "({}, {})", i, j);
        }
    }
}
