//! The types, constants and functions of `mkl_spblas.h` and `mkl_service.h` that are used here.

use crate::error::MklError;
use std::ffi::{c_char, c_int, c_void};
use std::fmt::Debug;

/// `sparse_matrix_t`.
pub(crate) type Handle = *mut c_void;

/// `struct matrix_descr`: three enumerations, passed by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Description {
    kind: c_int,
    mode: c_int,
    diagonal: c_int,
}

const _: () = {
    assert!(size_of::<Description>() == 12);
    assert!(std::mem::offset_of!(Description, kind) == 0);
    assert!(std::mem::offset_of!(Description, mode) == 4);
    assert!(std::mem::offset_of!(Description, diagonal) == 8);
};

/// `SPARSE_MATRIX_TYPE_GENERAL`; the other two are not read for it.
pub(crate) const GENERAL: Description = Description { kind: 20, mode: 40, diagonal: 50 };
/// `SPARSE_OPERATION_NON_TRANSPOSE`.
pub(crate) const PLAIN: c_int = 10;
/// `SPARSE_LAYOUT_ROW_MAJOR`.
pub(crate) const ROW_MAJOR: c_int = 101;
/// `SPARSE_INDEX_BASE_ZERO`.
pub(crate) const ZERO_BASED: c_int = 0;

/// Names of `sparse_status_t`, by value.
const STATUS: [&str; 7] = [
    "SPARSE_STATUS_SUCCESS",
    "SPARSE_STATUS_NOT_INITIALIZED",
    "SPARSE_STATUS_ALLOC_FAILED",
    "SPARSE_STATUS_INVALID_VALUE",
    "SPARSE_STATUS_EXECUTION_FAILED",
    "SPARSE_STATUS_INTERNAL_ERROR",
    "SPARSE_STATUS_NOT_SUPPORTED",
];

/// Success, or the status as an error.
pub(crate) fn check(call: &'static str, status: c_int) -> Result<(), MklError> {
    if status == 0 {
        return Ok(());
    }
    let known = usize::try_from(status).ok().and_then(|at| STATUS.get(at));
    Err(MklError::Status { call, status, name: known.copied().unwrap_or("an unknown status") })
}

/// `mkl_sparse_?_create_csr`: handle, index base, rows, columns, first and last offset of each row, columns, values.
pub(crate) type Create<T> = unsafe extern "C" fn(
    *mut Handle,
    c_int,
    c_int,
    c_int,
    *mut c_int,
    *mut c_int,
    *mut c_int,
    *mut T,
) -> c_int;
/// `mkl_sparse_?_export_csr`: the same, out.
pub(crate) type Export<T> = unsafe extern "C" fn(
    Handle,
    *mut c_int,
    *mut c_int,
    *mut c_int,
    *mut *mut c_int,
    *mut *mut c_int,
    *mut *mut c_int,
    *mut *mut T,
) -> c_int;
/// `mkl_sparse_?_mm`: operation, alpha, A, description, layout, B, columns, ldb, beta, C, ldc.
pub(crate) type Mm<T> = unsafe extern "C" fn(
    c_int,
    T,
    Handle,
    Description,
    c_int,
    *const T,
    c_int,
    c_int,
    T,
    *mut T,
    c_int,
) -> c_int;
/// `mkl_sparse_set_mm_hint`: A, operation, description, layout, columns of B, expected calls.
pub(crate) type MmHint = unsafe extern "C" fn(Handle, c_int, Description, c_int, c_int, c_int) -> c_int;
/// `mkl_sparse_spmm`: operation, A, B, C (out).
pub(crate) type Spmm = unsafe extern "C" fn(c_int, Handle, Handle, *mut Handle) -> c_int;
/// `mkl_sparse_optimize`, `mkl_sparse_order`, `mkl_sparse_destroy`.
pub(crate) type OfHandle = unsafe extern "C" fn(Handle) -> c_int;
/// `MKL_Set_Threading_Layer`, `MKL_Set_Interface_Layer`: the layer; what is in force comes back.
pub(crate) type Layer = unsafe extern "C" fn(c_int) -> c_int;
/// `MKL_Set_Num_Threads`, `MKL_Set_Dynamic`, `kmp_set_blocktime`.
pub(crate) type SetInt = unsafe extern "C" fn(c_int);
/// `MKL_Get_Max_Threads`.
pub(crate) type GetInt = unsafe extern "C" fn() -> c_int;
/// `MKL_Get_Version_String`: buffer and its length.
pub(crate) type VersionText = unsafe extern "C" fn(*mut c_char, c_int);

/// The functions of one element type.
#[derive(Clone, Copy, Debug)]
pub struct Typed<T> {
    pub(crate) create: Create<T>,
    pub(crate) export: Export<T>,
    pub(crate) mm: Mm<T>,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The element types: f32 and f64.
pub trait Number: sealed::Sealed + Copy + Debug + Default + Send + Sync + 'static {
    /// 1.
    const ONE: Self;
    #[doc(hidden)]
    fn functions(mkl: &crate::Mkl) -> Typed<Self>;
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    fn functions(mkl: &crate::Mkl) -> Typed<f32> {
        mkl.single
    }
}

impl Number for f64 {
    const ONE: f64 = 1.0;
    fn functions(mkl: &crate::Mkl) -> Typed<f64> {
        mkl.double
    }
}
