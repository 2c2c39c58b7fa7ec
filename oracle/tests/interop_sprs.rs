//! `sprs` both ways: what goes out comes back bit for bit, what `sprs` builds itself is read as it means it, and
//! what does not fit is refused.

use crate::matrices;
use sparse_oracle::prelude::*;

use matrices::{blocks, patterns, typed};
use proptest::prelude::*;
use sparse_oracle::convert::convert;
use sparse_oracle::format::{Coo, CooParts, Csc, Csr, Entries, Entry, FormatKind, Sparse};
use sparse_oracle::interop::sprs as interop;
use sparse_oracle::{F16, Refusal, RequestError, Scalar};
use sprs::{CsMat, CsMatI, TriMat, TriMatI};

/// Bits of a CSR matrix, arrays and all.
fn bits<T: Scalar>(m: &Csr<T>) -> Csr<u64> {
    m.map(|v| v.bits64())
}

/// The triples of an entry list in another order, each position stored `copies` times.
fn shuffled(entries: &Entries<f32>, copies: usize) -> Coo<f32> {
    let mut list = entries.list.repeat(copies);
    list.sort_by_key(|e| (e.col.wrapping_mul(0x9e37_79b9), e.row.wrapping_mul(0x85eb_ca6b)));
    let parts = CooParts {
        rows: entries.rows,
        cols: entries.cols,
        row_idx: list.iter().map(|e| e.row).collect(),
        col_idx: list.iter().map(|e| e.col).collect(),
        values: list.iter().map(|e| e.value).collect(),
    };
    Coo::try_new(parts).expect("in range")
}

proptest! {
    #[test]
    fn compressed_matrices_come_back(entries in patterns(), params in blocks()) {
        let entries = typed::<F16>(&entries);
        // By way of a blocked format, so that a matrix without explicit zeros is among them.
        for via in [FormatKind::Csr, FormatKind::Bcsr] {
            let source = Sparse::from_entries(via, params, &entries).expect("encodes");
            let Ok(Sparse::Csr(csr)) = convert(&source, FormatKind::Csr, params) else {
                return Err(TestCaseError::fail("csr takes any small matrix"));
            };
            let out: CsMatI<F16, u32, usize> = interop::to_csr(&csr).expect("u32 is wide enough");
            prop_assert_eq!(bits(&interop::csr(&out.view()).expect("fits")), bits(&csr));
            let out: CsMat<F16> = interop::to_csr(&csr).expect("usize is wide enough");
            prop_assert!(out.is_csr());
            for e in &csr.entries().list {
                let found = out.get(e.row as usize, e.col as usize);
                prop_assert_eq!(found.map(|v| v.0), Some(e.value.0));
            }
            let csc = Csc::from_entries(&csr.entries()).expect("encodes");
            let out: CsMatI<F16, i16> = interop::to_csc(&csc).expect("small");
            prop_assert_eq!(interop::csc(&out.view()).expect("fits").entries().bits(), csc.entries().bits());
        }
    }

    /// The libraries' own conversions agree with ours: their CSC of our CSR is our CSC.
    #[test]
    fn conversions_agree(entries in patterns()) {
        let entries = typed::<f32>(&entries).map(|v| v.to_bits());
        let csr = Csr::from_entries(&entries).expect("encodes");
        let csc = Csc::from_entries(&entries).expect("encodes");
        let theirs: CsMat<u32> = interop::to_csr(&csr).expect("wide enough");
        prop_assert_eq!(interop::csc(&theirs.to_csc().view()).expect("fits"), csc.clone());
        let back: CsMat<u32> = interop::to_csc(&csc).expect("wide enough");
        prop_assert_eq!(interop::csr(&back.to_csr().view()).expect("fits"), csr);
    }

    #[test]
    fn triplets_keep_order_and_duplicates(entries in patterns(), copies in 1usize..4) {
        let coo = shuffled(&typed(&entries), copies);
        let out: TriMat<f32> = interop::to_trimat(&coo).expect("usize is wide enough");
        prop_assert_eq!(out.nnz(), coo.nnz());
        let back = interop::coo(&out).expect("fits").map(|v| v.to_bits());
        prop_assert_eq!(back, coo.map(|v| v.to_bits()));
    }
}

#[test]
fn a_slice_of_rows_is_a_matrix() {
    // Its offsets do not start at 0 in memory.
    let mut triplets = TriMat::new((4, 3));
    for i in 0..3 {
        triplets.add_triplet(i + 1, i, i as f64);
    }
    let whole: CsMat<f64> = triplets.to_csr();
    let slice = interop::csr(&whole.slice_outer(2..4)).expect("fits");
    assert_eq!((slice.rows, slice.cols, &slice.row_ptr[..]), (2, 3, &[0, 1, 2][..]));
    assert_eq!((&slice.col_idx[..], &slice.values[..]), (&[1, 2][..], &[1.0, 2.0][..]));
}

#[test]
fn the_other_storage_is_refused() {
    let csc = CsMat::<f64>::eye_csc(3);
    let refusal = interop::csr(&csc.view()).expect_err("stored by columns");
    assert_eq!(refusal.to_string(), "storage of the sprs matrix is csc, expected csr");
    let csr = CsMat::<f64>::eye(3);
    let refusal = interop::csc(&csr.view()).expect_err("stored by rows");
    assert_eq!(refusal.to_string(), "storage of the sprs matrix is csr, expected csc");
    // A transposed view of a CSC matrix is stored by rows.
    assert!(interop::csr(&csc.transpose_view()).is_ok());
}

#[test]
fn shapes_past_u32_are_refused() {
    let limit = u64::from(u32::MAX);
    let past = |field| Refusal::Request(RequestError::TooLarge { field, found: 1 << 33, limit });
    let wide = CsMat::<f64>::zero((2, 1 << 33));
    assert_eq!(interop::csr(&wide.view()), Err(past("cols")));
    assert_eq!(interop::csc(&wide.transpose_view()), Err(past("rows")));
    let mut tall = TriMat::<f64>::new((1 << 33, 1));
    tall.add_triplet(1 << 32, 0, 1.0);
    assert_eq!(interop::coo(&tall), Err(past("rows")));
}

#[test]
fn index_types_too_narrow_are_refused() {
    let entries = |cols: usize, nnz: u32| {
        let list = (0..nnz).map(|col| Entry { row: 0, col, value: 1.0f32 });
        Entries::try_new(1, cols, list.collect()).expect("sorted")
    };
    let narrow = |field, found, limit| Refusal::Request(RequestError::TooLarge { field, found, limit });
    let wide = Csr::from_entries(&entries(40_000, 1)).expect("encodes");
    assert_eq!(interop::to_csr::<f32, i16, usize>(&wide), Err(narrow("cols", 40_000, 0x7fff)));
    assert!(interop::to_csr::<f32, u16, usize>(&wide).is_ok());
    let full = Csr::from_entries(&entries(40_000, 40_000)).expect("encodes");
    assert_eq!(interop::to_csr::<f32, u32, i16>(&full), Err(narrow("indptr", 40_000, 0x7fff)));
    let coo = Coo::from_entries(&entries(70_000, 66_000)).expect("encodes");
    let refused = interop::to_trimat::<f32, u16>(&coo).err();
    assert_eq!(refused, Some(narrow("col_idx", 65_536, 0xffff)));
    let kept: TriMatI<f32, u32> = interop::to_trimat(&coo).expect("wide enough");
    assert_eq!(kept.nnz(), 66_000);
}
