//! From a result to a verdict: every output element of a case against its exact value.
//!
//! ```text
//! problem (exact sums, row by row)  ->  rule (T0, T1, T2 for one element)  ->  tally (one verdict)
//!                                   \-> vacuity (would zeros, stale C, a skipped row be noticed?)
//! ```
//!
//! Conversions and transposes move bits and are judged by [`judge_moved`], those into formats of the
//! papers by [`judge_encoded`].

mod accepted;
mod encoded;
mod load;
mod moves;
mod problem;
mod row;
mod rule;
mod sheet;
mod slots;
mod tally;
mod vacuity;

pub use accepted::{Accepted, ElementVerdict};
pub use encoded::{first_difference, judge_encoded};
pub use moves::{judge_moved, judge_spgemm};
pub use problem::{Problem, Site, Terms};
pub use rule::Rule;
pub use sheet::Sheet;
pub use slots::{bcsr_slots, libra_spmm_slots, loops_slots, rs_tile_slots};
pub use tally::{Judged, Output, Place, judge};
pub use vacuity::{Alternative, Vacuity, vacuity};
