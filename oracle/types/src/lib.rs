//! The data that kernels and their judge share, and no algorithm of either: kernels depend on this crate and not on the
//! oracle, so that the compiler keeps them apart.
//!
//! ```text
//! scalar     element types: what a bit pattern means            (what a number rounds to: the oracle)
//! format     storage layouts: plain parts, checked constructor  (encoders and decoders: the oracle)
//! arithmetic how a kernel declares that it rounds               (models and bounds: the oracle)
//! contract   what must be computed: operation x format x element types
//! profile    how a backend settles what a contract leaves open
//! task       one request, and the answer
//! refusal    why a request or an encoding is refused            verdict   what is said of an answer
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "approx")]
pub mod approximate;
pub mod arithmetic;
pub mod contract;
pub mod format;
pub mod profile;
pub mod refusal;
pub mod scalar;
pub mod task;
pub mod verdict;
mod wrong_elements;

pub use refusal::{EncodingError, EngineError, Limit, Refusal, RequestError};
pub use scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};
