//! Models against silicon: one instruction at a time, random operands, every output bit compared on the spot.
//!
//! ```text
//! operands (seeded, 13 distributions) -> GPU registers in -> instruction -> registers out
//!          \-> layout -> rows and columns -> model ----------------------> compare -> report
//! ```
//!
//! Neither side is asked to agree with itself: layouts are written here again and compared with those of
//! `oracle::model::tensor_core::fragment` by a test, and each run also shows what wrong models would have scored on the same
//! outputs, so that a reader sees what the data can tell apart.

#![forbid(unsafe_code)]

mod candidate;
mod driver;
#[cfg(feature = "cuda")]
mod gpu;
mod group;
mod layout;
mod operands;
mod record;
mod report;

pub use candidate::{Candidate, Order, Subject};
pub use driver::{Executor, Options, mismatches, probe_all};
#[cfg(feature = "cuda")]
pub use gpu::Gpu;
pub use group::Judge;
pub use layout::{Layout, Metadata, Place};
pub use operands::{Batch, DISTRIBUTIONS};
pub use record::recording_name;
#[cfg(feature = "cuda")]
pub use report::SCHEMA;
pub use report::{Alternative, Mismatch, ProbeReport, Status, Summary};
