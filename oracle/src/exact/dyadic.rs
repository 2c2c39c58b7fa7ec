//! Exact dyadic rationals (being written).

/// An exact number `sign * magnitude * 2^exponent`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dyadic;
