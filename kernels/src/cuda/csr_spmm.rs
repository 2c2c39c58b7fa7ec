//! SpMM of CSR on the general cores: `kernels/cuda/csr_spmm.cu` and its host side.
//!
//! ```text
//! CSR -> Prepared { row_ptr, entries: (column, value) side by side }   once
//!     -> launch: columns [0, n / V * V) by the wide kernel, the rest by the narrow one
//! ```
//!
//! Declared arithmetic: one fused chain per element in ascending column from +0, `MulThenAdd`, tf32 rounded as `rna`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::gpu::{Gpu, failed};
use super::operand::{DeviceDense, Word, product};
use super::source::Source;
use crate::engine::Engine;
use crate::feature::Feature;
use crate::portable::element::{Operand, Output};
use crate::portable::moves::{Arrays, turn};
use crate::portable::request::{self, same, wrong_format};
use crate::portable::unit::Unit;
use crate::registry::{Kernel, Run};
use cudarc::driver::{CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg};
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::{Contract, Op, Types};
use sparse_oracle::format::{FormatKind, Sparse};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Bf16, E4m3, E5m2, F16, Tf32};

/// Threads of a block, as in the launch bounds of the source.
const BLOCK: u32 = 128;

/// Most blocks along y.
const GRID_Y: usize = 65_535;

/// The kernels of the source: wide and narrow for each row of [`rows`].
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
    /// Columns of one thread of the wide kernel.
    const WIDE: usize;
}

macro_rules! instances {
    ($($input:ident $acc:ident $out:ident: $wide:literal $wide_name:literal $narrow_name:literal;)*) => {
        $(impl Instance<$acc, $out> for $input {
            const NAMES: [&'static str; 2] = [$wide_name, $narrow_name];
            const WIDE: usize = $wide;
        })*

        /// One row for each.
        pub(super) fn rows(table: &mut Vec<Kernel>) {
            $(table.push(row::<$input, $acc, $out>(run::<$input, $acc, $out>));)*
        }
    };
}
instances! {
    f64 f64 f64: 2 "csr_f64_wide" "csr_f64_narrow";
    f32 f32 f32: 4 "csr_f32_wide" "csr_f32_narrow";
    Tf32 f32 f32: 4 "csr_tf32_wide" "csr_tf32_narrow";
    F16 f32 f32: 4 "csr_f16_f32_wide" "csr_f16_f32_narrow";
    F16 f32 F16: 4 "csr_f16_f16_wide" "csr_f16_f16_narrow";
    Bf16 f32 f32: 4 "csr_bf16_f32_wide" "csr_bf16_f32_narrow";
    Bf16 f32 Bf16: 4 "csr_bf16_bf16_wide" "csr_bf16_bf16_narrow";
    E4m3 f32 f32: 4 "csr_e4m3_wide" "csr_e4m3_narrow";
    E5m2 f32 f32: 4 "csr_e5m2_wide" "csr_e5m2_narrow";
}

fn row<I: Operand<A>, A: Unit, O: Output<A>>(run: Run) -> Kernel {
    let types = Types {
        a: I::PRECISION,
        b: I::PRECISION,
        acc: A::PRECISION,
        out: O::PRECISION,
    };
    let contract = Contract {
        op: Op::Spmm,
        format: FormatKind::Csr,
        to: None,
        types,
    };
    let arithmetic = Arithmetic::chain(Reduction::FmaChain, types.acc, types.out).input(I::INPUT);
    Kernel {
        needs: &[Feature::Sm80],
        ..Kernel::new(contract, Engine::Cuda, arithmetic, run)
    }
}

fn run<I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Instance<A, O>,
    A: Unit + DeviceRepr,
    O: Output<A> + Word,
{
    let request = request::spmm::<I, A, O>(task, FormatKind::Csr)?;
    product(
        request,
        |gpu, a, transpose| {
            let Sparse::Csr(csr) = a else {
                return Err(wrong_format("A", FormatKind::Csr, a.kind()));
            };
            let (shape, arrays) = ((csr.rows, csr.cols), (&csr.row_ptr, &csr.col_idx, &csr.values));
            if !transpose {
                return Prepared::new(gpu, shape, arrays.0, arrays.1, arrays.2);
            }
            let turned: Arrays<I> = turn("row_ptr", csr.cols, arrays.0, arrays.1, arrays.2)?;
            Prepared::new(gpu, (shape.1, shape.0), &turned.0, &turned.1, &turned.2)
        },
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// A CSR matrix on the device.
#[derive(Debug)]
pub(crate) struct Prepared<I> {
    rows: usize,
    cols: usize,
    row_ptr: CudaSlice<u32>,
    entries: CudaSlice<u64>,
    element: std::marker::PhantomData<I>,
}

impl<I: Entry> Prepared<I> {
    /// Uploads the arrays of a checked CSR matrix.
    pub(crate) fn new(
        gpu: &Gpu,
        (rows, cols): (usize, usize),
        row_ptr: &[u32],
        col_idx: &[u32],
        values: &[I],
    ) -> Result<Prepared<I>, Refusal> {
        let mut entries = Vec::with_capacity(values.len() * 2);
        for (&col, &value) in col_idx.iter().zip(values) {
            I::push(&mut entries, col, value);
        }
        Ok(Prepared {
            rows,
            cols,
            row_ptr: gpu.upload(row_ptr)?,
            entries: gpu.upload(&entries)?,
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
        A: Unit + DeviceRepr,
        O: Word,
    {
        same(("columns of A", self.cols), ("rows of B", b.rows))?;
        same(("rows of A", self.rows), ("rows of C", c.rows))?;
        same(("columns of B", b.cols), ("columns of C", c.cols))?;
        let aligned = b.ld.is_multiple_of(I::WIDE) && c.ld.is_multiple_of(I::WIDE);
        let wide = if aligned { c.cols / I::WIDE * I::WIDE } else { 0 };
        self.columns(gpu, (I::NAMES[0], I::WIDE), (0, wide), b, c, factors)?;
        self.columns(gpu, (I::NAMES[1], 1), (wide, c.cols), b, c, factors)
    }

    /// Columns `first..last` of C, a multiple of `each`.
    fn columns<A, O>(
        &self,
        gpu: &Gpu,
        (symbol, each): (&str, usize),
        (first, last): (usize, usize),
        b: &DeviceDense<I>,
        c: &mut DeviceDense<O>,
        (alpha, beta): (A, A),
    ) -> Result<(), Refusal>
    where
        I: Instance<A, O>,
        A: Unit + DeviceRepr,
        O: Word,
    {
        if self.rows == 0 || first == last {
            return Ok(());
        }
        let threads = (last - first) / each;
        let lanes = threads.next_power_of_two().min(32);
        let slabs = threads.div_ceil(lanes);
        if slabs > GRID_Y {
            return Err(Refusal::TooLarge {
                field: "columns of C",
                found: c.cols as u128,
                limit: (GRID_Y * 32 * each) as u64,
            });
        }
        let lanes = lanes as u32;
        let config = LaunchConfig {
            grid_dim: (
                (self.rows as u64).div_ceil(u64::from(BLOCK / lanes)) as u32,
                slabs as u32,
                1,
            ),
            block_dim: (BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        let (ldb, ldc) = (b.ld as u64, c.ld as u64);
        let (rows, n) = (self.rows as u32, (last - first) as u32);
        let function = gpu.function(Source::CsrSpmm, symbol)?;
        // Without columns A has no entry and B no element beside the one that the driver insists on.
        let first_of_b = if b.rows == 0 { 0 } else { first };
        let (b, mut c) = (b.data.slice(first_of_b..), c.data.slice_mut(first..));
        let mut arguments = gpu.stream().launch_builder(&function);
        arguments.arg(&self.row_ptr).arg(&self.entries).arg(&b).arg(&ldb);
        arguments.arg(&mut c).arg(&ldc).arg(&rows).arg(&n).arg(&lanes);
        arguments.arg(&alpha).arg(&beta);
        // SAFETY: eleven arguments of the types and in the order of KERNEL in csr_spmm.cu (`Instance` ties the symbol to
        // In, Acc, Out). `Prepared::new` had the arrays of a checked CSR matrix: row_ptr has rows + 1 offsets within
        // entries, columns are below `cols`. `launch` compared the shapes, so that `column * ldb + first + n - 1` lies in
        // B and `row * ldc + first + n - 1` in C, whose lengths their constructor checked; threads outside of rows x n
        // return first. Wide kernels: `each` divides first, n, ldb and ldc, and allocations are aligned to 256 bytes.
        unsafe { arguments.launch(config) }.map_err(failed("launch a kernel"))?;
        Ok(())
    }
}
