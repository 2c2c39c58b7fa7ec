//! LOOPS and SR-BCRS where the laws' small matrices do not reach: several spans of windows, any number of threads, every
//! boundary, and refusals in the reference's words.

use crate::papers;
use sparse_oracle::prelude::*;

use papers::{decoded, encoded};
use sparse_oracle::F16;
use sparse_oracle::format::{
    AnyParts, AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, Parts, PartsElement, SLOT_LIMIT,
    Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::refusal::{Limit, Refusal, RequestError};
use sparse_oracle::scalar::Element;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::verdict::Verdict;

/// Values 1, 2, 3, ..., each eleventh +0.0, each thirteenth -0.0.
fn generated<T: Element>(line: &str) -> Csr<T> {
    let spec: SourceSpec = line.parse().expect("a spec");
    let mut at = 0u32;
    spec.generate().expect("a pattern").map(|()| {
        at += 1;
        T::from_f64(match at {
            n if n.is_multiple_of(11) => 0.0,
            n if n.is_multiple_of(13) => -0.0,
            n => f64::from(n % 199),
        })
    })
}

fn loops_params(boundary: Option<u32>, br: u32) -> FormatParams {
    FormatParams { boundary, br, ..FormatParams::default() }
}

fn sr_bcrs_params(v: u32, stride: u32) -> FormatParams {
    FormatParams { v, stride, ..FormatParams::default() }
}

/// Both directions agree with the reference, array by array.
#[track_caller]
fn agrees<T: PartsElement + Element>(csr: &Csr<T>, kind: FormatKind, params: FormatParams)
where
    AnySparse: From<Sparse<T>>,
{
    let expected = AnySparse::from(Sparse::from_entries(kind, params, &csr.entries()).expect("encodes"));
    let found = encoded(csr.clone(), kind, params).expect("what the reference encodes");
    assert_eq!(judge_encoded(&expected, found), Verdict::Exact, "{kind:?} {params:?}");
    assert_eq!(decoded(&expected), Ok(expected.entries_bits()), "{kind:?} {params:?}");
}

/// More than 2^14 entries each: several spans, of even and of very uneven windows, among empty rows, and one window
/// that holds everything.
#[test]
fn large_matrices_agree_with_the_reference() {
    for line in [
        "uniform:rows=3001,cols=2003,density=0.01,seed=1",
        "zipf:rows=2000,cols=5000,longest=5000,seed=2",
        "dense_row:rows=5000,cols=20000,density=0.0001,dense=3,seed=3",
        "empty:rows=4000,cols=300,emptyrows=0.9,density=0.3,seed=4",
        "lp:rows=60,cols=20000,column=2,dense=1,seed=5",
        "banded:rows=9000,cols=9000,lower=1,upper=2,seed=6",
    ] {
        let csr = generated::<f32>(line);
        assert!(csr.nnz() > 20_000, "{line}: {} entries", csr.nnz());
        let rows = csr.rows as u32;
        for (boundary, br) in [(None, 8), (Some(1), 16), (Some(rows / 3), 5), (Some(0), 1), (Some(rows), 8)] {
            agrees(&csr, FormatKind::Loops, loops_params(boundary, br));
        }
        for (v, stride) in [(8, 4), (1, 1), (4, 1), (1, 16), (7, 3), (16, 8)] {
            agrees(&csr, FormatKind::SrBcrs, sr_bcrs_params(v, stride));
        }
    }
    let one_window = generated::<F16>("uniform:rows=300,cols=700,density=0.15,seed=7");
    agrees(&one_window, FormatKind::Loops, loops_params(Some(0), 512));
    agrees(&one_window, FormatKind::SrBcrs, sr_bcrs_params(300, 6));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let csr = generated::<f64>("zipf:rows=6000,cols=9000,longest=6000,seed=8");
    for (kind, params) in
        [(FormatKind::Loops, loops_params(Some(77), 8)), (FormatKind::SrBcrs, sr_bcrs_params(8, 4))]
    {
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let run = || {
                let parts = encoded(csr.clone(), kind, params).expect("encodes");
                let back = decoded(&parts.clone().check().expect("valid")).expect("decodes");
                (parts, back)
            };
            pool.expect("a pool").install(run)
        };
        let alone = of(1);
        for threads in [2, 3, 7] {
            assert_eq!(of(threads), alone, "{kind:?}, {threads} threads");
        }
    }
}

#[test]
fn every_boundary_and_height_of_a_small_matrix_agrees() {
    let csr = generated::<f32>("uniform:rows=13,cols=9,density=0.3,seed=9");
    for boundary in 0..=13 {
        for br in 1..=15 {
            agrees(&csr, FormatKind::Loops, loops_params(Some(boundary), br));
        }
    }
    for v in 1..=15 {
        for stride in 1..=11 {
            agrees(&csr, FormatKind::SrBcrs, sr_bcrs_params(v, stride));
        }
    }
}

/// The refusal of the optimised encoder, which must be the reference's.
#[track_caller]
fn refusal(csr: &Csr<f32>, kind: FormatKind, params: FormatParams) -> Refusal {
    let found = encoded(csr.clone(), kind, params).map(|parts| parts.kind());
    let found = found.expect_err("no such encoding");
    let reference = Sparse::from_entries(kind, params, &csr.entries()).map(|m| m.kind());
    assert_eq!(reference, Err(found.clone()), "{kind:?} {params:?}");
    found
}

fn too_large(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Request(RequestError::TooLarge { field, found, limit })
}

fn past_limit(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Limit(Limit { field, found, limit })
}

#[test]
fn bad_parameters_are_refused_as_the_reference_does() {
    let csr = generated::<f32>("uniform:rows=13,cols=9,density=0.3,seed=9");
    let loops = |boundary, br| refusal(&csr, FormatKind::Loops, loops_params(boundary, br));
    assert_eq!(loops(None, 0), Refusal::Request(RequestError::Zero { field: "br" }));
    assert_eq!(loops(Some(14), 0), Refusal::Request(RequestError::Zero { field: "br" }));
    assert_eq!(loops(Some(14), 1 << 17), too_large("br", 1 << 17, 1 << 16));
    assert_eq!(loops(Some(14), 8), too_large("boundary", 14, 13));
    let sr_bcrs = |v, stride| refusal(&csr, FormatKind::SrBcrs, sr_bcrs_params(v, stride));
    assert_eq!(sr_bcrs(0, 0), Refusal::Request(RequestError::Zero { field: "v" }));
    assert_eq!(sr_bcrs(1, 0), Refusal::Request(RequestError::Zero { field: "stride" }));
    let most = u128::from(u32::MAX);
    assert_eq!(sr_bcrs(u32::MAX, u32::MAX), too_large("v * stride", most * most, 1 << 16));
}

/// A diagonal in tiles as high as they get. Far more slots than fit u32: 2^17 tiles of 2^16.
#[test]
fn too_many_slots_are_refused_before_they_are_allocated() {
    let diagonal = |n: u32| {
        let at = |i| Entry { row: i, col: i, value: 1.0f32 };
        let entries = Entries::try_new(n as usize, n as usize, (0..n).map(at).collect());
        Csr::from_entries(&entries.expect("sorted")).expect("encodes")
    };
    for n in [(1u32 << 12) + 1, 1 << 17] {
        let csr = diagonal(n);
        let slots = u128::from(n) << 16;
        let refused = refusal(&csr, FormatKind::Loops, loops_params(Some(0), 1 << 16));
        assert_eq!(refused, past_limit("slots", slots, SLOT_LIMIT));
        for (v, stride) in [(1 << 16, 1), (1, 1 << 16)] {
            let refused = refusal(&csr, FormatKind::SrBcrs, sr_bcrs_params(v, stride));
            assert_eq!(refused, past_limit("slots", slots, SLOT_LIMIT));
        }
    }
    // One window: its pads are few.
    let csr = diagonal(1 << 10);
    let parts = encoded(csr, FormatKind::SrBcrs, sr_bcrs_params(1 << 10, 64)).expect("2^20 slots");
    match parts {
        AnyParts::F32(Parts::SrBcrs(m)) => assert_eq!(m.values.len(), 1 << 20),
        other => panic!("{:?}", other.kind()),
    }
}
