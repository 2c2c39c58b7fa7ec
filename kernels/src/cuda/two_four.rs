//! SpMM of 2:4 (tf32: 1:2) by `mma.sp::ordered_metadata`: `kernels/cuda/two_four.cu` and its host side.
//!
//! ```text
//! A as stored     fragments: values and metadata in the order of registers -> launch
//! transposed      lists of terms -> listed
//! ```
//!
//! Declared arithmetic: one chain of m16n8k32 (tf32: k16) from +0, kept slots without an entry multiplied, whatever instruction
//! the arrays were cut for; `MulThenAdd` epilogue, tf32 rounded as `rna`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

mod fragments;

use super::architecture;
use super::gpu::Gpu;
use super::launch::{self, Grid, address, address_mut};
use super::listed::{Listed, aligned};
use super::nm::Packed;
use super::operand::{DeviceDense, Word, product};
use super::source::Source;
use crate::engine::Engine;
use crate::feature::Feature;
use crate::portable::element::{Operand, Output};
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use crate::registry::{Kernel, Run};
use cudarc::driver::{CudaSlice, DeviceRepr};
use half::f16;
use sparse_oracle::arithmetic::{self, Arithmetic, Input, Instruction};
use sparse_oracle::contract::{Contract, Op, Types};
use sparse_oracle::format::{FormatKind, Sparse, TwoFour};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Bf16, F16, Precision, Tf32};

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &[
    "two_four_tf32_f32",
    "two_four_f16_f32",
    "two_four_f16_f16",
    "two_four_f16_sum",
    "two_four_bf16_f32",
    "two_four_bf16_bf16",
];

/// Rows and columns of a block, and its threads.
const TILE: usize = 128;

/// Steps of B in shared memory.
const STAGES: usize = 3;

/// Every kernel for 2:4.
pub(super) fn rows(table: &mut Vec<Kernel>) {
    table.push(row::<Tf32, f32, f32>(run::<Tf32, f32, f32>));
    table.push(row::<F16, f32, f32>(run::<F16, f32, f32>));
    table.push(row::<F16, f32, F16>(run::<F16, f32, F16>));
    table.push(row::<F16, f16, F16>(run::<F16, f16, F16>));
    table.push(row::<Bf16, f32, f32>(run::<Bf16, f32, f32>));
    table.push(row::<Bf16, f32, Bf16>(run::<Bf16, f32, Bf16>));
}

fn row<I: Operand<A> + Packed, A: Unit, O: Output<A>>(run: Run) -> Kernel {
    let types = Types {
        a: I::PRECISION,
        b: I::PRECISION,
        acc: A::PRECISION,
        out: O::PRECISION,
    };
    let contract = Contract {
        op: Op::Spmm,
        format: FormatKind::TwoFour,
        to: None,
        types,
    };
    let k = 2 * <I as Packed>::K as u16;
    let instruction = Instruction::mma((16, 8, k), types.acc, types.a).engine(arithmetic::Engine::MmaSparse);
    let declared = Arithmetic::mma(architecture(), instruction, types.out).multiplies_pads();
    let declared = match types.a {
        Precision::Tf32 => declared.input(Input::Tf32Rna),
        _ => declared,
    };
    Kernel {
        needs: &[Feature::Sm80],
        ..Kernel::new(contract, Engine::Cuda, declared, run)
    }
}

/// An instantiation of the sources: operands of this type, sums in `A`, results in `O`.
trait Instance<A, O>: Packed {
    /// Kernels of `two_four.cu` and `listed.cu`.
    const NAMES: [&'static str; 2];
}

macro_rules! instances {
    ($($input:ident $acc:ident $out:ident: $tiles:literal $listed:literal;)*) => {
        $(impl Instance<$acc, $out> for $input {
            const NAMES: [&'static str; 2] = [$tiles, $listed];
        })*
    };
}
instances! {
    Tf32 f32 f32: "two_four_tf32_f32" "listed_tf32_f32";
    F16 f32 f32: "two_four_f16_f32" "listed_f16_f32";
    F16 f32 F16: "two_four_f16_f16" "listed_f16_f16";
    F16 f16 F16: "two_four_f16_sum" "listed_f16_sum";
    Bf16 f32 f32: "two_four_bf16_f32" "listed_bf16_f32";
    Bf16 f32 Bf16: "two_four_bf16_bf16" "listed_bf16_bf16";
}

fn run<I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Instance<A, O>,
    A: Unit,
    O: Output<A> + Word,
{
    // Exact in the accumulator's type, as the request checks, and so in f32.
    let factors = match task {
        Task::Spmm { alpha, beta, .. } => (alpha as f32, beta as f32),
        _ => (1.0, 0.0),
    };
    let request = request::spmm::<I, A, O>(task, FormatKind::TwoFour)?;
    let n = request.c.cols;
    product(
        request,
        |gpu, a, transpose| match a {
            Sparse::TwoFour(m) => Prepared::new(gpu, m, transpose, n),
            _ => Err(wrong_format("A", FormatKind::TwoFour, a.kind())),
        },
        |gpu, prepared: &Prepared<I>, (b, c), _| prepared.launch(gpu, I::NAMES, (b, c), factors),
    )
}

/// A 2:4 matrix on the device.
#[derive(Debug)]
enum Prepared<I: Word> {
    Tiles(Tiles),
    Listed(Listed<I>),
}

#[derive(Debug)]
struct Tiles {
    rows: usize,
    k: usize,
    blocks: usize,
    steps: usize,
    a: CudaSlice<u32>,
    metadata: CudaSlice<u32>,
}

/// `struct TwoFour` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Arguments {
    a: u64,
    metadata: u64,
    b: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    blocks: i32,
    steps: i32,
    rows: i32,
    k: i32,
    n: i32,
    alpha: f32,
    beta: f32,
    /// To a multiple of 8 bytes, as in C.
    end: u32,
}

// SAFETY: plain numbers in the layout of C, without padding (48 + 32 bytes).
unsafe impl DeviceRepr for Arguments {}

impl<I: Packed> Prepared<I> {
    fn new(gpu: &Gpu, m: &TwoFour<I>, transpose: bool, n: usize) -> Result<Prepared<I>, Refusal> {
        let fits = [m.rows, m.cols, n]
            .into_iter()
            .all(|x| x <= i32::MAX as usize / 2);
        if transpose || !fits {
            let lists = fragments::lists(m, transpose)?;
            return Ok(Prepared::Listed(Listed::new(gpu, &lists)?));
        }
        let fragments = fragments::fragments(m)?;
        Ok(Prepared::Tiles(Tiles {
            rows: m.rows,
            k: m.cols,
            blocks: fragments.blocks,
            steps: fragments.steps,
            a: gpu.upload(&fragments.a)?,
            metadata: gpu.upload(&fragments.metadata)?,
        }))
    }

    fn launch<O: Word>(
        &self,
        gpu: &Gpu,
        [tiled, by_list]: [&str; 2],
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        factors: (f32, f32),
    ) -> Result<(), Refusal> {
        match self {
            _ if factors.0 == 0.0 => Listed::empty(gpu, c.rows)?.launch(gpu, by_list, (b, c), factors),
            Prepared::Listed(listed) => listed.launch(gpu, by_list, (b, c), factors),
            Prepared::Tiles(tiles) => match aligned(gpu, b)? {
                Some(copy) => tiles.launch(gpu, tiled, (&copy, c), factors),
                None => tiles.launch(gpu, tiled, (b, c), factors),
            },
        }
    }
}

impl Tiles {
    fn launch<I: Packed, O: Word>(
        &self,
        gpu: &Gpu,
        symbol: &str,
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        let blocks = self.rows.div_ceil(TILE) as u128 * c.cols.div_ceil(TILE) as u128;
        // A row of B in shared memory, with the 8 elements that keep rows of 32-bit elements in different banks.
        let row = match size_of::<I::Bits>() {
            2 => TILE * 2,
            _ => (TILE + 8) * 4,
        };
        let shared = STAGES * 2 * I::K * row;
        let grid = Grid::new("tiles of C", blocks, TILE as u32, shared as u32)?;
        let (n, ldb, ldc) = (c.cols as i32, b.ld as u64, c.ld as u64);
        let arguments = Arguments {
            a: address(gpu, &self.a),
            metadata: address(gpu, &self.metadata),
            b: address(gpu, &b.data),
            c: address_mut(gpu, &mut c.data),
            ldb,
            ldc,
            blocks: self.blocks as i32,
            steps: self.steps as i32,
            rows: self.rows as i32,
            k: self.k as i32,
            n,
            alpha,
            beta,
            end: 0,
        };
        // SAFETY: `Arguments` is the one parameter of every kernel of two_four.cu, and `Instance` ties the symbol to the types.
        // a and metadata have 32 lanes (of 4 words and of 1) for each of blocks x steps instructions (`fragments`). The request
        // compared B and C with rows, k and n; rows of B start at multiples of 16 bytes (`aligned`) and are read below k and n, C
        // is written for i < rows and j < n. Shared memory is STAGES stages of K rows, below the 48 KiB that need no asking or
        // asked for by `by_value`. `Prepared::new` keeps all extents below 2^30.
        unsafe { launch::by_value(gpu, Source::TwoFour, symbol, grid, &arguments) }
    }
}
