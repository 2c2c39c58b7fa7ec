//! RP-CSC and CP-CSR conversions where small random matrices do not reach: threads, both ways to transpose a group, the
//! limits of the fields. Reference and kernel agree array by array, and in the refusal.

use sparse_kernels::kernels_here;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, Parts, Sparse,
};
use sparse_oracle::judge::first_difference;
use sparse_oracle::prelude::*;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Precision, Refusal, RequestError};

const KINDS: [FormatKind; 2] = [FormatKind::RpCsc, FormatKind::CpCsr];

fn convert(a: &AnySparse, to: FormatKind, params: FormatParams) -> Result<Answer, Refusal> {
    let mut kernels = kernels_here();
    let kernel = kernels.find(|k| {
        let c = k.contract;
        (c.op, c.format, c.to, c.types.a) == (Op::Convert, a.kind(), Some(to), Precision::F64)
    });
    (kernel.expect("registered").run)(Task::Convert { a, to, params })
}

fn groups(groups: u32) -> FormatParams {
    FormatParams { groups, ..FormatParams::default() }
}

fn matrix(rows: usize, cols: usize, mut at: Vec<(u32, u32)>) -> Entries<f64> {
    at.sort_unstable();
    at.dedup();
    let list = at.iter().enumerate().map(|(i, &(row, col))| Entry { row, col, value: i as f64 + 0.5 });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

/// `count` positions of a linear congruential sequence.
fn scattered(rows: usize, cols: usize, count: usize) -> Entries<f64> {
    let mut state = 12345u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % below as u64) as u32
    };
    matrix(rows, cols, (0..count).map(|_| (draw(rows), draw(cols))).collect())
}

fn agree(entries: &Entries<f64>, kind: FormatKind, params: FormatParams) {
    let name = format!("{kind:?} {}x{} {params:?}", entries.rows, entries.cols);
    let csr = AnySparse::from(Sparse::Csr(Csr::from_entries(entries).expect("small")));
    let expected = Sparse::from_entries(kind, params, entries);
    let found = match convert(&csr, kind, params) {
        Ok(Answer::Parts(AnyParts::F64(parts))) => Ok(parts),
        Ok(other) => panic!("{name}: {other:?}"),
        Err(refusal) => Err(refusal),
    };
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let parts = Parts::from(expected.clone());
            assert_eq!(first_difference(&parts, &found), None, "{name}");
            let back = match convert(&expected.into(), FormatKind::Csr, params) {
                Ok(Answer::Sparse(raw)) => raw.check().expect("valid"),
                other => panic!("{name}: {other:?}"),
            };
            assert!(back == csr, "{name}: another matrix came back");
        }
        (expected, found) => assert_eq!(found.err(), expected.err(), "{name}"),
    }
}

#[test]
fn large_matrices_in_any_number_of_groups_and_threads() {
    // More entries than columns of a group, and fewer: a group is transposed by counting, or by sorting.
    let square = scattered(3001, 2003, 60_000);
    let wide = scattered(500, 60_000, 30_000);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            for (kind, count) in KINDS.into_iter().flat_map(|kind| [1, 4, 7, 64].map(|g| (kind, g))) {
                agree(&square, kind, groups(count));
                let wide = if kind == FormatKind::RpCsc { wide.clone() } else { wide.transpose() };
                agree(&wide, kind, groups(count));
            }
        });
    }
}

#[test]
fn the_last_row_and_column_that_16_bits_can_say() {
    let n = 1 << 16;
    let last = n as u32 - 1;
    let corners = matrix(n, n, vec![(0, 0), (0, last), (last, 0), (last, last), (last / 2, 63)]);
    let mut many: Vec<_> = (0..=last).map(|i| (i, i)).collect();
    many.extend((0..last).map(|i| (i, i + 1)));
    let diagonals = matrix(n, n, many);
    for (kind, count) in KINDS.into_iter().flat_map(|kind| [1, 64].map(|g| (kind, g))) {
        agree(&corners, kind, groups(count));
        agree(&diagonals, kind, groups(count));
    }
}

#[test]
fn refusals_are_the_same() {
    let small = matrix(3, 3, vec![(1, 1)]);
    let wide = matrix(2, (1 << 16) + 1, vec![(0, 1)]);
    let tall = matrix((1 << 17) + 1, 2, vec![(0, 1)]);
    for (kind, count) in KINDS.into_iter().flat_map(|kind| [0, 1, 2, 64, 65, u32::MAX].map(|g| (kind, g))) {
        for m in [&small, &wide, &tall, &wide.transpose(), &tall.transpose()] {
            agree(m, kind, groups(count));
        }
    }
}

/// Lanes of 255 fit, longer ones do not; the smallest is named, however many chunks and groups are looked at.
#[test]
fn the_first_lane_that_is_too_long_is_named() {
    let run = |list: &mut Vec<(u32, u32)>, col: u32, first: u32, length: u32| {
        list.extend((first..first + length).map(|row| (row, col)));
    };
    let mut fits = Vec::new();
    (0..100).for_each(|col| run(&mut fits, col * 5, col, 255));
    let fits = matrix(1200, 600, fits);
    let mut long = Vec::new();
    (0..100).for_each(|col| run(&mut long, col * 5, 0, 255));
    run(&mut long, 333, 900, 280);
    run(&mut long, 332, 300, 300);
    run(&mut long, 332, 600, 260);
    run(&mut long, 599, 0, 300);
    let long = matrix(1200, 600, long);
    for count in [1, 2, 4, 5] {
        agree(&fits, FormatKind::RpCsc, groups(count));
        agree(&fits.transpose(), FormatKind::CpCsr, groups(count));
        agree(&long, FormatKind::RpCsc, groups(count));
        agree(&long.transpose(), FormatKind::CpCsr, groups(count));
    }
    let refusal = Sparse::from_entries(FormatKind::RpCsc, groups(4), &long).err();
    let Some(Refusal::Request(RequestError::TooFull { row, column, found, .. })) = refusal else {
        panic!("{refusal:?}");
    };
    assert_eq!((row, column, found), (300, 332, 300));
}
