//! Exact dot products and sums.

use super::{Accumulator, Element};

/// `sum a[t] * b[t]`, its gauge and its number of terms. Slices of unequal length are cut to the shorter one.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> Element {
    dot_reference(a, b)
}

/// `sum x[t]`, its gauge `sum |x[t]|` and its number of terms.
#[must_use]
pub fn sum(x: &[f64]) -> Element {
    let (mut value, mut gauge) = (Accumulator::new(), Accumulator::new());
    for &term in x {
        value.add(term);
        gauge.add(term.abs());
    }
    Element {
        value: value.value(),
        gauge: gauge.value(),
        terms: x.len() as u64,
    }
}

/// [`dot`] by the superaccumulator alone: no certificate, no fast path.
#[must_use]
pub fn dot_reference(a: &[f64], b: &[f64]) -> Element {
    let (mut value, mut gauge) = (Accumulator::new(), Accumulator::new());
    for (&x, &y) in a.iter().zip(b) {
        value.add_product(x, y);
        gauge.add_product(x.abs(), y.abs());
    }
    Element {
        value: value.value(),
        gauge: gauge.value(),
        terms: a.len().min(b.len()) as u64,
    }
}
