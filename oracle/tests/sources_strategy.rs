//! Random inputs: valid, of every family, and shrinking to the smallest failing input.
#![cfg(feature = "strategies")]

use arbitrary::Unstructured;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng, TestRunner};
use sparse_oracle::format::{Coo, Csr, Dense};
use sparse_oracle::prelude::*;
use sparse_oracle::source::generator::{FAMILIES, Family};
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::source::{SourceSpec, ValueFamily};
use sparse_oracle::strategy::{
    ArbitraryCsr, coo_with_duplicates, dense, source_spec, sparse_entries, sparse_matrix, spmm_operands,
};
use sparse_oracle::{Precision, Scalar};
use std::collections::BTreeMap;
use std::fmt::Debug;

fn runner() -> TestRunner {
    let config = Config { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

/// Draws until `fails`, shrinks as proptest does, and returns the first and the last failing value.
fn shrunk<S: Strategy>(strategy: &S, fails: impl Fn(&S::Value) -> bool) -> (S::Value, S::Value)
where
    S::Value: Debug,
{
    let mut runner = runner();
    let failing = (0..1000).map(|_| strategy.new_tree(&mut runner).unwrap()).find(|t| fails(&t.current()));
    let mut tree = failing.expect("one value in a thousand fails");
    let (first, mut last) = (tree.current(), tree.current());
    let mut going = tree.simplify();
    for step in 0.. {
        assert!(step < 20_000, "shrinking does not end");
        if !going {
            break;
        }
        going = if fails(&tree.current()) {
            last = tree.current();
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    (first, last)
}

fn assert_canonical(matrix: &Csr<f64>) {
    Csr::try_new(matrix.clone().into_parts()).unwrap();
}

#[test]
fn matrices_shrink_to_the_one_entry_that_fails() {
    let strategy = sparse_matrix(0..=60, 0..=60, Precision::F32, ValueFamily::Special);
    let (first, last) = shrunk(&strategy, |m| {
        assert_canonical(m);
        m.rows > 20 && m.values.iter().any(|x| x.is_nan())
    });
    assert!(first.nnz() > 1, "the first failure should not be minimal already");
    assert_eq!((last.rows, last.cols, last.nnz()), (21, 1, 1));
    // Counting entries: as few rows and columns as hold them, and simple values.
    let plain = sparse_matrix(0..=40, 0..=40, Precision::F64, ValueFamily::NearOne);
    let (_, last) = shrunk(&plain, |m| m.nnz() >= 5);
    assert_eq!(last.nnz(), 5);
    assert!(last.rows * last.cols <= 9 && last.values.iter().all(|&x| x == 1.0), "{last:?}");
}

#[test]
fn shrinking_stays_in_the_ranges_asked_for() {
    let strategy = sparse_matrix(5..=20, 7..=9, Precision::F16, ValueFamily::Wide);
    let (_, last) = shrunk(&strategy, |m| {
        assert!((5..=20).contains(&m.rows) && (7..=9).contains(&m.cols));
        true
    });
    assert_eq!((last.rows, last.cols, last.nnz()), (5, 7, 0));
}

#[test]
fn coo_matrices_hold_duplicates_and_shrink_to_one_pair() {
    fn duplicates(coo: &Coo<f64>) -> usize {
        let mut seen = BTreeMap::new();
        coo.row_idx.iter().zip(&coo.col_idx).for_each(|at| *seen.entry(at).or_insert(0) += 1);
        seen.values().filter(|&&n| n > 1).count()
    }
    let strategy = coo_with_duplicates(1..=30, 1..=30, Precision::F32, ValueFamily::NearOne);
    let mut runner = runner();
    for _ in 0..200 {
        let coo = strategy.new_tree(&mut runner).unwrap().current();
        assert!(coo.nnz() == 0 || duplicates(&coo) > 0);
    }
    let (_, last) = shrunk(&strategy, |coo| duplicates(coo) > 0);
    assert_eq!((last.rows, last.cols, last.nnz()), (1, 1, 2));
}

#[test]
fn dense_matrices_and_operands_shrink_together() {
    let (_, last) = shrunk(&dense(0..=20, 0..=20, Precision::F64, ValueFamily::Huge), |d: &Dense<f64>| {
        d.data().iter().any(|x| x.abs() > 1e300)
    });
    assert_eq!((last.rows(), last.cols()), (1, 1));
    let operands = spmm_operands(0..=20, 0..=20, 0..=9, Precision::F32, ValueFamily::NearOne);
    let (_, (a, b)) = shrunk(&operands, |(a, b)| {
        assert_canonical(a);
        assert_eq!(a.cols, b.rows());
        a.nnz() >= 2 && b.cols() >= 3
    });
    assert_eq!((a.nnz(), b.cols()), (2, 3));
    assert!(a.rows * a.cols <= 2 && b.data().iter().all(|&x| x == 1.0));
}

#[test]
fn entries_come_sorted() {
    let strategy = sparse_entries(0..=30, 0..=30, Precision::E4m3, ValueFamily::SmallInt);
    let mut runner = runner();
    for _ in 0..100 {
        let entries = strategy.new_tree(&mut runner).unwrap().current();
        assert!(entries.list.windows(2).all(|w| (w[0].row, w[0].col) < (w[1].row, w[1].col)));
    }
}

#[test]
fn specs_shrink_to_the_simplest_of_their_family() {
    for info in &FAMILIES {
        let (first, last) = shrunk(&source_spec(), |spec| {
            assert!(spec.shape().is_ok(), "{spec}");
            spec.family() == info.family && spec.seed() > 2
        });
        assert_eq!((last.family(), last.seed()), (info.family, 3), "{first} became {last}");
        let shape = last.shape().unwrap();
        assert!(shape.rows <= 2 && shape.nnz_at_most <= 2, "{first} became {last}");
    }
    let (_, last) = shrunk(&any::<SourceSpec>(), |spec| spec.generate().unwrap().rows >= 17);
    assert!(last.generate().unwrap().rows <= 32, "{last}");
}

#[test]
fn proptest_quickcheck_and_arbitrary_each_reach_every_family() {
    let mut runner = runner();
    let mut from_proptest = BTreeMap::new();
    let mut from_quickcheck = BTreeMap::new();
    let mut from_bytes = BTreeMap::new();
    let mut g = quickcheck::Gen::from_size_and_seed(100, 5);
    for i in 0..2000u64 {
        let count = |counts: &mut BTreeMap<&str, u32>, spec: SourceSpec| {
            assert_eq!(spec.to_string().parse(), Ok(spec));
            let matrix = spec.generate().unwrap();
            let widest = match spec.family() {
                Family::LongRows | Family::Collide => 1100,
                _ => 257,
            };
            assert!(matrix.rows <= 257 && matrix.cols <= widest, "{spec}");
            *counts.entry(spec.family().name()).or_insert(0) += 1;
        };
        count(&mut from_proptest, source_spec().new_tree(&mut runner).unwrap().current());
        count(&mut from_quickcheck, quickcheck::Arbitrary::arbitrary(&mut g));
        let mut random = sparse_oracle::source::Random::new(i, "bytes");
        let bytes: Vec<u8> = (0..32).map(|_| random.below(256) as u8).collect();
        count(&mut from_bytes, arbitrary::Arbitrary::arbitrary(&mut Unstructured::new(&bytes)).unwrap());
    }
    for (name, counts) in
        [("proptest", from_proptest), ("quickcheck", from_quickcheck), ("arbitrary", from_bytes)]
    {
        assert_eq!(counts.len(), FAMILIES.len(), "{name}: {counts:?}");
        assert!(counts.values().all(|&n| n >= 50), "{name}: {counts:?}");
    }
}

#[test]
fn matrices_of_all_value_families_are_exact_in_their_precision() {
    let mut runner = runner();
    for info in &VALUE_FAMILIES {
        let strategy = sparse_matrix(1..=20, 1..=20, Precision::F16, info.family);
        for _ in 0..20 {
            let matrix = strategy.new_tree(&mut runner).unwrap().current();
            for &x in &matrix.values {
                assert_eq!(sparse_oracle::F16::from_f64(x).to_f64().to_bits(), x.to_bits(), "{}", info.name);
            }
        }
    }
}

#[test]
fn quickcheck_matrices_are_canonical_and_shrink_to_nothing() {
    let mut g = quickcheck::Gen::from_size_and_seed(100, 3);
    for _ in 0..200 {
        let matrix: ArbitraryCsr = quickcheck::Arbitrary::arbitrary(&mut g);
        assert_canonical(&matrix.0);
        let mut current = matrix;
        // Everything fails: the first candidate each time.
        for steps in 0.. {
            assert!(steps < 100, "shrinking does not end");
            let Some(next) = quickcheck::Arbitrary::shrink(&current).next() else {
                break;
            };
            assert_canonical(&next.0);
            current = next;
        }
        assert_eq!((current.0.rows, current.0.cols, current.0.nnz()), (0, 0, 0));
    }
    quickcheck::quickcheck((|m: ArbitraryCsr| m.0.nnz() <= m.0.rows * m.0.cols) as fn(ArbitraryCsr) -> bool);
}

#[test]
fn matrices_from_bytes_are_canonical_bounded_and_exact_everywhere() {
    let mut most = 0;
    for i in 0..500 {
        let mut random = sparse_oracle::source::Random::new(i, "bytes");
        let bytes: Vec<u8> = (0..random.below(4000)).map(|_| random.below(256) as u8).collect();
        let matrix: ArbitraryCsr = arbitrary::Arbitrary::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        assert_canonical(&matrix.0);
        assert!(matrix.0.rows <= 40 && matrix.0.cols <= 40 && matrix.0.nnz() <= 512);
        most = most.max(matrix.0.nnz());
        for precision in Precision::ALL {
            let back = sparse_oracle::scalar::Values::from_f64(precision, &matrix.0.values).to_f64();
            assert!(back.iter().zip(&matrix.0.values).all(|(x, y)| x.to_bits() == y.to_bits()));
        }
    }
    assert!(most > 200, "the largest matrix from bytes has only {most} entries");
}
