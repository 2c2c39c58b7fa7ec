//! On T0 inputs (small integers) the laws hold bit for bit after rounding too: in every declared reduction, with every
//! combination of accumulator and output types. The sign of a zero is free.

use crate::laws_support;
use sparse_oracle::prelude::*;

use laws_support::{Held, Values, moved, permutation, transposed, under_proptest, under_quickcheck};
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use sparse_oracle::contract::TYPES;
use sparse_oracle::format::{Csr, Dense, Entries, FormatKind, FormatParams, Sparse};
use sparse_oracle::model::chain;
use sparse_oracle::scalar::decode;

/// The modelled bits of every element; -0 as +0.
fn rounded(a: &Entries<f64>, b: &Dense<f64>, declared: &Arithmetic, c: Option<&[Vec<u64>]>) -> Vec<Vec<u64>> {
    let csr = Csr::from_entries(a).expect("valid");
    let element = |i: usize, j: usize| {
        let (columns, values) = csr.row(i);
        let terms = columns.iter().zip(values).map(|(&k, &v)| (v, b.at(k as usize, j)));
        let before = c.map_or(0.0, |c| decode(c[i][j], declared.out));
        let beta = if c.is_some() { 1.0 } else { 0.0 };
        let bits =
            chain::element(declared, terms, (1.0, beta), before, false).expect("a chain fixes its bits");
        if decode(bits, declared.out) == 0.0 { 0 } else { bits }
    };
    (0..a.rows).map(|i| (0..b.cols()).map(|j| element(i, j)).collect()).collect()
}

/// Every chain of every combination of types.
fn declarations() -> Vec<Arithmetic> {
    let mut all = Vec::new();
    for types in TYPES {
        for reduction in [Reduction::FmaChain, Reduction::MulAddChain] {
            let from_zero = Arithmetic::chain(reduction, types.acc, types.out);
            let mut from_c = from_zero.epilogue(Epilogue::None);
            from_c.part_mut().init = Init::C;
            all.extend([from_zero, from_c]);
        }
    }
    all
}

fn same(what: &str, declared: &Arithmetic, left: &[Vec<u64>], right: &[Vec<u64>]) -> Held {
    if left == right { Ok(()) } else { Err(format!("{what} under {declared:?}: {left:x?} and {right:x?}")) }
}

fn permutations(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let (rows, inner) = (permutation(a.rows, seed), permutation(a.cols, seed.wrapping_add(1)));
    let mut from = vec![0; a.cols];
    for (k, &place) in inner.iter().enumerate() {
        from[place] = k;
    }
    let b_moved = Dense::from_fn(b.rows(), b.cols(), |k, j| b.at(from[k], j));
    let a_moved = moved(a, &rows, &inner);
    for declared in declarations() {
        let mut expected = vec![Vec::new(); a.rows];
        for (row, &place) in rounded(a, b, &declared, None).into_iter().zip(&rows) {
            expected[place] = row;
        }
        same("permuted", &declared, &rounded(&a_moved, &b_moved, &declared, None), &expected)?;
    }
    Ok(())
}

/// A1 B1 goes through memory as C, in the output's type, before A2 B2 is added to it.
fn splitting(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let cut = (seed % (a.cols as u64 + 1)) as u32;
    let part = |keep: &dyn Fn(u32) -> bool| {
        let mut part = a.clone();
        part.list.retain(|e| keep(e.col));
        part
    };
    let (left, right) = (part(&|k| k < cut), part(&|k| k >= cut));
    for declared in declarations() {
        let partial = rounded(&left, b, &declared, None);
        let joined = rounded(&right, b, &declared, Some(&partial));
        same("split", &declared, &joined, &rounded(a, b, &declared, None))?;
    }
    Ok(())
}

fn transposition(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    let turned = a.transpose().to_dense().map_err(|e| e.to_string())?;
    let left = laws_support::full(&transposed(b));
    for declared in declarations() {
        let whole = rounded(a, b, &declared, None);
        let expected: Vec<Vec<u64>> =
            (0..b.cols()).map(|j| whole.iter().map(|row| row[j]).collect()).collect();
        same("transposed", &declared, &rounded(&left, &turned, &declared, None), &expected)?;
    }
    Ok(())
}

fn linearity(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    let doubled = b.map(|v| v * 2.0);
    for declared in declarations() {
        let once = rounded(a, b, &declared, None);
        let twice = rounded(a, b, &declared, Some(&once));
        same("A (B + B)", &declared, &rounded(a, &doubled, &declared, None), &twice)?;
    }
    Ok(())
}

fn formats(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    for declared in declarations() {
        let expected = rounded(a, b, &declared, None);
        for kind in FormatKind::GENERAL {
            let stored = Sparse::from_entries(kind, FormatParams::default(), a).map_err(|e| e.to_string())?;
            same(kind.name(), &declared, &rounded(&stored.entries(), b, &declared, None), &expected)?;
        }
    }
    Ok(())
}

// Inner dimensions of at most 6 keep doubled sums of products within bfloat16's 8 bits: 2 * 6 * 16 = 192.
const INNER: usize = 6;

#[test]
fn permutations_are_bitwise_on_small_integers() {
    under_proptest(permutations, Values::SmallIntegers, INNER, 4);
    under_quickcheck(permutations, 40);
}

#[test]
fn splitting_is_bitwise_on_small_integers() {
    under_proptest(splitting, Values::SmallIntegers, INNER, 4);
    under_quickcheck(splitting, 40);
}

#[test]
fn transposition_is_bitwise_on_small_integers() {
    under_proptest(transposition, Values::SmallIntegers, INNER, 4);
    under_quickcheck(transposition, 40);
}

#[test]
fn linearity_is_bitwise_on_small_integers() {
    under_proptest(linearity, Values::SmallIntegers, INNER, 4);
    under_quickcheck(linearity, 40);
}

#[test]
fn formats_are_bitwise_alike_on_small_integers() {
    under_proptest(formats, Values::SmallIntegers, INNER, 4);
    under_quickcheck(formats, 40);
}
