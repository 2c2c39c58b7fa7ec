//! The operations against one another: SDDMM is a dense product, sampled; SpGEMM is SpMM with B made dense, on the
//! structural pattern.

use crate::laws_support;

use laws_support::{Held, Values, full, product, transposed, under_proptest, under_quickcheck};
use sparse_oracle::format::{Dense, Entries};
use sparse_oracle::op::{sddmm, spgemm};
use sparse_oracle::source::random::Random;
use std::collections::BTreeSet;

/// X is A made dense, Y is B^T: X Y^T = A B, at positions drawn with repetition and in any order.
fn sampled_dense_product(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let x = a.to_dense().map_err(|e| e.to_string())?;
    let whole = product(&full(&x), b);
    let mut random = Random::new(seed, "positions");
    let mut positions = Vec::new();
    if x.rows() * b.cols() > 0 {
        let draw = |random: &mut Random, n: usize| random.below(n as u64) as u32;
        positions.extend((0..20).map(|_| (draw(&mut random, x.rows()), draw(&mut random, b.cols()))));
    }
    let sampled = sddmm::definition(&positions, &x, &transposed(b));
    for (&(i, j), element) in positions.iter().zip(&sampled) {
        let expected = &whole[i as usize][j as usize];
        if element != expected {
            return Err(format!("({i}, {j}) is {element:?}, the dense product has {expected:?}"));
        }
    }
    if sampled.len() == positions.len() { Ok(()) } else { Err(format!("{} elements", sampled.len())) }
}

/// (X, Y) and (Y, X) give the transposed sample.
fn sampled_product_turned(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let (x, y) = (a.to_dense().map_err(|e| e.to_string())?, transposed(b));
    let mut random = Random::new(seed, "positions");
    let count = if x.rows() * y.rows() > 0 { 10 } else { 0 };
    let positions: Vec<(u32, u32)> = (0..count)
        .map(|_| (random.below(x.rows() as u64) as u32, random.below(y.rows() as u64) as u32))
        .collect();
    let turned: Vec<(u32, u32)> = positions.iter().map(|&(i, j)| (j, i)).collect();
    let (left, right) = (sddmm::definition(&positions, &x, &y), sddmm::definition(&turned, &y, &x));
    if left == right { Ok(()) } else { Err(format!("{left:?} against {right:?}")) }
}

/// About half of B's positions, as a sparse matrix.
fn with_holes(b: &Dense<f64>, seed: u64) -> Entries<f64> {
    let mut b = full(b);
    let mut random = Random::new(seed, "holes");
    b.list.retain(|_| random.below(2) == 0);
    b
}

/// Finite operands: an absent position is as good as a zero for the numbers.
fn sparse_against_densified(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let b = with_holes(b, seed);
    let dense = product(a, &b.to_dense().map_err(|e| e.to_string())?);
    let sparse = spgemm::definition(a, &b);
    let mut inside = BTreeSet::new();
    for e in &sparse {
        inside.insert((e.row, e.col));
        let expected = &dense[e.row as usize][e.col as usize];
        if (&e.value.value, &e.value.gauge) != (&expected.value, &expected.gauge) {
            return Err(format!("({}, {}) is {:?}, densified {expected:?}", e.row, e.col, e.value));
        }
    }
    for (i, row) in dense.iter().enumerate() {
        for (j, element) in row.iter().enumerate() {
            if !inside.contains(&(i as u32, j as u32)) && !element.gauge.is_zero() {
                return Err(format!("({i}, {j}) is not in the pattern, but has terms: {element:?}"));
            }
        }
    }
    Ok(())
}

/// The pattern is the boolean product, whatever the values; terms count its paths; columns ascend.
fn structural_pattern(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let b = with_holes(b, seed);
    let found = spgemm::definition(a, &b);
    if !found.windows(2).all(|w| (w[0].row, w[0].col) < (w[1].row, w[1].col)) {
        return Err("columns do not ascend".to_owned());
    }
    let mut next = found.iter().peekable();
    for i in 0..a.rows as u32 {
        for j in 0..b.cols as u32 {
            let in_a = |k: u32| a.list.iter().any(|e| (e.row, e.col) == (i, k));
            let in_b = |k: u32| b.list.iter().any(|e| (e.row, e.col) == (k, j));
            let paths = (0..a.cols as u32).filter(|&k| in_a(k) && in_b(k)).count() as u64;
            let terms = next.next_if(|e| (e.row, e.col) == (i, j)).map_or(0, |e| e.value.terms);
            if paths != terms {
                return Err(format!("({i}, {j}): {paths} paths, {terms} terms"));
            }
        }
    }
    if next.next().is_none() { Ok(()) } else { Err("more entries than positions".to_owned()) }
}

#[test]
fn sddmm_is_the_dense_product_sampled() {
    under_proptest(sampled_dense_product, Values::All, 16, 8);
    under_quickcheck(sampled_dense_product, 200);
}

#[test]
fn sddmm_of_swapped_operands_is_transposed() {
    under_proptest(sampled_product_turned, Values::All, 16, 8);
    under_quickcheck(sampled_product_turned, 200);
}

#[test]
fn spgemm_is_spmm_with_b_made_dense() {
    under_proptest(sparse_against_densified, Values::Finite, 16, 8);
    under_quickcheck(sparse_against_densified, 200);
}

#[test]
fn spgemm_has_the_structural_pattern() {
    under_proptest(structural_pattern, Values::All, 8, 6);
    under_quickcheck(structural_pattern, 60);
}
