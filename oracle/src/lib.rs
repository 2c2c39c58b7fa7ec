//! What is right.
//!
//! The oracle defines the exact semantics of sparse formats, conversions and kernels, and judges results
//! against them. It is slow where that is clearer and exact always; it holds no `unsafe` code and no
//! algorithm that a kernel uses. The types are those of `sparse-types`, which kernels share. The folder reads as the data flow:
//!
//! ```text
//! source -> format (encoders, decoders) -> op (exact value, gauge, terms) -> bound | model -> judge -> verdict
//!             scalar, exact: the arithmetic underneath       contract, arithmetic, profile: what was promised
//! ```
//!
//! Nouns, each one type, defined once:
//!
//! - a [`source`] makes matrices, seeded and counted;
//! - a [`mod@format`] is a storage layout: plain parts, a checked constructor, typed refusals;
//! - a [`contract::Contract`] is what must be computed: operation x format x element types;
//! - an [`arithmetic::Arithmetic`] is how a kernel declares that it rounds;
//! - a [`profile::Profile`] is how a backend declares that it settles the choices a contract leaves open;
//! - a [`verdict::Verdict`] is the oracle's judgement of what came back.

#![forbid(unsafe_code)]

pub mod bound;
pub mod exact;
pub mod format;
#[cfg(feature = "interop")]
pub mod interop;
pub mod judge;
pub mod model;
pub mod op;
pub mod prelude;
pub mod scalar;
pub mod schedule;
pub mod source;
#[cfg(feature = "strategies")]
pub mod strategy;

pub use format::convert;
pub use scalar::Rounding;
#[cfg(feature = "approx")]
pub use sparse_types::approximate;
pub use sparse_types::{
    Bf16, E4m3, E5m2, F16, Precision, Refusal, Scalar, Tf32, arithmetic, contract, each_format, each_parts,
    each_precision, each_sparse, profile, refusal, task, verdict, with_format, with_scalar,
};
