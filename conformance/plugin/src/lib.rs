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

#[cfg(feature = "load")]
pub mod abi;
#[cfg(feature = "load")]
mod dense;
#[cfg(feature = "load")]
mod element;
mod environment;
#[cfg(feature = "load")]
mod error;
#[cfg(feature = "load")]
mod fault;
#[cfg(feature = "load")]
mod guarded;
#[cfg(feature = "load")]
mod host;
#[cfg(feature = "load")]
mod plugin;
#[cfg(feature = "load")]
mod sparse;
#[cfg(feature = "load")]
#[doc(hidden)]
pub mod trial;

#[cfg(feature = "load")]
pub use element::is_in_header;
pub use environment::Environment;
#[cfg(feature = "load")]
pub use error::{PluginError, RunError};
#[cfg(feature = "load")]
pub use plugin::Plugin;
