//! Exact arithmetic: what the oracle computes with.
//!
//! ```text
//! Dyadic        any finite number, plainly                       slow, obvious
//! Accumulator   a register for any sum of f64 products           fixed size, any order
//! Value         one exact result, rounded once into any type     Element = value, gauge, terms
//!
//! certificate   may these terms be summed in plain f64, in two, three or four bins?      proof in its comment
//! row_sum, bins, distil, row_round    the inner loops, from their parts to leading floats, and to an element type
//! Panel         one row of sums;   dot, sum: one column
//! ```

mod accumulator;
mod bins;
mod certificate;
mod distil;
mod dot;
mod dyadic;
mod panel;
mod row_round;
mod row_sum;
mod value;

pub use accumulator::Accumulator;
pub use bins::Lane;
pub use certificate::Path;
pub(crate) use certificate::{Certificate, Extent};
pub use dot::{dot, dot_reference, dot_traced, sum};
pub use dyadic::{Dyadic, encode_dyadic};
pub use panel::Panel;
pub use value::{Element, Value};
pub(crate) use value::{round_pair_to_odd, two_sum};
