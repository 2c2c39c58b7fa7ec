//! `nalgebra-sparse` and `nalgebra` both ways: bit for bit, and refused where a shape does not fit.

use crate::matrices;
use sparse_oracle::prelude::*;

use matrices::{blocks, patterns, typed};
use nalgebra::DMatrix;
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use proptest::prelude::*;
use sparse_oracle::convert::convert;
use sparse_oracle::format::{Coo, CooParts, Csc, Csr, Dense, FormatKind, Layout, Sparse};
use sparse_oracle::interop::nalgebra as interop;
use sparse_oracle::{Bf16, Refusal, RequestError};

proptest! {
    #[test]
    fn compressed_matrices_come_back(entries in patterns(), params in blocks()) {
        let entries = typed::<Bf16>(&entries);
        for via in [FormatKind::Csr, FormatKind::BlockedEll] {
            let source = Sparse::from_entries(via, params, &entries).expect("encodes");
            let Ok(Sparse::Csr(csr)) = convert(&source, FormatKind::Csr, params) else {
                return Err(TestCaseError::fail("csr takes any small matrix"));
            };
            let out = interop::to_csr(&csr).expect("valid there too");
            prop_assert_eq!(out.nnz(), csr.nnz());
            let triples = out.triplet_iter().map(|(i, j, v)| (i as u32, j as u32, *v));
            prop_assert!(triples.eq(csr.entries().list.iter().map(|e| (e.row, e.col, e.value))));
            prop_assert_eq!(interop::csr(&out).expect("fits"), csr.clone());
            let csc = Csc::from_entries(&csr.entries()).expect("encodes");
            let out = interop::to_csc(&csc).expect("valid there too");
            prop_assert_eq!(interop::csc(&out).expect("fits"), csc);
        }
    }

    /// Their CSC of our CSR is our CSC, and back.
    #[test]
    fn conversions_agree(entries in patterns()) {
        let entries = entries.map(|&bits| bits as i64);
        let csr = Csr::from_entries(&entries).expect("encodes");
        let csc = Csc::from_entries(&entries).expect("encodes");
        let theirs = CscMatrix::from(&interop::to_csr(&csr).expect("valid there too"));
        prop_assert_eq!(interop::csc(&theirs).expect("fits"), csc.clone());
        let theirs = CsrMatrix::from(&interop::to_csc(&csc).expect("valid there too"));
        prop_assert_eq!(interop::csr(&theirs).expect("fits"), csr);
    }

    #[test]
    fn triples_keep_order_and_duplicates(entries in patterns(), copies in 1usize..4) {
        let entries = entries.map(|&bits| bits);
        let list = entries.list.iter().rev().flat_map(|e| std::iter::repeat_n(e, copies));
        let list: Vec<_> = list.collect();
        let coo = Coo::try_new(CooParts {
            rows: entries.rows,
            cols: entries.cols,
            row_idx: list.iter().map(|e| e.row).collect(),
            col_idx: list.iter().map(|e| e.col).collect(),
            values: list.iter().map(|e| e.value).collect(),
        }).expect("in range");
        let out = interop::to_coo(&coo).expect("valid there too");
        prop_assert_eq!(out.nnz(), coo.nnz());
        prop_assert_eq!(interop::coo(&out).expect("fits"), coo);
    }

    #[test]
    fn dense_matrices_come_back(rows in 0usize..20, cols in 0usize..20, pad in 0usize..4, seed: u64) {
        let value = |i: usize, j: usize| seed.wrapping_mul((i * 31 + j + 1) as u64);
        for layout in [Layout::RowMajor, Layout::ColMajor] {
            let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
            let mut data = vec![u64::MAX; outer * (inner + pad)];
            for (major, minor) in (0..outer).flat_map(|a| (0..inner).map(move |b| (a, b))) {
                let (i, j) = if layout == Layout::RowMajor { (major, minor) } else { (minor, major) };
                data[major * (inner + pad) + minor] = value(i, j);
            }
            let ours = Dense::try_new(rows, cols, inner + pad, layout, data).expect("ld holds the inner extent");
            let theirs = interop::to_dmatrix(&ours);
            prop_assert_eq!(theirs.shape(), (rows, cols));
            let back = interop::dense(&theirs).expect("fits");
            for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                prop_assert_eq!(theirs[(i, j)], value(i, j));
                prop_assert_eq!(back.at(i, j), value(i, j));
            }
            prop_assert_eq!((back.layout(), back.ld()), (Layout::ColMajor, rows));
        }
    }
}

#[test]
fn shapes_past_u32_are_refused() {
    let past = |field, found: u128| {
        Refusal::Request(RequestError::TooLarge { field, found, limit: u64::from(u32::MAX) })
    };
    assert_eq!(interop::csr(&CsrMatrix::<f64>::zeros(2, 1 << 33)), Err(past("cols", 1 << 33)));
    assert_eq!(interop::csc(&CscMatrix::<f64>::zeros(1 << 33, 2)), Err(past("rows", 1 << 33)));
    let mut tall = CooMatrix::<f64>::new((1 << 32) + 1, 1);
    tall.push(1 << 32, 0, 1.0);
    assert_eq!(interop::coo(&tall), Err(past("rows", (1 << 32) + 1)));
    let empty = DMatrix::<f64>::zeros(0, 1 << 32);
    assert_eq!(interop::dense(&empty), Err(past("cols", 1 << 32)));
}

#[test]
fn minus_zero_and_nan_payloads_survive() {
    let values = [-0.0f64, f64::from_bits(0x7ff4_0000_0000_1234), f64::NEG_INFINITY, 0.0];
    let theirs =
        CsrMatrix::try_from_csr_data(1, 4, vec![0, 4], vec![0, 1, 2, 3], values.to_vec()).expect("valid");
    let ours = interop::csr(&theirs).expect("fits");
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&ours.values), bits(&values));
    assert_eq!(bits(interop::to_csr(&ours).expect("valid").values()), bits(&values));
}
