//! Element types ([`sparse_types::scalar`]), and which bit pattern a number rounds to.
//!
//! Every type embeds exactly in f64, so the oracle computes on f64 values that came out of [`Scalar::to_f64`]
//! and never loses a bit; going back is one correctly rounded step.

mod decimal;
mod round;

pub use decimal::{brief, decimal};
pub use round::{FromF64, Rounding, ValuesFromF64, encode, encode_exact, nearest_in};
pub(crate) use round::{Remainder, finish, quantum};
pub use sparse_types::scalar::*;
