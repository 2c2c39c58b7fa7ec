//! tf32, f16 and bf16 on the matrix unit: W in the order of registers, and the launch of `nm_mma.cu`.
//!
//! ```text
//! operand B of m16n8, lane (g, t) = (lane / 4, lane % 4):  tf32 k8    registers W[t][g], W[t + 4][g]
//!                                                          16 bit k16 registers W[2t, 2t + 1][g], W[2t + 8, 2t + 9][g]
//! ```

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::cut::{Blocking, Slices, height};
use super::{extent, is_tiled, lists, open};
use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{GpuCall, Grid};
use crate::cuda::layout::layout;
use crate::cuda::listed::{Prepared, Tiled};
use crate::cuda::operand::{DeviceDense, Word, fits, product};
use crate::cuda::source::Source;
use crate::portable::element::{Operand, Output};
use crate::portable::request;
use sparse_types::format::{FormatKind, Nm, NmParts};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, F16, Tf32};

/// The kernels of the source.
pub(in super::super) const SYMBOLS: &[&str] = &[
    "nm_tf32_f32",
    "nm_tf32_f32_wide",
    "nm_f16_f32",
    "nm_f16_f32_wide",
    "nm_f16_f16",
    "nm_f16_f16_wide",
    "nm_bf16_f32",
    "nm_bf16_f32_wide",
    "nm_bf16_bf16",
    "nm_bf16_bf16_wide",
];

/// Columns of B of a block.
const TM: usize = 128;

/// Slices in shared memory.
const STAGES: usize = 2;

/// A thread block: `tn` columns of W, one thread (of tf32 two) for each; `per_sm` blocks share a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThreadBlock {
    tn: usize,
    per_sm: usize,
}

const NARROW: ThreadBlock = ThreadBlock { tn: 128, per_sm: 2 };
const WIDE: ThreadBlock = ThreadBlock { tn: 256, per_sm: 1 };

impl ThreadBlock {
    /// The blocks to try for a product, best first. Wide ones read B less often; narrow ones are more, and so keep all of a device busy
    /// with a small product.
    fn candidates(n: usize, cols: usize, multiprocessors: usize) -> [ThreadBlock; 2] {
        if n.div_ceil(TM) * cols.div_ceil(WIDE.tn) < multiprocessors {
            [NARROW, WIDE]
        } else {
            [WIDE, NARROW]
        }
    }

    /// Bytes of shared memory.
    const fn shared(self, blocking: &Blocking, cap: usize, groups: usize) -> usize {
        let element = blocking.row_bytes / TM;
        let stage = (cap + 1) * blocking.row_bytes + blocking.ws * (self.tn * element + groups * 4);
        STAGES * stage.next_multiple_of(128)
    }
}

/// An element type of the matrix unit.
pub(in super::super) trait MatrixUnitElement: Operand<f32> + Word {
    /// Rows of W that an instruction takes.
    const K: usize;
    /// Elements of one register.
    const EACH: usize = Self::K / 8;

    /// Threads for each column of W.
    const SIDES: usize;

    /// The chunk of 16 bytes that number 0 of a row of B is exchanged for in shared memory: `swizzle` of the kernel.
    fn exchange(row: u32) -> u32;

    /// A register of such elements, the first one lowest; rounded where the instruction would cut bits.
    fn register(elements: &[Self]) -> u32;
}

impl MatrixUnitElement for Tf32 {
    const K: usize = 8;
    const SIDES: usize = 2;

    fn exchange(row: u32) -> u32 {
        (row & 3) << 1 | (row >> 2 & 1)
    }

    fn register(elements: &[Tf32]) -> u32 {
        elements[0].load().to_bits()
    }
}

macro_rules! halves {
    ($($half:ident)*) => {
        $(impl MatrixUnitElement for $half {
            const K: usize = 16;
            const SIDES: usize = 1;

            fn exchange(row: u32) -> u32 {
                row & 7
            }

            fn register(elements: &[$half]) -> u32 {
                u32::from(elements[0].0) | u32::from(elements[1].0) << 16
            }
        })*
    };
}
halves! { F16 Bf16 }

/// An instantiation of the sources: operands of this type to `O`.
pub(super) trait NmInstance<O>: MatrixUnitElement {
    /// Kernels of `nm_mma.cu` for narrow and for wide blocks.
    const TILES: [&'static str; 2];
    /// Kernel of `listed.cu`.
    const LISTED: &'static str;
}

macro_rules! instances {
    ($($input:ident $out:ident: $tiles:literal $listed:literal;)*) => {
        $(impl NmInstance<$out> for $input {
            const TILES: [&'static str; 2] = [$tiles, concat!($tiles, "_wide")];
            const LISTED: &'static str = $listed;
        })*
    };
}
instances! {
    Tf32 f32: "nm_tf32_f32" "listed_tf32_f32";
    F16 f32: "nm_f16_f32" "listed_f16_f32";
    F16 F16: "nm_f16_f16" "listed_f16_f16";
    Bf16 f32: "nm_bf16_f32" "listed_bf16_f32";
    Bf16 Bf16: "nm_bf16_bf16" "listed_bf16_bf16";
}

pub(super) fn run<I: NmInstance<O>, O: Output<f32> + Word>(
    gpu: Option<&Gpu>,
    task: Task<'_>,
) -> Result<Answer, Refusal> {
    let request = request::spmm::<I, f32, O>(task, FormatKind::Nm)?;
    let n = request.c.cols;
    product(
        gpu,
        request,
        |gpu, a, transpose| prepare::<I>(gpu, open(a)?, transpose, n),
        |gpu, prepared, bc, factors| prepared.launch(gpu, I::LISTED, bc, factors),
    )
}

/// An N:M matrix cut for the matrix unit, on the device.
#[derive(Debug)]
struct MmaTiles {
    block: ThreadBlock,
    k: usize,
    cols: usize,
    len: usize,
    ws: usize,
    shared: usize,
    slices: Slices,
}

/// `struct NmMma` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct NmMmaArg {
    b: u64,
    w: u64,
    rows: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    n: i32,
    cols: i32,
    cap: i32,
    ws: i32,
    slices: i32,
    len: i32,
    groups: i32,
    alpha: f32,
    beta: f32,
}

layout! { NmMma
    NmMmaArg as "NmMma", 88: {
        b: 0, w: 8, rows: 16, c: 24, ldb: 32, ldc: 40, n: 48, cols: 52, cap: 56, ws: 60, slices: 64, len: 68,
        groups: 72, alpha: 76, beta: 80,
    }
}

/// Rows of W in a slice, best first, for a matrix with `height` of them: whole instructions of `k`, as few rows past the end as can
/// be, and slices as long as can be, because a kernel waits for data at the start of each, for as long as 8 rows take.
fn slice_rows(height: usize, k: usize) -> Vec<usize> {
    let mut rows: Vec<usize> =
        [128, 96, 80, 64, 48, 40, 32, 24, 16, 8].into_iter().filter(|rows| rows % k == 0).collect();
    rows.sort_by_key(|&rows| height.div_ceil(rows) * (rows + 8));
    rows
}

/// For products with `n` columns of B: the first block and slices that fit.
fn prepare<I: MatrixUnitElement>(
    gpu: &Gpu,
    nm: &Nm<I>,
    transpose: bool,
    n: usize,
) -> Result<Prepared<I, MmaTiles>, Refusal> {
    if is_tiled(nm, transpose, n) {
        let limit = gpu.shared_limit()?;
        for block in ThreadBlock::candidates(n, nm.cols, gpu.multiprocessors()?) {
            for rows in slice_rows(height(nm), I::K) {
                if let Some(tiles) = MmaTiles::new(gpu, nm, (block, rows), limit)? {
                    return Ok(Prepared::Tiles(Box::new(tiles)));
                }
            }
        }
    }
    Prepared::listed(gpu, &lists::lists(nm, transpose)?)
}

impl MmaTiles {
    /// None where slices of so many rows of W take more shared memory than the block's share of it.
    fn new<I: MatrixUnitElement>(
        gpu: &Gpu,
        nm: &Nm<I>,
        (block, rows): (ThreadBlock, usize),
        limit: usize,
    ) -> Result<Option<MmaTiles>, Refusal> {
        let blocking = Blocking {
            tn: block.tn,
            span: rows,
            ws: rows,
            row_bytes: TM * size_of::<I::Bits>(),
            packed: true,
        };
        let limit = limit / block.per_sm;
        // Cutting takes long: a first slice that does not fit is enough.
        if block.shared(&blocking, blocking.named(nm, (0, 0)).len(), 1) > limit {
            return Ok(None);
        }
        let cut = blocking.cut(nm).exchanged(|row| I::exchange(row) * 16, blocking.row_bytes);
        let shared = block.shared(&blocking, cut.sizes.cap, cut.sizes.groups);
        // A lane of each warp holds one row.
        if cut.sizes.cap > block.tn || shared > limit {
            return Ok(None);
        }
        Ok(Some(MmaTiles {
            block,
            k: nm.rows,
            cols: nm.cols,
            len: nm.l,
            ws: blocking.ws,
            shared,
            slices: cut.upload(gpu, |place, to| registers(nm, blocking, place, to))?,
        }))
    }
}

impl<I: NmInstance<O>, O: Word> Tiled<I, O> for MmaTiles {
    fn launch(
        &self,
        gpu: &Gpu,
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        fits((self.cols, self.k), b, c)?;
        let sizes = &self.slices.sizes;
        let n = extent("columns of C", c.cols)?;
        let blocks = c.cols.div_ceil(TM) as u128 * sizes.blocks as u128;
        let grid = Grid::new("tiles of C", blocks, (self.block.tn * I::SIDES) as u32, self.shared as u32)?;
        let (ldb, ldc) = (b.ld as u64, c.ld as u64);
        let arguments = NmMmaArg {
            b: b.data.address(),
            w: self.slices.w.address(),
            rows: self.slices.rows.address(),
            c: c.data.address(),
            ldb,
            ldc,
            n,
            cols: self.cols as i32,
            cap: sizes.cap as i32,
            ws: self.ws as i32,
            slices: sizes.slices as i32,
            len: self.len as i32,
            groups: sizes.groups as i32,
            alpha,
            beta,
        };
        let symbol = I::TILES[usize::from(self.block == WIDE)];
        // SAFETY: `NmMmaArg` is the one parameter of every kernel of nm_mma.cu, and `NmInstance` ties the symbol to the types.
        // `Blocking::cut` made w and rows for blocks of this width: blocks * slices times ws rows of tn elements and groups * ws words
        // of d, which names rows 0..=cap of a slice; rows are below k, or -1. `fits` compared B and C with k, cols and n, and both
        // have their elements (`DeviceDense::new`); rows of B start at multiples of 16 bytes (`Prepared::launch`) and are read up
        // to n, C is written for j < cols and i < n. `is_tiled` and `extent` keep all numbers below 2^30.
        unsafe { GpuCall::new(Source::NmMma, symbol, grid).arg(&arguments).launch(gpu) }
    }
}

/// Appends the words of a slice of W: operands B of its instructions, 2 registers of 32 lanes each.
fn registers<I: MatrixUnitElement>(
    m: &NmParts<I>,
    blocking: Blocking,
    (block, slice): (usize, usize),
    to: &mut Vec<u32>,
) {
    let (stride, height) = (m.cols.div_ceil(m.l) * m.l, height(m));
    let value = |u: usize, j: usize| match u < height && j < stride {
        true => m.values[u * stride + j],
        false => I::from_bits64(0),
    };
    for first in (slice * blocking.span..).step_by(I::K).take(blocking.ws / I::K) {
        for across in block * blocking.tn / 8..(block + 1) * blocking.tn / 8 {
            for (lane, half) in (0..32).flat_map(|lane| [(lane, 0), (lane, 1)]) {
                let u = first + lane % 4 * I::EACH + half * I::K / 2;
                let elements: [I; 2] = [0, 1].map(|x| value(u + x.min(I::EACH - 1), across * 8 + lane / 4));
                to.push(I::register(&elements));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::prelude::*;
    use sparse_types::Scalar;

    /// 16 x 8, all rows kept; element (u, j) is 8 u + j.
    fn full<T: Scalar>() -> NmParts<T> {
        NmParts {
            rows: 16,
            cols: 8,
            n: 4,
            m: 4,
            l: 8,
            index: (0..16).map(|u| u % 4).collect(),
            values: (0..128).map(|x| T::from_f64(f64::from(x))).collect(),
        }
    }

    /// A slice of `rows` rows and 8 columns.
    fn words<I: MatrixUnitElement>(m: &NmParts<I>, rows: usize, place: (usize, usize)) -> Vec<u32> {
        let blocking = Blocking { tn: 8, span: rows, ws: rows, row_bytes: 1, packed: true };
        let mut words = Vec::new();
        registers(m, blocking, place, &mut words);
        words
    }

    #[test]
    fn registers_of_16_bit_types_hold_two_successive_rows() {
        let w = words(&full::<F16>(), 16, (0, 0));
        let at = |u: usize, j: usize| u32::from(F16::from_f64((8 * u + j) as f64).0);
        // Lane 4 * 3 + 2: column 3, rows 4, 5 and 12, 13.
        assert_eq!(w[28..30], [at(4, 3) | at(5, 3) << 16, at(12, 3) | at(13, 3) << 16]);
        assert_eq!(w.len(), 64);
    }

    #[test]
    fn registers_of_tf32_are_rounded_and_past_the_end_zero() {
        let mut m = full::<Tf32>();
        m.values[8 * 9 + 1] = Tf32(0x3f80_1000);
        // Second instruction down: rows 8..16; lane 4 * 1 + 1 is column 1, rows 9 and 13.
        let operand = words(&m, 8, (0, 1));
        assert_eq!(operand[10..12], [0x3f80_2000, 105f32.to_bits()]);
        let both = words(&m, 16, (0, 0));
        assert_eq!(both[64..], operand);
        let outside = [words(&m, 8, (1, 0)), words(&m, 8, (0, 2))];
        assert!(outside.iter().flatten().all(|&x| x == 0), "columns 8.. and rows 16..");
        assert_eq!(outside.map(|words| words.len()), [64, 64]);
    }

    #[test]
    fn slices_are_long_and_end_with_the_matrix() {
        assert_eq!(slice_rows(2048, 16), [128, 96, 80, 64, 48, 32, 16]);
        assert_eq!(slice_rows(160, 8)[0], 80, "two slices; of 128 rows 96 would be past the end");
        assert_eq!(slice_rows(8, 16)[0], 16, "an instruction");
    }

    /// What `swizzle` of `nm_mma.cu` says. Shared memory serves chunk 0 of 8 rows together (those that ldmatrix turns, or the rows t and
    /// t + 4 of tf32), so that all are different.
    #[test]
    fn rows_are_exchanged_for_different_chunks() {
        let chunks = |of: fn(u32) -> u32| (0..9).map(of).collect::<Vec<u32>>();
        assert_eq!(chunks(F16::exchange), [0, 1, 2, 3, 4, 5, 6, 7, 0]);
        assert_eq!(chunks(Bf16::exchange), chunks(F16::exchange));
        assert_eq!(chunks(Tf32::exchange), [0, 2, 4, 6, 1, 3, 5, 7, 0]);
    }

    #[test]
    fn small_products_get_narrow_blocks() {
        assert_eq!(ThreadBlock::candidates(512, 512, 132), [NARROW, WIDE]);
        assert_eq!(ThreadBlock::candidates(4096, 4096, 132), [WIDE, NARROW]);
    }
}
