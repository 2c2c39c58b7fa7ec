//! Operands for the laws, and what both frameworks share: a law is a plain function that says what broke.

#![allow(dead_code, reason = "each test binary uses a part of it, some all")]

use proptest::prelude::*;
use quickcheck::{Gen, QuickCheck};
use sparse_oracle::Precision;
use sparse_oracle::exact::Element;
use sparse_oracle::format::{Csr, Dense, Entries, Entry};
use sparse_oracle::op::spmm;
use sparse_oracle::prelude::*;
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::{VALUE_FAMILIES, ValueFamily};
use sparse_oracle::strategy::{ArbitraryCsr, spmm_operands};

/// Nothing, or what broke.
pub(crate) type Held = Result<(), String>;

/// A law of `A * B`, with a seed for its own choices.
pub(crate) type Law = fn(&Entries<f64>, &Dense<f64>, u64) -> Held;

/// Which values a law holds for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Values {
    All,
    Finite,
    SmallIntegers,
}

pub(crate) fn families(values: Values) -> Vec<ValueFamily> {
    let kept = VALUE_FAMILIES.iter().filter(|info| match values {
        Values::All => true,
        Values::Finite => info.finite,
        Values::SmallIntegers => info.t0_friendly,
    });
    kept.map(|info| info.family).collect()
}

/// Runs a law under proptest: every family of values, every precision, patterns of every family.
pub(crate) fn under_proptest(law: Law, values: Values, inner: usize, cases: u32) {
    for family in families(values) {
        for precision in Precision::ALL {
            let operands = spmm_operands(0..=9, 0..=inner, 0..=4, precision, family);
            let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
            let mut runner = proptest::test_runner::TestRunner::new(config);
            let run = runner.run(&(operands, any::<u64>()), |((a, b), seed)| {
                law(&a.entries(), &b, seed).map_err(TestCaseError::fail)
            });
            assert!(run.is_ok(), "{family} in {precision}: {run:?}");
        }
    }
}

/// Matrices of quickcheck, cut to a size at which the definitions are quick.
#[derive(Clone, Debug)]
pub(crate) struct Small(pub(crate) Entries<f64>);

impl Small {
    fn cut(matrix: &Csr<f64>, rows: usize, cols: usize) -> Small {
        let mut entries = matrix.entries();
        (entries.rows, entries.cols) = (entries.rows.min(rows), entries.cols.min(cols));
        let (rows, cols) = (entries.rows, entries.cols);
        entries.list.retain(|e| (e.row as usize) < rows && (e.col as usize) < cols);
        Small(entries)
    }
}

impl quickcheck::Arbitrary for Small {
    fn arbitrary(g: &mut Gen) -> Small {
        Small::cut(&ArbitraryCsr::arbitrary(g).0, 10, 6)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Small>> {
        let whole = Csr::from_entries(&self.0).expect("cut from a valid matrix");
        Box::new(ArbitraryCsr(whole).shrink().map(|m| Small::cut(&m.0, 10, 6)))
    }
}

/// Runs a law under quickcheck: small integers, with a dense operand of small integers.
pub(crate) fn under_quickcheck(law: Law, tests: u64) {
    struct Check(Law);
    impl quickcheck::Testable for Check {
        fn result(&self, g: &mut Gen) -> quickcheck::TestResult {
            let law = self.0;
            let property = move |a: Small, seed: u64| {
                let values = ValueFamily::SmallInt.fill(a.0.cols * 3, seed, Precision::F32);
                let b = Dense::from_fn(a.0.cols, 3, |i, j| values[i * 3 + j]);
                law(&a.0, &b, seed)
            };
            // quickcheck's own closures cannot be generic over captures: draw, test, shrink by hand.
            let mut a = <Small as quickcheck::Arbitrary>::arbitrary(g);
            let seed = <u64 as quickcheck::Arbitrary>::arbitrary(g);
            let Err(mut broke) = property(a.clone(), seed) else {
                return quickcheck::TestResult::passed();
            };
            while let Some((smaller, why)) = quickcheck::Arbitrary::shrink(&a)
                .find_map(|s: Small| property(s.clone(), seed).err().map(|why| (s, why)))
            {
                (a, broke) = (smaller, why);
            }
            quickcheck::TestResult::error(format!("{broke}; A = {a:?}, seed = {seed}"))
        }
    }
    QuickCheck::new().tests(tests).quickcheck(Check(law));
}

/// Says where two results differ, if they do; numbers of terms are compared too.
pub(crate) fn equal(what: &str, left: &[Vec<Element>], right: &[Vec<Element>]) -> Held {
    compare(what, left, right, true)
}

/// The same, for laws that change how many (zero) terms there are.
pub(crate) fn equal_numbers(what: &str, left: &[Vec<Element>], right: &[Vec<Element>]) -> Held {
    compare(what, left, right, false)
}

fn compare(what: &str, left: &[Vec<Element>], right: &[Vec<Element>], terms: bool) -> Held {
    if left.len() != right.len() {
        return Err(format!("{what}: {} rows against {}", left.len(), right.len()));
    }
    for (i, (l, r)) in left.iter().zip(right).enumerate() {
        if l.len() != r.len() {
            return Err(format!("{what}: row {i} has {} and {} elements", l.len(), r.len()));
        }
        for (j, (l, r)) in l.iter().zip(r).enumerate() {
            if l.value != r.value || l.gauge != r.gauge || terms && l.terms != r.terms {
                return Err(format!("{what}: ({i}, {j}) is {l:?} and {r:?}"));
            }
        }
    }
    Ok(())
}

pub(crate) fn product(a: &Entries<f64>, b: &Dense<f64>) -> Vec<Vec<Element>> {
    spmm::definition(a, b)
}

/// The transposed result.
pub(crate) fn turned(rows: &[Vec<Element>], cols: usize) -> Vec<Vec<Element>> {
    (0..cols).map(|j| rows.iter().map(|row| row[j].clone()).collect()).collect()
}

/// A permutation of `0..n`.
pub(crate) fn permutation(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    Random::new(seed, "permutation").shuffle(&mut order);
    order
}

/// Entry (i, j) goes to (rows[i], cols[j]).
pub(crate) fn moved(a: &Entries<f64>, rows: &[usize], cols: &[usize]) -> Entries<f64> {
    let place = |e: &Entry<f64>| Entry {
        row: rows[e.row as usize] as u32,
        col: cols[e.col as usize] as u32,
        value: e.value,
    };
    let mut list: Vec<Entry<f64>> = a.list.iter().map(place).collect();
    list.sort_by_key(|e| (e.row, e.col));
    Entries::try_new(a.rows, a.cols, list).expect("a permutation keeps positions apart")
}

/// Every position of a dense matrix as a stored entry.
pub(crate) fn full(dense: &Dense<f64>) -> Entries<f64> {
    let position = |at: usize| (at / dense.cols(), at % dense.cols());
    let entry = |(i, j): (usize, usize)| Entry { row: i as u32, col: j as u32, value: dense.at(i, j) };
    let list = (0..dense.rows() * dense.cols()).map(position).map(entry).collect();
    Entries::try_new(dense.rows(), dense.cols(), list).expect("in order")
}

pub(crate) fn transposed(dense: &Dense<f64>) -> Dense<f64> {
    Dense::from_fn(dense.cols(), dense.rows(), |i, j| dense.at(j, i))
}
