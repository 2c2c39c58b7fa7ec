//! Preprocessing on a GPU: every array of `LibraSpmm` and `LibraSddmm` equal to the oracle's encoding, in all element types, for
//! all parameters, rows of every length, on GPUs that a CPU plays and on a real one where there is one.

#![cfg(feature = "cuda")]

use crate::gpus::{OnGpu, on_gpus};
use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::cuda::conversion_times;
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::refusal::{EngineError, Refusal, RequestError};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use support::Rng;

const KINDS: [FormatKind; 2] = [FormatKind::LibraSpmm, FormatKind::LibraSddmm];

/// Random matrices for each kernel.
const CASES: usize = 60;

fn rows_of_the_table() -> impl Iterator<Item = &'static Kernel> {
    all_kernels().iter().filter(|k| k.engine == "cuda" && k.contract.op == Op::Convert)
}

/// The same on every GPU.
fn here() -> Vec<OnGpu> {
    on_gpus(|kernel| kernel.contract.op == Op::Convert)
}

fn target(kernel: &Kernel) -> FormatKind {
    kernel.contract.to.expect("a conversion has a target")
}

/// Patterns of all bits, special ones among them.
fn bits(rng: &mut Rng, precision: Precision) -> u64 {
    let any = rng.next() << 40 ^ rng.next() << 20 ^ rng.next();
    any >> (64 - precision.spec().storage_bits)
}

/// Row lengths up to `longest`; columns of neighbouring rows are often the same, so that vectors of all densities occur.
fn crowded(rng: &mut Rng, precision: Precision, (rows, cols): (usize, usize), longest: u64) -> Entries<u64> {
    let mut list = Vec::new();
    let reach = 1 + rng.below(cols as u64);
    for row in 0..rows as u32 {
        let length = if rng.below(4) == 0 { 0 } else { rng.below(longest + 1) };
        let first = if rng.below(8) == 0 { rng.below(cols as u64) } else { 0 };
        let mut columns: Vec<u32> =
            (0..length).map(|_| ((first + rng.below(reach)) % cols as u64) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        list.extend(columns.into_iter().map(|col| Entry { row, col, value: bits(rng, precision) }));
    }
    Entries::try_new(rows, cols, list).expect("sorted, without duplicates")
}

fn params(rng: &mut Rng) -> FormatParams {
    FormatParams {
        eta: (rng.below(3) > 0).then(|| 1 + rng.below(128) as u32),
        kb: [4, 8, 16][rng.below(3) as usize],
        fill: rng.below(2) == 1,
        ..FormatParams::default()
    }
}

fn convert(
    kernel: &Kernel,
    run: impl FnOnce(Task<'_>) -> Result<Answer, Refusal>,
    entries: &Entries<u64>,
    params: FormatParams,
) -> Result<Answer, Refusal> {
    let csr =
        AnySparse::from_bits(kernel.contract.types.a, FormatKind::Csr, FormatParams::default(), entries)?;
    run(Task::Convert { a: &csr, to: target(kernel), params })
}

#[track_caller]
fn equals_the_oracles(kernel: &OnGpu, entries: &Entries<u64>, params: FormatParams) {
    let wanted = AnySparse::from_bits(kernel.contract.types.a, target(kernel), params, entries);
    let wanted = wanted.expect("the oracle encodes it");
    let shape = (entries.rows, entries.cols, entries.nnz());
    match convert(kernel, |task| kernel.run(task), entries, params) {
        Ok(Answer::Parts(parts)) => {
            let verdict = judge_encoded(&wanted, parts);
            assert_eq!(verdict, Verdict::Exact, "{} {shape:?} {params:?}", kernel.title());
        }
        other => panic!("{} {shape:?} {params:?}: {other:?}", kernel.title()),
    }
}

#[test]
fn every_format_has_a_kernel_for_every_element_type() {
    for kind in KINDS {
        let found = rows_of_the_table().filter(|k| target(k) == kind).count();
        assert_eq!(found, kind.precisions().len(), "{}", kind.name());
    }
}

#[test]
fn small_matrices_are_encoded_as_the_oracle_does() {
    for kernel in &here() {
        let mut rng = Rng(11);
        for case in 0..CASES {
            let rows = if case < 10 { case } else { rng.below(120) as usize };
            let cols = 1 + rng.below(if case % 3 == 0 { 12 } else { 300 }) as usize;
            let longest = rng.below(80);
            let entries = crowded(&mut rng, kernel.contract.types.a, (rows, cols), longest);
            equals_the_oracles(kernel, &entries, params(&mut rng));
        }
    }
}

/// More than one tile of every prefix sum, rows longer than a block of threads has entries, and nearly empty windows between.
#[test]
fn long_rows_and_many_windows_are_encoded_as_the_oracle_does() {
    for kernel in &here() {
        let p = kernel.contract.types.a;
        let mut rng = Rng(12);
        let many = crowded(&mut rng, p, (30_000, 4_000), 12);
        let long = crowded(&mut rng, p, (20, 50_000), 20_000);
        for (entries, fill) in [(&many, false), (&many, true), (&long, false), (&long, true)] {
            let params = FormatParams { fill, ..params(&mut rng) };
            equals_the_oracles(kernel, entries, params);
        }
    }
}

#[test]
fn illegal_parameters_and_operands_are_refused_before_a_gpu_is_asked_for() {
    let entries = Entries::try_new(1, 1, Vec::new()).expect("no entries");
    for kernel in rows_of_the_table() {
        let with = |eta: Option<u32>, kb: u32| {
            let params = FormatParams { eta, kb, ..FormatParams::default() };
            convert(kernel, kernel.run, &entries, params)
        };
        assert_eq!(
            with(Some(0), 8),
            Err(Refusal::Request(RequestError::Zero { field: "eta" })),
            "{}",
            kernel.name
        );
        let too_dense = Refusal::Request(RequestError::TooLarge { field: "eta", found: 129, limit: 128 });
        assert_eq!(with(Some(129), 8), Err(too_dense), "{}", kernel.name);
        if target(kernel) == FormatKind::LibraSpmm {
            let narrow = with(None, 5);
            assert!(matches!(
                narrow,
                Err(Refusal::Request(RequestError::Parameter { field: "kb", found: 5, .. }))
            ));
        }
        let p = kernel.contract.types.a;
        let coo = AnySparse::from_bits(p, FormatKind::Coo, FormatParams::default(), &entries);
        for (a, to) in [
            (coo, target(kernel)),
            (AnySparse::from_bits(p, FormatKind::Csr, FormatParams::default(), &entries), FormatKind::Ell),
        ] {
            let task = Task::Convert { a: &a.expect("an empty matrix"), to, params: FormatParams::default() };
            let refused = (kernel.run)(task);
            assert!(
                matches!(refused, Err(Refusal::Request(RequestError::Kind { .. }))),
                "{}: {refused:?}",
                kernel.name
            );
        }
    }
}

#[test]
fn times_are_of_these_formats_only_and_as_many_as_asked_for() {
    let mut rng = Rng(13);
    let entries = crowded(&mut rng, Precision::F32, (64, 64), 20);
    let params = FormatParams::default();
    let csr = AnySparse::from_bits(Precision::F32, FormatKind::Csr, params, &entries).expect("encodes");
    let other = conversion_times(&csr, FormatKind::RsTile, params, 1);
    assert!(matches!(other, Err(Refusal::Request(RequestError::Kind { field: "target", .. }))));
    for kind in KINDS {
        match conversion_times(&csr, kind, params, 3) {
            Ok(times) => {
                assert_eq!((times.whole.len(), times.passes.len()), (3, 3));
                assert!(times.whole.iter().chain(&times.passes).all(|&seconds| seconds > 0.0));
            }
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Engine(EngineError::Unavailable { feature: "cuda" }));
                eprintln!("SKIPPED: times of {}: {refusal}", kind.name());
            }
        }
    }
}
