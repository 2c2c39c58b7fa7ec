//! From a result to a verdict: every output element of a case against its exact value.
//!
//! ```text
//! problem (exact sums, row by row)  ->  rule (T0, T1, T2 for one element)  ->  tally (one verdict)
//!                                   \-> vacuity (would zeros, stale C, a skipped row be noticed?)
//! ```
//!
//! [`judge`] takes a task as it stands: what its stored formats, layouts and transposes mean is worked out by [`ExactOperands`] and
//! [`Moved`], once for everybody who declares the same in [`Sheets`].
//!
//! Conversions and transposes move bits and are judged by [`judge_moved`], those into formats of the
//! papers by [`judge_encoded`].

mod accepted;
mod by_rows;
mod encoded;
mod exact_dense;
mod finest;
mod inputs_apart;
mod lanes;
mod load;
mod modelled;
mod moved;
mod moves;
mod noticed;
#[cfg(test)]
mod one_row;
mod operands;
mod output;
mod pads;
mod part_rows;
mod problem;
mod row;
mod row_allowance;
mod row_model;
mod rows;
mod rule;
mod screen;
mod shared;
mod sheet;
mod tally;
mod task;
mod terms_apart;
mod vacuity;

pub use accepted::{Accepted, ElementVerdict};
pub use encoded::{first_difference, judge_encoded};
pub use exact_dense::ExactDense;
pub use moved::Moved;
pub use moves::{Sums, judge_moved, judge_spgemm};
pub use operands::{ElementContext, ExactOperands, values_in_order};
pub use output::{Output, Place};
pub use problem::{ElementInput, Problem, Terms, with_factor};
pub use rule::Rule;
pub use shared::{Product, Sheets};
pub use sheet::Sheet;
pub use tally::{Judged, judge_problem};
pub use task::{Found, judge};
pub use vacuity::{Alternative, Vacuity, vacuity};
