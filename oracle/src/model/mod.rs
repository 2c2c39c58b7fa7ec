//! Criterion T2: the very bits that a declared deterministic reduction gives.
//!
//! One file or folder per family of units. A model is a short function on the declared order of terms; it knows nothing about
//! sparse formats and shares no code with the kernels it judges.

mod admissible;
pub mod chain;
pub mod cpu;
mod error;
pub mod recording;
pub mod reduction;
pub mod tensor_core;
pub mod trace;

pub use admissible::{Admits, Contradicts};
pub use error::ModelError;
