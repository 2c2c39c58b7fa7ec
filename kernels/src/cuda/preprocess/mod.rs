//! Preprocessing on the GPU: CSR to `LibraSpmm` and `LibraSddmm`, distribution and translation, bit for bit what the formats
//! define.
//!
//! ```text
//! task -> rule (checked on the host) -> upload of CSR -> work: count | sizes to the host | fill -> download -> arrays
//! ```
//!
//! `kernels/cuda/preprocess.cu` says how. [`conversion_times`] times the same passes where CSR and result stay on the device.
//! Source: Libra, sections 4.2 to 4.4 ("preprocessing on GPU"), without its last stage: the balance of the work is planned on the host when a
//! matrix is uploaded. Conversions return arrays to the host; no kernel multiplies from what stays on the device.

mod passes;
mod rule;
mod work;

use super::gpu::Gpu;
use super::measure::flush;
use super::meter::clocked;
use super::operand::{Word, bits_of};
use super::{GpuKernel, GpuTarget, entry};
use crate::cuda::buffer::GpuBuffer;
use crate::portable::moves::{check_slots, encoded};
use crate::portable::request::{self, wrong_format, wrong_task};
use rule::Rule;
use sparse_types::arithmetic::{Arithmetic, Reduction};
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::{
    AnySparse, CsrParts, FormatKind, FormatParams, LibraSddmmParts, LibraSpmmParts, Parts, Sparse,
};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};
use std::time::Instant;
use work::LibraConversion;

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &[
    "find_rows",
    "classify_dense",
    "classify_densities",
    "fill_windows",
    "fill_choose",
    "flag_marked",
    "spmm_windows",
    "sddmm_windows",
    "rest_rows",
    "spmm_totals",
    "sddmm_totals",
    "place_dense",
    "place_densities",
    "pad_slots",
    "bitmap_4",
    "bitmap_8",
    "bitmap_16",
    "move_1",
    "move_2",
    "move_4",
    "move_8",
    "sum_words",
    "scan_words",
    "sum_counts",
    "scan_counts",
];

/// Most entries of a matrix: a thread numbers them in 32 bits, and rounds up.
const MOST_ENTRIES: usize = 1 << 31;

/// A format that matrices are translated to.
trait TargetFormat: 'static {
    const KIND: FormatKind;

    /// How vectors are distributed.
    fn rule(params: FormatParams) -> Result<Rule, Refusal>;

    /// The arrays of the format.
    fn arrays<T: Word>(work: &LibraConversion<'_, T>) -> Result<Parts<T>, Refusal>;
}

#[derive(Debug)]
struct ToSpmm;

#[derive(Debug)]
struct ToSddmm;

impl TargetFormat for ToSpmm {
    const KIND: FormatKind = FormatKind::LibraSpmm;

    fn rule(params: FormatParams) -> Result<Rule, Refusal> {
        Rule::spmm(params)
    }

    fn arrays<T: Word>(work: &LibraConversion<'_, T>) -> Result<Parts<T>, Refusal> {
        let found = work.download()?;
        Ok(Parts::LibraSpmm(LibraSpmmParts {
            rows: found.rows,
            cols: found.cols,
            kb: found.kb,
            window_block_ptr: found.window_block_ptr,
            bitmap: found.bitmap,
            block_value_ptr: found.block_value_ptr,
            block_col: found.block_col,
            values: found.values,
            row_ptr: found.row_ptr,
            col_idx: found.col_idx,
            rest_values: found.rest_values,
        }))
    }
}

impl TargetFormat for ToSddmm {
    const KIND: FormatKind = FormatKind::LibraSddmm;

    fn rule(params: FormatParams) -> Result<Rule, Refusal> {
        Rule::sddmm(params)
    }

    fn arrays<T: Word>(work: &LibraConversion<'_, T>) -> Result<Parts<T>, Refusal> {
        let found = work.download()?;
        Ok(Parts::LibraSddmm(LibraSddmmParts {
            rows: found.rows,
            cols: found.cols,
            window_block_ptr: found.window_block_ptr,
            bitmap: found.bitmap,
            block_value_ptr: found.block_value_ptr,
            block_col: found.block_col,
            values: found.values,
            position: found.position,
            row_ptr: found.row_ptr,
            col_idx: found.col_idx,
            rest_values: found.rest_values,
            rest_position: found.rest_position,
        }))
    }
}

/// The rows of the table.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    rows_to::<ToSpmm>(table, target);
    rows_to::<ToSddmm>(table, target);
}

fn rows_to<F: TargetFormat>(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<F, f64>(target));
    table.push(row::<F, f32>(target));
    table.push(row::<F, Tf32>(target));
    table.push(row::<F, F16>(target));
    table.push(row::<F, Bf16>(target));
    table.push(row::<F, E4m3>(target));
    table.push(row::<F, E5m2>(target));
}

/// Moves round nothing: the declaration is a chain of no terms.
fn row<F: TargetFormat, T: Word>(target: GpuTarget) -> GpuKernel {
    let p = T::PRECISION;
    let contract = Contract {
        op: Op::Convert,
        format: FormatKind::Csr,
        to: Some(F::KIND),
        types: Types { a: p, b: p, acc: p, out: p },
    };
    target.row(contract, None, Arithmetic::chain(Reduction::MulAddChain, p, p), entry!(run::<F, T>))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that the registry calls")]
fn run<F: TargetFormat, T: Word>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    let Task::Convert { a, to, params } = task else {
        return Err(wrong_task(Op::Convert, &task));
    };
    if to != F::KIND {
        return Err(wrong_format("target", F::KIND, to));
    }
    let Sparse::Csr(matrix) = request::sparse::<T>("A", a, FormatKind::Csr)? else {
        return Err(wrong_format("A", FormatKind::Csr, a.kind()));
    };
    let rule = F::rule(params)?;
    let gpu = Gpu::or_first(gpu)?;
    let csr = Uploaded::new(gpu, matrix)?;
    let mut work = LibraConversion::new(gpu, &csr, rule)?;
    work.count()?;
    work.allocate()?;
    work.fill()?;
    encoded(F::arrays(&work)?)
}

/// CSR on the device.
#[derive(Debug)]
struct Uploaded<T: Word> {
    rows: usize,
    cols: usize,
    entries: usize,
    row_ptr: GpuBuffer<u32>,
    col_idx: GpuBuffer<u32>,
    values: GpuBuffer<T::Bits>,
}

impl<T: Word> Uploaded<T> {
    fn new(gpu: &Gpu, matrix: &CsrParts<T>) -> Result<Uploaded<T>, Refusal> {
        check_slots("row_ptr", matrix.rows as u128 + 1)?;
        let entries = matrix.col_idx.len();
        if entries > MOST_ENTRIES {
            return Err(Refusal::Request(RequestError::TooLarge {
                field: "nnz",
                found: entries as u128,
                limit: MOST_ENTRIES as u64,
            }));
        }
        Ok(Uploaded {
            rows: matrix.rows,
            cols: matrix.cols,
            entries,
            row_ptr: gpu.upload(&matrix.row_ptr)?,
            col_idx: gpu.upload(&matrix.col_idx)?,
            values: gpu.upload(&bits_of(&matrix.values))?,
        })
    }
}

/// Seconds of a conversion on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversionTimes {
    /// Wall time of copying CSR to the device.
    pub upload: f64,
    /// Wall time from CSR on the device to the format on the device: memory, every pass, and the sizes on their way to the host.
    pub whole: Vec<f64>,
    /// The passes alone, by the device's clock, L2 flushed before each.
    pub passes: Vec<f64>,
}

/// Times the conversion of a CSR matrix to a format of Libra.
///
/// # Errors
/// Another format, parameters out of range, no GPU, too little memory.
pub fn conversion_times(
    matrix: &AnySparse,
    to: FormatKind,
    params: FormatParams,
    repeats: usize,
) -> Result<ConversionTimes, Refusal> {
    let rule = if to == FormatKind::LibraSpmm {
        ToSpmm::rule(params)
    } else if to == FormatKind::LibraSddmm {
        ToSddmm::rule(params)
    } else {
        Err(wrong_format("target", FormatKind::LibraSpmm, to))
    }?;
    match matrix {
        AnySparse::F64(m) => timed(m, rule, repeats),
        AnySparse::F32(m) => timed(m, rule, repeats),
        AnySparse::Tf32(m) => timed(m, rule, repeats),
        AnySparse::F16(m) => timed(m, rule, repeats),
        AnySparse::Bf16(m) => timed(m, rule, repeats),
        AnySparse::E4m3(m) => timed(m, rule, repeats),
        AnySparse::E5m2(m) => timed(m, rule, repeats),
    }
}

fn timed<T: Word>(matrix: &Sparse<T>, rule: Rule, repeats: usize) -> Result<ConversionTimes, Refusal> {
    let Sparse::Csr(matrix) = matrix else {
        return Err(wrong_format("A", FormatKind::Csr, matrix.kind()));
    };
    let gpu = Gpu::get()?;
    let start = Instant::now();
    let csr = Uploaded::new(gpu, matrix)?;
    gpu.wait()?;
    let mut times = ConversionTimes { upload: start.elapsed().as_secs_f64(), ..ConversionTimes::default() };
    // One more than is timed: modules are loaded and clocks are up.
    for round in 0..=repeats {
        let start = Instant::now();
        let mut work = LibraConversion::new(gpu, &csr, rule)?;
        work.count()?;
        work.allocate()?;
        work.fill()?;
        gpu.wait()?;
        if round > 0 {
            times.whole.push(start.elapsed().as_secs_f64());
        }
        if round == repeats {
            let mut again = || {
                work.count()?;
                work.fill()
            };
            for _ in 0..repeats {
                flush(gpu)?;
                times.passes.push(clocked(gpu, &mut again, 1)?);
            }
        }
    }
    Ok(times)
}
