//! Intel MKL's inspector-executor sparse products, loaded at run time, for comparison in `conformance bench`.
//!
//! ```text
//! find -> Mkl (libmkl_rt, one thread layer) -> Csr (checked arrays + handle) -> optimize -> mm | multiply -> Product
//! library.rs                                   matrix.rs                                              product.rs
//! ```
//!
//! Nothing of MKL is linked or shipped. Every function here is safe: arrays are checked before MKL sees them, lengths before
//! every product, and a handle owns the arrays that it points into. That MKL itself stays within what it is given is
//! assumed, as for any library.
//!
//! Source: Intel oneMKL developer reference for C, "Inspector-executor Sparse BLAS Routines" and "Threading Control"; the
//! constants are those of `mkl_spblas.h` and `mkl_service.h`. 32-bit indices (the LP64 interface).

mod abi;
mod error;
mod library;
mod matrix;
mod product;

pub use abi::Number;
pub use error::MklError;
pub use library::{Mkl, find};
pub use matrix::Csr;
pub use product::{Product, Sorted};
