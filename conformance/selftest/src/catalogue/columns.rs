//! Columns of B and C past what a grid, a buffer or a special kernel was written for.
//!
//! ```text
//! n = 300   [ 0..128 | 128..256 | 256..300 ]     a tail after whole tiles, a border that two passes both take, a byte that is full
//! ```
//!
//! No row looks at n to say which cases it concerns: that no case is wide enough is what a hunt must tell.

use super::super::bug::symptom::{UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::{Dense, offset};
use super::super::edit::gathered;
use super::super::own::{HONEST, StepInput, StepKernel, fused, mul_then_add};
use super::{scaled, spmm};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::report::Defect;

const F: Family = Family::Sizes;
const STALE: Symptom = Symptom::Wrong(Defect::Stale);

fn wide(case: &Case) -> bool {
    spmm(case) && scaled(case)
}

pub(super) static BUGS: &[Bug] = &[
    lost("columns: only the first 64", "a block of 64 threads, one a column", |_, j| j >= 64),
    lost("columns: only the first 128", "shared memory holds 128 columns of B", |_, j| j >= 128),
    lost("columns: only the first 256", "a block of 256 threads, one a column", |_, j| j >= 256),
    lost("columns: only the first 512", "a register file of 16 columns a lane", |_, j| j >= 512),
    lost(
        "columns: tail after tiles of 64",
        "columns left over after whole tiles of 64 are forgotten, which a kernel for small n takes where n is less",
        |n, j| n > 64 && j >= n / 64 * 64,
    ),
    lost("columns: tail after tiles of 128", "the same with tiles of 128", |n, j| {
        n > 128 && j >= n / 128 * 128
    }),
    lost(
        "columns: odd n past 64",
        "wide kernels store pairs, and the last column of an odd n has none",
        |n, j| n > 64 && n % 2 == 1 && j + 1 == n,
    ),
    lost(
        "columns: n = 64 forgets the last",
        "n = 64 has a kernel of its own, whose loop ends one early",
        |n, j| n == 64 && j == 63,
    ),
    lost(
        "columns: a last tile of one",
        "the grid is (n - 1) / 32 tiles, so that a tile of a single column is none",
        |n, j| n > 64 && n % 32 == 1 && j + 1 == n,
    ),
    sums(
        "columns: border of 256 taken twice",
        "passes of 256 columns overlap by one, and both add",
        |site, terms| {
            let sum = fused(site, terms);
            let border = site.at.1 > 0 && site.at.1.is_multiple_of(256);
            if border { site.unit.add(sum, sum) } else { sum }
        },
    ),
    sums(
        "columns: long rows cut where n > 511",
        "the kernel for large n holds 32 entries of a row",
        |site, terms| {
            let kept = if site.shape.1 > 511 { 32 } else { terms.len() };
            fused(site, &terms[..kept.min(terms.len())])
        },
    ),
    finishes(
        "columns: n = 128 ignores alpha",
        "n = 128 has a kernel of its own, written for alpha = 1",
        |c| wide(c) && c.params.alpha != 1.0,
        |site, s| {
            let alpha = if site.shape.1 == 128 { 1.0 } else { site.factors.0 };
            mul_then_add(&StepInput { factors: (alpha, site.factors.1), ..*site }, s)
        },
    ),
    finishes(
        "columns: n past 256 ignores beta",
        "the kernel in column blocks stores, where it should add",
        |c| wide(c) && c.reads_c(),
        |site, s| {
            let beta = if site.shape.1 > 256 { 0.0 } else { site.factors.1 };
            mul_then_add(&StepInput { factors: (site.factors.0, beta), ..*site }, s)
        },
    ),
    Bug::new(
        F,
        "columns: halves exchanged at n = 256",
        "n = 256 is computed in two halves, stored in the order in which they end",
        spmm,
        Effect::Output(|d| {
            if d.cols == 256 {
                (0..d.rows).for_each(|i| (0..128).for_each(|j| d.swap((i, j), (i, j + 128))));
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "columns: index of B in a byte",
        "column j of B is column j modulo 256",
        |c| wide(c) && !c.params.transpose_b,
        Effect::Right(|b| gathered(b, |i, j| offset(b.layout, b.ld, i, j & 0xff))),
        &[VALUE],
    ),
    left(
        "elements: only the first 2^17",
        "one launch of 128 blocks of 1,024 threads, one an element",
        |d, i, j| i * d.cols + j >= 1 << 17,
    ),
    left(
        "elements: last warp of a wide C",
        "elements are counted in warps of 32, rounded down, where n > 64",
        |d, i, j| d.cols > 64 && i * d.cols + j >= d.rows * d.cols / 32 * 32,
    ),
];

/// Columns without terms, told n and the column.
const fn lost(name: &'static str, story: &'static str, lost: fn(usize, usize) -> bool) -> Bug {
    Bug::new(F, name, story, wide, Effect::LosesColumns(lost), &[VALUE])
}

/// Elements that no thread is started for.
const fn left(name: &'static str, story: &'static str, left: fn(&Dense<'_>, usize, usize) -> bool) -> Bug {
    Bug::new(F, name, story, spmm, Effect::Leaves(left), &[UNWRITTEN, VALUE, STALE])
}

const fn sums(name: &'static str, story: &'static str, sum: fn(&StepInput, &[(f64, f64)]) -> f64) -> Bug {
    Bug::new(F, name, story, wide, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

const fn finishes(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    finish: fn(&StepInput, f64) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { finish, ..HONEST }), &[VALUE])
}
