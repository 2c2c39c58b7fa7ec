//! Libra SpMM: dense vectors of each window as tiles on tensor cores, the rest of its rows on FP32 cores, one launch.
//!
//! ```text
//! blocks of 4, 8 or 16 columns -> tiles of 8, one instruction each     rows of the rest stay CSR
//! short window: one warp forms both sums of its rows      long: pieces into a workspace, added in order by a second pass
//! ```
//!
//! Declared arithmetic: the tensor part is a chain of `mma`, in segments of 16 tiles (Ts) whose sums are added in ascending
//! order, four at a time, then those sums; the rest is fused chains of 32 entries (Cs), added in one pass; tensor part + rest is the sum, one addition. tf32 operands
//! of tensor cores are rounded as `rna`, those of FP32 cores are used as stored. Transposed, no tiles lie along the rows of A: everything
//! goes to FP32 cores.
//!
//! Source: Libra, sections 4.2 to 4.4. Different from it: a warp computes both parts of its rows, in one launch, where section 4.4.1 has two
//! kernels, on two streams or one after the other by their occupancy; blocks of all widths are multiplied as tiles of 8 columns by m16n8k8,
//! for which the host repacks the tensor part; there are no short
//! tiles (`Short_len`); and sums of pieces are added in a fixed order, where the paper adds them atomically.

use super::gpu::Gpu;
use super::operand::product;
use super::tiles::declared::{self, segments, turned};
use super::tiles::plan::{FormatTiles, Limits, MOST, NONE, WINDOW, Window};
use super::tiles::{PreparedTiles, TileArrays, TileElement};
use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::convert::LibraSpmmToCsr;
use crate::portable::request::{self, wrong_format};
use sparse_types::arithmetic::{Along, Combine};
use sparse_types::format::{FormatKind, LibraSpmmParts, PAD, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{F16, Tf32};

/// Ts and Cs as published; a lane group walks through two pieces before a window counts as long.
const LIMITS: Limits = Limits { tiles: MOST, piece: 32, rest: 64 };

/// Columns of a tile.
const SLOTS: usize = 8;

/// The rows of the table.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<Tf32>(target, entry!(run::<Tf32>)));
    table.push(row::<F16>(target, entry!(run::<F16>)));
}

fn row<I: TileElement>(target: GpuTarget, run: EntryPoint) -> GpuKernel {
    let along = (segments(LIMITS), Along::TwoPass { blocks: LIMITS.piece });
    declared::row::<I>(target, FormatKind::LibraSpmm, along, Combine::Ordered, run)
}

fn run<I: TileElement>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    let request = request::spmm::<I, f32, f32>(task, FormatKind::LibraSpmm)?;
    product(
        gpu,
        request,
        |gpu, a, transpose| match a {
            Sparse::LibraSpmm(_) if transpose => turned::<LibraSpmmToCsr, I>(gpu, a, I::LIBRA, LIMITS),
            Sparse::LibraSpmm(matrix) => prepare(gpu, matrix, LIMITS),
            _ => Err(wrong_format("A", FormatKind::LibraSpmm, a.kind())),
        },
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// Uploads a matrix.
pub(crate) fn prepare<I: TileElement>(
    gpu: &Gpu,
    matrix: &LibraSpmmParts<I>,
    limits: Limits,
) -> Result<PreparedTiles<I>, Refusal> {
    let tiles = TensorSlots::of(matrix);
    let arrays = TileArrays {
        rows: matrix.rows,
        cols: matrix.cols,
        tiles: FormatTiles { bitmap: &tiles.bitmap, value_ptr: &tiles.value_ptr, col: &tiles.col },
        values: &tiles.values,
        rest_col: &matrix.col_idx,
        rest_values: &matrix.rest_values,
    };
    let rows = matrix.rows;
    let windows = tiles.window_ptr.windows(2).enumerate().map(|(window, ends)| {
        let row = |r: usize| Some(WINDOW * window + r).filter(|&row| row < rows);
        Window {
            rows: std::array::from_fn(|r| row(r).map_or(NONE, |row| row as u32)),
            tiles: ends[0]..ends[1],
            rest: std::array::from_fn(|r| {
                row(r).map_or(0..0, |row| matrix.row_ptr[row]..matrix.row_ptr[row + 1])
            }),
        }
    });
    PreparedTiles::new(gpu, I::LIBRA, &arrays, windows, limits)
}

/// The tensor part in tiles of 8 x 8, whatever the width of its blocks: column number `c` of a window is slot `c % 8` of its
/// tile `c / 8`. Values within a tile are in the order of its bits, which differs from that of wider and narrower blocks.
#[derive(Debug)]
struct TensorSlots<T> {
    window_ptr: Vec<u32>,
    bitmap: Vec<u64>,
    value_ptr: Vec<u32>,
    col: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> TensorSlots<T> {
    fn of(matrix: &LibraSpmmParts<T>) -> TensorSlots<T> {
        let mut tiles = TensorSlots {
            window_ptr: vec![0],
            bitmap: Vec::new(),
            value_ptr: Vec::new(),
            col: Vec::new(),
            values: Vec::with_capacity(matrix.values.len()),
        };
        for ends in matrix.window_block_ptr.windows(2) {
            let slots = matrix.kb * ends[0] as usize..matrix.kb * ends[1] as usize;
            let columns = &matrix.block_col[slots.clone()];
            let used = columns.iter().position(|&col| col == PAD).unwrap_or(columns.len());
            for first in (0..used).step_by(SLOTS) {
                tiles.push(matrix, slots.start + first, used - first);
            }
            tiles.window_ptr.push(tiles.bitmap.len() as u32);
        }
        tiles
    }

    /// Appends the tile whose columns are `block_col[first..]`, `used` of them at most.
    fn push(&mut self, matrix: &LibraSpmmParts<T>, first: usize, used: usize) {
        self.value_ptr.push(self.values.len() as u32);
        let breadth = used.min(SLOTS);
        let mut bits = 0;
        for (r, c) in (0..WINDOW).flat_map(|r| (0..breadth).map(move |c| (r, c))) {
            let (block, slot) = ((first + c) / matrix.kb, (first + c) % matrix.kb);
            if let Some(value) = stored(matrix, block, r, slot) {
                bits |= 1 << (SLOTS * r + c);
                self.values.push(value);
            }
        }
        self.bitmap.push(bits);
        self.col.extend(&matrix.block_col[first..first + breadth]);
        self.col.resize(SLOTS * self.bitmap.len(), PAD);
    }
}

/// The value in row `r` and column `slot` of a block, if it is stored.
fn stored<T: Copy>(matrix: &LibraSpmmParts<T>, block: usize, r: usize, slot: usize) -> Option<T> {
    let words = (WINDOW * matrix.kb).div_ceil(64);
    let bitmap = &matrix.bitmap[block * words..(block + 1) * words];
    let bit = matrix.kb * r + slot;
    let (word, place) = (bit / 64, bit % 64);
    if bitmap[word] >> place & 1 == 0 {
        return None;
    }
    let below = bitmap[..word].iter().map(|w| w.count_ones()).sum::<u32>()
        + (bitmap[word] & ((1 << place) - 1)).count_ones();
    Some(matrix.values[(matrix.block_value_ptr[block] + below) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns 0, 2, .. of a window of 8 rows, entry (r, c) stored where `r * c % 3 != 1`, in blocks of `kb`.
    fn blocks(kb: usize, columns: usize) -> LibraSpmmParts<u32> {
        let mut m = LibraSpmmParts {
            rows: 8,
            cols: 2 * columns,
            kb,
            block_value_ptr: vec![0],
            row_ptr: vec![0; 9],
            ..LibraSpmmParts::default()
        };
        for first in (0..columns).step_by(kb) {
            let mut words = vec![0u64; (8 * kb).div_ceil(64)];
            for (r, c) in (0..8).flat_map(|r| (0..kb).map(move |c| (r, c))) {
                if first + c < columns && r * (first + c) % 3 != 1 {
                    words[(kb * r + c) / 64] |= 1 << ((kb * r + c) % 64);
                    m.values.push((100 * r + first + c) as u32);
                }
            }
            m.bitmap.extend(words);
            m.block_value_ptr.push(m.values.len() as u32);
            m.block_col.extend((first..first + kb).map(|c| if c < columns { 2 * c as u32 } else { PAD }));
        }
        m.window_block_ptr = vec![0, columns.div_ceil(kb) as u32];
        m
    }

    #[test]
    fn tiles_do_not_depend_on_the_width_of_blocks() {
        for columns in 1..40 {
            let eight = TensorSlots::of(&blocks(8, columns));
            let plain = blocks(8, columns);
            assert_eq!(
                (&eight.bitmap, &eight.col, &eight.values),
                (&plain.bitmap, &plain.block_col, &plain.values)
            );
            for kb in [4, 16] {
                let other = TensorSlots::of(&blocks(kb, columns));
                assert_eq!(other.window_ptr, eight.window_ptr, "{kb} {columns}");
                assert_eq!(
                    (&other.bitmap, &other.value_ptr),
                    (&eight.bitmap, &eight.value_ptr),
                    "{kb} {columns}"
                );
                assert_eq!((&other.col, &other.values), (&eight.col, &eight.values), "{kb} {columns}");
            }
        }
    }
}
