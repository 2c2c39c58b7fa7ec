//! Exact arithmetic (being written).

mod dyadic;
pub use dyadic::Dyadic;
