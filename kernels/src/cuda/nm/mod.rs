//! SpMM of vector-wise N:M: `kernels/cuda/nm_tile.cu` (f32), `nm_mma.cu` (tf32, f16, bf16) and their host side.
//!
//! ```text
//! transposed A (the weights of NM-SpMM), l a multiple of 8    cut -> tiles or mma -> launch
//! anything else                                              lists of terms -> listed
//! ```
//!
//! Declared arithmetic: f32 is one fused chain in ascending row of W, the others are chains of `mma` over so many successive
//! rows; all from +0, pads multiplied, `MulThenAdd` epilogue, tf32 rounded as `rna`. Both ways give the same bits.
//!
//! From NM-SpMM are blocking, the packed rows of B with a re-indexed D, and loading a slice while another is multiplied. Not from it: the
//! sizes of tiles and slices and the rule for packing (`shape`), the matrix unit, and one loop for packed and whole slices, where the paper
//! has two pipelines. Its double buffers in registers (listing 4) are left out.

mod cut;
mod lists;
mod mma;
mod shape;
mod tiles;

pub(super) use mma::{MatrixUnitElement, SYMBOLS as MMA_SYMBOLS};
pub(super) use shape::SYMBOLS as TILE_SYMBOLS;

use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::element::{Operand, Output, contract};
use crate::portable::request::wrong_format;
use crate::portable::unit::Unit;
use sparse_types::arithmetic::{Arithmetic, Input, Instruction, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Nm, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::{Bf16, F16, Precision, Tf32};

/// Every kernel for N:M.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<f32, f32, f32>(target, None, chain(), entry!(tiles::run_v3)));
    table.push(row::<f32, f32, f32>(target, Some("v1"), chain(), entry!(tiles::run_v1)));
    table.push(row::<f32, f32, f32>(target, Some("v2"), chain(), entry!(tiles::run_v2)));
    table.push(row::<Tf32, f32, f32>(
        target,
        None,
        instructions::<Tf32, f32>(target, 8),
        entry!(mma::run::<Tf32, f32>),
    ));
    table.push(row::<F16, f32, f32>(
        target,
        None,
        instructions::<F16, f32>(target, 16),
        entry!(mma::run::<F16, f32>),
    ));
    table.push(row::<F16, f32, F16>(
        target,
        None,
        instructions::<F16, F16>(target, 16),
        entry!(mma::run::<F16, F16>),
    ));
    table.push(row::<Bf16, f32, f32>(
        target,
        None,
        instructions::<Bf16, f32>(target, 16),
        entry!(mma::run::<Bf16, f32>),
    ));
    table.push(row::<Bf16, f32, Bf16>(
        target,
        None,
        instructions::<Bf16, Bf16>(target, 16),
        entry!(mma::run::<Bf16, Bf16>),
    ));
}

fn chain() -> Arithmetic {
    Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32).multiplies_pads()
}

fn instructions<I: Operand<f32>, O: Output<f32>>(target: GpuTarget, k: u16) -> Arithmetic {
    let instruction = Instruction::mma((16, 8, k), Precision::F32, I::PRECISION);
    let declared = Arithmetic::mma(target.architecture, instruction, O::PRECISION).multiplies_pads();
    match I::PRECISION {
        Precision::Tf32 => declared.input(Input::Tf32Rna),
        _ => declared,
    }
}

fn row<I: Operand<A>, A: Unit, O: Output<A>>(
    target: GpuTarget,
    tech: Option<&str>,
    arithmetic: Arithmetic,
    run: EntryPoint,
) -> GpuKernel {
    let contract = contract::<I, A, O>(Op::Spmm, FormatKind::Nm);
    target.row(contract, tech, arithmetic, run)
}

/// The matrix as N:M.
fn open<T>(a: &Sparse<T>) -> Result<&Nm<T>, Refusal> {
    match a {
        Sparse::Nm(nm) => Ok(nm),
        _ => Err(wrong_format("A", FormatKind::Nm, a.kind())),
    }
}

/// Largest extent that the tiled kernels take: the sum of two extents stays below 2^31.
const LIMIT: usize = i32::MAX as usize / 2;

/// True where the tiled kernels take the matrix: the 8 columns of a lane or an instruction are of one group, and numbers fit i32.
fn is_tiled<T>(nm: &Nm<T>, transpose: bool, n: usize) -> bool {
    let fits = |x: usize| x <= LIMIT;
    transpose
        && nm.l.is_multiple_of(8)
        && nm.cols > 0
        && [nm.rows, nm.cols, nm.l, n, nm.values.len()].into_iter().all(fits)
}

/// An extent as the i32 that the tiled kernels take.
pub(super) fn extent(field: &'static str, found: usize) -> Result<i32, Refusal> {
    if found > LIMIT {
        return Err(RequestError::TooLarge { field, found: found as u128, limit: LIMIT as u64 }.into());
    }
    Ok(found as i32)
}
