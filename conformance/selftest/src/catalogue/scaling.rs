//! alpha and beta: forgotten, exchanged, applied twice, or in the wrong place.
//!
//! ```text
//! C <- alpha * (A * B) + beta * C        alpha = 0: A and B are not read; beta = 0: C is not read
//! ```

use super::super::bug::symptom::{UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::own::{HONEST, StepInput, StepKernel, mul_then_add};
use super::{dense, legal, product, spmm, spmm_with_c};
use sparse_conformance_core::report::Defect;
use sparse_oracle::contract::Op;

const F: Family = Family::Scaling;
const STALE: Symptom = Symptom::Wrong(Defect::Stale);

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "beta: ignored",
        "C is overwritten",
        spmm_with_c,
        Effect::Factors(|alpha, _| (alpha, 0.0)),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "beta: taken for 1",
        "C is added, never scaled",
        |c| spmm_with_c(c) && c.params.beta != 1.0,
        Effect::Factors(|alpha, beta| (alpha, if beta == 0.0 { 0.0 } else { 1.0 })),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "beta: applied twice",
        "a kernel in two passes scales C in both",
        |c| spmm_with_c(c) && c.params.beta != 1.0,
        Effect::Factors(|alpha, beta| (alpha, beta * beta)),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "beta: on the product",
        "C = (A B + C) beta, since the accumulator starts from C",
        |c| spmm_with_c(c) && c.params.alpha == 1.0 && c.params.beta != 1.0,
        finish(|site, s| site.unit.mul(site.factors.1, site.unit.add(s, site.c))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "beta: 0 reads C",
        "0 * C is computed, and NaN in C stays",
        |c| dense(c) && c.contract.op != Op::Sddmm && !c.reads_c(),
        Effect::Output(|d| {
            d.change(|d, _, after, before| {
                (d.beta == 0.0).then(|| d.bits(d.number(after) + 0.0 * d.number(before)))
            });
        }),
        &[VALUE, STALE, UNWRITTEN],
    ),
    Bug::new(
        F,
        "beta: C added twice",
        "C is both the initial value and the addend",
        spmm_with_c,
        Effect::Output(|d| {
            d.change(|d, _, after, before| {
                (d.beta != 0.0).then(|| d.bits(d.number(after) + d.beta * d.number(before)))
            });
        }),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "beta: subtracted",
        "beta * C is subtracted",
        spmm_with_c,
        Effect::Factors(|alpha, beta| (alpha, -beta)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "beta: empty rows not scaled",
        "rows without entries keep C as it is",
        |c| spmm_with_c(c) && c.params.beta != 1.0,
        Effect::Output(|d| {
            let lengths = d.row_lengths();
            d.leave(|_, i, _| lengths[i] == 0);
        }),
        &[VALUE, STALE],
    ),
    Bug::new(
        F,
        "alpha: ignored",
        "the product is never scaled",
        |c| product(c) && c.params.alpha != 1.0,
        Effect::Factors(|_, beta| (1.0, beta)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: applied twice",
        "to A while loading, and to the sum",
        |c| product(c) && !matches!(c.params.alpha, 0.0 | 1.0),
        Effect::Factors(|alpha, beta| (alpha * alpha, beta)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: scales C too",
        "C = alpha (A B + beta C)",
        |c| spmm_with_c(c) && c.params.alpha != 1.0,
        Effect::Factors(|alpha, beta| (alpha, alpha * beta)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: exchanged with beta",
        "the two arguments are passed in the wrong order",
        |c| spmm(c) && c.params.alpha != c.params.beta,
        Effect::Factors(|alpha, beta| (beta, alpha)),
        &[VALUE, UNWRITTEN],
    ),
    Bug::new(
        F,
        "alpha: 0 reads A and B",
        "0 * NaN is computed, undeclared",
        |c| product(c) && c.params.alpha == 0.0,
        finish(|site, s| {
            let zero = site.unit.mul(0.0, s);
            site.unit.add(zero, mul_then_add(site, s))
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: rounded to an integer",
        "alpha is an int in a caller's struct",
        |c| product(c) && c.params.alpha.fract() != 0.0,
        Effect::Factors(|alpha, beta| (alpha.trunc(), beta)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: ignored by SDDMM",
        "the dot product is stored as it is",
        |c| legal(c, Op::Sddmm) && c.params.alpha != 1.0,
        Effect::Factors(|_, beta| (1.0, beta)),
        &[VALUE],
    ),
];

const fn finish(step: fn(&StepInput, f64) -> f64) -> Effect {
    Effect::StepKernel(StepKernel { finish: step, ..HONEST })
}
