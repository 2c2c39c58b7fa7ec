//! What a fresh reader found, each with its story: cases that were judged though they must not be.

use sparse_conformance::backend::{Backend, Portable};
use sparse_conformance::case::Case;
use sparse_conformance::memory::MemoryBudget;
use sparse_conformance::origin::{Loaded, OriginError};
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case;
use sparse_oracle::format::{Coo, CooParts};
use std::time::Instant;

fn portable(line: &str) -> VerdictRecord {
    let case: Case = line.parse().expect("a case line");
    let loaded = case.origin.load().expect("a source");
    portable_on(&case, &loaded)
}

fn portable_on(case: &Case, loaded: &Loaded) -> VerdictRecord {
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
    run_case(case, loaded, &backends).records.remove(0).verdict
}

/// An empty output cannot be made shorter, and an ldc of 0 not smaller: the request stays legal, and a backend that
/// answers it was accused of a lone acceptance.
#[test]
fn a_fault_that_breaks_nothing_is_not_run() {
    for line in [
        "spmm.csr.f32_f32_f32_f32/uniform:rows=0,cols=4,density=0,seed=0/values=ones,1/fault=short-output",
        "spmm.csr.f32_f32_f32_f32/embedded:karate/values=ones,1/n=0/fault=small-ldc",
        "spmm.csr.f32_f32_f32_f32/embedded:karate/values=ones,1/n=0/fault=short-output",
        "sddmm.csr.f32_f32_f32_f32/uniform:rows=4,cols=4,density=0,seed=0/values=ones,1/fault=short-output",
    ] {
        let verdict = portable(line);
        assert!(matches!(verdict, VerdictRecord::NotRun { .. }), "{line}: {verdict}");
    }
    let verdict = portable("spmm.csr.f32_f32_f32_f32/embedded:karate/values=ones,1/fault=small-ldc");
    assert!(matches!(verdict, VerdictRecord::AgreedRefusal { .. }), "{verdict}");
}

/// Three lines of Matrix Market with four billion rows took 10 GB, because only the product of extents was limited.
#[test]
fn billions_of_empty_rows_are_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("huge.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 1\n1 1 1.0\n";
    std::fs::write(&path, text).expect("written");
    let start = Instant::now();
    let extent = 4_000_000_000;
    let parts =
        CooParts { rows: extent, cols: extent, row_idx: vec![0], col_idx: vec![0], values: vec![1.0] };
    let loaded = Loaded::new(Coo::try_new(parts).expect("legal"), true);
    for contract in ["convert.coo.csr.f32", "spgemm.csr.f32_f32_f32_f32", "spmv.coo.f32_f32_f32_f32"] {
        let line = format!("{contract}/file:[{}]/values=own,0", path.display());
        let case: Case = line.parse().expect("a case line");
        // At the header; and by who has the matrix all the same.
        let read = case.origin.load_within(&MemoryBudget::new(1 << 30));
        assert!(matches!(read, Err(OriginError::Memory { .. })), "{contract}");
        let verdict = portable_on(&case, &loaded);
        assert!(matches!(verdict, VerdictRecord::NotRun { .. }), "{contract}: {verdict}");
    }
    assert!(start.elapsed().as_secs() < 5, "took {:?}", start.elapsed());
}

/// A limit of the suite is no rule of the contract, so a refusal there is agreed upon by nobody.
#[test]
fn a_limit_of_the_suite_is_not_an_agreed_refusal() {
    let verdict = portable("convert.csr.bcsr.f32/embedded:karate/values=own,1/block=16384x16384");
    assert!(matches!(verdict, VerdictRecord::NotRun { .. }), "{verdict}");
}
