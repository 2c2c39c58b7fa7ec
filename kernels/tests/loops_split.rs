//! LOOPS kernels with a number of workers for each part: the same bits for every split and pool, plans of this machine that are legal and
//! do not reach the product, and splits that are refused. On Arm this runs at each streaming vector length (`ci/sme-qemu.sh`).

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::planned::{plan_loops, tile_rows};
use sparse_kernels::schedule::ScheduleError;
use sparse_kernels::{Kernel, RunSplit, Split, all_kernels, kernels_here};
use sparse_oracle::Precision;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, FormatKind, FormatParams, Layout};
use sparse_oracle::refusal::{EngineError, Refusal, RequestError};
use sparse_oracle::task::{Answer, Task};
use support::{Dense, Rng, pools, ragged};

const THREADS: [usize; 2] = [1, 5];

/// Enough work for several jobs of each part, and ragged columns.
const SHAPE: (usize, usize, usize) = (1000, 260, 5);

/// Kernels of this machine that take a split.
fn splitting() -> impl Iterator<Item = (&'static Kernel, RunSplit)> {
    kernels_here().filter_map(|kernel| Some((kernel, kernel.run_split?)))
}

/// One request; `run` gets the task.
fn answer(
    (a, transpose_a): (&AnySparse, bool),
    (b, c): (&Dense, &Dense),
    run: impl FnOnce(Task<'_>) -> Result<Answer, Refusal>,
) -> (Result<Answer, Refusal>, Vec<u64>) {
    let mut c = c.clone();
    let (alpha, beta) = (0.5, -2.0);
    let task = Task::Spmm { a, transpose_a, b: b.as_ref(), transpose_b: false, alpha, beta, c: c.as_mut() };
    let found = run(task);
    (found, c.all_bits())
}

fn bits(
    a: &AnySparse,
    dense: (&Dense, &Dense),
    run: impl FnOnce(Task<'_>) -> Result<Answer, Refusal>,
) -> Vec<u64> {
    let (found, bits) = answer((a, false), dense, run);
    assert_eq!(found, Ok(Answer::Written));
    bits
}

fn loops(e: &Entries<f64>, precision: Precision, boundary: usize, br: u32) -> AnySparse {
    let params = FormatParams { boundary: Some(boundary as u32), br, ..FormatParams::default() };
    AnySparse::from_f64(precision, FormatKind::Loops, params, e).expect("encodes")
}

fn operands(rng: &mut Rng, kernel: &Kernel) -> (Dense, Dense) {
    let types = kernel.contract.types;
    let mut dense = |precision, shape| Dense::new(precision, shape, Layout::RowMajor, 3, || rng.real());
    (dense(types.b, (SHAPE.1, SHAPE.2)), dense(types.out, (SHAPE.0, SHAPE.2)))
}

#[test]
fn spmm_of_loops_takes_a_split_on_every_cpu_with_vectors_and_nothing_else_does() {
    for kernel in all_kernels() {
        let parts = (kernel.contract.op, kernel.contract.format) == (Op::Spmm, FormatKind::Loops);
        let vectors = ["avx2", "avx512", "neon", "sme"].contains(&kernel.engine);
        assert_eq!(kernel.run_split.is_some(), parts && vectors, "{}", kernel.name);
    }
}

#[test]
fn every_split_of_the_workers() {
    let (mut rng, pools) = (Rng(2), pools(&THREADS));
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 40);
    let mut compared = 0;
    for (kernel, run_split) in splitting() {
        let (b, c) = operands(&mut rng, kernel);
        for (boundary, br) in [(0, 8), (433, 16), (SHAPE.0, 16), (501, 5)] {
            let a = loops(&e, kernel.contract.types.a, boundary, br);
            // Without a split, as the registry runs it.
            let first = bits(&a, (&b, &c), kernel.run);
            for (csr, tiles) in [(0, 1), (0, 3), (1, 0), (4, 0), (1, 1), (1, 4), (3, 1), (2, 3)] {
                let legal = (boundary == 0 || csr > 0) && (boundary == SHAPE.0 || tiles > 0);
                for (pool, threads) in pools.iter().zip(THREADS).filter(|_| legal) {
                    let split = Split { csr, tiles };
                    let found = pool.install(|| bits(&a, (&b, &c), |task| run_split(task, split)));
                    assert!(
                        found == first,
                        "{} boundary {boundary} br {br}: {csr} + {tiles} of {threads}",
                        kernel.name
                    );
                    compared += 1;
                }
            }
        }
    }
    eprintln!("{compared} products of split workers");
    assert!(compared > 0 || splitting().next().is_none(), "nothing compared");
}

/// The scheduler against the clock of this machine: whatever it chooses is legal, and does not reach the product.
#[test]
fn a_plan_of_this_machine() {
    let (mut rng, pools) = (Rng(3), pools(&THREADS));
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 40);
    let mut planned = 0;
    for (kernel, run_split) in splitting() {
        let precision = kernel.contract.types.a;
        let a =
            AnySparse::from_f64(precision, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
        let (b, c) = operands(&mut rng, kernel);
        let br = tile_rows(kernel);
        let in_rows = bits(&loops(&e, precision, SHAPE.0, br), (&b, &c), kernel.run);
        for (pool, threads) in pools.iter().zip(THREADS) {
            let plan = pool.install(|| plan_loops(kernel, &a, SHAPE.2)).expect("a plan");
            let (choice, name) = (plan.choice, format!("{} {plan:?}", kernel.name));
            assert!(choice.csr_threads + choice.tile_threads <= threads as u32, "{name}");
            assert!(choice.boundary as usize <= SHAPE.0 && plan.br == br, "{name}");
            let split = loops(&e, precision, choice.boundary as usize, br);
            let chosen = pool.install(|| bits(&split, (&b, &c), |task| run_split(task, plan.into())));
            // Pads are multiplied in tiles: with finite operands that changes nothing, since sums start from +0. FMOPA of f16 adds two
            // products at a time.
            let alike = if kernel.name.ends_with("2way") {
                bits(&split, (&b, &c), kernel.run)
            } else {
                in_rows.clone()
            };
            assert!(chosen == alike, "{name}");
            planned += 1;
        }
        let coo =
            AnySparse::from_f64(precision, FormatKind::Coo, FormatParams::default(), &e).expect("encodes");
        assert!(
            matches!(plan_loops(kernel, &coo, SHAPE.2), Err(ScheduleError::Refused(_))),
            "{}",
            kernel.name
        );
    }
    eprintln!("{planned} plans of products");
    assert!(planned > 0 || splitting().next().is_none(), "nothing planned");
}

#[test]
fn splits_that_leave_rows_without_a_worker() {
    let mut rng = Rng(4);
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 40);
    for (kernel, run_split) in splitting() {
        let (b, c) = operands(&mut rng, kernel);
        let before = c.all_bits();
        for (boundary, csr, tiles, expected) in [
            (5, 0, 2, Some("workers of the CSR part")),
            (5, 2, 0, Some("workers of the tile part")),
            (SHAPE.0, 0, 0, Some("workers of the CSR part")),
            (0, 3, 0, Some("workers of the tile part")),
            (5, 1, 1, None),
            (0, 0, 1, None),
            (SHAPE.0, 1, 0, None),
        ] {
            let a = loops(&e, kernel.contract.types.a, boundary, 8);
            let (result, after) = answer((&a, false), (&b, &c), |task| run_split(task, Split { csr, tiles }));
            let wanted = match expected {
                Some(field) => Err(RequestError::Zero { field }.into()),
                None => Ok(Answer::Written),
            };
            assert_eq!(result, wanted, "{}", kernel.name);
            assert_eq!(after == before, expected.is_some(), "{} {boundary} {csr} {tiles}", kernel.name);
        }
    }
}

/// A transpose has no tiles, and C may lie by columns: the split changes no bit there either.
#[test]
fn transposes_and_columns_with_a_split() {
    let mut rng = Rng(6);
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 40);
    for (kernel, run_split) in splitting() {
        let types = kernel.contract.types;
        for (boundary, split) in [(0, Split { csr: 0, tiles: 2 }), (433, Split { csr: 2, tiles: 1 })] {
            let a = loops(&e, types.a, boundary, 8);
            for transpose_a in [false, true] {
                let (k, m) = if transpose_a { (SHAPE.0, SHAPE.1) } else { (SHAPE.1, SHAPE.0) };
                let b = Dense::new(types.b, (k, SHAPE.2), Layout::RowMajor, 0, || rng.real());
                let c = Dense::new(types.out, (m, SHAPE.2), Layout::ColMajor, 1, || rng.real());
                let found = answer((&a, transpose_a), (&b, &c), |task| run_split(task, split));
                let wanted = answer((&a, transpose_a), (&b, &c), kernel.run);
                assert_eq!(wanted.0, Ok(Answer::Written), "{}", kernel.name);
                assert!(found == wanted, "{} {boundary} {transpose_a}", kernel.name);
            }
        }
    }
}

/// What every kernel refuses is refused with a split too, and nothing is written; a kernel that this machine lacks says so.
#[test]
fn a_request_that_is_wrong_is_refused_with_a_split() {
    let mut rng = Rng(7);
    let e = ragged(&mut rng, (SHAPE.0, SHAPE.1), 40);
    let split = Split { csr: 1, tiles: 1 };
    for kernel in all_kernels() {
        let Some(run_split) = kernel.run_split else {
            continue;
        };
        let types = kernel.contract.types;
        let (b, c) = operands(&mut rng, kernel);
        let refused = |a: &AnySparse, c: &Dense| {
            let before = c.all_bits();
            let (found, after) = answer((a, false), (&b, c), |task| run_split(task, split));
            assert!(after == before, "{}", kernel.name);
            found.expect_err("refused")
        };
        let a = loops(&e, types.a, 433, 8);
        if let Some(missing) = kernel.missing() {
            let expected = Refusal::Engine(EngineError::Unavailable { feature: missing.name() });
            assert_eq!(refused(&a, &c), expected, "{}", kernel.name);
            continue;
        }
        let short = Dense::new(types.out, (SHAPE.0 - 1, SHAPE.2), Layout::RowMajor, 0, || 1.0);
        assert!(
            matches!(refused(&a, &short), Refusal::Request(RequestError::Shape { .. })),
            "{}",
            kernel.name
        );
        let bytes = Dense::new(Precision::E5m2, (SHAPE.0, SHAPE.2), Layout::RowMajor, 0, || 1.0);
        let of = |found: Refusal, wanted: &str| matches!(found, Refusal::Request(RequestError::Kind { field, .. }) if field == wanted);
        assert!(of(refused(&a, &bytes), "C"), "{}", kernel.name);
        let csr =
            AnySparse::from_f64(types.a, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
        assert!(of(refused(&csr, &c), "A"), "{}", kernel.name);
        let other = if types.a == Precision::F64 { Precision::F32 } else { Precision::F64 };
        assert!(of(refused(&loops(&e, other, 433, 8), &c), "A"), "{}", kernel.name);
    }
}

#[test]
fn a_kernel_without_two_parts_has_no_plan() {
    let csr = all_kernels().iter().find(|k| k.contract.format == FormatKind::Csr).expect("there is one");
    let a = loops(&ragged(&mut Rng(5), (SHAPE.0, SHAPE.1), 40), csr.contract.types.a, 5, 8);
    let refused = plan_loops(csr, &a, 3).expect_err("it takes no split");
    let kind = |e: &ScheduleError| {
        matches!(e, ScheduleError::Refused(Refusal::Request(RequestError::Kind { field: "kernel", .. })))
    };
    assert!(kind(&refused), "{refused}");
}
