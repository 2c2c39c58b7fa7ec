//! Exact arithmetic: what the oracle computes with.
//!
//! ```text
//! Dyadic        any finite number, plainly                       (slow, obvious)
//! Accumulator   a register for any sum of f64 products           (fixed size, any order)
//! Value         one exact result, rounded once into any type     Element = value, gauge, terms
//! ```

mod accumulator;
mod dot;
mod dyadic;
mod value;

pub use accumulator::Accumulator;
pub use dot::{dot, dot_reference, sum};
pub use dyadic::Dyadic;
pub(crate) use dyadic::Remainder;
pub use value::{Element, Value};
