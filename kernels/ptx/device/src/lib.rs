//! A GPU for the kernels of `sparse-kernels` that a CPU plays.
//!
//! ```text
//! row.run_on(&gpu, task):     plan, buffers, launches on the host   -> GpuMachine (here) -> sparse-ptx: PTX, step by step, checked
//!                             the same code as for a real GPU                         -> what is wrong fails the launch
//! ```
//!
//! What the host code of a kernel does (cutting work, uploading, choosing an entry, the size of the grid) and what the entry's PTX does
//! both run as they would on silicon; only the driver is another one.

#![forbid(unsafe_code)]

mod player;
mod texts;

pub use player::{Counted, Player};
pub use texts::{TextError, Texts};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
