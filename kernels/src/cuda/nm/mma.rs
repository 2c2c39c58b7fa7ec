//! tf32, f16 and bf16 on the matrix unit: W in the order of registers, and the launch of `nm_mma.cu`.
//!
//! ```text
//! operand B of m16n8, lane (g, t) = (lane / 4, lane % 4):  tf32 k8    registers W[t][g], W[t + 4][g]
//!                                                          16 bit k16 registers W[2t, 2t + 1][g], W[2t + 8, 2t + 9][g]
//! ```

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::cut::{Cut, Knife, height};
use super::{is_tiled, lists, open};
use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{self, Grid, address, address_mut};
use crate::cuda::listed::{Listed, aligned};
use crate::cuda::operand::{DeviceDense, Word, product};
use crate::cuda::source::Source;
use crate::portable::element::{Operand, Output};
use crate::portable::request;
use cudarc::driver::{CudaSlice, DeviceRepr};
use sparse_oracle::format::{FormatKind, Nm, NmParts};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Bf16, F16, Tf32};

/// The kernels of the source.
pub(in super::super) const SYMBOLS: &[&str] = &[
    "nm_tf32_f32",
    "nm_f16_f32",
    "nm_f16_f16",
    "nm_bf16_f32",
    "nm_bf16_bf16",
];

/// Columns of W and of B of a block, and its threads.
const TILE: usize = 128;

/// Slices in shared memory.
const STAGES: usize = 2;

/// An element type of the matrix unit.
pub(in super::super) trait Packed: Operand<f32> + Word {
    /// Rows of W that an instruction takes.
    const K: usize;
    /// Elements of one register.
    const EACH: usize = Self::K / 8;

    /// A register of such elements, the first one lowest; rounded where the instruction would cut bits.
    fn register(elements: &[Self]) -> u32;
}

impl Packed for Tf32 {
    const K: usize = 8;

    fn register(elements: &[Tf32]) -> u32 {
        elements[0].load().to_bits()
    }
}

impl Packed for F16 {
    const K: usize = 16;

    fn register(elements: &[F16]) -> u32 {
        u32::from(elements[0].0) | u32::from(elements[1].0) << 16
    }
}

impl Packed for Bf16 {
    const K: usize = 16;

    fn register(elements: &[Bf16]) -> u32 {
        u32::from(elements[0].0) | u32::from(elements[1].0) << 16
    }
}

/// An instantiation of the sources: operands of this type to `O`.
pub(super) trait Instance<O>: Packed {
    /// Kernels of `nm_mma.cu` and `listed.cu`.
    const NAMES: [&'static str; 2];
}

macro_rules! instances {
    ($($input:ident $out:ident: $tiles:literal $listed:literal;)*) => {
        $(impl Instance<$out> for $input {
            const NAMES: [&'static str; 2] = [$tiles, $listed];
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

pub(super) fn run<I: Instance<O>, O: Output<f32> + Word>(task: Task<'_>) -> Result<Answer, Refusal> {
    let request = request::spmm::<I, f32, O>(task, FormatKind::Nm)?;
    let n = request.c.cols;
    product(
        request,
        |gpu, a, transpose| Prepared::new(gpu, open(a)?, transpose, n),
        |gpu, prepared: &Prepared<I>, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// An N:M matrix on the device.
#[derive(Debug)]
enum Prepared<I: Word> {
    Tiles(Box<Tiles>),
    Listed(Listed<I>),
}

#[derive(Debug)]
struct Tiles {
    cols: usize,
    len: usize,
    ws: usize,
    shared: usize,
    cut: Cut,
    w: CudaSlice<u32>,
    d: CudaSlice<u32>,
    rows: CudaSlice<i32>,
    counts: CudaSlice<i32>,
}

/// `struct NmMma` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Arguments {
    b: u64,
    w: u64,
    d: u64,
    rows: u64,
    counts: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    wide: i32,
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

// SAFETY: plain numbers in the layout of C, without padding (64 + 40 bytes).
unsafe impl DeviceRepr for Arguments {}

impl<I: Packed> Prepared<I> {
    fn new(gpu: &Gpu, nm: &Nm<I>, transpose: bool, n: usize) -> Result<Prepared<I>, Refusal> {
        if is_tiled(nm, transpose, n) {
            let limit = launch::shared_limit(gpu)?;
            // Two blocks a multiprocessor, if they can be had.
            for (instructions, limit) in [(2, limit / 2), (1, limit)] {
                let span = instructions * I::K;
                let knife = Knife {
                    tn: TILE,
                    span,
                    ws: span,
                    row_bytes: TILE * size_of::<I::Bits>(),
                    packed: true,
                };
                let cut = knife.cut(nm);
                let shared = STAGES * ((cut.cap + 1) * knife.row_bytes + cut.groups * span * 4);
                if shared <= limit {
                    let tiles = Tiles::new(gpu, nm, knife, cut, shared)?;
                    return Ok(Prepared::Tiles(Box::new(tiles)));
                }
            }
        }
        let lists = lists::lists(nm, transpose)?;
        Ok(Prepared::Listed(Listed::new(gpu, &lists)?))
    }

    fn launch<O: Word>(
        &self,
        gpu: &Gpu,
        b: &DeviceDense<I>,
        c: &mut DeviceDense<O>,
        factors: (f32, f32),
    ) -> Result<(), Refusal>
    where
        I: Instance<O>,
    {
        let [tiled, by_list] = I::NAMES;
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
    fn new<I: Packed>(
        gpu: &Gpu,
        nm: &Nm<I>,
        knife: Knife,
        cut: Cut,
        shared: usize,
    ) -> Result<Tiles, Refusal> {
        Ok(Tiles {
            cols: nm.cols,
            len: nm.l,
            ws: knife.ws,
            shared,
            w: gpu.upload(&registers(
                nm,
                cut.slices * knife.ws / I::K,
                cut.blocks * TILE / 8,
            ))?,
            d: gpu.upload(&cut.d)?,
            rows: gpu.upload(&cut.rows)?,
            counts: gpu.upload(&cut.counts)?,
            cut: Cut {
                d: Vec::new(),
                rows: Vec::new(),
                counts: Vec::new(),
                ..cut
            },
        })
    }

    fn launch<I: Word, O: Word>(
        &self,
        gpu: &Gpu,
        symbol: &str,
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        let cut = &self.cut;
        let blocks = c.cols.div_ceil(TILE) as u128 * cut.blocks as u128;
        let grid = Grid::new("tiles of C", blocks, TILE as u32, self.shared as u32)?;
        let (n, ldb, ldc) = (c.cols as i32, b.ld as u64, c.ld as u64);
        let arguments = Arguments {
            b: address(gpu, &b.data),
            w: address(gpu, &self.w),
            d: address(gpu, &self.d),
            rows: address(gpu, &self.rows),
            counts: address(gpu, &self.counts),
            c: address_mut(gpu, &mut c.data),
            ldb,
            ldc,
            wide: (cut.blocks * TILE / 8) as i32,
            n,
            cols: self.cols as i32,
            cap: cut.cap as i32,
            ws: self.ws as i32,
            slices: cut.slices as i32,
            len: self.len as i32,
            groups: cut.groups as i32,
            alpha,
            beta,
        };
        // SAFETY: `Arguments` is the one parameter of every kernel of nm_mma.cu, and `Instance` ties the symbol to the types.
        // `Knife::cut` made d, rows and counts for tiles of this size: d names rows 0..=cap of a slice, rows are rows of B. W has
        // slices * ws / K rows of `wide` operands of 64 words (`registers`). The request compared B and C with the matrix and n;
        // rows of B start at multiples of 16 bytes (`aligned`) and are read up to n, C is written for j < cols and i < n.
        // `is_tiled` keeps all numbers below 2^30.
        unsafe { launch::by_value(gpu, Source::NmMma, symbol, grid, &arguments) }
    }
}

/// Operands B of instructions: `down` rows of `wide` instructions, 2 registers of 32 lanes each.
fn registers<I: Packed>(m: &NmParts<I>, down: usize, wide: usize) -> Vec<u32> {
    let (stride, height) = (m.cols.div_ceil(m.l) * m.l, height(m));
    let value = |u: usize, j: usize| match u < height && j < stride {
        true => m.values[u * stride + j],
        false => I::from_bits64(0),
    };
    let mut w = Vec::with_capacity(down * wide * 64);
    for (block, across) in (0..down).flat_map(|block| (0..wide).map(move |across| (block, across))) {
        for (lane, half) in (0..32).flat_map(|lane| [(lane, 0), (lane, 1)]) {
            let first = block * I::K + lane % 4 * I::EACH + half * I::K / 2;
            let elements: Vec<I> = (first..first + I::EACH)
                .map(|u| value(u, across * 8 + lane / 4))
                .collect();
            w.push(I::register(&elements));
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::Scalar;

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

    #[test]
    fn registers_of_16_bit_types_hold_two_successive_rows() {
        let w = registers(&full::<F16>(), 1, 1);
        let at = |u: usize, j: usize| u32::from(F16::from_f64((8 * u + j) as f64).0);
        // Lane 4 * 3 + 2: column 3, rows 4, 5 and 12, 13.
        assert_eq!(
            w[28..30],
            [at(4, 3) | at(5, 3) << 16, at(12, 3) | at(13, 3) << 16]
        );
        assert_eq!(w.len(), 64);
    }

    #[test]
    fn registers_of_tf32_are_rounded_and_past_the_end_zero() {
        let mut m = full::<Tf32>();
        m.values[8 * 9 + 1] = Tf32(0x3f80_1000);
        let w = registers(&m, 3, 2);
        // Second instruction down: rows 8..16; lane 4 * 1 + 1 is column 1, rows 9 and 13.
        let operand = &w[2 * 64..3 * 64];
        assert_eq!(operand[10..12], [0x3f80_2000, 105f32.to_bits()]);
        assert!(
            w[64..128].iter().chain(&w[256..]).all(|&x| x == 0),
            "columns 8.. and rows 16.."
        );
    }
}
