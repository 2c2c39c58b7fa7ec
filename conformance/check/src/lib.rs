//! A sparse matrix kernel judged in `cargo test`.
//!
//! ```
//! use sparse_check::{Csr, spmv};
//!
//! # fn my_spmv(row_ptr: &[u32], col_idx: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
//! #     for (i, y) in y.iter_mut().enumerate() {
//! #         let row = row_ptr[i] as usize..row_ptr[i + 1] as usize;
//! #         *y = row.map(|at| values[at] * x[col_idx[at] as usize]).sum();
//! #     }
//! # }
//! // #[test]
//! fn my_spmv_is_right() {
//!     spmv(|a: &Csr<f32>, x, y| my_spmv(&a.row_ptr, &a.col_idx, &a.values, x, y)).assert();
//! }
//! # my_spmv_is_right();
//! ```
//!
//! The kernel is asked some 150 cases of its contract that are drawn so that every pair of what cases vary in occurs: hard patterns (empty
//! rows, one dense row, more than 2^16 columns, ..) with hard values (huge, tiny, infinite, NaN, signed zeros, sums that cancel). Outputs are
//! filled with a NaN beforehand and have guards behind them, inputs are compared afterwards, one case in four is run again. Each element must
//! be what exact arithmetic gives, or lie within a bound that is derived for it from the operands: no tolerance is guessed.
//!
//! ```text
//! closure -> Check -> plan -> cases -> verdicts -> Passed                        (sparse-conformance-core asks and judges)
//!                                               -> Failed: first wrong element, smallest case, the line that runs it again
//! ```
//!
//! A kernel is a closure over a format with its element type ([`Csr`]`<f32>`, [`Coo`](format::Coo)`<f64>`, ..) and slices. Dense matrices lie by
//! rows, without padding. [`backend`] judges anything that implements the suite's [`Backend`] trait: transposes, strides, alpha and beta,
//! refusals. `SPARSE_REPORT=DIR cargo test` writes what was judged, and every finding, into files. The whole suite, with pages, other languages
//! and many kernels at once, is the command `conformance`.

#![forbid(unsafe_code)]

mod check;
mod closure;
mod failed;
mod operations;
mod smallest;
mod tests_macro;
mod written;

pub use self::check::{Check, Passed};
pub use self::failed::{Failed, Found};
pub use self::operations::{
    backend, convert, sddmm, spgemm, spmm, spmm_update, spmv, spmv_update, transpose,
};
pub use sparse_conformance_core::backend::{Backend, Failure, Support};
pub use sparse_conformance_core::case::Params;
pub use sparse_conformance_core::plan::Tier;
pub use sparse_oracle::format::{self, Csr, CsrParts};
pub use sparse_oracle::{arithmetic, contract, profile, scalar, task};
