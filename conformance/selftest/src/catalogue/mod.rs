//! The catalogue: one file per kind of bug, each a table of rows and the few lines that a row needs.
//!
//! ```text
//! Bug::new(family, name, story, cases it concerns, effect on the honest kernel, what a finding may be called)
//! ```
//!
//! A bug to add is a row here; nothing else lists them. See `docs/self-test.md`.

mod alignment;
mod bounds;
mod caches;
mod columns;
mod conduct;
mod deep;
mod encoding;
mod encoding_more;
mod extents;
mod factors;
mod flushes;
mod hash;
mod lengths;
mod loose;
mod operands;
mod order;
mod output;
mod precision;
mod races;
mod roundings;
mod scaling;
mod sddmm;
mod slips;
mod sparse;
mod special;
mod state;
mod swaps;
mod tiles;
mod tiles_more;
mod walks;
mod width;

use super::bug::Bug;
use sparse_conformance_core::case::Case;
use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;

/// The tables, in the order in which they are shown.
static TABLES: &[&[Bug]] = &[
    bounds::BUGS,
    output::BUGS,
    scaling::BUGS,
    factors::BUGS,
    operands::BUGS,
    precision::BUGS,
    roundings::BUGS,
    special::BUGS,
    flushes::BUGS,
    order::BUGS,
    columns::BUGS,
    extents::BUGS,
    lengths::BUGS,
    swaps::BUGS,
    alignment::BUGS,
    state::BUGS,
    races::BUGS,
    hash::BUGS,
    loose::BUGS,
    width::BUGS,
    sddmm::BUGS,
    deep::BUGS,
    sparse::BUGS,
    encoding::BUGS,
    encoding_more::BUGS,
    tiles::BUGS,
    tiles_more::BUGS,
    slips::BUGS,
    conduct::BUGS,
];

/// Every seeded bug.
pub fn bugs() -> impl Iterator<Item = &'static Bug> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// Legal cases of an operation.
fn legal(case: &Case, op: Op) -> bool {
    case.contract.op == op && case.params.fault.is_none()
}

/// Legal cases with a dense result.
fn dense(case: &Case) -> bool {
    case.contract.op.is_dense() && case.params.fault.is_none()
}

/// Legal SpMM.
fn spmm(case: &Case) -> bool {
    legal(case, Op::Spmm)
}

/// Legal SpMM that reads C.
fn spmm_with_c(case: &Case) -> bool {
    spmm(case) && case.reads_c()
}

/// Legal SpMM and SpMV.
fn product(case: &Case) -> bool {
    spmm(case) || legal(case, Op::Spmv)
}

/// Legal SpMM and SpMV that read A and B.
fn scaled(case: &Case) -> bool {
    product(case) && case.params.alpha != 0.0
}

/// Legal SpMM and SpMV of formats whose matrices are rebuilt from entries without a parameter.
fn plain(case: &Case) -> bool {
    product(case) && super::edit::plain(case.contract.format)
}

/// Legal SpMM in CSR.
fn spmm_csr(case: &Case) -> bool {
    spmm(case) && case.contract.format == FormatKind::Csr
}

/// Legal conversions and transposes whose result is of a general format.
fn general_move(case: &Case) -> bool {
    let general = |to| FormatKind::GENERAL.contains(&to);
    case.contract.op.is_exact() && case.params.fault.is_none() && case.contract.to.is_none_or(general)
}

/// Products with these types of A, accumulator and output that read A and B.
fn typed(case: &Case, a: Precision, acc: Precision, out: Precision) -> bool {
    let types = case.contract.types;
    scaled(case) && (types.a, types.acc, types.out) == (a, acc, out)
}
