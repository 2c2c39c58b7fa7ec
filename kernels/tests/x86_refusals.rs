//! What the x86 kernels refuse beyond what every kernel does: a machine without their features.

#![cfg(target_arch = "x86_64")]

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::{Feature, all_kernels};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams, Layout};
use sparse_oracle::refusal::{EngineError, Refusal};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::Task;
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
