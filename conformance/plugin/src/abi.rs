//! The structs of `sparse_conformance.h`, version 1, and where their fields are.

use std::ffi::{c_char, c_void};

/// The version of the header that this crate speaks.
pub const ABI_VERSION: u32 = 1;

/// What `sc_run` returns after it wrote its result.
pub(crate) const OK: i32 = 0;
/// What `sc_run` returns after it refused the request.
pub(crate) const REFUSED: i32 = 1;

#[repr(C)]
pub(crate) struct ScArray {
    pub(crate) name: *const c_char,
    pub(crate) data: *const c_void,
    pub(crate) count: u64,
    pub(crate) dtype: i32,
    pub(crate) reserved: i32,
}

#[repr(C)]
pub(crate) struct ScNumber {
    pub(crate) name: *const c_char,
    pub(crate) value: u64,
}

#[repr(C)]
pub(crate) struct ScSparse {
    pub(crate) struct_size: u32,
    pub(crate) dtype: i32,
    pub(crate) format: *const c_char,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    pub(crate) arrays: *const ScArray,
    pub(crate) extents: *const ScNumber,
    pub(crate) array_count: u32,
    pub(crate) extent_count: u32,
}

#[repr(C)]
pub(crate) struct ScDense {
    pub(crate) struct_size: u32,
    pub(crate) dtype: i32,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    pub(crate) ld: u64,
    pub(crate) count: u64,
    pub(crate) layout: i32,
    pub(crate) reserved: i32,
    pub(crate) data: *mut c_void,
}

#[repr(C)]
pub(crate) struct ScTask {
    pub(crate) struct_size: u32,
    pub(crate) op: i32,
    pub(crate) contract: *const c_char,
    pub(crate) a: *const ScSparse,
    pub(crate) b_sparse: *const ScSparse,
    pub(crate) b: *const ScDense,
    pub(crate) y: *const ScDense,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) transpose_a: i32,
    pub(crate) transpose_b: i32,
    pub(crate) mode: i32,
    pub(crate) param_count: u32,
    pub(crate) to: *const c_char,
    pub(crate) params: *const ScNumber,
}

pub(crate) type NewArray = unsafe extern "C" fn(*mut ScResult, *const c_char, i32, u64) -> *mut c_void;
pub(crate) type SetExtent = unsafe extern "C" fn(*mut ScResult, *const c_char, u64) -> i32;
pub(crate) type Refuse = unsafe extern "C" fn(*mut ScResult, *const c_char);

#[repr(C)]
pub(crate) struct ScResult {
    pub(crate) struct_size: u32,
    pub(crate) dtype: i32,
    pub(crate) c: *const ScDense,
    pub(crate) host: *mut c_void,
    pub(crate) new_array: NewArray,
    pub(crate) set_extent: SetExtent,
    pub(crate) refuse: Refuse,
}

pub(crate) type AbiVersion = unsafe extern "C" fn() -> u32;
pub(crate) type Manifest = unsafe extern "C" fn() -> *const c_char;
/// A C++ exception that leaves `sc_run` unwinds to here, and aborts: the process is lost, which is what its host expects.
pub(crate) type Run = unsafe extern "C-unwind" fn(*const ScTask, *mut ScResult) -> i32;

/// Checks offsets when this is compiled, and lists them for the test that asks a C compiler.
macro_rules! layout {
    ($($rust:ident as $c:literal, $size:literal: { $($field:ident: $at:literal),* $(,)? })*) => {
        $(const _: () = {
            assert!(size_of::<$rust>() == $size);
            $(assert!(std::mem::offset_of!($rust, $field) == $at);)*
        };)*

        /// Every field of every struct of version 1: struct, field, offset in bytes; an empty field stands for the size.
        pub const LAYOUT: &[(&str, &str, usize)] = &[
            $($(($c, stringify!($field), $at),)* ($c, "", $size),)*
        ];
    };
}

layout! {
    ScArray as "sc_array", 32: { name: 0, data: 8, count: 16, dtype: 24, reserved: 28 }
    ScNumber as "sc_number", 16: { name: 0, value: 8 }
    ScSparse as "sc_sparse", 56: {
        struct_size: 0, dtype: 4, format: 8, rows: 16, cols: 24, arrays: 32, extents: 40, array_count: 48,
        extent_count: 52,
    }
    ScDense as "sc_dense", 56: {
        struct_size: 0, dtype: 4, rows: 8, cols: 16, ld: 24, count: 32, layout: 40, reserved: 44, data: 48,
    }
    ScTask as "sc_task", 96: {
        struct_size: 0, op: 4, contract: 8, a: 16, b_sparse: 24, b: 32, y: 40, alpha: 48, beta: 56, transpose_a: 64,
        transpose_b: 68, mode: 72, param_count: 76, to: 80, params: 88,
    }
    ScResult as "sc_result", 48: {
        struct_size: 0, dtype: 4, c: 8, host: 16, new_array: 24, set_extent: 32, refuse: 40,
    }
}
