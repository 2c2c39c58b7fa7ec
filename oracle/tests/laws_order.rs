//! Permutations and transposition: what only renames rows and columns changes no number.

use crate::laws_support;
use sparse_oracle::prelude::*;

use laws_support::{
    Held, Values, equal, equal_numbers, full, moved, permutation, product, transposed, turned,
    under_proptest, under_quickcheck,
};
use sparse_oracle::convert::transpose;
use sparse_oracle::format::{Dense, Entries, FormatKind, FormatParams, Sparse};
use sparse_oracle::op::spgemm;

fn identity(n: usize) -> Vec<usize> {
    (0..n).collect()
}

fn rows_of_a(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let to = permutation(a.rows, seed);
    let mut expected = vec![Vec::new(); a.rows];
    for (row, &place) in product(a, b).into_iter().zip(&to) {
        expected[place] = row;
    }
    equal("rows of A permuted", &product(&moved(a, &to, &identity(a.cols)), b), &expected)
}

fn inner_dimension(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let to = permutation(a.cols, seed);
    let mut from = vec![0; a.cols];
    for (k, &place) in to.iter().enumerate() {
        from[place] = k;
    }
    let b_moved = Dense::from_fn(b.rows(), b.cols(), |k, j| b.at(from[k], j));
    equal("inner dimension permuted", &product(&moved(a, &identity(a.rows), &to), &b_moved), &product(a, b))
}

fn columns_of_b(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let from = permutation(b.cols(), seed);
    let b_moved = Dense::from_fn(b.rows(), b.cols(), |k, j| b.at(k, from[j]));
    let whole = product(a, b);
    let expected: Vec<Vec<_>> =
        whole.iter().map(|row| from.iter().map(|&j| row[j].clone()).collect()).collect();
    equal("columns of B permuted", &product(a, &b_moved), &expected)
}

/// (A B)^T = B^T A^T, with A^T from each format and made dense, and B^T stored in full.
fn transposed_product(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let params = FormatParams::blocks(1 + (seed % 4) as u32, 1 + (seed / 4 % 4) as u32);
    let expected = turned(&product(a, b), b.cols());
    for kind in FormatKind::GENERAL {
        let stored = Sparse::from_entries(kind, params, a).map_err(|e| e.to_string())?;
        let a_turned = transpose(&stored).map_err(|e| e.to_string())?.entries();
        let dense = a_turned.to_dense().map_err(|e| e.to_string())?;
        let found = product(&full(&transposed(b)), &dense);
        equal_numbers(&format!("(A B)^T through {kind:?}"), &found, &expected)?;
    }
    Ok(())
}

fn transposed_twice(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    equal("A^T^T B", &product(&a.transpose().transpose(), b), &product(a, b))?;
    for kind in FormatKind::GENERAL {
        let stored = Sparse::from_entries(kind, FormatParams::default(), a).map_err(|e| e.to_string())?;
        let twice = transpose(&stored).and_then(|t| transpose(&t)).map_err(|e| e.to_string())?;
        if twice.entries().bits() != stored.entries().bits() {
            return Err(format!("{kind:?} transposed twice is another matrix"));
        }
    }
    Ok(())
}

/// (A B)^T = B^T A^T for sparse B: pattern, values, gauges, numbers of terms.
fn transposed_sparse_product(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let mut b = full(b);
    let mut keep = sparse_oracle::source::random::Random::new(seed, "holes");
    b.list.retain(|_| keep.below(2) == 0);
    let mut expected = spgemm::definition(a, &b);
    expected.sort_by_key(|e| (e.col, e.row));
    let found = spgemm::definition(&b.transpose(), &a.transpose());
    if found.len() != expected.len() {
        return Err(format!("{} entries against {}", found.len(), expected.len()));
    }
    match found.iter().zip(&expected).find(|(f, e)| (f.row, f.col, &f.value) != (e.col, e.row, &e.value)) {
        Some(differ) => Err(format!("{differ:?}")),
        None => Ok(()),
    }
}

#[test]
fn permuted_rows_of_a_permute_the_rows_of_the_result() {
    under_proptest(rows_of_a, Values::All, 20, 12);
    under_quickcheck(rows_of_a, 200);
}

#[test]
fn a_permuted_inner_dimension_changes_nothing() {
    under_proptest(inner_dimension, Values::All, 20, 12);
    under_quickcheck(inner_dimension, 200);
}

#[test]
fn permuted_columns_of_b_permute_the_columns_of_the_result() {
    under_proptest(columns_of_b, Values::All, 20, 12);
    under_quickcheck(columns_of_b, 200);
}

#[test]
fn a_transposed_product_is_the_product_of_the_transposed() {
    under_proptest(transposed_product, Values::Finite, 16, 8);
    under_quickcheck(transposed_product, 100);
}

#[test]
fn transposing_twice_changes_nothing() {
    under_proptest(transposed_twice, Values::All, 20, 8);
    under_quickcheck(transposed_twice, 200);
}

#[test]
fn a_transposed_sparse_product_is_the_product_of_the_transposed() {
    under_proptest(transposed_sparse_product, Values::All, 16, 8);
    under_quickcheck(transposed_sparse_product, 200);
}
