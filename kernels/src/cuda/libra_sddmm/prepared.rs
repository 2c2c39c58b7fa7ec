//! A pattern on the device, and the launch of `libra_sddmm.cu`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use crate::cuda::buffer::GpuBuffer;
use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{GpuCall, Grid};
use crate::cuda::layout::layout;
use crate::cuda::operand::{DeviceDense, Word};
use crate::cuda::source::Source;
use crate::portable::element::Operand;
use crate::portable::request::same;
use sparse_types::format::LibraSddmmParts;
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::SddmmMode;
use sparse_types::{F16, Tf32};

/// The kernels of the source.
pub(in crate::cuda) const SYMBOLS: &[&str] = &[
    "libra_sddmm_tf32_1",
    "libra_sddmm_tf32_2",
    "libra_sddmm_tf32_4",
    "libra_sddmm_tf32_8",
    "libra_sddmm_tf32",
    "libra_sddmm_tf32_any",
    "libra_sddmm_f16_1",
    "libra_sddmm_f16_2",
    "libra_sddmm_f16_4",
    "libra_sddmm_f16_8",
    "libra_sddmm_f16",
    "libra_sddmm_f16_any",
    "sddmm_without_product",
];

/// Threads of a block, as in the launch bounds of the source.
const BLOCK: usize = 128;

/// Warps of a block.
const WARPS: usize = 4;

/// Columns of a block of S.
const BLOCK_COLS: usize = 16;

/// Words of `struct Segment` of the source.
const SEGMENT: usize = 8 + BLOCK_COLS;
const _: () = assert!(SEGMENT * size_of::<u32>() == 96);

/// Most blocks of one segment, the paper's Ts.
const TS: usize = 16;

/// Segments aimed at, enough to fill a GPU: blocks are shared out among as many, within [`TS`].
const SEGMENTS: usize = 16_384;

/// An element type that the kernels take.
pub(super) trait SddmmElement: Word + Operand<f32> {
    /// Rows aligned to 16 bytes, and any.
    const NAMES: [&'static str; 2];
    /// Rows aligned to 16 bytes, of so many steps of 64 bytes, which lanes keep; blocks only.
    const HELD: [(usize, &'static str); 4];
    /// Elements in 16 bytes.
    const VECTOR: usize;
    /// Products of one instruction.
    const PRODUCTS: u16;
}

impl SddmmElement for Tf32 {
    const NAMES: [&'static str; 2] = ["libra_sddmm_tf32", "libra_sddmm_tf32_any"];
    const HELD: [(usize, &'static str); 4] = [
        (1, "libra_sddmm_tf32_1"),
        (2, "libra_sddmm_tf32_2"),
        (4, "libra_sddmm_tf32_4"),
        (8, "libra_sddmm_tf32_8"),
    ];
    const VECTOR: usize = 4;
    const PRODUCTS: u16 = 8;
}

impl SddmmElement for F16 {
    const NAMES: [&'static str; 2] = ["libra_sddmm_f16", "libra_sddmm_f16_any"];
    const HELD: [(usize, &'static str); 4] = [
        (1, "libra_sddmm_f16_1"),
        (2, "libra_sddmm_f16_2"),
        (4, "libra_sddmm_f16_4"),
        (8, "libra_sddmm_f16_8"),
    ];
    const VECTOR: usize = 8;
    const PRODUCTS: u16 = 16;
}

/// The kernel for rows of `k` elements, in a pattern of blocks only or with single entries.
fn symbol<I: SddmmElement>(aligned: bool, only_blocks: bool, k: usize) -> &'static str {
    let steps = I::HELD.iter().find(|(steps, _)| aligned && only_blocks && k == 4 * I::VECTOR * steps);
    steps.map_or(I::NAMES[usize::from(!aligned)], |&(_, name)| name)
}

/// A pattern on the device.
#[derive(Debug)]
pub(crate) struct PreparedPattern {
    rows: usize,
    cols: usize,
    /// Entries of both parts.
    nnz: usize,
    segments: GpuBuffer<u32>,
    segment_count: usize,
    bitmap: GpuBuffer<u64>,
    value_ptr: GpuBuffer<u32>,
    block_col: GpuBuffer<u32>,
    values: GpuBuffer<f32>,
    position: GpuBuffer<u32>,
    value_count: usize,
    rest_row: GpuBuffer<u32>,
    rest_col: GpuBuffer<u32>,
    rest_values: GpuBuffer<f32>,
    rest_position: GpuBuffer<u32>,
    rest_count: usize,
}

/// `struct Pattern` of the source.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PatternArg {
    segments: u64,
    bitmap: u64,
    value_ptr: u64,
    block_col: u64,
    values: u64,
    position: u64,
    rest_row: u64,
    rest_col: u64,
    rest_values: u64,
    rest_position: u64,
    rows: u32,
    segment_count: u32,
    rest_count: u32,
}

/// `struct Operands` of the source.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct OperandsArg {
    x: u64,
    ldx: u64,
    y: u64,
    ldy: u64,
    out: u64,
    k: u32,
    mode: u32,
    alpha: f32,
    beta: f32,
}

layout! { LibraSddmm
    PatternArg as "Pattern", 96: {
        segments: 0, bitmap: 8, value_ptr: 16, block_col: 24, values: 32, position: 40, rest_row: 48,
        rest_col: 56, rest_values: 64, rest_position: 72, rows: 80, segment_count: 84, rest_count: 88,
    }
    OperandsArg as "Operands", 56: {
        x: 0, ldx: 8, y: 16, ldy: 24, out: 32, k: 40, mode: 44, alpha: 48, beta: 52,
    }
}

impl PreparedPattern {
    /// Uploads a distributed pattern whose indices are right, and cuts its blocks into segments.
    pub(crate) fn new(gpu: &Gpu, s: &LibraSddmmParts<f32>) -> Result<PreparedPattern, Refusal> {
        let segments = segments(s);
        let rest_row: Vec<u32> = s
            .row_ptr
            .windows(2)
            .enumerate()
            .flat_map(|(row, ends)| (ends[0]..ends[1]).map(move |_| row as u32))
            .collect();
        Ok(PreparedPattern {
            rows: s.rows,
            cols: s.cols,
            nnz: s.values.len() + s.rest_values.len(),
            segment_count: segments.len() / SEGMENT,
            segments: gpu.upload(&segments)?,
            bitmap: gpu.upload(&s.bitmap)?,
            value_ptr: gpu.upload(&s.block_value_ptr)?,
            block_col: gpu.upload(&s.block_col)?,
            values: gpu.upload(&s.values)?,
            position: gpu.upload(&s.position)?,
            value_count: s.values.len(),
            rest_row: gpu.upload(&rest_row)?,
            rest_col: gpu.upload(&s.col_idx)?,
            rest_values: gpu.upload(&s.rest_values)?,
            rest_position: gpu.upload(&s.rest_position)?,
            rest_count: s.rest_values.len(),
        })
    }

    /// Queues the product at every stored position; `out` has an element for each.
    pub(crate) fn launch<I: SddmmElement>(
        &self,
        gpu: &Gpu,
        (x, y): (&DeviceDense<I>, &DeviceDense<I>),
        out: &mut GpuBuffer<f32>,
        mode: SddmmMode,
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        same(("rows of S", self.rows), ("rows of X", x.rows))?;
        same(("columns of S", self.cols), ("rows of Y", y.rows))?;
        same(("columns of X", x.cols), ("columns of Y", y.cols))?;
        if out.len() < self.nnz {
            return Err(RequestError::Length { field: "out", expected: self.nnz, found: out.len() }.into());
        }
        let mode = match mode {
            SddmmMode::Pattern => 0,
            SddmmMode::Scale => 1,
            SddmmMode::AddS => 2,
        };
        if alpha == 0.0 {
            self.without_product(gpu, (&self.values, &self.position, self.value_count), mode, beta, out)?;
            let rest = (&self.rest_values, &self.rest_position, self.rest_count);
            return self.without_product(gpu, rest, mode, beta, out);
        }
        let at = GpuBuffer::<u32>::address;
        let pattern = PatternArg {
            segments: at(&self.segments),
            bitmap: self.bitmap.address(),
            value_ptr: at(&self.value_ptr),
            block_col: at(&self.block_col),
            values: self.values.address(),
            position: at(&self.position),
            rest_row: at(&self.rest_row),
            rest_col: at(&self.rest_col),
            rest_values: self.rest_values.address(),
            rest_position: at(&self.rest_position),
            rows: self.rows as u32,
            segment_count: self.segment_count as u32,
            rest_count: self.rest_count as u32,
        };
        let operands = OperandsArg {
            x: x.data.address(),
            ldx: x.ld as u64,
            y: y.data.address(),
            ldy: y.ld as u64,
            out: out.address(),
            k: x.cols as u32,
            mode,
            alpha,
            beta,
        };
        let segment_blocks = self.segment_count.div_ceil(WARPS);
        let blocks = segment_blocks + self.rest_count.div_ceil(BLOCK);
        if blocks == 0 {
            return Ok(());
        }
        let aligned = x.ld % I::VECTOR == 0 && y.ld % I::VECTOR == 0;
        let symbol = symbol::<I>(aligned, self.rest_count == 0, x.cols);
        let call = GpuCall::new(Source::LibraSddmm, symbol, grid(blocks))
            .arg(&pattern)
            .arg(&operands)
            .arg(&(segment_blocks as u32));
        // SAFETY: three arguments of the types and in the order of KERNEL in libra_sddmm.cu (`SddmmElement` ties the symbol to
        // the element). The arrays live in `self`, X, Y and `out` with the caller until the stream has run. Indices are those
        // of the encoder: rows below X's, columns below Y's, positions a permutation of 0..nnz, which `out` holds. Rows of
        // X and Y are read up to k, or to the end of the 16 bytes that hold element k - 1, which `ld` is a multiple of;
        // kernels for rows of one length get rows of that length.
        unsafe { call.launch(gpu) }
    }

    fn without_product(
        &self,
        gpu: &Gpu,
        (values, position, count): (&GpuBuffer<f32>, &GpuBuffer<u32>, usize),
        mode: u32,
        beta: f32,
        out: &mut GpuBuffer<f32>,
    ) -> Result<(), Refusal> {
        if count == 0 {
            return Ok(());
        }
        let call = GpuCall::new(Source::LibraSddmm, "sddmm_without_product", grid(count.div_ceil(BLOCK)))
            .arg(&values.address())
            .arg(&position.address())
            .arg(&(count as u32))
            .arg(&mode)
            .arg(&beta)
            .arg(&out.address());
        // SAFETY: six arguments as in the source; threads past `count`, the length of both arrays, return; positions are below
        // nnz, which `out` holds.
        unsafe { call.launch(gpu) }
    }
}

const fn grid(blocks: usize) -> Grid {
    Grid { blocks: [blocks as u32, 1], threads: BLOCK as u32, shared: 0 }
}

/// `struct Segment` of the source, one after another: first row of the window, first block, the one past the last; of the
/// first block the number of its first value, the bitmap, the columns.
fn segments(s: &LibraSddmmParts<f32>) -> Vec<u32> {
    let total = s.window_block_ptr.last().map_or(0, |&blocks| blocks as usize);
    let most = (total / SEGMENTS).clamp(1, TS);
    let mut segments = Vec::new();
    for (window, ends) in s.window_block_ptr.windows(2).enumerate() {
        for start in (ends[0]..ends[1]).step_by(most) {
            let (first, end) = (start as usize, ends[1].min(start + most as u32));
            segments.extend([8 * window as u32, start, end, s.block_value_ptr[first]]);
            let halves = s.bitmap[2 * first..][..2].iter();
            segments.extend(halves.flat_map(|&half| [half as u32, (half >> 32) as u32]));
            segments.extend(&s.block_col[BLOCK_COLS * first..][..BLOCK_COLS]);
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_rows_of_a_few_lengths_only() {
        assert_eq!(symbol::<Tf32>(true, true, 32), "libra_sddmm_tf32_2");
        assert_eq!(symbol::<Tf32>(true, true, 128), "libra_sddmm_tf32_8");
        assert_eq!(symbol::<F16>(true, true, 32), "libra_sddmm_f16_1");
        assert_eq!(symbol::<F16>(true, true, 128), "libra_sddmm_f16_4");
        assert_eq!(symbol::<Tf32>(true, true, 33), "libra_sddmm_tf32");
        assert_eq!(symbol::<Tf32>(true, true, 0), "libra_sddmm_tf32");
        assert_eq!(symbol::<Tf32>(true, false, 32), "libra_sddmm_tf32");
        assert_eq!(symbol::<Tf32>(false, true, 32), "libra_sddmm_tf32_any");
    }

    #[test]
    fn every_block_is_in_one_segment_of_its_window() {
        for blocks in [3, 40_000] {
            let ptr = [0, 0, blocks, blocks + 1, blocks + 30];
            let s = LibraSddmmParts::<f32> {
                window_block_ptr: ptr.to_vec(),
                block_value_ptr: (0..blocks + 30).map(|block| 3 * block).collect(),
                bitmap: (0..2 * u64::from(blocks + 30)).map(|half| half << 32 | 1).collect(),
                block_col: (0..16 * (blocks + 30)).collect(),
                ..LibraSddmmParts::default()
            };
            let segments = segments(&s);
            let covered: Vec<u32> = segments.chunks(SEGMENT).flat_map(|s| s[1]..s[2]).collect();
            assert_eq!(covered, (0..blocks + 30).collect::<Vec<u32>>());
            for s in segments.chunks(SEGMENT) {
                let window = (s[0] / 8) as usize;
                assert!(s[1] >= ptr[window] && s[2] <= ptr[window + 1] && s[2] - s[1] <= TS as u32);
                let block = s[1];
                assert_eq!(s[3..8], [3 * block, 1, 2 * block, 1, 2 * block + 1]);
                assert!(s[8..].iter().copied().eq(16 * block..16 * block + 16));
            }
        }
    }
}
