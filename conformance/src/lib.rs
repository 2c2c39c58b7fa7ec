//! The judge: cases, backends, the runner that brings them together, and reports.
//!
//! ```text
//! plan -> case -> operands -> backend -> answer -> oracle's verdict -> record -> report
//! ```
//!
//! The backend never judges itself: it sees operands and a poisoned output, nothing else.

#![forbid(unsafe_code)]

pub mod after;
pub mod backend;
pub mod bench;
pub mod campaign;
pub mod case;
pub mod cli;
pub mod declaration;
pub mod degenerate;
pub mod determinism;
pub mod digest;
pub mod element;
pub mod encodings;
pub mod execute;
pub mod expectations;
pub mod fuzzing;
pub mod inspect;
pub mod journal;
pub mod kept;
pub mod keys;
pub mod manifest;
pub mod operands;
pub mod origin;
pub mod placed;
pub mod plan;
pub mod probe;
mod record;
pub mod remote;
pub mod report;
pub mod reproducer;
mod response;
pub mod right;
pub mod runner;
pub mod selftest;
pub mod sequence;
pub mod shard;
pub mod shrink;
mod worth;
