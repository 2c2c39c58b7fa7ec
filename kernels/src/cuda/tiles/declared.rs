//! The arithmetic that the kernels on tiles declare, their rows in the registry, and how they take a transposed matrix.

use super::plan::{FormatTiles, Limits, NONE, WARPS, WINDOW, Window};
use super::{PreparedTiles, Symbols, TileArrays, TileElement};
use crate::cuda::gpu::Gpu;
use crate::cuda::{EntryPoint, GpuKernel, GpuTarget};
use crate::portable::element::contract;
use crate::portable::moves::{Arrays as Lanes, Move, turn};
use crate::portable::request::wrong_format;
use sparse_types::Precision;
use sparse_types::arithmetic::{Along, Architecture, Arithmetic, Combine, Input, Instruction, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// The target's architecture, if the instruction adds all of its eight or sixteen products in one fused sum there. Only
/// then can it be declared: the kernels hand the products over in the order that suits their loads, which must not change the bits.
/// `mma.m16n8k8` on f16 adds them in one sum from Ampere on; on tf32, and `mma.m16n8k16`, from Hopper on.
pub(crate) fn fused_architecture(target: GpuTarget, instruction: Instruction) -> Option<Architecture> {
    use Architecture::{Sm80, Sm86, Sm89, Sm90, Sm100};
    let fused: &[Architecture] = match (instruction.input, instruction.k) {
        (Precision::F16, 8) => &[Sm80, Sm86, Sm89, Sm90, Sm100],
        _ => &[Sm90, Sm100],
    };
    target.architecture.filter(|found| fused.contains(found))
}

/// Chains of `mma.m16n8k8` over tiles and fused chains over the rest, which takes its operands as stored; both composed along k as given.
fn hybrid(
    target: GpuTarget,
    (operands, input): (Precision, Input),
    (tiles, rest): (Along, Along),
    combine: Combine,
) -> Arithmetic {
    let instruction = Instruction::mma((16, 8, 8), Precision::F32, operands);
    let chain = |reduction| Arithmetic::chain(reduction, Precision::F32, Precision::F32).multiplies_pads();
    let of_tiles =
        chain(Reduction::Mma { architecture: fused_architecture(target, instruction), instruction })
            .input(input);
    let of_rest = chain(Reduction::FmaChain).along(rest);
    Arithmetic::hybrid(of_tiles.along(tiles), *of_rest.part(), combine)
}

/// How the sums of chains of tiles become one: those of a team in shared memory, then those of the teams.
pub(crate) const fn segments(limits: Limits) -> Along {
    Along::ThreePass { blocks: limits.tiles, segments: WARPS as u32 }
}

/// The row of the table of a method whose tiles and rest are composed along k as given.
pub(crate) fn row<I: TileElement>(
    target: GpuTarget,
    format: FormatKind,
    along: (Along, Along),
    combine: Combine,
    run: EntryPoint,
) -> GpuKernel {
    let contract = contract::<I, f32, f32>(Op::Spmm, format);
    let arithmetic = hybrid(target, (I::PRECISION, I::INPUT), along, combine);
    target.row(contract, None, arithmetic, run)
}

/// The transpose of a matrix in the format of `M`, as rows without tiles.
pub(crate) fn turned<M: Move, I: TileElement>(
    gpu: &Gpu,
    a: &Sparse<I>,
    symbols: Symbols,
    limits: Limits,
) -> Result<PreparedTiles<I>, Refusal> {
    let Answer::Sparse(csr) = M::perform(a, FormatParams::DEFAULT)? else {
        return Err(wrong_format("A", FormatKind::Csr, M::FROM));
    };
    let values =
        I::unwrap_slice(csr.values.as_slice()).ok_or_else(|| wrong_format("A", FormatKind::Csr, M::FROM))?;
    let (row_ptr, col_idx, values): Lanes<I> = turn("row_ptr", csr.cols, &csr.offsets, &csr.indices, values)?;
    let arrays = TileArrays {
        rows: csr.cols,
        cols: csr.rows,
        tiles: FormatTiles { bitmap: &[], value_ptr: &[], col: &[] },
        values: &[],
        rest_col: &col_idx,
        rest_values: &values,
    };
    let windows = (0..csr.cols).step_by(WINDOW).map(|first| {
        let row = |r: usize| Some(first + r).filter(|&row| row < csr.cols);
        Window {
            rows: std::array::from_fn(|r| row(r).map_or(NONE, |row| row as u32)),
            tiles: 0..0,
            rest: std::array::from_fn(|r| row(r).map_or(0..0, |row| row_ptr[row]..row_ptr[row + 1])),
        }
    });
    PreparedTiles::new(gpu, symbols, &arrays, windows, limits)
}
