//! Indices that are too narrow. What overflows at 2^32 on matrices of 10^9 entries overflows at 2^16 on small ones: a twin
//! with a narrower index is the same mistake at a size that every run has.
//!
//! ```text
//! key = row * cols + col      70000 * 70000 > 2^32: entries come back in other rows       (COO sorted by one integer)
//! at  = i * ldc + j           3312 * 33 > 2^16: rows from 1986 on are written over the first ones
//! ```
//!
//! The key reaches 2^32 with a few thousand entries, so the real width is tested too, from the full tier on.

use super::super::bug::symptom::{PATTERN, UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::offset;
use super::super::edit::{gathered, rebuilt};
use super::{scaled, spmm};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::origin::Origin;
use sparse_conformance_core::report::Defect;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, FormatKind};

const F: Family = Family::Width;
const STALE: Symptom = Symptom::Wrong(Defect::Stale);

/// SpMM on a matrix large enough for an offset of more than 16 bits.
fn large(case: &Case) -> bool {
    spmm(case)
        && matches!(case.origin, Origin::Embedded(_))
        && case.params.n >= 15
        && case.params.alpha != 0.0
}

/// Products with a matrix of more than 2^16 columns.
fn wide(case: &Case) -> bool {
    let Origin::Spec(spec) = &case.origin else {
        return false;
    };
    scaled(case) && spec.shape().is_ok_and(|shape| shape.cols > 1 << 16)
}

/// Conversions of COO with positions that 32 bits do not number.
fn wide_coo(case: &Case) -> bool {
    let Origin::Spec(spec) = &case.origin else {
        return false;
    };
    from_coo(case) && spec.shape().is_ok_and(|shape| shape.rows * shape.cols > 1 << 32)
}

fn from_coo(case: &Case) -> bool {
    case.contract.op == Op::Convert && case.contract.format == FormatKind::Coo
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "offset of B: 16 bits",
        "k * ldb + j is a uint16",
        large,
        Effect::Right(|b| gathered(b, |i, j| offset(b.layout, b.ld, i, j) & 0xffff)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "offset of C: 16 bits",
        "i * ldc + j is a uint16",
        large,
        Effect::Output(|d| {
            let right = d.after.clone();
            d.after.clone_from(&d.before);
            d.offsets().iter().for_each(|o| d.after[o.2 & 0xffff] = right[o.2]);
        }),
        &[VALUE, UNWRITTEN, STALE, Symptom::Wrong(Defect::Canary)],
    ),
    Bug::new(
        F,
        "column: 6 bits",
        "columns of a packed format have too few bits for this matrix",
        scaled,
        Effect::Lanes(|lanes| {
            lanes.iter_mut().flatten().for_each(|e| e.0 &= 0x3f);
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "column: 16 bits",
        "columns are stored as uint16, as the fields of a paper's format",
        wide,
        Effect::Lanes(|lanes| {
            lanes.iter_mut().flatten().for_each(|e| e.0 &= 0xffff);
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "length of a row: signed byte",
        "a row of more than 127 entries has a negative length and is skipped",
        scaled,
        Effect::Lanes(|lanes| {
            lanes.iter_mut().filter(|lane| lane.len() > 127).for_each(Vec::clear);
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "row times columns: 16 bits",
        "COO is sorted by row * cols + col in a uint16",
        from_coo,
        Effect::Left(|a, _| keyed(a, 0xffff)),
        &[PATTERN, VALUE],
    ),
    Bug::new(
        F,
        "row times columns: 32 bits",
        "COO is sorted by row * cols + col in a uint32, as scipy and cupy once did",
        wide_coo,
        Effect::Left(|a, _| keyed(a, 0xffff_ffff)),
        &[PATTERN, VALUE],
    ),
];

/// Positions that went through a key of so many bits and back.
fn keyed(a: &AnySparse, mask: u64) -> Result<AnySparse, String> {
    rebuilt(a, |list, (_, cols)| {
        for e in list.iter_mut() {
            let key = (u64::from(e.row) * cols as u64 + u64::from(e.col)) & mask;
            (e.row, e.col) = ((key / cols as u64) as u32, (key % cols as u64) as u32);
        }
    })
}
