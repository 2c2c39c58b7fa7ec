//! Every SpMM and SpMV kernel on integers, where any order of additions is exact, against three nested loops; guards
//! around C; what must not be read.

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{Entries, Entry, FormatKind, FormatParams};
use sparse_oracle::scalar::{Precision, Values, decode};
use sparse_oracle::task::{Answer, Task};
use support::{Dense, LAYOUTS, Rng, bits_of, coo, encode, entries, fitting, table};

const FACTORS: [(f64, f64); 6] = [(1.0, 0.0), (1.0, 1.0), (-2.0, 0.0), (0.5, -1.0), (0.0, 2.0), (0.0, 0.0)];
const SHAPES: [(usize, usize, usize); 8] =
    [(1, 1, 1), (5, 7, 3), (9, 4, 17), (17, 9, 1), (0, 3, 2), (3, 0, 2), (4, 3, 0), (8, 8, 8)];
const BLOCKS: [FormatParams; 3] =
    [FormatParams::blocks(4, 4), FormatParams::blocks(2, 3), FormatParams::blocks(5, 1)];

fn kernels(op: Op) -> impl Iterator<Item = &'static Kernel> {
    kernels_here().filter(move |k| k.contract.op == op)
}

/// `alpha * A * B + beta * C` in f64.
fn expected(
    a: &[Vec<f64>],
    b: impl Fn(usize, usize) -> f64,
    factors: (f64, f64),
    c: f64,
    at: (usize, usize),
) -> f64 {
    let sum: f64 = a[at.0].iter().enumerate().map(|(k, a)| a * b(k, at.1)).sum();
    let product = if factors.0 == 0.0 { 0.0 } else { factors.0 * sum };
    product + if factors.1 == 0.0 { 0.0 } else { factors.1 * c }
}

fn check_spmm(kernel: &Kernel, rng: &mut Rng, e: &Entries<f64>, n: usize, round: usize) {
    let types = kernel.contract.types;
    let e = &fitting(types.a, kernel.contract.format, &BLOCKS[round % 3], e);
    let a = encode(rng, types.a, kernel.contract.format, BLOCKS[round % 3], e);
    for transposes in 0..4 {
        let (transpose_a, transpose_b) = (transposes & 1 == 1, transposes & 2 == 2);
        let op_a = table(e, transpose_a);
        let (m, k) = if transpose_a { (e.cols, e.rows) } else { (e.rows, e.cols) };
        for (layout, &(alpha, beta)) in FACTORS.iter().enumerate() {
            let layout_b = LAYOUTS[(layout + round) % 2];
            let layout_c = LAYOUTS[(layout / 2 + transposes) % 2];
            let shape_b = if transpose_b { (n, k) } else { (k, n) };
            // What must not be read is NaN.
            let b = Dense::new(types.b, shape_b, layout_b, round % 3, || {
                if alpha == 0.0 { f64::NAN } else { rng.integer() }
            });
            let mut c = Dense::new(types.out, (m, n), layout_c, (round + layout) % 3, || {
                if beta == 0.0 { f64::NAN } else { rng.integer() }
            });
            let before = c.clone();
            let task =
                Task::Spmm { a: &a, transpose_a, b: b.as_ref(), transpose_b, alpha, beta, c: c.as_mut() };
            assert_eq!((kernel.run)(task), Ok(Answer::Written), "{}", kernel.name);
            for i in 0..m {
                for j in 0..n {
                    let op_b = |k, j| if transpose_b { b.at(j, k) } else { b.at(k, j) };
                    let wanted = expected(&op_a, op_b, (alpha, beta), before.at(i, j), (i, j));
                    let what = (transpose_a, transpose_b, layout_b, layout_c, alpha, beta, i, j);
                    assert_eq!(c.at(i, j), wanted, "{} {what:?}", kernel.name);
                }
            }
            for at in c.padding() {
                assert_eq!(
                    c.data.as_slice().bits(at),
                    before.data.as_slice().bits(at),
                    "{} pad {at}",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn spmm_on_integers() {
    let mut rng = Rng(1);
    for kernel in kernels(Op::Spmm) {
        for (round, &(m, k, n)) in SHAPES.iter().enumerate() {
            let density = [100, 40, 15][round % 3];
            let e = entries(&mut rng, m, k, density, Rng::integer);
            check_spmm(kernel, &mut rng, &e, n, round);
        }
    }
}

#[test]
fn spmv_on_integers() {
    let mut rng = Rng(2);
    for kernel in kernels(Op::Spmv) {
        let types = kernel.contract.types;
        for (round, &(rows, cols, _)) in SHAPES.iter().enumerate() {
            let e = entries(&mut rng, rows, cols, [100, 40, 15][round % 3], Rng::integer);
            let a = encode(&mut rng, types.a, kernel.contract.format, BLOCKS[round % 3], &e);
            for transpose_a in [false, true] {
                let op_a = table(&e, transpose_a);
                let (m, k) = if transpose_a { (cols, rows) } else { (rows, cols) };
                for (alpha, beta) in FACTORS {
                    let draw = |read: bool, rng: &mut Rng| if read { rng.integer() } else { f64::NAN };
                    let x: Vec<f64> = (0..k).map(|_| draw(alpha != 0.0, &mut rng)).collect();
                    let before: Vec<f64> = (0..m).map(|_| draw(beta != 0.0, &mut rng)).collect();
                    let (xs, mut y) = (Values::from_f64(types.b, &x), Values::from_f64(types.out, &before));
                    let task =
                        Task::Spmv { a: &a, transpose_a, x: xs.as_slice(), alpha, beta, y: y.as_mut_slice() };
                    assert_eq!((kernel.run)(task), Ok(Answer::Written), "{}", kernel.name);
                    for (i, found) in y.to_f64().into_iter().enumerate() {
                        let wanted = expected(&op_a, |k, _| x[k], (alpha, beta), before[i], (i, 0));
                        assert_eq!(found, wanted, "{} {transpose_a} {alpha} {beta} {i}", kernel.name);
                    }
                }
            }
        }
    }
}

#[test]
fn an_absent_position_takes_no_part_and_an_explicit_zero_does() {
    // Row 0 stores (0, 0) = 1 only, row 1 an explicit zero at column 1, where B is infinite.
    let list = [Entry { row: 0, col: 0, value: 1.0 }, Entry { row: 1, col: 1, value: 0.0 }];
    let e = Entries { rows: 2, cols: 2, list: list.to_vec() };
    let mut rng = Rng(3);
    for kernel in kernels(Op::Spmm).filter(|k| !k.contract.format.pads_with_zeros()) {
        let types = kernel.contract.types;
        let a = encode(&mut rng, types.a, kernel.contract.format, BLOCKS[0], &e);
        let mut next = [1.0, f64::INFINITY].into_iter();
        let b = Dense::new(types.b, (2, 1), LAYOUTS[0], 0, || next.next().unwrap_or(0.0));
        let mut c = Dense::new(types.out, (2, 1), LAYOUTS[0], 0, || 5.0);
        let task = Task::Spmm {
            a: &a,
            transpose_a: false,
            b: b.as_ref(),
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: c.as_mut(),
        };
        assert_eq!((kernel.run)(task), Ok(Answer::Written));
        assert_eq!(c.at(0, 0), 1.0, "{} read an absent position", kernel.name);
        assert!(c.at(1, 0).is_nan(), "{}: 0 * inf", kernel.name);
    }
}

#[test]
fn duplicates_are_summed_exactly_before_they_are_multiplied() {
    let entry = |value: f64| Entry { row: 0, col: 0, value };
    for kernel in kernels(Op::Spmm).filter(|k| k.contract.format == FormatKind::Coo) {
        let types = kernel.contract.types;
        let significand = if types.a == Precision::Tf32 { 24 } else { types.a.spec().significand as i32 };
        // big + 1 + 1 with big = 2^p: rounded additions lose both ones, the exact sum keeps their 2.
        let big = 2f64.powi(significand);
        let a = coo(types.a, 1, 1, &[entry(1.0), entry(big), entry(1.0)]);
        let mut c = Dense::new(types.out, (1, 1), LAYOUTS[0], 0, || 0.0);
        let b = Dense::new(types.b, (1, 1), LAYOUTS[0], 0, || 1.0);
        let task = Task::Spmm {
            a: &a,
            transpose_a: false,
            b: b.as_ref(),
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: c.as_mut(),
        };
        assert_eq!((kernel.run)(task), Ok(Answer::Written));
        let stored = sparse_oracle::op::input(
            decode(bits_of(types.a, big + 2.0), types.a),
            kernel.arithmetic.part().input,
        );
        assert_eq!(c.bits(0, 0), bits_of(types.out, stored), "{}", kernel.name);
    }
}

/// The AVX kernels took a single row stored by columns (ldc = 1: both steps are 1) for rows one element apart, and panicked;
/// found by the quick tier.
#[test]
fn spmm_of_one_row_stored_by_columns() {
    let mut rng = Rng(7);
    let e = entries(&mut rng, 1, 6, 70, Rng::integer);
    for kernel in kernels(Op::Spmm) {
        for round in 0..6 {
            check_spmm(kernel, &mut rng, &e, 15, round);
        }
    }
}
