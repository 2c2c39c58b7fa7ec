//! What the tests of the Arm kernels share: thread pools at a given streaming vector length, and LOOPS matrices with their products
//! computed by scalar code.
//!
//! ```text
//! f64, f32     r = fma(a, b, r)                  one rounding a tile
//! f16 pairs    r = r + (a0 * b0 + a1 * b1)       in f32; the products are exact, so two roundings a pair of tiles
//! ```
//!
//! The model is written from Arm's description of FMOPA and shares no code with the oracle or the kernels.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use sparse_kernels::{Feature, Kernel};
use sparse_oracle::F16;
use sparse_oracle::format::LoopsParts;
use sparse_oracle::scalar::Scalar;
use std::ffi::c_int;

/// Every streaming vector length that the architecture has, in bytes.
pub const LENGTHS: [usize; 5] = [16, 32, 64, 128, 256];

unsafe extern "C" {
    fn prctl(option: c_int, ...) -> c_int;
}

/// True where the SME kernels run.
pub fn has_sme() -> bool {
    Feature::Sme.is_here()
}

/// Runs `f` in a pool whose threads have this streaming vector length; `None` where the machine does not have it.
pub fn at_length<R: Send>(bytes: usize, threads: usize, f: impl FnOnce() -> R + Send) -> Option<R> {
    const PR_SME_SET_VL: c_int = 63;
    let set = move || {
        if !cfg!(any(target_os = "linux", target_os = "android")) {
            return false;
        }
        // SAFETY: changes the vector length of this thread, which is not in streaming mode; the kernel answers with the length
        // that it chose, the nearest below.
        let found = unsafe { prctl(PR_SME_SET_VL, bytes, 0usize, 0usize, 0usize) };
        found >= 0 && found as usize & 0xffff == bytes
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |_| {
            set();
        })
        .build()
        .expect("threads");
    pool.install(move || set().then(f))
}

/// The kernel with this name.
pub fn kernel(name: &str) -> &'static Kernel {
    sparse_kernels::registry::kernel(name).unwrap_or_else(|| panic!("{name} is registered"))
}

/// An accumulator type.
pub trait Real: Scalar {
    const ZERO: Self;
    fn fma(self, b: Self, acc: Self) -> Self;
    fn times(self, b: Self) -> Self;
    fn plus(self, b: Self) -> Self;
    fn of(x: f64) -> Self;
}

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Real for $t {
            const ZERO: Self = 0.0;
            fn fma(self, b: Self, acc: Self) -> Self {
                self.mul_add(b, acc)
            }
            fn times(self, b: Self) -> Self {
                self * b
            }
            fn plus(self, b: Self) -> Self {
                self + b
            }
            fn of(x: f64) -> Self {
                x as $t
            }
        }
    )*};
}
real!(f32, f64);

/// An element type, with its accumulator.
pub trait Stored: Scalar {
    type Acc: Real;
    fn widen(self) -> Self::Acc {
        Self::Acc::of(self.to_f64())
    }
}

impl Stored for f32 {
    type Acc = f32;
}

impl Stored for f64 {
    type Acc = f64;
}

impl Stored for F16 {
    type Acc = f32;
}

/// How a unit sums the tiles of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// One FMA a tile.
    Fma,
    /// Two tiles at a time, the last one with zeros.
    Pairs,
}

/// `A * B` before scaling, row-major m x n, for `b(k, j)`.
pub fn product<T: Stored>(
    p: &LoopsParts<T>,
    unit: Unit,
    n: usize,
    b: impl Fn(usize, usize) -> T,
) -> Vec<T::Acc> {
    let mut sums = vec![T::Acc::ZERO; p.rows * n];
    for (at, sum) in sums.iter_mut().enumerate() {
        let (row, j) = (at / n, at % n);
        let right = |k: u32| b(k as usize, j).widen();
        if row < p.boundary {
            for e in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
                *sum = p.csr_values[e].widen().fma(right(p.col_idx[e]), *sum);
            }
            continue;
        }
        let (block, r) = ((row - p.boundary) / p.br, (row - p.boundary) % p.br);
        let terms: Vec<(T::Acc, T::Acc)> = (p.block_ptr[block]..p.block_ptr[block + 1])
            .map(|t| t as usize)
            .map(|t| (p.values[t * p.br + r].widen(), right(p.block_col[t])))
            .collect();
        match unit {
            Unit::Fma => {
                for &(a, b) in &terms {
                    *sum = a.fma(b, *sum);
                }
            }
            Unit::Pairs => {
                for pair in terms.chunks(2) {
                    let zero = (T::Acc::ZERO, T::Acc::ZERO);
                    let ((a0, b0), (a1, b1)) = (pair[0], pair.get(1).copied().unwrap_or(zero));
                    *sum = sum.plus(a0.times(b0).plus(a1.times(b1)));
                }
            }
        }
    }
    sums
}

/// `alpha * sum + beta * c`, factors of 1 multiplying nothing, `c` not read where beta is 0.
pub fn scaled<A: Real>(sum: A, (alpha, beta): (f64, f64), c: A) -> A {
    let factor = |f: f64, x: A| if f == 1.0 { x } else { A::of(f).times(x) };
    let product = factor(alpha, sum);
    if beta == 0.0 { product } else { product.plus(factor(beta, c)) }
}
