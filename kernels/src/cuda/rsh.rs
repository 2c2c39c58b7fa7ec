//! RSH-SpMM on RS-Tile: windows of tiles on tensor cores, residual rows on FP32 cores, one launch.
//!
//! ```text
//! window_row, window_block_ptr -> windows of 8 rows with their tiles
//! rows in no window            -> eight at a time: residual rows with their entries, empty rows with none
//! ```
//!
//! Declared arithmetic: rows of windows are a chain of `mma` over their tiles, in segments of 16 tiles whose sums are added
//! in ascending order, four at a time; then those sums. Residual rows are one fused chain, and no row is in both. tf32 operands of
//! tensor cores are rounded as `rna`, those of FP32 cores are used as stored. Transposed, no tiles lie along the rows of A: everything goes to FP32 cores.
//!
//! Source: RSH-SpMM, sections 3.2 and 3.3. Different from it: one launch for both kinds of rows, where the paper has two kernels; rows
//! of B go to shared memory by `cp.async`, two tiles ahead, where Algorithm 2 loads them into registers, one ahead; every window is cut after
//! 16 tiles, where section 3.3.3 cuts "super-long" ones only, by the size and sparsity of the matrix; sums of segments are added in a fixed
//! order, where the paper adds them atomically; and rows are not reordered (section 3.4).

use super::gpu::Gpu;
use super::operand::product;
use super::tiles::declared::{self, segments, turned};
use super::tiles::plan::{FormatTiles, Limits, MOST, NONE, WINDOW, Window};
use super::tiles::{PreparedTiles, TileArrays, TileElement};
use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::convert::RsTileToCsr;
use crate::portable::request::{self, wrong_format};
use sparse_types::arithmetic::{Along, Combine};
use sparse_types::format::{FormatKind, PAD, RsTileParts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{F16, Tf32};

/// Tiles of a segment; section 3.3.3 gives no number. A residual row is one chain.
const LIMITS: Limits = Limits { tiles: MOST, piece: u32::MAX, rest: u32::MAX };

/// The rows of the table.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<Tf32>(target, entry!(run::<Tf32>)));
    table.push(row::<F16>(target, entry!(run::<F16>)));
}

fn row<I: TileElement>(target: GpuTarget, run: EntryPoint) -> GpuKernel {
    declared::row::<I>(target, FormatKind::RsTile, (segments(LIMITS), Along::Chain), Combine::Disjoint, run)
}

fn run<I: TileElement>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    let request = request::spmm::<I, f32, f32>(task, FormatKind::RsTile)?;
    product(
        gpu,
        request,
        |gpu, a, transpose| match a {
            Sparse::RsTile(_) if transpose => turned::<RsTileToCsr, I>(gpu, a, I::RSH, LIMITS),
            Sparse::RsTile(matrix) => prepare(gpu, matrix),
            _ => Err(wrong_format("A", FormatKind::RsTile, a.kind())),
        },
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// Uploads a matrix. Its arrays are used as the format has them; beside them goes the plan of the work (items, row slots, cut rows).
pub(crate) fn prepare<I: TileElement>(
    gpu: &Gpu,
    matrix: &RsTileParts<I>,
) -> Result<PreparedTiles<I>, Refusal> {
    let arrays = TileArrays {
        rows: matrix.rows,
        cols: matrix.cols,
        tiles: FormatTiles {
            bitmap: &matrix.bitmap,
            value_ptr: &matrix.block_value_ptr,
            col: &matrix.block_col,
        },
        values: &matrix.values,
        rest_col: &matrix.residual_col,
        rest_values: &matrix.residual_values,
    };
    PreparedTiles::new(gpu, I::RSH, &arrays, windows(matrix), LIMITS)
}

/// The windows of the format, then the rows outside of them.
fn windows<T>(matrix: &RsTileParts<T>) -> impl Iterator<Item = Window> {
    let rows = matrix.rows as u32;
    let first_and_tiles = matrix.window_row.iter().zip(matrix.window_block_ptr.windows(2));
    let tiled = first_and_tiles.map(move |(&first, ends)| Window {
        rows: std::array::from_fn(|r| first.checked_add(r as u32).filter(|&row| row < rows).unwrap_or(NONE)),
        tiles: ends[0]..ends[1],
        rest: std::array::from_fn(|_| 0..0),
    });
    let loose = loose_rows(matrix);
    let loose = (0..loose.len()).step_by(WINDOW).map(move |at| {
        let of = |r: usize| loose.get(at + r);
        Window {
            rows: std::array::from_fn(|r| of(r).map_or(NONE, |row| row.0)),
            tiles: 0..0,
            rest: std::array::from_fn(|r| of(r).map_or(0..0, |row| row.1..row.2)),
        }
    });
    tiled.chain(loose)
}

/// Rows in no window, ascending, with their entries in the residual part: its first and the one past its last.
fn loose_rows<T>(matrix: &RsTileParts<T>) -> Vec<(u32, u32, u32)> {
    let width = matrix.residual_width;
    let (mut loose, mut residual, mut row) = (Vec::new(), 0, 0u64);
    let ends = matrix.window_row.iter().map(|&first| u64::from(first));
    for next in ends.chain([matrix.rows as u64]) {
        for row in row..next {
            let mut entries = (0, 0);
            if matrix.residual_row.get(residual).is_some_and(|&r| u64::from(r) == row) {
                let slots = &matrix.residual_col[residual * width..(residual + 1) * width];
                let used = slots.iter().take_while(|&&col| col != PAD).count();
                entries = ((residual * width) as u32, (residual * width + used) as u32);
                residual += 1;
            }
            loose.push((row as u32, entries.0, entries.1));
        }
        row = next + WINDOW as u64;
    }
    loose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_window_and_residual_rows_bring_their_entries() {
        // Windows at rows 3 and 12, the second one past the end; rows 0, 2 and 11 in the residual part.
        let matrix = RsTileParts::<f32> {
            rows: 17,
            cols: 9,
            window_row: vec![3, 12],
            window_block_ptr: vec![0, 2, 3],
            residual_row: vec![0, 2, 11],
            residual_width: 2,
            residual_col: vec![4, 5, 7, PAD, PAD, PAD],
            ..RsTileParts::default()
        };
        assert_eq!(loose_rows(&matrix), [(0, 0, 2), (1, 0, 0), (2, 2, 3), (11, 4, 4)]);
        let windows: Vec<Window> = windows(&matrix).collect();
        assert_eq!(windows.iter().map(|w| w.tiles.clone()).collect::<Vec<_>>(), [0..2, 2..3, 0..0]);
        let mut rows: Vec<u32> = windows.iter().flat_map(|w| w.rows).filter(|&row| row != NONE).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..17).collect::<Vec<u32>>());
    }
}
