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
//!
//! # A matrix, a result, a verdict
//!
//! ```
//! use sparse_oracle::arithmetic::Arithmetic;
//! use sparse_oracle::format::{AnySparse, Csr, CsrParts, Sparse};
//! use sparse_oracle::judge::Found;
//! use sparse_oracle::task::{DenseRef, Inputs};
//! use sparse_oracle::{Precision, contract::Op, judge, profile::Profile, scalar::AnySlice, verdict::Verdict};
//!
//! // y = (0.1 0.2) * (0.3, 0.7), all in f32.
//! let values = vec![0.1f32, 0.2];
//! let a = Csr::try_new(CsrParts { rows: 1, cols: 2, row_ptr: vec![0, 2], col_idx: vec![0, 1], values })?;
//! let (a, x) = (AnySparse::from(Sparse::Csr(a)), DenseRef::column(AnySlice::F32(&[0.3, 0.7])));
//! let task = Inputs { b: Some(x), ..Inputs::plain(Op::Spmv, &a) };
//!
//! // A kernel that declares f32 sums in any order, and what it returned.
//! let (declared, profile) = (Arithmetic::any(Precision::F32, Precision::F32), Profile::default());
//! let verdict = |y: f32| judge(&task, (&declared, &profile), Found::row_major(AnySlice::F32(&[y]), 1)).verdict;
//! assert!(matches!(verdict(0.1 * 0.3 + 0.2 * 0.7), Verdict::Within { .. }));
//! let Verdict::Wrong(mismatch) = verdict(0.1701) else { panic!("one part in two thousand is too much") };
//! assert!(mismatch.message.starts_with("element (0, 0)"), "{}", mismatch.message);
//! # Ok::<(), sparse_oracle::Refusal>(())
//! ```

#![forbid(unsafe_code)]

pub mod bound;
pub mod exact;
pub mod format;
#[cfg(feature = "interop")]
pub mod interop;
pub mod judge;
pub mod model;
pub mod op;
pub mod plain_file;
pub mod prelude;
pub mod scalar;
pub mod source;
#[cfg(feature = "strategies")]
pub mod strategy;

pub use format::convert;
pub use judge::judge;
pub use scalar::Rounding;
pub use sparse_types::{
    Bf16, E4m3, E5m2, EncodingError, EngineError, F16, Limit, Precision, Refusal, RequestError, Scalar, Tf32,
    arithmetic, contract, each_format, each_parts, each_precision, each_sparse, profile, refusal, task,
    verdict, with_format, with_scalar,
};
