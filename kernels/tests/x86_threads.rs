//! The x86 kernels give the same bits for any number of threads and, for LOOPS, any split of the workers.

#![cfg(target_arch = "x86_64")]

use crate::support;
use sparse_oracle::prelude::*;

use rayon::{ThreadPool, ThreadPoolBuilder};
use sparse_kernels::schedule::ScheduleError;
use sparse_kernels::x86::{Split, plan_loops, spmm_split};
use sparse_kernels::{Engine, Kernel, kernels_here};
use sparse_oracle::Precision;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, FormatKind, FormatParams, Layout};
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::task::{Answer, Task};
use support::{Dense, Rng, encode, entries, fitting};

const THREADS: [usize; 4] = [1, 2, 3, 7];

/// Enough work for many jobs.
const SHAPE: (usize, usize, usize) = (700, 300, 19);

fn pools() -> Vec<ThreadPool> {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    THREADS.into_iter().map(pool).collect()
}

/// Rows from empty to full, so that jobs differ.
fn ragged(rng: &mut Rng) -> Entries<f64> {
    let mut e = entries(rng, SHAPE.0, SHAPE.1, 30, Rng::real);
    e.list.retain(|entry| entry.row % 5 != 3 && (entry.row % 64 == 0 || entry.col % 3 == entry.row % 3));
    e
}

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
    (0..c.data.len()).map(|at| c.data.as_slice().bits(at)).collect()
}

fn dense(rng: &mut Rng, precision: Precision, shape: (usize, usize)) -> Dense {
    Dense::new(precision, shape, Layout::RowMajor, 3, || rng.real())
}

fn is_x86(kernel: &Kernel) -> bool {
    ["avx512", "avx2"].contains(&kernel.engine)
}

#[test]
fn every_number_of_threads() {
    let (mut rng, pools) = (Rng(1), pools());
    let e = ragged(&mut rng);
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

fn loops(e: &Entries<f64>, precision: Precision, boundary: usize, br: u32) -> AnySparse {
    let params = FormatParams { boundary: Some(boundary as u32), br, ..FormatParams::default() };
    AnySparse::from_f64(precision, FormatKind::Loops, params, e).expect("encodes")
}

#[test]
fn every_split_of_the_workers() {
    let (mut rng, pools) = (Rng(2), pools());
    let e = ragged(&mut rng);
    let mut compared = 0;
    for engine in [Engine::Avx512, Engine::Avx2].into_iter().filter(|&engine| here(engine)) {
        for precision in [Precision::F64, Precision::F32, Precision::F16] {
            let out = if precision == Precision::F64 { Precision::F64 } else { Precision::F32 };
            let b = dense(&mut rng, precision, (SHAPE.1, SHAPE.2));
            let c = dense(&mut rng, out, (SHAPE.0, SHAPE.2));
            for (boundary, br) in [(0, 8), (333, 8), (SHAPE.0, 16), (501, 5)] {
                let a = loops(&e, precision, boundary, br);
                let mut first = None;
                for (csr, tiles) in (0..5).flat_map(|x| (0..5).map(move |y| (x, y))) {
                    let legal = (boundary == 0 || csr > 0) && (boundary == SHAPE.0 || tiles > 0);
                    if !legal {
                        continue;
                    }
                    for (pool, threads) in pools.iter().zip(THREADS) {
                        let found = pool.install(|| {
                            bits(&a, (&b, &c), (1.0, 1.0), |task| {
                                spmm_split(task, engine, Split { csr, tiles })
                            })
                        });
                        let first = first.get_or_insert_with(|| found.clone());
                        assert!(
                            found == *first,
                            "{engine:?} {precision} {boundary} {br}: {csr} + {tiles} of {threads}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    eprintln!("{compared} splits");
    assert!(compared > 0 || !here(Engine::Avx2), "nothing compared");
}

/// The scheduler against the clock of this machine: whatever it chooses is legal, and does not reach the product.
#[test]
fn a_plan_of_this_machine() {
    let (mut rng, pools) = (Rng(3), pools());
    let e = ragged(&mut rng);
    let mut planned = 0;
    for engine in [Engine::Avx512, Engine::Avx2].into_iter().filter(|&engine| here(engine)) {
        for precision in [Precision::F64, Precision::F32, Precision::F16] {
            let a = AnySparse::from_f64(precision, FormatKind::Csr, FormatParams::default(), &e)
                .expect("encodes");
            let b = dense(&mut rng, precision, (SHAPE.1, SHAPE.2));
            let out = match precision {
                Precision::F16 => Precision::F32,
                other => other,
            };
            let c = dense(&mut rng, out, (SHAPE.0, SHAPE.2));
            for (pool, threads) in pools.iter().zip(THREADS) {
                let plan = pool.install(|| plan_loops(&a, SHAPE.2, engine)).expect("a plan");
                let (choice, name) = (plan.choice, format!("{engine:?} {precision} {plan:?}"));
                assert!(choice.csr_threads + choice.tile_threads <= threads as u32, "{name}");
                assert!(choice.boundary as usize <= SHAPE.0, "{name}");
                let split = loops(&e, precision, choice.boundary as usize, plan.br);
                let chosen = pool.install(|| {
                    bits(&split, (&b, &c), (0.5, -2.0), |task| spmm_split(task, engine, plan.into()))
                });
                let rows = loops(&e, precision, SHAPE.0, plan.br);
                let in_rows = bits(&rows, (&b, &c), (0.5, -2.0), |task| {
                    spmm_split(task, engine, Split { csr: 1, tiles: 0 })
                });
                // Pads are multiplied in tiles: with finite operands that changes nothing, since sums start from +0.
                assert!(chosen == in_rows, "{name}");
                planned += 1;
            }
            let coo = AnySparse::from_f64(precision, FormatKind::Coo, FormatParams::default(), &e)
                .expect("encodes");
            assert!(matches!(plan_loops(&coo, SHAPE.2, engine), Err(ScheduleError::Refused(_))));
        }
        let narrow = AnySparse::from_f64(Precision::E4m3, FormatKind::Csr, FormatParams::default(), &e);
        assert!(matches!(
            plan_loops(&narrow.expect("encodes"), SHAPE.2, engine),
            Err(ScheduleError::Refused(Refusal::Request(RequestError::Kind { field: "A", .. })))
        ));
    }
    eprintln!("{planned} plans");
    assert!(planned > 0 || !here(Engine::Avx2), "nothing planned");
}
