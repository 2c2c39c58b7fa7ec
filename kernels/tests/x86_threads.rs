//! The x86 kernels give the same bits for any number of threads.

#![cfg(target_arch = "x86_64")]

use crate::support;

use sparse_kernels::{Engine, Kernel, kernels_here};
use sparse_oracle::Precision;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, FormatParams, Layout};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use support::{Dense, Rng, encode, fitting, pools, ragged};

const THREADS: [usize; 4] = [1, 2, 3, 7];

/// Enough work for many jobs.
const SHAPE: (usize, usize, usize) = (700, 300, 19);

/// One request; `run` gets the task.
fn bits(
    a: &AnySparse,
    (b, c): (&Dense, &Dense),
    (alpha, beta): (f64, f64),
    run: impl FnOnce(Task<'_>) -> Result<Answer, Refusal>,
) -> Vec<u64> {
    let mut c = c.clone();
    let task =
        Task::Spmm { a, transpose_a: false, b: b.as_ref(), transpose_b: false, alpha, beta, c: c.as_mut() };
    assert_eq!(run(task), Ok(Answer::Written));
    c.all_bits()
}

fn dense(rng: &mut Rng, precision: Precision, shape: (usize, usize)) -> Dense {
    Dense::new(precision, shape, Layout::RowMajor, 3, || rng.real())
}

fn is_x86(kernel: &Kernel) -> bool {
    ["avx512", "avx2"].contains(&kernel.engine)
}

#[test]
fn every_number_of_threads() {
    let (mut rng, pools) = (Rng(1), pools(&THREADS));
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 30);
    let mut compared = 0;
    for kernel in kernels_here().filter(|k| is_x86(k) && k.contract.op == Op::Spmm) {
        let types = kernel.contract.types;
        let params = FormatParams::default();
        let e = fitting(types.a, kernel.contract.format, &params, &e);
        let a = encode(&mut rng, types.a, kernel.contract.format, params, &e);
        let b = dense(&mut rng, types.b, (SHAPE.1, SHAPE.2));
        let c = dense(&mut rng, types.out, (SHAPE.0, SHAPE.2));
        let found: Vec<Vec<u64>> =
            pools.iter().map(|pool| pool.install(|| bits(&a, (&b, &c), (0.5, -2.0), kernel.run))).collect();
        for (threads, other) in THREADS.iter().zip(&found) {
            assert!(*other == found[0], "{} with {threads} threads", kernel.name);
        }
        compared += 1;
    }
    eprintln!("{compared} kernels with {THREADS:?} threads");
    assert!(compared > 0 || !here(Engine::Avx2), "no kernel compared");
}

/// Whether this machine runs any kernel of an engine.
fn here(engine: Engine) -> bool {
    kernels_here().any(|k| k.engine == engine.name())
}
