//! `cusparseSDDMM`: the product X * Y^T on the pattern of a CSR matrix.

#![expect(unsafe_code, reason = "a C library")]

use super::cusparse::{Csr, DenseDescriptor, check, data_type, handle};
use super::pointer;
use super::row;
use crate::cuda::buffer::GpuBuffer;
use crate::cuda::gpu::Gpu;
use crate::cuda::meter;
use crate::cuda::operand::{DeviceDense, Word};
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::portable::element::{Operand, Output};
use crate::portable::lanes::AsCsr;
use crate::portable::request::wrong_format;
use crate::portable::sddmm::open;
use crate::portable::unit::Unit;
use cudarc::cusparse::sys::{self, cusparseOperation_t as Operation, cusparseSDDMMAlg_t as Algorithm};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, SddmmMode, Task};
use sparse_types::{F16, Precision};

/// f64, f32, and f16 with sums in f32.
pub(super) fn rows() -> Vec<Kernel> {
    use Precision::{F16 as H, F32, F64};
    let runs: [((Precision, Precision, Precision), Run); 3] = [
        ((F64, F64, F64), run::<f64, f64, f64>),
        ((F32, F32, F32), run::<f32, f32, f32>),
        ((H, F32, F32), run::<F16, f32, f32>),
    ];
    let what = (Op::Sddmm, FormatKind::Csr, "cusparse");
    runs.map(|(types, run)| row(what, types, &[Feature::Cusparse], run)).into()
}

fn run<I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A> + Word,
    A: Unit,
    O: Output<A> + Word,
{
    let request = open::<AsCsr, I, A, O>(task)?;
    let Sparse::Csr(csr) = request.s else {
        return Err(wrong_format("S", FormatKind::Csr, request.s.kind()));
    };
    let (alpha, beta) = request.scaling.factors();
    // C starts as S where beta * S is added, and with beta = 0 it is not read.
    let beta = match request.mode {
        SddmmMode::Pattern => A::ZERO,
        SddmmMode::AddS => beta,
        SddmmMode::Scale => {
            return Err(Refusal::Request(RequestError::Kind {
                field: "mode",
                expected: "pattern or add-s (cuSPARSE does not multiply by the values of S)".to_owned(),
                found: "scale".to_owned(),
            }));
        }
    };
    if csr.values.is_empty() {
        return Ok(Answer::Written);
    }
    let gpu = Gpu::get()?;
    let (s, seconds) = meter::prepared(gpu, || {
        let _held = handle(gpu)?;
        Csr::new(gpu, (csr.rows, csr.cols), (&csr.row_ptr, &csr.col_idx, &csr.values))
    })?;
    let x = DeviceDense::upload_aligned(gpu, &request.x)?;
    let y = DeviceDense::upload_aligned(gpu, &request.y)?;
    let ready = SddmmReady::new(gpu, &s, (&x, &y), (alpha, beta))?;
    meter::queue(gpu, seconds, || ready.launch(gpu, &s, (alpha, beta)))?;
    let mut bits = vec![O::Bits::default(); request.out.len()];
    gpu.download(&s.arrays.2, &mut bits)?;
    for (to, from) in request.out.iter_mut().zip(bits) {
        *to = O::element(from);
    }
    Ok(Answer::Written)
}

/// Descriptors and workspace.
struct SddmmReady {
    x: DenseDescriptor,
    y: DenseDescriptor,
    workspace: GpuBuffer<u8>,
}

impl SddmmReady {
    fn new<I: Word, A: Unit, O: Word>(
        gpu: &Gpu,
        s: &Csr<O>,
        (x, y): (&DeviceDense<I>, &DeviceDense<I>),
        (alpha, beta): (A, A),
    ) -> Result<SddmmReady, Refusal> {
        let handle = handle(gpu)?;
        let (x, y) = (DenseDescriptor::new(x)?, DenseDescriptor::new(y)?);
        let (alpha, beta) = ((&raw const alpha).cast(), (&raw const beta).cast());
        let mut bytes = 0;
        // SAFETY: handle and descriptors are live; alpha and beta point to live numbers of the compute type; the size is
        // written to a live local. Nothing is launched.
        let status = unsafe {
            sys::cusparseSDDMM_bufferSize(
                handle.raw(),
                Operation::CUSPARSE_OPERATION_NON_TRANSPOSE,
                Operation::CUSPARSE_OPERATION_TRANSPOSE,
                alpha,
                x.0.cast_const(),
                y.0.cast_const(),
                beta,
                s.descriptor,
                data_type(A::PRECISION),
                Algorithm::CUSPARSE_SDDMM_ALG_DEFAULT,
                &raw mut bytes,
            )
        };
        check("size an SDDMM", status)?;
        let ready = SddmmReady { x, y, workspace: gpu.zeros(bytes)? };
        // SAFETY: handle and descriptors are live, alpha and beta point to live numbers of the compute type; the workspace has the size
        // that was asked for.
        let status = unsafe {
            sys::cusparseSDDMM_preprocess(
                handle.raw(),
                Operation::CUSPARSE_OPERATION_NON_TRANSPOSE,
                Operation::CUSPARSE_OPERATION_TRANSPOSE,
                alpha,
                ready.x.0.cast_const(),
                ready.y.0.cast_const(),
                beta,
                s.descriptor,
                data_type(A::PRECISION),
                Algorithm::CUSPARSE_SDDMM_ALG_DEFAULT,
                pointer(&ready.workspace),
            )
        };
        check("preprocess an SDDMM", status)?;
        Ok(ready)
    }

    fn launch<A: Unit, O: Word>(&self, gpu: &Gpu, s: &Csr<O>, (alpha, beta): (A, A)) -> Result<(), Refusal> {
        let handle = handle(gpu)?;
        // SAFETY: handle, descriptors and workspace are live, as are the buffers of S, X and Y, which the caller holds until
        // the result is downloaded; `open` compared their shapes.
        let status = unsafe {
            sys::cusparseSDDMM(
                handle.raw(),
                Operation::CUSPARSE_OPERATION_NON_TRANSPOSE,
                Operation::CUSPARSE_OPERATION_TRANSPOSE,
                (&raw const alpha).cast(),
                self.x.0.cast_const(),
                self.y.0.cast_const(),
                (&raw const beta).cast(),
                s.descriptor,
                data_type(A::PRECISION),
                Algorithm::CUSPARSE_SDDMM_ALG_DEFAULT,
                pointer(&self.workspace),
            )
        };
        check("multiply on a pattern", status)
    }
}
