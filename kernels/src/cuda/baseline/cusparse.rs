//! cuSPARSE itself: its handle and its descriptors, each destroyed when dropped.

#![expect(unsafe_code, reason = "a C library")]

use super::{pointer, refused};
use crate::cuda::buffer::GpuBuffer;
use crate::cuda::gpu::Gpu;
use crate::cuda::library;
use crate::cuda::operand::{DeviceDense, Word};
use cudarc::cusparse::sys::{self, cudaDataType, cusparseStatus_t};
use sparse_types::Precision;
use sparse_types::refusal::{EngineError, Refusal, RequestError};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The library's handle, bound to the stream of all work.
#[derive(Debug)]
pub(super) struct CusparseHandle(sys::cusparseHandle_t);

// SAFETY: a handle may be used from any thread, by one at a time; it is only reached through the mutex of `handle`.
unsafe impl Send for CusparseHandle {}

/// Looks for the library, which cudarc panics without.
pub(in crate::cuda) fn is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: only tries to open a shared library by name and closes it again.
    *HERE.get_or_init(|| library::present(|| unsafe { sys::is_culib_present() }))
}

/// The status as a result.
pub(super) fn check(what: &'static str, status: cusparseStatus_t) -> Result<(), Refusal> {
    status.result().map_err(|error| refused("cuSPARSE", what)(error.0).into())
}

/// The handle, made at the first call; held while a product is queued.
pub(super) fn handle(gpu: &Gpu) -> Result<MutexGuard<'static, CusparseHandle>, Refusal> {
    static HANDLE: OnceLock<Result<Mutex<CusparseHandle>, Refusal>> = OnceLock::new();
    if !is_here() {
        return Err(EngineError::Unavailable { feature: "cusparse" }.into());
    }
    // The context must be current on every thread that calls the library.
    let silicon = gpu.silicon()?;
    silicon.bind()?;
    let made = HANDLE.get_or_init(|| {
        let mut handle = ptr::null_mut();
        // SAFETY: the library is here; it writes one pointer to a live local, and the stream lives as long as the process.
        unsafe {
            check("make a handle", sys::cusparseCreate(&raw mut handle))?;
            let stream = silicon.stream().cu_stream().cast();
            check("take the stream", sys::cusparseSetStream(handle, stream))?;
        }
        Ok(Mutex::new(CusparseHandle(handle)))
    });
    let mutex = made.as_ref().map_err(Clone::clone)?;
    Ok(mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

impl CusparseHandle {
    /// For the library.
    pub(super) const fn raw(&self) -> sys::cusparseHandle_t {
        self.0
    }
}

/// The name of an element type.
pub(super) fn data_type(precision: Precision) -> cudaDataType {
    match precision {
        Precision::F64 => cudaDataType::CUDA_R_64F,
        Precision::F16 => cudaDataType::CUDA_R_16F,
        Precision::Bf16 => cudaDataType::CUDA_R_16BF,
        _ => cudaDataType::CUDA_R_32F,
    }
}

/// A CSR matrix on the device with its descriptor.
#[derive(Debug)]
pub(super) struct Csr<T: Word> {
    pub(super) descriptor: sys::cusparseSpMatDescr_t,
    /// Held for the descriptor.
    pub(super) arrays: (GpuBuffer<u32>, GpuBuffer<u32>, GpuBuffer<T::Bits>),
}

impl<T: Word> Csr<T> {
    /// Uploads the arrays of a checked CSR matrix.
    pub(super) fn new(
        gpu: &Gpu,
        shape: (usize, usize),
        (row_ptr, col_idx, values): (&[u32], &[u32], &[T]),
    ) -> Result<Csr<T>, Refusal> {
        let nnz = values.len();
        for (field, extent) in [("rows", shape.0), ("columns", shape.1), ("nnz", nnz)] {
            if i32::try_from(extent).is_err() {
                return Err(Refusal::Request(RequestError::TooLarge {
                    field,
                    found: extent as u128,
                    limit: i32::MAX as u64,
                }));
            }
        }
        let bits = crate::cuda::operand::bits_of(values);
        let arrays = (gpu.upload(row_ptr)?, gpu.upload(col_idx)?, gpu.upload(&bits)?);
        let mut made = Csr { descriptor: ptr::null_mut(), arrays };
        let index = sys::cusparseIndexType_t::CUSPARSE_INDEX_32I;
        // SAFETY: the library is here, since a handle was made before. It writes one pointer to a live field and keeps the
        // three addresses, whose buffers `made` holds for as long; they have rows + 1, nnz and nnz elements.
        let status = unsafe {
            sys::cusparseCreateCsr(
                &raw mut made.descriptor,
                shape.0 as i64,
                shape.1 as i64,
                nnz as i64,
                pointer(&made.arrays.0),
                pointer(&made.arrays.1),
                pointer(&made.arrays.2),
                index,
                index,
                sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO,
                data_type(T::PRECISION),
            )
        };
        check("describe a CSR matrix", status)?;
        Ok(made)
    }
}

impl<T: Word> Drop for Csr<T> {
    fn drop(&mut self) {
        if !self.descriptor.is_null() {
            // SAFETY: made by cusparseCreateCsr and destroyed once; nothing can be done about a failure.
            let _ = unsafe { sys::cusparseDestroySpMat(self.descriptor) };
        }
    }
}

/// A descriptor of a dense row-major matrix, valid while its buffer lives.
#[derive(Debug)]
pub(super) struct DenseDescriptor(pub(super) sys::cusparseDnMatDescr_t);

impl DenseDescriptor {
    /// Describes a matrix.
    pub(super) fn new<T: Word>(matrix: &DeviceDense<T>) -> Result<DenseDescriptor, Refusal> {
        let mut descriptor = ptr::null_mut();
        // SAFETY: the library is here, since a handle was made before. It writes one pointer to a live local, and keeps the
        // address only; whoever uses the descriptor has the buffer.
        let status = unsafe {
            sys::cusparseCreateDnMat(
                &raw mut descriptor,
                matrix.rows as i64,
                matrix.cols as i64,
                matrix.ld as i64,
                pointer(&matrix.data),
                data_type(T::PRECISION),
                sys::cusparseOrder_t::CUSPARSE_ORDER_ROW,
            )
        };
        check("describe a dense matrix", status)?;
        Ok(DenseDescriptor(descriptor))
    }
}

impl Drop for DenseDescriptor {
    fn drop(&mut self) {
        // SAFETY: made by cusparseCreateDnMat and destroyed once; nothing can be done about a failure.
        let _ = unsafe { sys::cusparseDestroyDnMat(self.0) };
    }
}
