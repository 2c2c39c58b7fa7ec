//! `cublasGemmEx`: an N:M matrix as a dense one, what it does not store as zeros.
//!
//! ```text
//! C = A B row-major is C^T = B^T A^T column-major, which is how cuBLAS reads the same arrays: no transposition is needed
//! ```
//!
//! The zeros are multiplied too: where B holds Inf or NaN, C has NaN that the sparse product has not.

#![expect(unsafe_code, reason = "a C library")]

use super::{pointer, refused, row};
use crate::cuda::gpu::Gpu;
use crate::cuda::library;
use crate::cuda::operand::{DeviceDense, Word, library_product};
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::portable::dense::Strided;
use crate::portable::element::{Operand, Output};
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use cudarc::cublas::result::{create_handle, gemm_ex, set_stream};
use cudarc::cublas::sys::{
    self, cublasComputeType_t as Compute, cublasGemmAlgo_t, cublasOperation_t, cudaDataType,
};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, SLOT_LIMIT, Sparse};
use sparse_types::refusal::{EngineError, Limit, Refusal, RequestError};
use sparse_types::task::{Answer, Task};
use sparse_types::{F16, Precision};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const LIBRARY: &str = "cuBLAS";
const KEEP: cublasOperation_t = cublasOperation_t::CUBLAS_OP_N;

/// f64, f32 (TF32 off), and f16 with sums in f32.
pub(super) fn rows() -> Vec<Kernel> {
    use Precision::{F16 as H, F32, F64};
    let runs: [((Precision, Precision, Precision), Run); 4] = [
        ((F64, F64, F64), run::<f64, f64, f64>),
        ((F32, F32, F32), run::<f32, f32, f32>),
        ((H, F32, F32), run::<F16, f32, f32>),
        ((H, F32, H), run::<F16, f32, F16>),
    ];
    let what = (Op::Spmm, FormatKind::Nm, "cublas");
    runs.map(|(types, run)| row(what, types, &[Feature::Cublas], run)).into()
}

/// Looks for the library, which cudarc panics without.
pub(in crate::cuda) fn is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: only tries to open a shared library by name and closes it again.
    *HERE.get_or_init(|| library::present(|| unsafe { sys::is_culib_present() }))
}

/// The library's handle, bound to the stream of all work.
#[derive(Debug)]
struct CublasHandle(sys::cublasHandle_t);

// SAFETY: a handle may be used from any thread, by one at a time; it is only reached through the mutex of `handle`.
unsafe impl Send for CublasHandle {}

fn handle(gpu: &Gpu) -> Result<MutexGuard<'static, CublasHandle>, Refusal> {
    static HANDLE: OnceLock<Result<Mutex<CublasHandle>, Refusal>> = OnceLock::new();
    if !is_here() {
        return Err(EngineError::Unavailable { feature: "cublas" }.into());
    }
    // The context must be current on every thread that calls the library.
    let silicon = gpu.silicon()?;
    silicon.bind()?;
    let stream = silicon.stream().cu_stream();
    let made = HANDLE.get_or_init(|| {
        let handle = create_handle().map_err(|error| refused(LIBRARY, "make a handle")(error.0))?;
        // SAFETY: a handle just made, and a stream that lives as long as the process.
        unsafe { set_stream(handle, stream.cast()) }
            .map_err(|error| refused(LIBRARY, "take the stream")(error.0))?;
        Ok(Mutex::new(CublasHandle(handle)))
    });
    let mutex = made.as_ref().map_err(Clone::clone)?;
    Ok(mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The type of elements and, for an accumulator, of the computation. f32 means f32: TF32 has a name of its own.
fn names(precision: Precision) -> (cudaDataType, Compute) {
    match precision {
        Precision::F64 => (cudaDataType::CUDA_R_64F, Compute::CUBLAS_COMPUTE_64F),
        Precision::F16 => (cudaDataType::CUDA_R_16F, Compute::CUBLAS_COMPUTE_32F),
        _ => (cudaDataType::CUDA_R_32F, Compute::CUBLAS_COMPUTE_32F),
    }
}

fn run<I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Word,
    A: Unit,
    O: Output<A> + Word,
{
    let request = request::spmm::<I, A, O>(task, FormatKind::Nm)?;
    library_product(
        request,
        |gpu, a, transpose| dense(gpu, a, transpose),
        |gpu, a, (b, c), factors| multiply(gpu, a, b, c, factors),
    )
}

/// op(A) as a dense matrix on the device.
fn dense<I: Word>(gpu: &Gpu, a: &Sparse<I>, transpose: bool) -> Result<DeviceDense<I>, Refusal> {
    let Sparse::Nm(a) = a else {
        return Err(wrong_format("A", FormatKind::Nm, a.kind()));
    };
    let (rows, cols) = if transpose { (a.cols, a.rows) } else { (a.rows, a.cols) };
    let count = rows as u128 * cols as u128;
    if count > u128::from(SLOT_LIMIT) {
        return Err(Limit { field: "rows * columns of A", found: count, limit: SLOT_LIMIT }.into());
    }
    let mut data = vec![I::element(I::Bits::default()); rows * cols];
    let groups = a.cols.div_ceil(a.l);
    for (vector, values) in a.values.chunks_exact(a.l).enumerate() {
        let (u, group) = (vector / groups, vector % groups);
        let i = u / a.n * a.m + a.index[vector] as usize;
        // The last group may stick out of the matrix, and so may a window: what is there is no element.
        for (&value, j) in values.iter().zip(group * a.l..a.cols) {
            if i < a.rows && !value.is_positive_zero() {
                data[if transpose { j * cols + i } else { i * cols + j }] = value;
            }
        }
    }
    let matrix = Strided { rows, cols, row_step: cols, col_step: 1, data: &data[..] };
    DeviceDense::upload(gpu, &matrix)
}

fn multiply<I: Word, A: Unit, O: Word>(
    gpu: &Gpu,
    a: &DeviceDense<I>,
    b: &DeviceDense<I>,
    c: &mut DeviceDense<O>,
    (alpha, beta): (A, A),
) -> Result<(), Refusal> {
    let int = |field, extent: usize| {
        i32::try_from(extent).map_err(|_| {
            Refusal::Request(RequestError::TooLarge { field, found: extent as u128, limit: i32::MAX as u64 })
        })
    };
    let (m, n, k) = (int("rows of C", c.rows)?, int("columns of C", c.cols)?, int("columns of A", a.cols)?);
    // A leading dimension is at least 1 there, even of a matrix without columns.
    let (lda, ldb, ldc) = (int("lda", a.ld)?.max(1), int("ldb", b.ld)?, int("ldc", c.ld)?);
    let (input, output, compute) = (names(I::PRECISION).0, names(O::PRECISION).0, names(A::PRECISION).1);
    let handle = handle(gpu)?;
    // SAFETY: the handle is live; alpha and beta point to live numbers of the compute type. Column-major, B^T is n x k with
    // leading dimension ldb, A^T is k x m with lda, C^T is n x m with ldc: what the buffers hold, whose lengths were checked
    // when the request was. The product is queued in the stream in which they are freed later.
    let status = unsafe {
        gemm_ex(
            handle.0,
            KEEP,
            KEEP,
            n,
            m,
            k,
            (&raw const alpha).cast(),
            pointer(&b.data),
            input,
            ldb,
            pointer(&a.data),
            input,
            lda,
            (&raw const beta).cast(),
            pointer(&c.data),
            output,
            ldc,
            compute,
            cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    };
    status.map_err(|error| refused(LIBRARY, "multiply")(error.0).into())
}
