//! The C ABI boundary: a shared library that exports `sparse_conformance.h`, called between guards.
//!
//! ```text
//! Task (borrowed, typed) -> copies between guards -> sc_run in the library -> guards and inputs compared -> Answer
//!                           sparse.rs, dense.rs      abi.rs, plugin.rs         guarded.rs, host.rs
//! ```
//!
//! Beside instructions without a safe form in `sparse-kernels`, and calls of MKL in `sparse-mkl`, this is the only unsafe code
//! of the project. What a
//! library does to the process it is loaded into nobody can undo: the `conformance` command loads it in a child process
//! only, and what is found here (a guard overwritten, an input changed) is what a library that is wrong, not one that is
//! malicious, does. The header is version 1 and frozen; [`abi::LAYOUT`] is compared with what a C compiler makes of it.

pub mod abi;
mod dense;
mod element;
mod environment;
mod error;
mod fault;
mod guarded;
mod host;
mod plugin;
mod sparse;
#[doc(hidden)]
pub mod trial;

pub use element::is_in_header;
pub use environment::Environment;
pub use error::{PluginError, RunError};
pub use plugin::Plugin;
