//! The judge: cases, backends, the runner that brings them together, and reports.
//!
//! ```text
//! plan -> case -> operands -> backend -> answer -> oracle's verdict -> record -> report
//! ```
//!
//! The backend never judges itself: it sees operands and a poisoned output, nothing else.

#![forbid(unsafe_code)]

mod beside;
pub mod campaign;
pub mod cli;
mod content;
mod described;
pub mod expectations;
mod groups;
pub mod inspect;
pub mod journal;
mod late;
mod notice;
pub mod ptx;
pub mod remote;
pub mod report;
pub mod reproducer;
mod worth;

pub use sparse_conformance_bench as bench;
pub(crate) use sparse_conformance_core::record;
pub use sparse_conformance_core::{
    after, case, declaration, degenerate, determinism, digest, element, encodings, execute, kept, keys,
    manifest, memory, operands, origin, placed, plan, response, right, runner, sequence, shard, shrink,
};
pub use sparse_conformance_probe as probe;
pub use sparse_conformance_selftest as selftest;

/// Who can be asked: the trait, and the built-in backends.
pub mod backend {
    pub use sparse_conformance_core::backend::*;
    pub use sparse_conformance_peers::*;
}
