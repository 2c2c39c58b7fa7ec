//! `cusparseSpMM` of CSR: descriptors, workspace and preprocessing once, then products.

#![expect(unsafe_code, reason = "a C library")]

use super::cusparse::{Csr, DenseDescriptor, check, data_type, handle};
use super::pointer;
use super::row;
use crate::cuda::buffer::GpuBuffer;
use crate::cuda::gpu::Gpu;
use crate::cuda::operand::{DeviceDense, Word, library_product};
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::portable::element::{Operand, Output};
use crate::portable::moves::{Arrays, turn};
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use cudarc::cusparse::sys::{self, cusparseOperation_t, cusparseSpMMAlg_t as Algorithm};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, F16, Precision};
use std::cell::RefCell;

const KEEP: cusparseOperation_t = cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;

/// The types of one algorithm: f64, f32, and f16 and bf16 with sums in f32.
pub(super) type RunTable = [Run; 6];

/// One algorithm for all types; its number in the library is the constant.
const fn runs<const ALGORITHM: u32>() -> RunTable {
    [
        run::<ALGORITHM, f64, f64, f64>,
        run::<ALGORITHM, f32, f32, f32>,
        run::<ALGORITHM, F16, f32, f32>,
        run::<ALGORITHM, F16, f32, F16>,
        run::<ALGORITHM, Bf16, f32, f32>,
        run::<ALGORITHM, Bf16, f32, Bf16>,
    ]
}

pub(super) const DEFAULT: RunTable = runs::<{ Algorithm::CUSPARSE_SPMM_ALG_DEFAULT as u32 }>();

/// Backend, word in a name, functions.
pub(super) const ALGORITHMS: [(&str, &str, RunTable); 3] = [
    ("cusparse-alg1", "cusparsealg1", runs::<{ Algorithm::CUSPARSE_SPMM_CSR_ALG1 as u32 }>()),
    ("cusparse-alg2", "cusparsealg2", runs::<{ Algorithm::CUSPARSE_SPMM_CSR_ALG2 as u32 }>()),
    ("cusparse-alg3", "cusparsealg3", runs::<{ Algorithm::CUSPARSE_SPMM_CSR_ALG3 as u32 }>()),
];

/// One row for each combination of types.
pub(super) fn rows(tech: &str, runs: RunTable) -> Vec<Kernel> {
    use Precision::{Bf16, F16, F32, F64};
    let types = [
        (F64, F64, F64),
        (F32, F32, F32),
        (F16, F32, F32),
        (F16, F32, F16),
        (Bf16, F32, F32),
        (Bf16, F32, Bf16),
    ];
    let what = (Op::Spmm, FormatKind::Csr, tech);
    let rows = types.into_iter().zip(runs);
    rows.map(|(types, run)| row(what, types, &[Feature::Cusparse], run)).collect()
}

/// The algorithm of this number.
const fn algorithm(number: u32) -> Algorithm {
    match number {
        4 => Algorithm::CUSPARSE_SPMM_CSR_ALG1,
        6 => Algorithm::CUSPARSE_SPMM_CSR_ALG2,
        12 => Algorithm::CUSPARSE_SPMM_CSR_ALG3,
        _ => Algorithm::CUSPARSE_SPMM_ALG_DEFAULT,
    }
}

fn run<const ALGORITHM: u32, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Word,
    A: Unit,
    O: Output<A> + Word,
{
    let request = request::spmm::<I, A, O>(task, FormatKind::Csr)?;
    library_product(
        request,
        |gpu, a, transpose| {
            let Sparse::Csr(csr) = a else {
                return Err(wrong_format("A", FormatKind::Csr, a.kind()));
            };
            let _held = handle(gpu)?;
            let shape = (csr.rows, csr.cols);
            let a = if transpose {
                let (ptr, idx, values): Arrays<I> =
                    turn("row_ptr", csr.cols, &csr.row_ptr, &csr.col_idx, &csr.values)?;
                Csr::new(gpu, (shape.1, shape.0), (&ptr, &idx, &values))?
            } else {
                Csr::new(gpu, shape, (&csr.row_ptr, &csr.col_idx, &csr.values))?
            };
            Ok(PreparedBaseline { a, ready: RefCell::new(None) })
        },
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, algorithm(ALGORITHM), b, c, factors),
    )
}

/// A, and after the first product what belongs to B and C too.
struct PreparedBaseline<I: Word> {
    a: Csr<I>,
    ready: RefCell<Option<Ready>>,
}

/// Descriptors and workspace of one B and one C.
struct Ready {
    b: DenseDescriptor,
    c: DenseDescriptor,
    workspace: GpuBuffer<u8>,
}

impl<I: Word> PreparedBaseline<I> {
    /// Queues a product. B and C must be the same at every call.
    fn launch<A: Unit, O: Word>(
        &self,
        gpu: &Gpu,
        algorithm: Algorithm,
        b: &DeviceDense<I>,
        c: &DeviceDense<O>,
        (alpha, beta): (A, A),
    ) -> Result<(), Refusal> {
        let handle = handle(gpu)?;
        let compute = data_type(A::PRECISION);
        let (alpha, beta) = ((&raw const alpha).cast(), (&raw const beta).cast());
        let mut ready = self.ready.borrow_mut();
        let ready = match ready.take() {
            Some(made) => ready.insert(made),
            None => {
                let (b, c) = (DenseDescriptor::new(b)?, DenseDescriptor::new(c)?);
                let mut bytes = 0;
                // SAFETY: handle and descriptors are live; alpha and beta point to live numbers of the compute type; the
                // size is written to a live local. Nothing is launched.
                let status = unsafe {
                    sys::cusparseSpMM_bufferSize(
                        handle.raw(),
                        KEEP,
                        KEEP,
                        alpha,
                        self.a.descriptor.cast_const(),
                        b.0.cast_const(),
                        beta,
                        c.0,
                        compute,
                        algorithm,
                        &raw mut bytes,
                    )
                };
                check("size an SpMM", status)?;
                let made = ready.insert(Ready { b, c, workspace: gpu.zeros(bytes)? });
                // SAFETY: handle and descriptors are live, alpha and beta point to live numbers of the compute type; the workspace
                // has the size that was asked for and lives as long as A's descriptor.
                let status = unsafe {
                    sys::cusparseSpMM_preprocess(
                        handle.raw(),
                        KEEP,
                        KEEP,
                        alpha,
                        self.a.descriptor.cast_const(),
                        made.b.0.cast_const(),
                        beta,
                        made.c.0,
                        compute,
                        algorithm,
                        pointer(&made.workspace),
                    )
                };
                check("preprocess an SpMM", status)?;
                made
            }
        };
        // SAFETY: handle, descriptors and workspace are live; alpha and beta point to live numbers of the compute type. The
        // descriptors' buffers are A's own, and b and c, which the caller lends: the product is queued
        // in the stream in which they are freed later. Their shapes were compared when the request was checked.
        let status = unsafe {
            sys::cusparseSpMM(
                handle.raw(),
                KEEP,
                KEEP,
                alpha,
                self.a.descriptor.cast_const(),
                ready.b.0.cast_const(),
                beta,
                ready.c.0,
                compute,
                algorithm,
                pointer(&ready.workspace),
            )
        };
        check("multiply", status)
    }
}
