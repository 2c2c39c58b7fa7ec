//! SpMM of CSR on the general cores: `kernels/cuda/csr_spmm.cu` and its host side.
//!
//! ```text
//! CSR -> Prepared { row_ptr, entries: (column, value) side by side, pieces of long rows }   once
//!     -> launch: columns [0, n / V * V) by the wide kernel, the rest by the narrow one; then the sums of long rows
//! ```
//!
//! Declared arithmetic: fused chains of [`CUT`] entries in ascending column from +0, whose sums are added in ascending order;
//! `MulThenAdd`, tf32 rounded as `rna`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

mod pieces;

use super::buffer::GpuBuffer;
use super::gpu::Gpu;
use super::launch::{GpuCall, Grid, Parameter};
use super::layout::layout;
use super::operand::{DeviceDense, Word, product};
use super::source::Source;
use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::element::{Operand, Output, contract};
use crate::portable::moves::{Arrays, turn};
use crate::portable::request::{self, same, wrong_format};
use crate::portable::unit::Unit;
use pieces::{CUT, Pieces};
use sparse_types::arithmetic::{Along, Arithmetic, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};
use std::sync::{Mutex, PoisonError};

/// Threads of a block, as in the launch bounds of the source.
const BLOCK: u32 = 128;

/// Most blocks along y.
const GRID_Y: usize = 65_535;

/// The kernels of the source: wide and narrow for each row of [`rows`], the second pass for each type of output.
pub(super) const SYMBOLS: &[&str] = &[
    "csr_f64_wide",
    "csr_f64_narrow",
    "csr_f32_wide",
    "csr_f32_narrow",
    "csr_tf32_wide",
    "csr_tf32_narrow",
    "csr_f16_f32_wide",
    "csr_f16_f32_narrow",
    "csr_f16_f16_wide",
    "csr_f16_f16_narrow",
    "csr_bf16_f32_wide",
    "csr_bf16_f32_narrow",
    "csr_bf16_bf16_wide",
    "csr_bf16_bf16_narrow",
    "csr_e4m3_wide",
    "csr_e4m3_narrow",
    "csr_e5m2_wide",
    "csr_e5m2_narrow",
    "csr_finish_f64",
    "csr_finish_f32",
    "csr_finish_f16",
    "csr_finish_bf16",
];

/// An element type in an entry of the source: `struct { u32 col; T value; }` in little-endian words of 64 bits.
pub(crate) trait Entry: Word {
    /// Appends one entry.
    fn push(into: &mut Vec<u64>, col: u32, value: Self);
}

macro_rules! entries {
    ($($element:ty: $bits:expr;)*) => {$(
        impl Entry for $element {
            fn push(into: &mut Vec<u64>, col: u32, value: $element) {
                let bits: fn($element) -> u64 = $bits;
                into.push(u64::from(col) | bits(value) << 32);
            }
        }
    )*};
}
entries! {
    f32: |value| u64::from(value.to_bits());
    Tf32: |value| u64::from(value.0);
    F16: |value| u64::from(value.0);
    Bf16: |value| u64::from(value.0);
    E4m3: |value| u64::from(value.0);
    E5m2: |value| u64::from(value.0);
}
impl Entry for f64 {
    /// The value is aligned to 8 bytes: the word before it holds the column and 4 bytes of nothing.
    fn push(into: &mut Vec<u64>, col: u32, value: f64) {
        into.extend([u64::from(col), value.to_bits()]);
    }
}

/// One instantiation of the source.
pub(crate) trait Instance<A, O>: Entry {
    /// `csr_<this>_wide` and `_narrow`.
    const NAMES: [&'static str; 2];
    /// The second pass.
    const FINISH: &'static str;
    /// Columns of one thread of the wide kernel.
    const WIDE: usize;
}

macro_rules! instances {
    ($($input:ident $acc:ident $out:ident: $wide:literal $wide_name:literal $narrow_name:literal $finish:literal;)*) => {
        $(impl Instance<$acc, $out> for $input {
            const NAMES: [&'static str; 2] = [$wide_name, $narrow_name];
            const FINISH: &'static str = $finish;
            const WIDE: usize = $wide;
        })*

        /// One row for each.
        pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
            $(table.push(row::<$input, $acc, $out>(target, entry!(run::<$input, $acc, $out>)));)*
        }
    };
}
instances! {
    f64 f64 f64: 2 "csr_f64_wide" "csr_f64_narrow" "csr_finish_f64";
    f32 f32 f32: 4 "csr_f32_wide" "csr_f32_narrow" "csr_finish_f32";
    Tf32 f32 f32: 4 "csr_tf32_wide" "csr_tf32_narrow" "csr_finish_f32";
    F16 f32 f32: 8 "csr_f16_f32_wide" "csr_f16_f32_narrow" "csr_finish_f32";
    F16 f32 F16: 8 "csr_f16_f16_wide" "csr_f16_f16_narrow" "csr_finish_f16";
    Bf16 f32 f32: 8 "csr_bf16_f32_wide" "csr_bf16_f32_narrow" "csr_finish_f32";
    Bf16 f32 Bf16: 8 "csr_bf16_bf16_wide" "csr_bf16_bf16_narrow" "csr_finish_bf16";
    E4m3 f32 f32: 4 "csr_e4m3_wide" "csr_e4m3_narrow" "csr_finish_f32";
    E5m2 f32 f32: 4 "csr_e5m2_wide" "csr_e5m2_narrow" "csr_finish_f32";
}

fn row<I: Operand<A>, A: Unit, O: Output<A>>(target: GpuTarget, run: EntryPoint) -> GpuKernel {
    let contract = contract::<I, A, O>(Op::Spmm, FormatKind::Csr);
    let chain = Arithmetic::chain(Reduction::FmaChain, A::PRECISION, O::PRECISION);
    let arithmetic = chain.input(I::INPUT).along(Along::TwoPass { blocks: CUT });
    target.row(contract, None, arithmetic, run)
}

fn run<I, A, O>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Instance<A, O>,
    A: Unit + Parameter,
    O: Output<A> + Word,
{
    let request = request::spmm::<I, A, O>(task, FormatKind::Csr)?;
    product(
        gpu,
        request,
        |gpu, a, transpose| {
            let Sparse::Csr(csr) = a else {
                return Err(wrong_format("A", FormatKind::Csr, a.kind()));
            };
            let (shape, arrays) = ((csr.rows, csr.cols), (&csr.row_ptr, &csr.col_idx, &csr.values));
            if !transpose {
                return PreparedCsr::new(gpu, shape, arrays.0, arrays.1, arrays.2);
            }
            let turned: Arrays<I> = turn("row_ptr", csr.cols, arrays.0, arrays.1, arrays.2)?;
            PreparedCsr::new(gpu, (shape.1, shape.0), &turned.0, &turned.1, &turned.2)
        },
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// A CSR matrix on the device.
#[derive(Debug)]
pub(crate) struct PreparedCsr<I> {
    rows: usize,
    cols: usize,
    row_ptr: GpuBuffer<u32>,
    entries: GpuBuffer<u64>,
    piece_ends: GpuBuffer<u32>,
    pieces: usize,
    cut_rows: GpuBuffer<u32>,
    cut: usize,
    /// Sums of pieces, of whatever type a launch adds in.
    workspace: Mutex<Option<GpuBuffer<u64>>>,
    element: std::marker::PhantomData<I>,
}

/// `struct Pieces` of the source.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PiecesArg {
    ends: u64,
    workspace: u64,
    ldw: u64,
    count: u32,
    cut: u32,
}

layout! { CsrSpmm
    PiecesArg as "Pieces<float>", 32: { ends: 0, workspace: 8, ldw: 16, count: 24, cut: 28 }
}

impl<I: Entry> PreparedCsr<I> {
    /// Uploads the arrays of a checked CSR matrix.
    pub(crate) fn new(
        gpu: &Gpu,
        (rows, cols): (usize, usize),
        row_ptr: &[u32],
        col_idx: &[u32],
        values: &[I],
    ) -> Result<PreparedCsr<I>, Refusal> {
        let mut entries = Vec::with_capacity(values.len() * 2);
        for (&col, &value) in col_idx.iter().zip(values) {
            I::push(&mut entries, col, value);
        }
        let pieces = Pieces::new(row_ptr, CUT);
        Ok(PreparedCsr {
            rows,
            cols,
            row_ptr: gpu.upload(row_ptr)?,
            entries: gpu.upload(&entries)?,
            piece_ends: gpu.upload(&pieces.ends)?,
            pieces: pieces.count() as usize,
            cut_rows: gpu.upload(&pieces.rows)?,
            cut: pieces.rows.len() / 3,
            workspace: Mutex::new(None),
            element: std::marker::PhantomData,
        })
    }

    /// `C = alpha * A * B + beta * C`; returns when it is queued.
    pub(crate) fn launch<A, O>(
        &self,
        gpu: &Gpu,
        b: &DeviceDense<I>,
        c: &mut DeviceDense<O>,
        factors: (A, A),
    ) -> Result<(), Refusal>
    where
        I: Instance<A, O>,
        A: Unit + Parameter,
        O: Word,
    {
        same(("columns of A", self.cols), ("rows of B", b.rows))?;
        same(("rows of A", self.rows), ("rows of C", c.rows))?;
        same(("columns of B", b.cols), ("columns of C", c.cols))?;
        let aligned = b.ld.is_multiple_of(I::WIDE) && c.ld.is_multiple_of(I::WIDE);
        let wide = if aligned { c.cols / I::WIDE * I::WIDE } else { 0 };
        // Without a product there is nothing to add up, and no row is long.
        let count = if factors.0 == A::ZERO { 0 } else { self.pieces };
        // The second pass has a column a thread. Refused before anything is written.
        if count > 0 && c.cols.div_ceil(BLOCK as usize) > GRID_Y {
            return Err(Refusal::Request(RequestError::TooLarge {
                field: "columns of C",
                found: c.cols as u128,
                limit: (GRID_Y * BLOCK as usize) as u64,
            }));
        }
        let ldw = c.cols.next_multiple_of(I::WIDE);
        let needed = (count.saturating_mul(ldw).saturating_mul(size_of::<A>())).div_ceil(8);
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        if workspace.as_ref().is_none_or(|w| w.len() < needed) {
            // The old one goes first: there may be no room for both.
            *workspace = None;
            *workspace = Some(gpu.zeros(needed)?);
        }
        let pieces = PiecesArg {
            ends: self.piece_ends.address(),
            workspace: workspace.as_ref().map_or(0, GpuBuffer::address),
            ldw: ldw as u64,
            count: count as u32,
            cut: CUT,
        };
        self.columns(gpu, (I::NAMES[0], I::WIDE), (0, wide), pieces, b, c, factors)?;
        self.columns(gpu, (I::NAMES[1], 1), (wide, c.cols), pieces, b, c, factors)?;
        if count > 0 {
            self.finish(gpu, pieces, c, factors)?;
        }
        Ok(())
    }

    /// Columns `first..last` of C, a multiple of `each`.
    #[expect(clippy::too_many_arguments, reason = "what a launch is told")]
    fn columns<A, O>(
        &self,
        gpu: &Gpu,
        (symbol, each): (&str, usize),
        (first, last): (usize, usize),
        mut pieces: PiecesArg,
        b: &DeviceDense<I>,
        c: &mut DeviceDense<O>,
        (alpha, beta): (A, A),
    ) -> Result<(), Refusal>
    where
        I: Instance<A, O>,
        A: Unit + Parameter,
        O: Word,
    {
        if self.rows == 0 || first == last {
            return Ok(());
        }
        let threads = (last - first) / each;
        let lanes = threads.next_power_of_two().min(32);
        let slabs = threads.div_ceil(lanes);
        if slabs > GRID_Y {
            return Err(Refusal::Request(RequestError::TooLarge {
                field: "columns of C",
                found: c.cols as u128,
                limit: (GRID_Y * 32 * each) as u64,
            }));
        }
        let lanes = lanes as u32;
        let tasks = self.rows as u64 + u64::from(pieces.count);
        let blocks = [tasks.div_ceil(u64::from(BLOCK / lanes)) as u32, slabs as u32];
        pieces.workspace += (first * size_of::<A>()) as u64;
        let (ldb, ldc) = (b.ld as u64, c.ld as u64);
        let (rows, n) = (self.rows as u32, (last - first) as u32);
        let call = GpuCall::new(Source::CsrSpmm, symbol, Grid { blocks, threads: BLOCK, shared: 0 })
            .arg(&self.row_ptr.address())
            .arg(&self.entries.address())
            .arg(&pieces)
            .arg(&b.data.address_of(first))
            .arg(&ldb)
            .arg(&c.data.address_of(first))
            .arg(&ldc)
            .arg(&rows)
            .arg(&n)
            .arg(&lanes)
            .arg(&alpha)
            .arg(&beta);
        // SAFETY: twelve arguments of the types and in the order of KERNEL in csr_spmm.cu (`Instance` ties the symbol to
        // In, Acc, Out). `PreparedCsr::new` had the arrays of a checked CSR matrix: row_ptr has rows + 1 offsets within
        // entries, as have the pieces, columns are below `cols`. `launch` compared the shapes, so that
        // `column * ldb + first + n - 1` lies in B and `row * ldc + first + n - 1` in C, whose lengths their constructor
        // checked, and `launch` made `ldw` elements for each piece; threads outside of tasks x n return first. Wide kernels:
        // `each` divides first, n, ldb, ldc and ldw, and allocations are aligned to 256 bytes.
        unsafe { call.launch(gpu) }
    }

    /// The sums of long rows.
    fn finish<A, O>(
        &self,
        gpu: &Gpu,
        pieces: PiecesArg,
        c: &mut DeviceDense<O>,
        (alpha, beta): (A, A),
    ) -> Result<(), Refusal>
    where
        I: Instance<A, O>,
        A: Unit + Parameter,
        O: Word,
    {
        let blocks = [self.cut as u32, c.cols.div_ceil(BLOCK as usize) as u32];
        let (ldc, n) = (c.ld as u64, c.cols as u32);
        let call = GpuCall::new(Source::CsrSpmm, I::FINISH, Grid { blocks, threads: BLOCK, shared: 0 })
            .arg(&self.cut_rows.address())
            .arg(&pieces.workspace)
            .arg(&pieces.ldw)
            .arg(&c.data.address())
            .arg(&ldc)
            .arg(&n)
            .arg(&alpha)
            .arg(&beta);
        // SAFETY: eight arguments as in FINISH of csr_spmm.cu (`Instance` ties the symbol to Acc and Out); the workspace's
        // address is one of 64 bits. A block a cut row, of which there are as many, a thread a column, and those past n
        // return; the sums that a row names were written by the launches before, in the same stream.
        unsafe { call.launch(gpu) }
    }
}
