//! SpGEMM: C has an entry wherever some k has both a stored (i, k) in A and a stored (k, j) in B, also where the
//! sum cancels to zero; columns ascend.

use crate::exact::{Element, dot_reference};
use crate::format::{Entries, Entry};
use std::collections::BTreeMap;

/// The terms of every structural entry of A * B: (row, column) -> products in ascending k.
#[must_use]
pub fn terms(a: &Entries<f64>, b: &Entries<f64>) -> BTreeMap<(u32, u32), Vec<(f64, f64)>> {
    let mut rows_of_b: BTreeMap<u32, Vec<&Entry<f64>>> = BTreeMap::new();
    for e in &b.list {
        rows_of_b.entry(e.row).or_default().push(e);
    }
    let mut found: BTreeMap<(u32, u32), Vec<(f64, f64)>> = BTreeMap::new();
    // A's entries come by row and then ascending column, which is k.
    for left in &a.list {
        for right in rows_of_b.get(&left.col).into_iter().flatten() {
            found.entry((left.row, right.col)).or_default().push((left.value, right.value));
        }
    }
    found
}

/// The exact product.
#[must_use]
pub fn definition(a: &Entries<f64>, b: &Entries<f64>) -> Vec<Entry<Element>> {
    let exact = |terms: Vec<(f64, f64)>| {
        let (left, right): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
        dot_reference(&left, &right)
    };
    terms(a, b).into_iter().map(|((row, col), t)| Entry { row, col, value: exact(t) }).collect()
}
