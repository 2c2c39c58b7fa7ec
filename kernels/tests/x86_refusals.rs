//! What the x86 kernels refuse beyond what every kernel does: a machine without their features, and bad splits of LOOPS.

#![cfg(target_arch = "x86_64")]

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::x86::{Split, spmm_split};
use sparse_kernels::{Engine, Feature, all_kernels, kernels_here};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams, Layout};
use sparse_oracle::refusal::{EngineError, Refusal, RequestError};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};
use support::{Dense, Rng, entries};

const ROWS: usize = 9;

fn loops(precision: Precision, kind: FormatKind, boundary: u32) -> AnySparse {
    let e = entries(&mut Rng(3), ROWS, 4, 60, Rng::integer);
    let params = FormatParams { boundary: Some(boundary), br: 4, ..FormatParams::default() };
    AnySparse::from_f64(precision, kind, params, &e).expect("encodes")
}

fn with_task<R>(a: &AnySparse, out: Precision, rows: usize, run: impl FnOnce(Task<'_>) -> R) -> (R, bool) {
    let b = Dense::new(a.precision(), (4, 3), Layout::RowMajor, 0, || 1.0);
    let mut c = Dense::new(out, (rows, 3), Layout::RowMajor, 0, || 7.0);
    let before = c.clone();
    let result = run(Task::Spmm {
        a,
        transpose_a: false,
        b: b.as_ref(),
        transpose_b: false,
        alpha: 1.0,
        beta: 0.0,
        c: c.as_mut(),
    });
    (result, c.data == before.data)
}

#[test]
fn a_machine_without_the_features_is_refused_first() {
    let a = loops(Precision::F32, FormatKind::Csr, 0);
    let mut refused = 0;
    for kernel in all_kernels().iter().filter(|k| k.engine.starts_with("avx")) {
        assert!(kernel.needs.contains(&Feature::Avx2), "{}", kernel.name);
        assert!(kernel.needs.contains(&Feature::Fma), "{}", kernel.name);
        let wide = kernel.engine == "avx512";
        assert_eq!(kernel.needs.contains(&Feature::Avx512f), wide, "{}", kernel.name);
        let Some(missing) = kernel.missing() else {
            continue;
        };
        let (result, untouched) = with_task(&a, Precision::F32, ROWS, kernel.run);
        let expected = Refusal::Engine(EngineError::Unavailable { feature: missing.name() });
        assert_eq!(result, Err(expected), "{}", kernel.name);
        assert!(untouched, "{}", kernel.name);
        refused += 1;
    }
    eprintln!("{refused} kernels refused for a missing feature");
}

#[test]
fn splits_that_leave_rows_without_a_worker() {
    for engine in [Engine::Avx512, Engine::Avx2] {
        if !kernels_here().any(|k| k.engine == engine.name()) {
            eprintln!("SKIPPED {}: not on this machine", engine.name());
            continue;
        }
        for (boundary, csr, tiles, expected) in [
            (5, 0, 2, Some("workers of the CSR part")),
            (5, 2, 0, Some("workers of the tile part")),
            (ROWS as u32, 0, 0, Some("workers of the CSR part")),
            (0, 3, 0, Some("workers of the tile part")),
            (5, 1, 1, None),
            (0, 0, 1, None),
            (ROWS as u32, 1, 0, None),
        ] {
            let a = loops(Precision::F32, FormatKind::Loops, boundary);
            let split = Split { csr, tiles };
            let (result, untouched) =
                with_task(&a, Precision::F32, ROWS, |task| spmm_split(task, engine, split));
            match expected {
                Some(field) => assert_eq!(
                    result,
                    Err(Refusal::Request(RequestError::Zero { field })),
                    "{boundary} {split:?}"
                ),
                None => assert_eq!(result, Ok(Answer::Written), "{boundary} {split:?}"),
            }
            assert_eq!(untouched, expected.is_some(), "{boundary} {split:?}");
        }
    }
}

#[test]
fn other_engines_types_formats_and_shapes() {
    let split = Split { csr: 1, tiles: 1 };
    let refused = |a: &AnySparse, out, rows, engine| {
        let (result, untouched) = with_task(a, out, rows, |task| spmm_split(task, engine, split));
        assert!(untouched, "{engine:?}");
        result.expect_err("refused")
    };
    let a = loops(Precision::F32, FormatKind::Loops, 5);
    for engine in [Engine::Portable, Engine::Neon] {
        let found = refused(&a, Precision::F32, ROWS, engine);
        assert!(matches!(found, Refusal::Request(RequestError::Kind { field: "engine", .. })), "{found:?}");
    }
    if !kernels_here().any(|k| k.engine == "avx2") {
        eprintln!("SKIPPED: no AVX2 on this machine");
        return;
    }
    let found = refused(&a, Precision::F32, ROWS + 1, Engine::Avx2);
    assert!(matches!(found, Refusal::Request(RequestError::Shape { .. })), "{found:?}");
    let found = refused(&a, Precision::F64, ROWS, Engine::Avx2);
    assert!(matches!(found, Refusal::Request(RequestError::Kind { field: "C", .. })), "{found:?}");
    let bf16 = loops(Precision::Bf16, FormatKind::Loops, 5);
    let found = refused(&bf16, Precision::F32, ROWS, Engine::Avx2);
    assert!(matches!(found, Refusal::Request(RequestError::Kind { field: "A", .. })), "{found:?}");
    let csr = loops(Precision::F32, FormatKind::Csr, 5);
    let found = refused(&csr, Precision::F32, ROWS, Engine::Avx2);
    assert!(matches!(found, Refusal::Request(RequestError::Kind { field: "A", .. })), "{found:?}");
}
