//! decode(encode(A)) = A bit for bit, in every format and element type; one matrix, one set of entries.

use crate::matrices;
use sparse_oracle::prelude::*;

use matrices::{blocks, patterns, typed};
use proptest::prelude::*;
use sparse_oracle::convert::{convert, transpose};
use sparse_oracle::format::{
    AnySparse, Bcsr, BlockedEll, Dense, Entries, Entry, FormatKind, FormatParams, Layout, Sparse,
};
use sparse_oracle::task::RawSparse;
use sparse_oracle::{Precision, Scalar, with_scalar};

/// What a format can carry of `entries` (SEMANTICS section 2).
fn carried<T: Scalar>(kind: FormatKind, entries: &Entries<T>) -> Entries<u64> {
    if kind.pads_with_zeros() { entries.without_positive_zeros().bits() } else { entries.bits() }
}

fn round_trip<T: Scalar>(entries: &Entries<T>, params: FormatParams) -> Result<(), TestCaseError> {
    for kind in FormatKind::GENERAL {
        let matrix = Sparse::from_entries(kind, params, entries).expect("small matrices are encoded");
        prop_assert_eq!(matrix.kind(), kind);
        prop_assert_eq!(matrix.shape(), (entries.rows, entries.cols));
        let decoded = matrix.entries();
        prop_assert_eq!(decoded.check(), Ok(()));
        prop_assert_eq!(decoded.bits(), carried(kind, entries), "{:?}", kind);
        prop_assert_eq!(matrix.nnz(), decoded.nnz());
        for to in FormatKind::GENERAL {
            let converted = convert(&matrix, to, params).expect("small matrices are encoded");
            prop_assert_eq!(converted.entries().bits(), carried(to, &decoded), "{:?} to {:?}", kind, to);
        }
        let there = transpose(&matrix).expect("small matrices are encoded");
        prop_assert_eq!(there.entries().bits(), decoded.transpose().bits());
        let back = transpose(&there).expect("small matrices are encoded");
        prop_assert_eq!(back.entries().bits(), decoded.bits(), "{:?} transposed twice", kind);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_format_gives_back_what_it_was_given(entries in patterns(), params in blocks()) {
        for precision in Precision::ALL {
            with_scalar!(precision, T => round_trip(&typed::<T>(&entries), params)?);
        }
    }

    #[test]
    fn what_an_encoder_makes_the_constructor_takes(entries in patterns(), params in blocks()) {
        let entries = typed::<f32>(&entries);
        for kind in FormatKind::GENERAL {
            let matrix = Sparse::from_entries(kind, params, &entries).expect("small matrices are encoded");
            let expected = matrix.entries().bits();
            let checked = RawSparse::of(matrix).check();
            prop_assert_eq!(checked.map(|m| m.entries_bits()), Ok(expected));
        }
    }

    #[test]
    fn matrices_of_unknown_type_convert_alike(entries in patterns(), params in blocks()) {
        for precision in Precision::ALL {
            let typed = with_scalar!(precision, T => typed::<T>(&entries).bits());
            let coo = AnySparse::from_bits(precision, FormatKind::Coo, params, &typed).expect("encodes");
            prop_assert_eq!(coo.precision(), precision);
            for kind in FormatKind::GENERAL {
                let matrix = AnySparse::from_bits(precision, kind, params, &typed).expect("encodes");
                prop_assert_eq!(&coo.convert(kind, params).expect("converts").entries_bits(), &matrix.entries_bits());
                prop_assert_eq!(matrix.transpose().expect("encodes").entries_bits(), matrix.entries_bits().transpose());
                prop_assert_eq!(matrix.nnz(), matrix.entries_bits().nnz());
            }
        }
    }

    #[test]
    fn map_keeps_the_pattern_and_the_pads(entries in patterns(), params in blocks()) {
        // All values become 1: pads must not.
        let entries = typed::<f64>(&entries);
        let ones = |pattern: &Entries<f64>| pattern.map(|_| 1.0f32);
        for kind in FormatKind::GENERAL {
            let matrix = Sparse::from_entries(kind, params, &entries).expect("small matrices are encoded");
            let mapped = match &matrix {
                Sparse::Coo(m) => Sparse::Coo(m.map(|_| 1.0f32)),
                Sparse::Csr(m) => Sparse::Csr(m.map(|_| 1.0f32)),
                Sparse::Csc(m) => Sparse::Csc(m.map(|_| 1.0f32)),
                Sparse::Bcsr(m) => Sparse::Bcsr(m.map(|_| 1.0f32)),
                Sparse::Ell(m) => Sparse::Ell(m.map(|_| 1.0f32)),
                Sparse::BlockedEll(m) => Sparse::BlockedEll(m.map(|_| 1.0f32)),
                other => panic!("{:?} is no general format", other.kind()),
            };
            prop_assert_eq!(mapped.entries(), ones(&matrix.entries()));
            prop_assert!(RawSparse::of(mapped).check().is_ok());
        }
    }

    #[test]
    fn dense_and_pattern_together_lose_nothing(entries in patterns()) {
        let entries = typed::<f32>(&entries);
        let dense = entries.to_dense().expect("small");
        for i in 0..entries.rows {
            for j in 0..entries.cols {
                let found = entries.list.iter().find(|e| (e.row as usize, e.col as usize) == (i, j));
                prop_assert_eq!(dense.at(i, j).to_bits(), found.map_or(0, |e| e.value.to_bits()));
            }
        }
        let back = entries.pattern().gather(&dense).expect("same shape");
        prop_assert_eq!(back.bits(), entries.bits());
        let without = Entries::from_dense(&dense).expect("small");
        prop_assert_eq!(without.bits(), entries.without_positive_zeros().bits());
        let mut padded = vec![f32::NAN; entries.cols * (entries.rows + 3)];
        for e in &entries.list {
            padded[e.col as usize * (entries.rows + 3) + e.row as usize] = e.value;
        }
        let (rows, cols) = (entries.rows, entries.cols);
        let tall = Dense::try_new(rows, cols, rows + 3, Layout::ColMajor, padded).expect("ld holds the rows");
        prop_assert_eq!(entries.pattern().gather(&tall).expect("same shape").bits(), entries.bits());
    }
}

#[test]
fn a_dense_matrix_of_another_shape_is_not_gathered_from() {
    let pattern = Entries::<f32>::try_new(2, 3, Vec::new()).expect("empty").pattern();
    let dense = Dense::from_fn(2, 4, |_, _| 0.0f32);
    let refusal = pattern.gather(&dense).expect_err("3 columns against 4");
    assert_eq!(refusal.to_string(), "columns of the pattern is 3, but columns of the dense matrix is 4");
}

#[test]
fn empty_matrices_of_every_shape_survive() {
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (1, 1), (9, 7)] {
        let entries = Entries::<f32>::try_new(rows, cols, Vec::new()).expect("empty");
        for kind in FormatKind::GENERAL {
            let matrix = Sparse::from_entries(kind, FormatParams::default(), &entries).expect("encodes");
            assert_eq!(matrix.entries(), entries, "{kind:?}");
            assert!(RawSparse::of(matrix).check().is_ok(), "{kind:?}");
        }
    }
}

fn at<T>(row: u32, col: u32, value: T) -> Entry<T> {
    Entry { row, col, value }
}

#[test]
fn an_explicit_zero_creates_its_block_and_is_then_a_pad() {
    let entries = Entries::try_new(4, 4, vec![at(0, 0, 0.0f32), at(3, 3, -0.0)]).expect("sorted");
    let bcsr = Bcsr::from_entries_with(&entries, &FormatParams::blocks(2, 2)).expect("encodes");
    assert_eq!((bcsr.blocks(), bcsr.nnz(), bcsr.stored()), (2, 1, 8));
    assert_eq!(bcsr.entries().bits().list, vec![at(3, 3, 1u64 << 31)]);
    let ell = BlockedEll::from_entries_with(&entries, &FormatParams::blocks(2, 2)).expect("encodes");
    assert_eq!((ell.blocks(), ell.nnz(), ell.stored()), (2, 1, 8));
    assert_eq!(ell.entries().bits().list, vec![at(3, 3, 1u64 << 31)]);
}
