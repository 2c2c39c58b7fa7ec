//! SDDMM on x86 against the portable kernel of the same contract, bit for bit: both declare one chain of fused steps for each
//! position. Rows from empty to several vectors, inner dimensions from 0 past two blocks, both layouts, any threads.

#![cfg(target_arch = "x86_64")]

use crate::support;
use sparse_oracle::prelude::*;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use sparse_kernels::registry::kernel;
use sparse_kernels::{Kernel, KernelName, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, FormatParams, Layout};
use sparse_oracle::scalar::{Values, decode};
use sparse_oracle::task::{Answer, SddmmMode, Task};
use support::{Dense, LAYOUTS, Rng, encode, entries};

const MODES: [SddmmMode; 3] = [SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS];
const FACTORS: [(f64, f64); 5] = [(1.0, 0.0), (-0.75, 0.0), (1.0, 1.0), (1.625, -0.3125), (0.0, 2.0)];

fn vector_kernels() -> impl Iterator<Item = &'static Kernel> {
    kernels_here().filter(|k| k.contract.op == Op::Sddmm && k.engine != "portable")
}

fn portable(of: &Kernel) -> &'static Kernel {
    let mut name: KernelName = of.name.parse().expect("a registered name");
    (name.engine, name.tech, name.tile) = (sparse_kernels::Engine::Portable, None, None);
    kernel(&name.to_string()).expect("every contract has a portable kernel")
}

/// Operands of one request.
struct Request {
    s: AnySparse,
    stored: usize,
    x: Dense,
    y: Dense,
    factors: (f64, f64),
    mode: SddmmMode,
}

impl Request {
    fn new(rng: &mut Rng, of: &Kernel, (rows, cols, k): (usize, usize, usize), density: u64) -> Request {
        let types = of.contract.types;
        let mut e = entries(rng, rows, cols, density, Rng::real);
        e.list.retain(|entry| entry.row % 4 != 2 || entry.col < 3);
        let s = encode(rng, types.out, of.contract.format, FormatParams::default(), &e);
        let mut dense = |precision, shape| {
            let (layout, pad) = (LAYOUTS[rng.below(2) as usize], rng.below(3) as usize);
            // Now and then what is special: zeros, infinities, NaN, results below the smallest normal number.
            Dense::new(precision, shape, layout, pad, || match rng.below(60) {
                0 => -0.0,
                1 => f64::INFINITY,
                2 => f64::NAN,
                3..6 => rng.real() * 2f64.powi(-70),
                _ => rng.real(),
            })
        };
        let (x, y) = (dense(types.a, (rows, k)), dense(types.b, (cols, k)));
        let mode = MODES[rng.below(3) as usize];
        let (alpha, beta) = FACTORS[rng.below(5) as usize];
        // Where S multiplies, alpha is 1, or 0: others are refused.
        let scales = mode == SddmmMode::Scale && alpha != 0.0;
        Request { x, y, s, stored: e.list.len(), factors: (if scales { 1.0 } else { alpha }, beta), mode }
    }

    /// The bits of the result, every NaN alike.
    fn bits(&self, kernel: &Kernel) -> Vec<u64> {
        let precision = kernel.contract.types.out;
        let mut out = Values::from_f64(precision, &vec![77.0; self.stored]);
        let task = Task::Sddmm {
            s: &self.s,
            x: self.x.as_ref(),
            y: self.y.as_ref(),
            alpha: self.factors.0,
            beta: self.factors.1,
            mode: self.mode,
            out: out.as_mut_slice(),
        };
        assert_eq!((kernel.run)(task), Ok(Answer::Written), "{}", kernel.name);
        let bits = (0..self.stored).map(|at| out.as_slice().bits(at));
        bits.map(|b| if decode(b, precision).is_nan() { u64::MAX } else { b }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_vector_kernel_gives_the_bits_of_the_portable_one(
        rows in 0usize..12, cols in 0usize..60, k in 0usize..40, density in 0u64..100, seed: u64,
    ) {
        let mut rng = Rng(seed);
        for kernel in vector_kernels() {
            let request = Request::new(&mut rng, kernel, (rows, cols, k), density);
            prop_assert_eq!(
                request.bits(kernel), request.bits(portable(kernel)),
                "{} {:?} {:?}", kernel.name, request.factors, request.mode
            );
        }
    }
}

#[test]
fn threads_and_chunks_change_nothing() {
    // Several chunks; one row is longer than a chunk, and rows end inside chunks.
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let mut rng = Rng(5);
    let mut found = 0;
    for kernel in vector_kernels() {
        let mut request = Request::new(&mut rng, kernel, (70, 700, 18), 12);
        let long: Vec<u32> = (0..700).collect();
        with_a_long_row(&mut request, kernel, &mut rng, &long);
        let wanted = request.bits(portable(kernel));
        for threads in [1, 2, 5] {
            assert_eq!(pool(threads).install(|| request.bits(kernel)), wanted, "{} {threads}", kernel.name);
        }
        found += 1;
    }
    println!("{found} kernels");
}

/// Replaces S: one full row among the others.
fn with_a_long_row(request: &mut Request, of: &Kernel, rng: &mut Rng, long: &[u32]) {
    let mut e = entries(rng, 70, 700, 12, Rng::real);
    e.list.retain(|entry| entry.row != 33);
    e.list.extend(long.iter().map(|&col| sparse_oracle::format::Entry { row: 33, col, value: 0.5 }));
    e.list.sort_by_key(|entry| (entry.row, entry.col));
    request.stored = e.list.len();
    request.s = encode(rng, of.contract.types.out, of.contract.format, FormatParams::default(), &e);
}

#[test]
fn operands_in_place_are_read_up_to_their_last_row_only() {
    // The last row of X and Y ends with the slice: no leading dimension's worth follows.
    let mut rng = Rng(6);
    for kernel in vector_kernels() {
        for k in [1, 7, 8, 15, 16, 17, 33] {
            let mut request = Request::new(&mut rng, kernel, (3, 20, k), 100);
            let types = kernel.contract.types;
            request.x = Dense::new(types.a, (3, k), Layout::RowMajor, 0, || rng.real());
            request.y = Dense::new(types.b, (20, k), Layout::RowMajor, 0, || rng.real());
            assert_eq!(request.bits(kernel), request.bits(portable(kernel)), "{} {k}", kernel.name);
        }
    }
}
