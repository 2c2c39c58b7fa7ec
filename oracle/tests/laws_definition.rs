//! The definitions of the operations against the fast exact path that every judgement uses: the same values, gauges and
//! numbers of terms, in the same order, on every family of values and in every precision.

use crate::laws_support;
use sparse_oracle::prelude::*;

use laws_support::{Held, Values, full, transposed, under_proptest, under_quickcheck};
use sparse_oracle::exact::Element;
use sparse_oracle::format::{Csr, Dense, Entries};
use sparse_oracle::judge::Problem;
use sparse_oracle::op::{sddmm, spgemm, spmm};
use sparse_oracle::source::random::Random;

/// Sites in order, with what the stream says about each: position, sum, terms re-read, and the promise on low bits.
fn same_sites(problem: &Problem<'_>, expected: &[((usize, usize), Element)]) -> Held {
    let mut broke = None;
    let mut next = expected.iter();
    let visited = problem.for_each(&mut |site| {
        let wanted = next.next();
        let sum_of = |terms: Vec<(f64, f64)>| {
            let (left, right): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
            sparse_oracle::exact::dot_reference(&left, &right)
        };
        let reread = sum_of(site.terms.iter().collect());
        // Every product, hence their sum, is a multiple of 2^lsb.
        let multiple = |e: &Element| {
            e.value.to_dyadic().and_then(|d| d.lsb_exponent()).is_none_or(|lowest| lowest >= site.lsb)
        };
        let right = wanted == Some(&(site.at, site.sum.clone())) && reread == *site.sum && multiple(site.sum);
        if !right && broke.is_none() {
            broke = Some(format!("{:?}: {:?}, re-read {reread:?}, defined {wanted:?}", site.at, site.sum));
        }
    });
    visited.map_err(|e| e.to_string())?;
    match (broke, next.next()) {
        (Some(broke), _) => Err(broke),
        (None, Some(missing)) => Err(format!("not visited: {missing:?}")),
        (None, None) => Ok(()),
    }
}

fn spmm_sites(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    let rows = spmm::definition(a, b);
    let place = |(i, row): (usize, Vec<Element>)| row.into_iter().enumerate().map(move |(j, e)| ((i, j), e));
    let expected: Vec<_> = rows.into_iter().enumerate().flat_map(place).collect();
    let a = Csr::from_entries(a).map_err(|e| e.to_string())?;
    same_sites(&Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None }, &expected)
}

fn sddmm_sites(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let (x, y) = (a.to_dense().map_err(|e| e.to_string())?, transposed(b));
    let mut random = Random::new(seed, "positions");
    let count = if x.rows() * y.rows() > 0 { 30 } else { 0 };
    let positions: Vec<(u32, u32)> = (0..count)
        .map(|_| (random.below(x.rows() as u64) as u32, random.below(y.rows() as u64) as u32))
        .collect();
    let expected: Vec<_> =
        sddmm::definition(&positions, &x, &y).into_iter().enumerate().map(|(at, e)| ((at, 0), e)).collect();
    same_sites(&Problem::Sddmm { positions: &positions, x: &x, y: &y, factors: &[] }, &expected)
}

fn spgemm_sites(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let mut b = full(b);
    let mut random = Random::new(seed, "holes");
    b.list.retain(|_| random.below(2) == 0);
    let place = |e: sparse_oracle::format::Entry<Element>| ((e.row as usize, e.col as usize), e.value);
    let expected: Vec<_> = spgemm::definition(a, &b).into_iter().map(place).collect();
    let csr = |m: &Entries<f64>| Csr::from_entries(m).map_err(|e| e.to_string());
    let (a, b) = (csr(a)?, csr(&b)?);
    same_sites(&Problem::Spgemm { a: &a, b: &b }, &expected)
}

#[test]
fn spmm_sites_are_the_definition() {
    under_proptest(spmm_sites, Values::All, 40, 30);
    under_quickcheck(spmm_sites, 300);
}

#[test]
fn sddmm_sites_are_the_definition() {
    under_proptest(sddmm_sites, Values::All, 40, 15);
    under_quickcheck(sddmm_sites, 300);
}

#[test]
fn spgemm_sites_are_the_definition() {
    under_proptest(spgemm_sites, Values::All, 30, 15);
    under_quickcheck(spgemm_sites, 300);
}

/// SEMANTICS 1.1: what no stored entry selects takes no part, what an explicit zero selects does.
#[test]
fn absent_positions_hide_nan_and_explicit_zeros_do_not() {
    use sparse_oracle::exact::Value;
    use sparse_oracle::format::Entry;
    let b = Dense::from_fn(2, 2, |k, j| [[f64::NAN, f64::INFINITY], [1.0, 2.0]][k][j]);
    let entry = |row, col, value| Entry { row, col, value };
    let a =
        Entries::try_new(2, 2, vec![entry(0, 1, 3.0), entry(1, 0, 0.0), entry(1, 1, 3.0)]).expect("sorted");
    let rows = spmm::definition(&a, &b);
    assert_eq!((&rows[0][0].value, &rows[0][1].value), (&Value::from_f64(3.0), &Value::from_f64(6.0)));
    assert_eq!((&rows[1][0].value, &rows[1][1].value), (&Value::Nan, &Value::Nan));
}

/// SEMANTICS 1.5: no rows, no columns, no inner dimension, no entries.
#[test]
fn empty_shapes_are_legal_and_empty_rows_are_zero() {
    use sparse_oracle::exact::Value;
    for (m, k, n) in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0), (2, 2, 2)] {
        let a = Entries::try_new(m, k, Vec::new()).expect("empty");
        let b = Dense::from_fn(k, n, |_, _| f64::NAN);
        let rows = spmm::definition(&a, &b);
        assert_eq!((rows.len(), rows.iter().all(|r| r.len() == n)), (m, true));
        assert!(rows.iter().flatten().all(|e| e.value == Value::ZERO && e.terms == 0));
        spmm_sites(&a, &b, 0).expect("the stream visits every row");
    }
}
