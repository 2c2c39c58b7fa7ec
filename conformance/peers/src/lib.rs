//! The built-in backends: our own kernels, one backend for each engine that this machine has, and the libraries that they are compared
//! with. Each says what it supports and how it rounds; none of them judges.

#![forbid(unsafe_code)]

mod kernel;
mod mkl;
mod nalgebra;
mod number;
#[cfg(feature = "cuda")]
mod nvidia;
mod ours;
mod sprs;

pub use self::kernel::{OneKernel, failure};
pub use self::mkl::Mkl;
pub use self::nalgebra::NalgebraSparse;
#[cfg(feature = "cuda")]
pub use self::nvidia::Nvidia;
pub use self::ours::{Ours, Portable};
pub use self::sprs::Sprs;

use sparse_conformance_core::backend::Backend;

/// The built-in backends that run by default, in the order of reports: our kernels for each engine that this machine has, then other
/// libraries.
#[must_use]
pub fn built_in() -> Vec<Box<dyn Backend>> {
    let mut all = all();
    all.retain(|backend| !backend.by_name_only());
    all
}

/// All of them, with those that run by name only: our kernels for GPUs as a CPU plays them.
#[must_use]
pub fn all() -> Vec<Box<dyn Backend>> {
    let mut all: Vec<Box<dyn Backend>> = Vec::new();
    all.extend(Ours::all().into_iter().map(|ours| Box::new(ours) as Box<dyn Backend>));
    #[cfg(feature = "cuda")]
    all.extend(Nvidia::all().map(|library| Box::new(library) as Box<dyn Backend>));
    all.push(Box::new(Sprs));
    all.push(Box::new(NalgebraSparse));
    all
}
