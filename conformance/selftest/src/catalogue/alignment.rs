//! Addresses: vector loads that begin at a border, loops that peel up to one, leading dimensions taken for multiples of a vector.
//!
//! ```text
//! address  ..30 ..34 ..38 ..3c | ..40       a load of 16 bytes at ..34 that a kernel rounds down to ..30 reads one element early
//! ld = 9   row 1 begins at 9: no multiple of 4
//! ```

use super::super::address::{of_slice, past};
use super::super::bug::symptom::{CANARY, UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::{Dense, offset};
use super::super::edit::gathered;
use super::super::request::factors;
use super::{legal, product, scaled, spmm};
use sparse_conformance_core::report::Defect;
use sparse_oracle::contract::Op;
use sparse_oracle::format::Layout;
use sparse_oracle::task::{DenseRef, Task};

const F: Family = Family::Alignment;
const MOVED: &[Symptom] = &[VALUE, UNWRITTEN, CANARY, Symptom::Wrong(Defect::Stale)];

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "align: B rounded down to 16 bytes",
        "loads of four floats drop the low bits of the address",
        scaled,
        Effect::Right(|b| early(b, 16)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "align: B rounded down to 32 bytes",
        "the same with vectors of 256 bits",
        scaled,
        Effect::Right(|b| early(b, 32)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "align: B rounded down to 64 bytes",
        "the same with whole cache lines",
        scaled,
        Effect::Right(|b| early(b, 64)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "align: C rounded down to 16 bytes",
        "stores of four floats drop the low bits of the address",
        product,
        Effect::Output(|d| {
            let shift = past(d.address, 16, d.precision);
            let right = d.after.clone();
            if shift > 0 {
                d.after.clone_from(&d.before);
                for (_, _, at) in d.offsets() {
                    if let Some(to) = at.checked_sub(shift) {
                        d.after[to] = right[at];
                    }
                }
            }
        }),
        MOVED,
    ),
    Bug::new(
        F,
        "align: peeled one too few",
        "up to the first border of 64 bytes elements of C are stored one by one, the last of them not",
        product,
        Effect::Leaves(|d, i, j| {
            let past = past(d.address, 64, d.precision);
            let peeled = if past == 0 { 0 } else { 64 / d.precision.bytes() - past };
            peeled > 0 && d.offset(i, j) + 1 == peeled
        }),
        MOVED,
    ),
    Bug::new(
        F,
        "align: unaligned x ignores alpha",
        "the path for an x that 16 does not divide was written for alpha = 1",
        |c| legal(c, Op::Spmv) && c.params.alpha != 1.0,
        Effect::Request(|t| {
            let odd = matches!(t, Task::Spmv { x, .. } if !of_slice(*x).is_multiple_of(16));
            factors(t, |alpha, beta| (if odd { 1.0 } else { alpha }, beta));
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "align: unaligned B ignores beta",
        "the path for a B that 32 does not divide stores, where it should add",
        |c| spmm(c) && c.reads_c(),
        Effect::Request(|t| {
            let odd = matches!(t, Task::Spmm { b, .. } if !of_slice(b.data).is_multiple_of(32));
            factors(t, |alpha, beta| (alpha, if odd { 0.0 } else { beta }));
        }),
        MOVED,
    ),
    Bug::new(
        F,
        "align: rows of B at multiples of 4",
        "n is a multiple of 4, and so must ldb be",
        |c| spmm(c) && scaled(c) && c.params.n.is_multiple_of(4) && !c.params.pad_b.is_multiple_of(4),
        Effect::Right(|b| {
            let inner = if b.layout == Layout::RowMajor { b.cols } else { b.rows };
            gathered(b, |i, j| {
                let (outer, within) = if b.layout == Layout::RowMajor { (i, j) } else { (j, i) };
                let start = outer * b.ld;
                if inner.is_multiple_of(4) { start / 4 * 4 + within } else { start + within }
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "align: rows of C at multiples of 4",
        "n is a multiple of 4, and so must ldc be",
        |c| spmm(c) && c.params.n.is_multiple_of(4) && !c.params.pad_c.is_multiple_of(4),
        Effect::Output(rounded_rows),
        MOVED,
    ),
];

/// Every element from as far before it as the array begins past a multiple of `bytes`.
fn early(b: &DenseRef<'_>, bytes: usize) -> Vec<u64> {
    let shift = past(of_slice(b.data), bytes, b.data.precision());
    gathered(b, |i, j| offset(b.layout, b.ld, i, j).checked_sub(shift).unwrap_or(usize::MAX))
}

/// Rows (columns) of C stored from the multiple of 4 before their place on.
fn rounded_rows(d: &mut Dense<'_>) {
    let inner = if d.layout == Layout::RowMajor { d.cols } else { d.rows };
    if !inner.is_multiple_of(4) {
        return;
    }
    let right = d.after.clone();
    d.after.clone_from(&d.before);
    for (i, j, at) in d.offsets() {
        let outer = if d.layout == Layout::RowMajor { i } else { j };
        d.after[at - outer * d.ld % 4] = right[at];
    }
}
