//! `cusparseSpGEMM` of CSR: work estimation, computation, copy.
//!
//! The library says nothing about the order inside a row; rows are sorted on the host where they are not.

#![expect(unsafe_code, reason = "a C library")]

use super::cusparse::{Csr, CusparseHandle, check, data_type, handle};
use super::pointer;
use super::row;
use crate::cuda::gpu::Gpu;
use crate::cuda::meter;
use crate::cuda::operand::Word;
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::portable::element::{Operand, Output};
use crate::portable::lanes::AsCsr;
use crate::portable::moves::compressed;
use crate::portable::spgemm::{Factors, open};
use crate::portable::unit::Unit;
use cudarc::cusparse::sys::{self, cusparseOperation_t, cusparseSpGEMMAlg_t};
use sparse_types::Precision;
use sparse_types::contract::Op;
use sparse_types::format::FormatKind;
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, Task};
use std::ffi::c_void;
use std::ptr;

const KEEP: cusparseOperation_t = cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;
const ALGORITHM: cusparseSpGEMMAlg_t = cusparseSpGEMMAlg_t::CUSPARSE_SPGEMM_DEFAULT;

/// f64 and f32.
pub(super) fn rows() -> Vec<Kernel> {
    use Precision::{F32, F64};
    let runs: [((Precision, Precision, Precision), Run); 2] =
        [((F64, F64, F64), run::<f64>), ((F32, F32, F32), run::<f32>)];
    let what = (Op::Spgemm, FormatKind::Csr, "cusparse");
    runs.map(|(types, run)| row(what, types, &[Feature::Cusparse], run)).into()
}

fn run<T>(task: Task<'_>) -> Result<Answer, Refusal>
where
    T: Unit + Operand<T> + Output<T> + Word,
{
    let Factors { shape, picks: a, added: b, .. } = open::<AsCsr, T>(task)?;
    let gpu = Gpu::get()?;
    let rows = shape.0;
    if a.values.is_empty() || b.values.is_empty() {
        let empty = (vec![0; rows + 1], Vec::new(), Vec::<T>::new());
        return Ok(compressed(FormatKind::Csr, shape, empty));
    }
    let inner = b.ptr.len() - 1;
    let (operands, seconds) = meter::prepared(gpu, || {
        let _held = handle(gpu)?;
        let a = Csr::new(gpu, (rows, inner), (a.ptr, a.index, a.values))?;
        Ok((a, Csr::new(gpu, (inner, shape.1), (b.ptr, b.index, b.values))?))
    })?;
    let (a, b) = &operands;
    let mut product = None;
    meter::queue(gpu, seconds, || {
        product = Some(multiply(gpu, a, b, shape)?);
        Ok(())
    })?;
    let Some(c) = product else {
        return Err(RequestError::Zero { field: "products" }.into());
    };
    let (mut offsets, mut indices) = (vec![0u32; rows + 1], vec![0u32; c.nnz]);
    let mut bits = vec![T::Bits::default(); c.nnz];
    gpu.download(&c.csr.arrays.0, &mut offsets)?;
    gpu.download(&c.csr.arrays.1, &mut indices)?;
    gpu.download(&c.csr.arrays.2, &mut bits)?;
    let values = bits.into_iter().map(T::element).collect();
    let (indices, values) = sorted(&offsets, indices, values);
    Ok(compressed(FormatKind::Csr, shape, (offsets, indices, values)))
}

/// Each row by ascending column.
fn sorted<T: Copy>(offsets: &[u32], indices: Vec<u32>, values: Vec<T>) -> (Vec<u32>, Vec<T>) {
    let mut pairs: Vec<(u32, T)> = indices.into_iter().zip(values).collect();
    for ends in offsets.windows(2) {
        // Offsets that do not fit are for the judge to find.
        if let Some(row) = pairs.get_mut(ends[0] as usize..ends[1] as usize) {
            row.sort_unstable_by_key(|pair| pair.0);
        }
    }
    pairs.into_iter().unzip()
}

struct SpgemmProduct<T: Word> {
    csr: Csr<T>,
    nnz: usize,
}

/// A descriptor of the steps in between, destroyed when dropped.
struct SpgemmDescriptor(sys::cusparseSpGEMMDescr_t);

impl Drop for SpgemmDescriptor {
    fn drop(&mut self) {
        // SAFETY: made by cusparseSpGEMM_createDescr and destroyed once; nothing can be done about a failure.
        let _ = unsafe { sys::cusparseSpGEMM_destroyDescr(self.0) };
    }
}

/// One phase of the library.
type Phase = unsafe fn(
    sys::cusparseHandle_t,
    cusparseOperation_t,
    cusparseOperation_t,
    *const c_void,
    sys::cusparseConstSpMatDescr_t,
    sys::cusparseConstSpMatDescr_t,
    *const c_void,
    sys::cusparseSpMatDescr_t,
    sys::cudaDataType,
    cusparseSpGEMMAlg_t,
    sys::cusparseSpGEMMDescr_t,
    *mut usize,
    *mut c_void,
) -> sys::cusparseStatus_t;

fn multiply<T: Unit + Word>(
    gpu: &Gpu,
    a: &Csr<T>,
    b: &Csr<T>,
    shape: (usize, usize),
) -> Result<SpgemmProduct<T>, Refusal> {
    let handle = handle(gpu)?;
    let offsets = vec![0u32; shape.0 + 1];
    // The result without room for entries: the library fills in the offsets and says how many there are.
    let mut c = Csr::<T>::new(gpu, shape, (&offsets, &[], &[]))?;
    let mut descriptor = ptr::null_mut();
    // SAFETY: writes one pointer to a live local.
    let status = unsafe { sys::cusparseSpGEMM_createDescr(&raw mut descriptor) };
    check("describe an SpGEMM", status)?;
    let steps = SpgemmDescriptor(descriptor);
    let factors = (T::ONE, T::ZERO);
    let phase = |what, phase: Phase| {
        let mut bytes = 0;
        let call = |bytes: &mut usize, buffer| {
            // SAFETY: the handle and the descriptors of A, B, C and the steps are live, as are their buffers; the factors are
            // live numbers of the compute type. The first call, without a buffer, writes the size to a live local; the
            // second has a buffer of that size, held until the last phase is over.
            let status = unsafe {
                phase(
                    handle.raw(),
                    KEEP,
                    KEEP,
                    (&raw const factors.0).cast(),
                    a.descriptor.cast_const(),
                    b.descriptor.cast_const(),
                    (&raw const factors.1).cast(),
                    c.descriptor,
                    data_type(<T as Unit>::PRECISION),
                    ALGORITHM,
                    steps.0,
                    bytes,
                    buffer,
                )
            };
            check(what, status)
        };
        call(&mut bytes, ptr::null_mut())?;
        let buffer = gpu.zeros::<u8>(bytes)?;
        call(&mut bytes, pointer(&buffer))?;
        Ok::<_, Refusal>(buffer)
    };
    let held = (
        phase("estimate an SpGEMM", sys::cusparseSpGEMM_workEstimation)?,
        phase("compute an SpGEMM", sys::cusparseSpGEMM_compute)?,
    );
    let nnz = entries(&c)?;
    c.arrays.1 = gpu.zeros(nnz)?;
    c.arrays.2 = gpu.zeros(nnz)?;
    copy(&handle, (a, b, &c), factors, &steps)?;
    drop(held);
    Ok(SpgemmProduct { csr: c, nnz })
}

fn entries<T: Word>(c: &Csr<T>) -> Result<usize, Refusal> {
    let (mut rows, mut cols, mut nnz) = (0, 0, 0);
    // SAFETY: a live descriptor, and pointers to live locals.
    let status =
        unsafe { sys::cusparseSpMatGetSize(c.descriptor, &raw mut rows, &raw mut cols, &raw mut nnz) };
    check("count entries", status)?;
    Ok(usize::try_from(nnz).unwrap_or(0))
}

fn copy<T: Unit + Word>(
    handle: &CusparseHandle,
    (a, b, c): (&Csr<T>, &Csr<T>, &Csr<T>),
    factors: (T, T),
    steps: &SpgemmDescriptor,
) -> Result<(), Refusal> {
    // SAFETY: live descriptors and buffers as in `multiply`; C's new buffers have as many elements as the library counted.
    unsafe {
        let set = sys::cusparseCsrSetPointers(
            c.descriptor,
            pointer(&c.arrays.0),
            pointer(&c.arrays.1),
            pointer(&c.arrays.2),
        );
        check("take the result's buffers", set)?;
        let status = sys::cusparseSpGEMM_copy(
            handle.raw(),
            KEEP,
            KEEP,
            (&raw const factors.0).cast(),
            a.descriptor.cast_const(),
            b.descriptor.cast_const(),
            (&raw const factors.1).cast(),
            c.descriptor,
            data_type(<T as Unit>::PRECISION),
            ALGORITHM,
            steps.0,
        );
        check("copy an SpGEMM", status)
    }
}
