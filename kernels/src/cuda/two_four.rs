//! SpMM of 2:4 (tf32: 1:2) by `mma.sp::ordered_metadata`: `kernels/cuda/two_four.cu` and its host side; elements of 16 bits on `sm_90` by
//! `wgmma.mma_async.sp`: `two_four_group.cu`.
//!
//! ```text
//! A as stored     fragments: values and metadata in the order of registers -> launch
//! transposed      lists of terms -> listed
//! ```
//!
//! Declared arithmetic: one chain of m16n8k32 (tf32: k16) from +0, kept slots without an entry multiplied, whatever instruction
//! the arrays were cut for; `MulThenAdd` epilogue, tf32 rounded as `rna`. `wgmma.sp` of `sm_90` has the
//! same sums as `mma.sp` there: the oracle's table says so row by row, and a test compares them. On `sm_90` that chain was measured (docs/silicon). Below,
//! the oracle's table has it as a hypothesis, "as its dense mma, over the kept products": these kernels never ran there.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

mod fragments;

use super::buffer::GpuBuffer;
use super::gpu::Gpu;
use super::launch::{GpuCall, Grid};
use super::layout::layout;
use super::listed::{Prepared, Tiled};
use super::nm::{MatrixUnitElement, extent};
use super::operand::{DeviceDense, Word, fits, product};
use super::source::Source;
use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::element::{Operand, Output, contract};
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use fragments::MetadataOrder;
use half::f16;
use sparse_types::arithmetic::{self, Architecture, Arithmetic, Input, Instruction};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Sparse, TwoFour};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, F16, Precision, Tf32};
use std::marker::PhantomData;

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &[
    "two_four_tf32_f32",
    "two_four_f16_f32",
    "two_four_f16_f16",
    "two_four_f16_sum",
    "two_four_bf16_f32",
    "two_four_bf16_bf16",
];

/// The kernels of groups of four warps, by how many groups a block has.
pub(super) const GROUP_SYMBOLS: &[&str] = &[
    "two_four_group1_f16_f32",
    "two_four_group2_f16_f32",
    "two_four_group1_f16_f16",
    "two_four_group2_f16_f16",
    "two_four_group1_f16_sum",
    "two_four_group2_f16_sum",
    "two_four_group1_bf16_f32",
    "two_four_group2_bf16_f32",
    "two_four_group1_bf16_bf16",
    "two_four_group2_bf16_bf16",
];

/// Rows and columns of a block, and its threads; of a block of groups, those of one group.
const TILE: usize = 128;

/// Stages in shared memory, of `two_four.cu`.
const RING: usize = 3;

/// The same of `two_four_group.cu`, with one group a block and with two; and how many such blocks a multiprocessor has at once.
const GROUP_RINGS: [(usize, usize); 2] = [(4, 2), (5, 1)];

/// Bytes of B in a stage of `two_four_group.cu`.
const GROUP_B_STAGE: usize = fragments::STEPS * 32 * TILE * 2;

/// Every kernel for 2:4.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<Tf32, f32, f32>(target, entry!(run::<Tf32, f32, f32>)));
    table.push(row::<F16, f32, f32>(target, entry!(run::<F16, f32, f32>)));
    table.push(row::<F16, f32, F16>(target, entry!(run::<F16, f32, F16>)));
    table.push(row::<F16, f16, F16>(target, entry!(run::<F16, f16, F16>)));
    table.push(row::<Bf16, f32, f32>(target, entry!(run::<Bf16, f32, f32>)));
    table.push(row::<Bf16, f32, Bf16>(target, entry!(run::<Bf16, f32, Bf16>)));
}

fn row<I: Operand<A> + MatrixUnitElement, A: Unit, O: Output<A>>(
    target: GpuTarget,
    run: EntryPoint,
) -> GpuKernel {
    let contract = contract::<I, A, O>(Op::Spmm, FormatKind::TwoFour);
    let types = contract.types;
    let k = 2 * <I as MatrixUnitElement>::K as u16;
    let instruction = Instruction::mma((16, 8, k), types.acc, types.a).engine(arithmetic::Engine::MmaSparse);
    let declared = Arithmetic::mma(target.architecture, instruction, types.out).multiplies_pads();
    let declared = match types.a {
        Precision::Tf32 => declared.input(Input::Tf32Rna),
        _ => declared,
    };
    target.row(contract, None, declared, run)
}

/// An instantiation of the sources: operands of this type, sums in `A`, results in `O`.
trait TwoFourInstance<A, O>: MatrixUnitElement {
    /// Kernels of `two_four.cu` and `listed.cu`.
    const NAMES: [&'static str; 2];
    /// Kernels of `two_four_group.cu`, with one group and with two.
    const GROUPS: Option<[&'static str; 2]>;
}

macro_rules! instances {
    ($($input:ident $acc:ident $out:ident: $tiles:literal $listed:literal $groups:expr;)*) => {
        $(impl TwoFourInstance<$acc, $out> for $input {
            const NAMES: [&'static str; 2] = [$tiles, $listed];
            const GROUPS: Option<[&'static str; 2]> = $groups;
        })*
    };
}
instances! {
    Tf32 f32 f32: "two_four_tf32_f32" "listed_tf32_f32" None;
    F16 f32 f32: "two_four_f16_f32" "listed_f16_f32" Some(["two_four_group1_f16_f32", "two_four_group2_f16_f32"]);
    F16 f32 F16: "two_four_f16_f16" "listed_f16_f16" Some(["two_four_group1_f16_f16", "two_four_group2_f16_f16"]);
    F16 f16 F16: "two_four_f16_sum" "listed_f16_sum" Some(["two_four_group1_f16_sum", "two_four_group2_f16_sum"]);
    Bf16 f32 f32: "two_four_bf16_f32" "listed_bf16_f32" Some(["two_four_group1_bf16_f32", "two_four_group2_bf16_f32"]);
    Bf16 f32 Bf16: "two_four_bf16_bf16" "listed_bf16_bf16" Some(["two_four_group1_bf16_bf16", "two_four_group2_bf16_bf16"]);
}

fn run<I, A, O>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + TwoFourInstance<A, O>,
    A: Unit,
    O: Output<A> + Word,
{
    // Exact in the accumulator's type, as the request checks, and so in f32.
    let factors =
        if let Task::Spmm { alpha, beta, .. } = task { (alpha as f32, beta as f32) } else { (1.0, 0.0) };
    let request = request::spmm::<I, A, O>(task, FormatKind::TwoFour)?;
    let n = request.c.cols;
    product(
        gpu,
        request,
        |gpu, a, transpose| match a {
            Sparse::TwoFour(m) => prepare::<I, A, O>(gpu, m, transpose, n),
            _ => Err(wrong_format("A", FormatKind::TwoFour, a.kind())),
        },
        |gpu, prepared: &Prepared<I, RegisterTiles<A>>, bc, _| prepared.launch(gpu, I::NAMES[1], bc, factors),
    )
}

/// A 2:4 matrix in the order of registers, on the device; its products are summed in `A`.
#[derive(Debug)]
struct RegisterTiles<A> {
    rows: usize,
    k: usize,
    stages: usize,
    a: GpuBuffer<u32>,
    /// For `two_four_group.cu`.
    grouped: bool,
    sums: PhantomData<A>,
}

/// `struct TwoFour` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct TwoFourArg {
    a: u64,
    b: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    stages: i32,
    rows: i32,
    k: i32,
    n: i32,
    alpha: f32,
    beta: f32,
}

layout! { TwoFour
    TwoFourArg as "TwoFour", 64: {
        a: 0, b: 8, c: 16, ldb: 24, ldc: 32, stages: 40, rows: 44, k: 48, n: 52, alpha: 56, beta: 60,
    }
}

fn prepare<I: TwoFourInstance<A, O>, A, O>(
    gpu: &Gpu,
    m: &TwoFour<I>,
    transpose: bool,
    n: usize,
) -> Result<Prepared<I, RegisterTiles<A>>, Refusal> {
    let fits = [m.rows, m.cols, n].into_iter().all(|x| extent("", x).is_ok());
    if transpose || !fits {
        return Prepared::listed(gpu, &fragments::lists(m, transpose)?);
    }
    let grouped = I::GROUPS.is_some() && gpu.architecture() == Some(Architecture::Sm90);
    let order = if grouped { MetadataOrder::Rows } else { MetadataOrder::Lane };
    let fragments = fragments::fragments(m, order)?;
    Ok(Prepared::Tiles(Box::new(RegisterTiles {
        rows: m.rows,
        k: m.cols,
        stages: fragments.stages,
        a: gpu.upload(&fragments.words)?,
        grouped,
        sums: PhantomData,
    })))
}

impl<A> RegisterTiles<A> {
    /// Groups of a block: two where that leaves work for all multiprocessors; and the blocks, of which as many as run at once take tiles in
    /// turn.
    fn grid_of_groups(&self, cols: usize, multiprocessors: usize) -> Result<(usize, Grid), Refusal> {
        let blocks = |groups: usize| self.rows.div_ceil(groups * TILE) * cols.div_ceil(TILE);
        let groups = if blocks(2) >= multiprocessors { 2 } else { 1 };
        let (ring, at_once) = GROUP_RINGS[groups - 1];
        let shared = ring * (groups * fragments::STAGE * 4 + GROUP_B_STAGE);
        let blocks = blocks(groups).min(multiprocessors * at_once);
        let grid = Grid::new("tiles of C", blocks as u128, (groups * TILE) as u32, shared as u32)?;
        Ok((groups, grid))
    }
}

impl<I: TwoFourInstance<A, O>, A, O: Word> Tiled<I, O> for RegisterTiles<A> {
    fn launch(
        &self,
        gpu: &Gpu,
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        fits((self.rows, self.k), b, c)?;
        let n = extent("columns of C", c.cols)?;
        let (source, symbol, grid) = match I::GROUPS.filter(|_| self.grouped) {
            Some(symbols) => {
                let (groups, grid) = self.grid_of_groups(c.cols, gpu.multiprocessors()?)?;
                (Source::TwoFourGroup, symbols[groups - 1], grid)
            }
            None => {
                let blocks = self.rows.div_ceil(TILE) as u128 * c.cols.div_ceil(TILE) as u128;
                // A row of B in shared memory, with the 8 elements that keep rows of 32-bit elements in different banks.
                let row = match size_of::<I::Bits>() {
                    2 => TILE * 2,
                    _ => (TILE + 8) * 4,
                };
                let shared = RING * (fragments::STAGE * 4 + fragments::STEPS * 2 * I::K * row);
                let grid = Grid::new("tiles of C", blocks, TILE as u32, shared as u32)?;
                (Source::TwoFour, I::NAMES[0], grid)
            }
        };
        let (ldb, ldc) = (b.ld as u64, c.ld as u64);
        let arguments = TwoFourArg {
            a: self.a.address(),
            b: b.data.address(),
            c: c.data.address(),
            ldb,
            ldc,
            stages: self.stages as i32,
            rows: self.rows as i32,
            k: self.k as i32,
            n,
            alpha,
            beta,
        };
        // SAFETY: `TwoFourArg` is the one parameter of every kernel of two_four.cu and two_four_group.cu, and `TwoFourInstance` ties the
        // symbol to the types. a has STAGE words for each of `stages` stages of each block of TILE rows (`fragments`), in the order that
        // the kernel wants (`prepare`). `fits` compared B and C with rows,
        // k and n, and both have their elements (`DeviceDense::new`); rows of B start at multiples of 16 bytes (`Prepared::launch`)
        // and are read below k and n, C is written for i < rows and j < n. Shared memory is RING stages (`GROUP_RINGS`: as the kernel has
        // them) of A, its metadata and STEPS * 2 K rows of B, asked for by `GpuCall::launch`. `prepare` and `extent` keep all extents below 2^30.
        unsafe { GpuCall::new(source, symbol, grid).arg(&arguments).launch(gpu) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::model::tensor_core::TensorCore;

    /// Both kernels declare one arithmetic, which must not depend on the shape that chooses between them.
    #[test]
    fn a_group_of_warps_has_the_sums_of_one_warp() {
        for (input, acc) in [
            (Precision::F16, Precision::F32),
            (Precision::F16, Precision::F16),
            (Precision::Bf16, Precision::F32),
        ] {
            let model = |shape, engine| {
                let instruction = Instruction::mma(shape, acc, input).engine(engine);
                let core = TensorCore::new(Architecture::Sm90, instruction).expect("modelled");
                (core.datapath(), core.products())
            };
            let [warp, group] = [
                model((16, 8, 32), arithmetic::Engine::MmaSparse),
                model((64, 128, 32), arithmetic::Engine::WgmmaSparse),
            ];
            assert_eq!(warp, group, "{input:?} {acc:?}");
        }
    }
}
