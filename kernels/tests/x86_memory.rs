//! Where operands lie in memory does not reach a result of the x86 kernels: C larger than the caches is written past them where
//! its address allows it, and B whose rows cut cache lines is copied where its rows are read often.
//!
//! ```text
//! C, offset 0 / 4 / 1 elements from a line      whole vectors / 16 bytes at a time / plain stores
//! B, offset 0 / 1 elements from a line          in place / copied
//! ```

#![cfg(target_arch = "x86_64")]

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::registry::kernel;
use sparse_kernels::{Engine, KernelName, kernels_here};
use sparse_oracle::Precision;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, Layout};
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Task};
use support::Rng;

/// Elements of a cache line of f32.
const LINE: usize = 16;

/// C holds 17.6 MB: more than what is kept in caches. Two columns beyond the last vector, two of padding.
const SHAPE: (usize, usize, usize, usize) = (1 << 17, 96, 34, 36);

/// What the padding of C holds, to the bit.
const POISON: f32 = f32::NAN;

/// At least `len` elements, and how many to skip so that the rest starts `offset` elements after a line.
fn placed(len: usize, offset: usize, value: impl FnMut() -> f32) -> (Vec<f32>, usize) {
    let mut all = vec![POISON; len + 2 * LINE];
    let skip = all.as_ptr().align_offset(64) + offset;
    all[skip..skip + len].fill_with(value);
    (all, skip)
}

fn matrix(kind: FormatKind, rng: &mut Rng) -> AnySparse {
    let (rows, cols, ..) = SHAPE;
    let mut list = Vec::new();
    for row in 0..rows as u32 {
        for part in 0..row % 3 {
            let col = part * 30 + rng.below(30) as u32;
            let value = rng.integer();
            list.push(Entry { row, col, value });
        }
    }
    let e = Entries { rows, cols, list };
    AnySparse::from_f64(Precision::F32, kind, FormatParams::default(), &e).expect("encodes")
}

/// The output's bits, its padding checked. Operands are small integers: fused or not, no step rounds.
fn run(name: &str, a: &AnySparse, b: (&[f32], usize), c_at: usize) -> Vec<u32> {
    let (rows, cols, n, ld) = SHAPE;
    let (mut c, skip) = placed(rows * ld, c_at, || POISON);
    let task = Task::Spmm {
        a,
        transpose_a: false,
        b: DenseRef { rows: cols, cols: n, ld: b.1, layout: Layout::RowMajor, data: AnySlice::F32(b.0) },
        transpose_b: false,
        alpha: 0.5,
        beta: 0.0,
        c: DenseMut {
            rows,
            cols: n,
            ld,
            layout: Layout::RowMajor,
            data: AnySliceMut::F32(&mut c[skip..][..rows * ld]),
        },
    };
    let kernel = kernel(name).expect("registered");
    assert_eq!((kernel.run)(task), Ok(Answer::Written), "{name}");
    let mut bits = Vec::new();
    for row in c[skip..][..rows * ld].chunks_exact(ld) {
        bits.extend(row[..n].iter().map(|x| x.to_bits()));
        assert!(row[n..].iter().all(|x| x.to_bits() == POISON.to_bits()), "{name} writes padding");
    }
    assert!(c[..skip].iter().all(|x| x.to_bits() == POISON.to_bits()), "{name} writes before C");
    bits
}

#[test]
fn addresses_do_not_reach_results() {
    let mut rng = Rng(7);
    let (_, cols, n, _) = SHAPE;
    let mut compared = 0;
    for format in [FormatKind::Csr, FormatKind::Loops] {
        let a = matrix(format, &mut rng);
        let (b, skip) = placed(cols * 48, 0, || rng.integer() as f32);
        let aligned = (&b[skip..][..cols * 48], 48);
        // The same elements one element further, so that every row cuts lines.
        let (mut cut, cut_skip) = placed(cols * 48, 1, || 0.0);
        cut[cut_skip..][..cols * 48].copy_from_slice(aligned.0);
        let cut = (&cut[cut_skip..][..cols * 48], 48);
        assert!(aligned.0[..n].iter().all(|x| !x.is_nan()));
        for kernel in kernels_here() {
            let types = kernel.contract.types;
            let all_f32 = [types.a, types.b, types.acc, types.out].iter().all(|&t| t == Precision::F32);
            let of_x86 = [Engine::Avx512.name(), Engine::Avx2.name()].contains(&kernel.engine);
            if !(of_x86 && all_f32 && kernel.contract.op == Op::Spmm && kernel.contract.format == format) {
                continue;
            }
            let portable = KernelName::plain(kernel.contract, Engine::Portable).to_string();
            let expected = run(&portable, &a, aligned, 1);
            for c_at in [0, 4, 1] {
                for b in [aligned, cut] {
                    let found = run(&kernel.name, &a, b, c_at);
                    assert!(found == expected, "{} with C at {c_at}", kernel.name);
                    compared += 1;
                }
            }
        }
    }
    eprintln!("{compared} products compared with the portable kernels");
    assert!(compared > 0 || kernels_here().all(|k| k.engine == "portable"));
}
