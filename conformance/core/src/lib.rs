//! What must be read, beside the oracle, to trust a verdict: how a case is asked, run, judged and recorded.
//!
//! ```text
//! plan -> case -> operands -> backend -> response -> oracle's verdict -> record -> report (the data, no files)
//! ```
//!
//! The backend never judges itself: it sees operands and a poisoned output, nothing else. Who is asked (`sparse-conformance-peers`, plug-ins,
//! processes), what is made of a report, and the command line are in crates above this one.

#![forbid(unsafe_code)]

pub mod after;
pub mod backend;
pub mod case;
pub mod declaration;
pub mod degenerate;
pub mod determinism;
pub mod digest;
pub mod element;
pub mod encodings;
pub mod execute;
pub mod kept;
pub mod keys;
#[cfg(feature = "files")]
pub mod manifest;
pub mod memory;
pub mod operands;
pub mod origin;
pub mod placed;
pub mod plan;
pub mod record;
mod refusing;
pub mod report;
pub mod response;
pub mod right;
pub mod runner;
pub mod sequence;
pub mod shard;
pub mod shrink;
