//! SpMM of CSR on the GPU: every element is the fused chain in ascending column, bit for bit, whatever the width, the
//! layout and the factors, on GPUs that a CPU plays and on a real one where there is one.

#![cfg(feature = "cuda")]

use crate::gpus::{OnGpu, on_gpus};
use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::cuda::{LaunchPlan, metered};
use sparse_oracle::Precision;
use sparse_oracle::contract::{Op, Types};
use sparse_oracle::format::{AnySparse, Entries, FormatKind, FormatParams, Layout};
use sparse_oracle::judge;
use sparse_oracle::judge::{Found, Output, Place};
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::{AnySliceMut, Rounding, decode, encode};
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use sparse_oracle::verdict::Verdict;
use support::{Dense, LAYOUTS, Rng, encode as encode_matrix, entries, table};

const WIDTHS: [usize; 14] = [1, 7, 8, 15, 16, 17, 31, 33, 63, 65, 100, 127, 129, 260];

/// The kernel of this precision, on every GPU.
fn kernels(precision: Precision) -> Vec<OnGpu> {
    let types = Types { a: precision, b: precision, acc: precision, out: precision };
    on_gpus(|k| {
        k.contract.op == Op::Spmm && k.contract.format == FormatKind::Csr && k.contract.types == types
    })
}

/// One product, and what every element must be: chains of f32 or f64.
struct Case {
    precision: Precision,
    /// Columns of A; one row has an entry in each.
    cols: usize,
    n: usize,
    transpose: bool,
    layouts: (Layout, Layout),
    pad: usize,
    factors: (f64, f64),
}

fn matrix(rng: &mut Rng, cols: usize) -> Entries<f64> {
    let mut e = entries(rng, 37, cols, 22, Rng::real);
    // An empty row, and one that is full.
    e.list.retain(|entry| entry.row != 5 && entry.row != 11);
    e.list.extend((0..cols as u32).map(|col| sparse_oracle::format::Entry {
        row: 11,
        col,
        value: 1.0 + f64::from(col) / 32.0,
    }));
    e.list.sort_unstable_by_key(|entry| (entry.row, entry.col));
    e
}

/// Runs it on every GPU.
fn check(case: &Case) {
    for kernel in &kernels(case.precision) {
        check_on(kernel, case);
    }
}

fn check_on(kernel: &OnGpu, case: &Case) {
    let Case { precision, cols, n, transpose, layouts, pad, factors } = *case;
    let mut rng = Rng(n as u64 + 1);
    let e = matrix(&mut rng, cols);
    let a = AnySparse::from_f64(precision, FormatKind::Csr, FormatParams::default(), &e).expect("legal");
    let (m, k) = if transpose { (e.cols, e.rows) } else { (e.rows, e.cols) };
    let b = Dense::new(precision, (k, n), layouts.0, pad, || rng.real());
    let mut numbers = Rng(99);
    let before = Dense::new(precision, (m, n), layouts.1, pad, || {
        if factors.1 == 0.0 { f64::NAN } else { numbers.real() }
    });
    let mut c = before.clone();
    let task = Task::Spmm {
        a: &a,
        transpose_a: transpose,
        b: b.as_ref(),
        transpose_b: false,
        alpha: factors.0,
        beta: factors.1,
        c: c.as_mut(),
    };
    assert_eq!(kernel.run(task), Ok(Answer::Written), "{} n = {n}", kernel.title());
    let values = table(&e, transpose);
    for (i, row) in values.iter().enumerate() {
        for j in 0..n {
            let expected = chain(precision, row, |k| b.at(k, j), factors, before.at(i, j));
            let found = c.at(i, j);
            assert_eq!(
                found.to_bits(),
                expected.to_bits(),
                "{} n {n} ({i}, {j}): {found:e}, not {expected:e}",
                kernel.title()
            );
        }
    }
    for at in c.padding() {
        assert_eq!(c.data.as_slice().bits(at), before.data.as_slice().bits(at), "padding at {at}");
    }
}

/// Entries of a piece of a long row, as the kernels declare them.
const CUT: usize = 64;

/// Ascending fused chains over the stored entries (none of which is zero), `CUT` of them each, added in ascending order; then
/// the two factors, each step rounded.
fn chain(
    precision: Precision,
    row: &[f64],
    b: impl Fn(usize) -> f64,
    (alpha, beta): (f64, f64),
    c: f64,
) -> f64 {
    let round = |x: f64| decode(encode(x, precision, Rounding::NearestEven), precision);
    let stored: Vec<(usize, f64)> = (0..).zip(row.iter().copied()).filter(|(_, a)| *a != 0.0).collect();
    let piece = |entries: &[(usize, f64)]| {
        let (mut wide, mut narrow) = (0.0f64, 0.0f32);
        for &(k, a) in entries {
            // Operands were rounded when they were stored.
            let (a, b) = (round(a), b(k));
            wide = a.mul_add(b, wide);
            narrow = (a as f32).mul_add(b as f32, narrow);
        }
        if precision == Precision::F64 { wide } else { f64::from(narrow) }
    };
    let pieces = stored.chunks(CUT).map(piece);
    let sum = pieces.reduce(|total, piece| round(total + piece)).unwrap_or(0.0);
    let scaled = if alpha == 0.0 { 0.0 } else { round(alpha * sum) };
    match (alpha == 0.0, beta == 0.0) {
        (_, true) => scaled,
        (true, false) => round(beta * c),
        (false, false) => round(scaled + round(beta * c)),
    }
}

#[test]
fn chains_bit_for_bit_at_every_width() {
    for precision in [Precision::F32, Precision::F64] {
        for n in WIDTHS {
            for pad in [0, 3, 4] {
                let layouts = (Layout::RowMajor, Layout::RowMajor);
                check(&Case { precision, cols: 29, n, transpose: false, layouts, pad, factors: (1.0, 0.0) });
            }
        }
    }
}

/// A row of 93,000 entries was one chain: 8 ms in which the rest of the GPU had nothing to do. It is cut into pieces now, whose
/// sums are added in their order.
#[test]
fn a_long_row_is_the_sum_of_its_pieces_in_order() {
    let lengths = [CUT - 1, CUT, CUT + 1, 2 * CUT, 5 * CUT + 3, 40 * CUT];
    let factors = [(1.0, 0.0), (0.5, -2.0), (0.0, 1.0)];
    for precision in [Precision::F32, Precision::F64] {
        for (cols, n) in lengths.into_iter().flat_map(|cols| [3, 33, 128].map(|n| (cols, n))) {
            for factors in factors {
                check(&Case {
                    precision,
                    cols,
                    n,
                    transpose: false,
                    layouts: (Layout::RowMajor, Layout::RowMajor),
                    pad: 0,
                    factors,
                });
            }
        }
    }
}

#[test]
fn layouts_transposes_and_factors() {
    let factors = [(1.0, 1.0), (0.5, -2.0), (-1.5, 0.0), (0.0, 0.0), (0.0, 1.0), (0.0, 3.0)];
    for b in LAYOUTS {
        for c in LAYOUTS {
            for transpose in [false, true] {
                for factors in factors {
                    let layouts = (b, c);
                    check(&Case {
                        precision: Precision::F32,
                        cols: 29,
                        n: 20,
                        transpose,
                        layouts,
                        pad: 2,
                        factors,
                    });
                }
            }
        }
    }
}

/// Bad requests are refused with the reason, and C stays as it was.
#[test]
fn bad_requests_are_refused() {
    let e = matrix(&mut Rng(3), 29);
    let a = AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e).expect("legal");
    let b = Dense::new(Precision::F32, (29, 8), Layout::RowMajor, 0, || 1.0);
    let run = |ld: usize, len: usize| {
        let mut c = vec![7.0f32; len];
        let task = Task::Spmm {
            a: &a,
            transpose_a: false,
            b: b.as_ref(),
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: DenseMut { rows: 37, cols: 8, ld, layout: Layout::RowMajor, data: AnySliceMut::F32(&mut c) },
        };
        let refused = kernels(Precision::F32)[0].run(task).expect_err("a bad request");
        assert!(c.iter().all(|&c| c == 7.0));
        refused
    };
    assert!(matches!(run(7, 37 * 7), Refusal::Request(RequestError::LeadingDimension { field: "ldc", .. })));
    assert!(matches!(run(8, 37 * 8 - 1), Refusal::Request(RequestError::Length { field: "C", .. })));
}

/// The clock tells of the launches asked for, and of none that was not.
#[test]
fn the_device_has_a_clock() {
    let plan = LaunchPlan { cold: 3, warm: 2 };
    let case = Case {
        precision: Precision::F32,
        cols: 29,
        n: 64,
        transpose: false,
        layouts: (Layout::RowMajor, Layout::RowMajor),
        pad: 0,
        factors: (1.0, 0.0),
    };
    for kernel in kernels(Precision::F32).iter().filter(|kernel| !kernel.is_played()) {
        let ((), times) = metered(plan, || check_on(kernel, &case));
        let times = times.expect("a kernel was launched");
        assert_eq!(times.cold.len(), 3);
        assert!(times.cold.iter().chain([&times.warm]).all(|&seconds| seconds > 0.0), "{times:?}");
    }
    assert_eq!(metered(plan, || ()).1, None);
}

/// A matrix without columns has a B without rows. The narrow kernel's columns were cut out of its empty buffer, which panicked
/// (seen on an H200: full tier, `diagonal:rows=69,cols=0`, n = 7).
#[test]
fn a_matrix_without_columns_gives_zeros() {
    let e = Entries { rows: 5, cols: 0, list: Vec::new() };
    let a = AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e).expect("legal");
    for n in [7, 9] {
        let b = Dense::new(Precision::F32, (0, n), Layout::RowMajor, 1, || 1.0);
        for kernel in &kernels(Precision::F32) {
            let mut c = Dense::new(Precision::F32, (5, n), Layout::RowMajor, 1, || 3.0);
            let task = Task::Spmm {
                a: &a,
                transpose_a: false,
                b: b.as_ref(),
                transpose_b: false,
                alpha: 1.0,
                beta: 0.0,
                c: c.as_mut(),
            };
            assert_eq!(kernel.run(task), Ok(Answer::Written));
            for i in 0..5 {
                assert!((0..n).all(|j| c.bits(i, j) == 0), "n = {n}, row {i}");
            }
        }
    }
}

/// All element types, by every criterion that applies.
#[test]
fn every_type_is_judged_right() {
    let mut rng = Rng(17);
    // Of the long row pieces are summed.
    let e = matrix(&mut rng, 200);
    for kernel in &on_gpus(|k| k.contract.op == Op::Spmm && k.contract.format == FormatKind::Csr) {
        let types = kernel.contract.types;
        let a = encode_matrix(&mut rng, types.a, FormatKind::Csr, FormatParams::default(), &e);
        for (n, pad, factors) in
            [(1, 0, (1.0, 0.0)), (7, 2, (1.0, 1.0)), (64, 0, (0.5, -2.0)), (96, 8, (1.0, 0.0))]
        {
            let b = Dense::new(types.b, (200, n), Layout::RowMajor, pad, || rng.real());
            let before = Dense::new(types.out, (37, n), Layout::RowMajor, pad, || rng.real());
            let mut c = before.clone();
            let inputs = Inputs {
                b: Some(b.as_ref()),
                alpha: factors.0,
                beta: factors.1,
                ..Inputs::plain(Op::Spmm, &a)
            };
            let task = Task::Spmm {
                a: &a,
                transpose_a: false,
                b: b.as_ref(),
                transpose_b: false,
                alpha: factors.0,
                beta: factors.1,
                c: c.as_mut(),
            };
            assert_eq!(kernel.run(task), Ok(Answer::Written), "{} n = {n}", kernel.title());
            let place = Place::Strides(c.ld, 1);
            let (found, before) = (c.data.as_slice(), Some(before.data.as_slice()));
            let output = Output { found, place, poison: None, before, before_place: place };
            let judged = judge(&inputs, (&kernel.arithmetic, &Profile::default()), Found::Dense(output));
            let verdict = judged.verdict;
            assert!(
                matches!(verdict, Verdict::Exact | Verdict::Within { .. }),
                "{} n = {n}: {verdict:?}",
                kernel.title()
            );
        }
    }
}
