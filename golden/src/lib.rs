//! Pinned tolerances and pinned errors, rendered as text that a person reviews.
//!
//! ```text
//! tolerances        every number that a T1 verdict depends on: what a declared arithmetic promises for an element of n terms
//! pinned            what the papers' kernels do: table -> case -> layout -> prepared -> statistics -> text;   ratchet compares texts
//! replay, compare   one element again; recordings of hardware beside the model
//! ```
//!
//! A tolerance is the relative share of the gauge and the absolute part. A change of one is a change of what the suite calls
//! wrong: it needs a line in CHANGELOG.md. README.md says what a row of the other tables means and how to review it.

#![forbid(unsafe_code)]

pub mod bounds;
pub mod case;
pub mod compare;
pub mod error;
pub mod families;
pub mod layout;
pub mod pinned;
pub mod prepared;
pub mod ratchet;
pub mod replay;
pub mod statistics;
pub mod table;
mod tolerances;
pub mod ulp;

pub use tolerances::{FACTORS, TERMS, tolerance_entries, tolerance_table};
