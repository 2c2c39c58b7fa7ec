//! Exact dot products and sums: a [`Panel`] of one column.

use super::{Accumulator, Certificate, Element, Extent, Panel, Path};
use std::cell::RefCell;

/// `sum a[t] * b[t]`, its gauge and its number of terms. Slices of unequal length are cut to the shorter one.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> Element {
    dot_traced(a, b).0
}

/// [`dot`], and how it was computed.
#[must_use]
pub fn dot_traced(a: &[f64], b: &[f64]) -> (Element, Path) {
    column(a.iter().copied().zip(b.chunks_exact(1)))
}

/// `sum x[t]`, its gauge `sum |x[t]|` and its number of terms.
#[must_use]
pub fn sum(x: &[f64]) -> Element {
    column(x.chunks_exact(1).map(|term| (1.0, term))).0
}

thread_local! {
    /// Kept, because a short dot product costs less than the panel's allocations.
    static COLUMN: RefCell<Panel> = RefCell::new(Panel::new(1));
}

fn column<'b>(terms: impl Iterator<Item = (f64, &'b [f64])> + Clone) -> (Element, Path) {
    COLUMN.with_borrow_mut(|panel| {
        let mut certificate = Certificate::new();
        for (a, row) in terms.clone() {
            certificate.add(Extent::of(a), Extent::of_slice(row));
        }
        panel.accumulate_certified(terms, 1, &certificate);
        (panel.element(0), panel.path())
    })
}

/// [`dot`] by the superaccumulator alone: no certificate, no fast path.
#[must_use]
pub fn dot_reference(a: &[f64], b: &[f64]) -> Element {
    let (mut value, mut gauge) = (Accumulator::new(), Accumulator::new());
    for (&x, &y) in a.iter().zip(b) {
        value.add_product(x, y);
        gauge.add_product(x.abs(), y.abs());
    }
    Element { value: value.value(), gauge: gauge.value(), terms: a.len().min(b.len()) as u64 }
}
