//! Libra's conversions on matrices large enough for threads: equal to the reference array by array, whatever the number of
//! threads, for rows of every length; and on encodings that no encoder writes.

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, LibraSddmm, LibraSddmmParts,
    LibraSpmm, LibraSpmmParts, PAD, Parts, Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use support::Rng;

const KINDS: [FormatKind; 2] = [FormatKind::LibraSpmm, FormatKind::LibraSddmm];

fn kernel(from: FormatKind, to: FormatKind) -> &'static Kernel {
    let found = kernels_here().find(|k| {
        let c = k.contract;
        (c.op, c.format, c.to, c.types.a) == (Op::Convert, from, Some(to), Precision::F32)
    });
    found.expect("every conversion has a kernel")
}

fn run(a: &AnySparse, to: FormatKind, params: FormatParams) -> Result<Answer, Refusal> {
    (kernel(a.kind(), to).run)(Task::Convert { a, to, params })
}

fn encode(entries: &Entries<f32>, kind: FormatKind, params: FormatParams) -> AnyParts {
    let csr = AnySparse::from(Sparse::Csr(Csr::from_entries(entries).expect("encodes")));
    match run(&csr, kind, params) {
        Ok(Answer::Parts(parts)) => parts,
        other => panic!("{other:?}"),
    }
}

fn decode(matrix: &AnySparse) -> Entries<u64> {
    match run(matrix, FormatKind::Csr, FormatParams::default()) {
        Ok(Answer::Sparse(raw)) => raw.check().expect("valid").entries_bits(),
        other => panic!("{other:?}"),
    }
}

/// Rows of these lengths, columns from the left half more often.
fn rows(cols: u64, lengths: impl Iterator<Item = u64>) -> Entries<f32> {
    let mut rng = Rng(7);
    let mut list = Vec::new();
    let mut count = 0;
    for (row, length) in (0u32..).zip(lengths) {
        count = row + 1;
        let mut columns: Vec<u32> = (0..length)
            .map(|_| {
                let limit = 1 + rng.below(cols);
                rng.below(limit) as u32
            })
            .collect();
        columns.sort_unstable();
        columns.dedup();
        list.extend(columns.into_iter().map(|col| Entry {
            row,
            col,
            value: f32::from_bits(row ^ col << 16),
        }));
    }
    Entries::try_new(count as usize, cols as usize, list).expect("sorted")
}

fn matrices() -> Vec<(&'static str, Entries<f32>)> {
    let mut rng = Rng(1);
    let short: Vec<u64> = (0..30_003).map(|_| rng.below(4)).collect();
    let skewed: Vec<u64> = (0..1_001).map(|i| if i % 97 == 0 { 3_000 } else { rng.below(20) }).collect();
    vec![
        ("even rows", rows(600, (0..2_005).map(|_| 30))),
        ("short rows", rows(30_000, short.into_iter())),
        ("a few long rows", rows(20_000, skewed.into_iter())),
        ("one window", rows(60_000, (0..5).map(|i| 9_000 * i))),
        ("a long gap", rows(50, (0..40_000).map(|i| if (1_000..39_000).contains(&i) { 0 } else { 20 }))),
    ]
}

fn all_params() -> Vec<FormatParams> {
    let mut all = Vec::new();
    for (eta, kb) in [(None, 8), (None, 16), (Some(1), 4), (Some(32), 16), (Some(128), 8)] {
        for fill in [false, true] {
            all.push(FormatParams { eta, kb, fill, ..FormatParams::default() });
        }
    }
    all
}

#[test]
fn large_matrices_are_encoded_and_decoded_as_the_reference_does() {
    for (name, entries) in matrices() {
        assert!(entries.nnz() > 1 << 14, "{name}: {} entries", entries.nnz());
        for kind in KINDS {
            for params in all_params() {
                let reference = Sparse::from_entries(kind, params, &entries).expect("encodes");
                let expected = AnySparse::from(reference);
                let found = encode(&entries, kind, params);
                assert_eq!(judge_encoded(&expected, found), Verdict::Exact, "{name}: {kind:?}, {params:?}");
                assert!(decode(&expected) == entries.bits(), "{name}: {kind:?}, {params:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let entries = rows(600, (0..2_005).map(|_| 30));
    for kind in KINDS {
        let params = FormatParams::default();
        let here = encode(&entries, kind, params);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            assert!(pool.install(|| encode(&entries, kind, params)) == here, "{kind:?}, {threads} threads");
            let matrix = AnySparse::from(Sparse::from_entries(kind, params, &entries).expect("encodes"));
            assert!(pool.install(|| decode(&matrix)) == entries.bits(), "{kind:?}, {threads} threads");
        }
    }
}

fn at(row: u32, col: u32, value: f32) -> Entry<f32> {
    Entry { row, col, value }
}

/// A vector in both parts, an empty column, an empty block; columns in another order than by density.
#[test]
fn encodings_that_no_encoder_writes_are_decoded() {
    let entries = Entries::try_new(8, 7, vec![at(0, 4, 1.0), at(1, 0, 2.0), at(1, 4, 3.0), at(1, 5, 4.0)]);
    let entries = entries.expect("sorted");
    let spmm = LibraSpmm::try_new(LibraSpmmParts {
        rows: 8,
        cols: 7,
        kb: 4,
        window_block_ptr: vec![0, 2],
        bitmap: vec![1 << 6, 0],
        block_value_ptr: vec![0, 1, 1],
        block_col: vec![0, 3, 4, 5, 6, PAD, PAD, PAD],
        values: vec![3.0f32],
        row_ptr: vec![0, 1, 3, 3, 3, 3, 3, 3, 3],
        col_idx: vec![4, 0, 5],
        rest_values: vec![1.0, 2.0, 4.0],
    });
    let spmm = AnySparse::from(Sparse::LibraSpmm(spmm.expect("valid")));
    assert_eq!(decode(&spmm), entries.bits());
    let mut block_col = vec![5, 4, 0];
    block_col.resize(16, PAD);
    let sddmm = LibraSddmm::try_new(LibraSddmmParts {
        rows: 8,
        cols: 7,
        window_block_ptr: vec![0, 1],
        bitmap: vec![1 << 16 | 1 << 17, 0],
        block_value_ptr: vec![0, 2],
        block_col,
        values: vec![4.0f32, 3.0],
        position: vec![3, 2],
        row_ptr: vec![0, 1, 2, 2, 2, 2, 2, 2, 2],
        col_idx: vec![4, 0],
        rest_values: vec![1.0, 2.0],
        rest_position: vec![0, 1],
    });
    let sddmm = AnySparse::from(Sparse::LibraSddmm(sddmm.expect("valid")));
    assert_eq!(decode(&sddmm), entries.bits());
}

#[test]
fn refusals_are_those_of_the_reference() {
    let entries = Entries::try_new(9, 3, vec![at(0, 0, 1.0), at(8, 2, 2.0)]).expect("sorted");
    let csr = AnySparse::from(Sparse::Csr(Csr::from_entries(&entries).expect("encodes")));
    let params = |eta, kb| FormatParams { eta, kb, ..FormatParams::default() };
    for params in [
        params(Some(0), 8),
        params(Some(129), 8),
        params(Some(u32::MAX), 3),
        params(Some(0), 0),
        params(None, 0),
        params(Some(128), 32),
        params(None, u32::MAX),
    ] {
        for kind in KINDS {
            let expected = Sparse::from_entries(kind, params, &entries).map(Parts::from);
            let found = run(&csr, kind, params);
            match (expected, found) {
                (Err(expected), Err(found)) => assert_eq!(found, expected, "{params:?}"),
                (Ok(_), Ok(_)) => assert_eq!(kind, FormatKind::LibraSddmm, "{params:?}: it does not read kb"),
                (expected, found) => panic!("{kind:?}, {params:?}: {expected:?} and {found:?}"),
            }
        }
    }
}
