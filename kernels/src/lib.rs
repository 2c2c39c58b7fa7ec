//! What is fast: our kernels, one row each in [`registry::all_kernels`], with the arithmetic that they declare.
//!
//! Kernels share data with the oracle (`sparse-types`: element types, formats, contracts, tasks, refusals) and none of its algorithms:
//! this crate does not depend on it. Every schedule, conversion and rounding is written again here, so that agreement
//! with the oracle is evidence.
//!
//! ```text
//! Task -> registry row (contract, engine) -> request (checked, typed) -> lanes of A, packed B -> loops -> epilogue -> C
//! ```

#![deny(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod arm;
pub mod cuda;
mod engine;
mod explain;
mod feature;
pub mod iops;
mod kernel;
mod machine;
pub mod name;
pub mod planned;
mod portable;
pub mod registry;
mod rowwise;
pub mod schedule;
mod spread;
mod workers;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use engine::Engine;
pub use explain::explain;
pub use feature::Feature;
pub use kernel::{Kernel, Run, RunSplit};
pub use name::{KernelName, NameError};
pub use registry::{all_kernels, bitmap_decoders, kernels_here};
pub use workers::Split;
