//! Factors that have a path of their own, go through another type, or are compared with a tolerance.
//!
//! ```text
//! alpha  0  -0  1  -1  2  0.5  1/3  0.1  1e-30 ..      "if alpha == 1 .. else if alpha == -1 .. else": three kernels, three bugs
//! ```

use super::super::bug::symptom::{UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::own::{HONEST, StepInput, StepKernel, fused, mul_then_add};
use super::{legal, product};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::report::Defect;
use sparse_oracle::contract::Op;
use sparse_oracle::scalar::{Precision, Rounding, decode, encode, nearest_in};

const F: Family = Family::Scaling;
const STALE: Symptom = Symptom::Wrong(Defect::Stale);

fn with_c(case: &Case) -> bool {
    product(case) && case.reads_c()
}

/// True where the type of the result holds the difference between a factor and what became of it: a smaller one is lost in the last
/// rounding, in any kernel.
fn shows(case: &Case, factor: f64, changed: f64) -> bool {
    let out = case.contract.types.out.spec();
    let least = 2f64.powi(out.min_exponent());
    let apart = (factor - changed).abs();
    apart >= factor.abs() * 2f64.powi(-2 - out.significand as i32)
        && apart != 0.0
        && factor.abs().max(changed.abs()) >= least
}

/// Products with factors that `changed` makes something else of.
fn changes(case: &Case, changed: fn(f64) -> f64) -> (bool, bool) {
    let other = |v: f64| shows(case, v, changed(v));
    (product(case) && other(case.params.alpha), with_c(case) && other(case.params.beta))
}

pub(super) static BUGS: &[Bug] = &[
    alpha(
        "alpha: 0.5 taken for 1",
        "a compiler's switch on (int)(2 alpha) falls through",
        |c| product(c) && c.params.alpha == 0.5,
        |a, b| (if a == 0.5 { 1.0 } else { a }, b),
    ),
    alpha(
        "alpha: sign of -1 lost",
        "alpha = -1 takes the path of |alpha| = 1",
        |c| product(c) && c.params.alpha == -1.0,
        |a, b| (if a == -1.0 { 1.0 } else { a }, b),
    ),
    alpha(
        "alpha: -1 negates C",
        "C = -(A B + beta C), since the sign is applied at the end",
        |c| product(c) && c.params.alpha == -1.0 && c.reads_c(),
        |a, b| (a, if a == -1.0 { -b } else { b }),
    ),
    alpha(
        "alpha: 2 adds C twice",
        "A B + C is added to itself",
        |c| product(c) && c.params.alpha == 2.0 && c.reads_c(),
        |a, b| (a, if a == 2.0 { 2.0 * b } else { b }),
    ),
    alpha(
        "alpha: in a half",
        "alpha is passed in the type of f16 kernels",
        |c| changes(c, in_half).0,
        |a, b| (in_half(a), b),
    ),
    alpha(
        "alpha: cut to bf16",
        "alpha keeps the upper 16 bits of a float",
        |c| changes(c, in_bf16).0,
        |a, b| (in_bf16(a), b),
    ),
    alpha(
        "alpha: in a float",
        "a float argument, in a kernel of f64",
        |c| changes(c, in_float).0,
        |a, b| (in_float(a), b),
    ),
    alpha(
        "alpha: six decimals",
        "alpha goes through a line of text with %f",
        |c| changes(c, in_text).0,
        |a, b| (in_text(a), b),
    ),
    alpha(
        "alpha: power of two only",
        "alpha is applied to the exponent",
        |c| changes(c, power).0,
        |a, b| (power(a), b),
    ),
    alpha(
        "alpha: small ones are zero",
        "fabs(alpha) < 1e-6 skips the product",
        |c| changes(c, nothing).0,
        |a, b| (nothing(a), b),
    ),
    alpha(
        "alpha: subnormal ones flushed",
        "the factor is loaded with denormals-are-zero",
        |c| product(c) && tiny(c, c.params.alpha) && shows(c, c.params.alpha, 0.0),
        |a, b| (if a.abs() < 1.2e-38 { 0.0 } else { a }, b),
    ),
    alpha(
        "alpha: near 1 is 1",
        "fabs(alpha - 1) < 1e-3 skips the scaling",
        |c| changes(c, unit).0,
        |a, b| (unit(a), b),
    ),
    alpha(
        "beta: in a half",
        "beta is passed in the type of f16 kernels",
        |c| changes(c, in_half).1,
        |a, b| (a, in_half(b)),
    ),
    alpha(
        "beta: in a float",
        "a float argument, in a kernel of f64",
        |c| changes(c, in_float).1,
        |a, b| (a, in_float(b)),
    ),
    alpha(
        "beta: an integer",
        "beta is an int in a caller's struct",
        |c| changes(c, f64::trunc).1,
        |a, b| (a, b.trunc()),
    ),
    alpha(
        "beta: small ones are zero",
        "fabs(beta) < 1e-6 skips C",
        |c| changes(c, nothing).1,
        |a, b| (a, nothing(b)),
    ),
    alpha(
        "beta: near 1 is 1",
        "fabs(beta - 1) < 1e-3 skips the scaling",
        |c| changes(c, unit).1,
        |a, b| (a, unit(b)),
    ),
    alpha(
        "beta: 1 where alpha is 1",
        "the path without alpha was written for C += A B",
        |c| product(c) && c.params.alpha == 1.0 && c.params.beta != 1.0 && c.reads_c(),
        |a, b| (a, if a == 1.0 && b != 0.0 { 1.0 } else { b }),
    ),
    alpha(
        "beta: -1 negates the product",
        "C = -(C + A B), since the sign is applied at the end",
        |c| product(c) && c.params.beta == -1.0,
        |a, b| (if b == -1.0 { -a } else { a }, b),
    ),
    alpha(
        "beta: ignored by SpMV",
        "y is overwritten",
        |c| legal(c, Op::Spmv) && c.reads_c(),
        |a, _| (a, 0.0),
    ),
    alpha(
        "beta: forgotten with a general alpha",
        "the path with alpha stores, where it should add",
        |c| with_c(c) && !matches!(c.params.alpha, 0.0 | 1.0),
        |a, b| (a, if a == 1.0 || a == 0.0 { b } else { 0.0 }),
    ),
    Bug::new(
        F,
        "beta: -0 reads C",
        "beta is compared with zero bit by bit, and -0 * NaN is added",
        |c| product(c) && c.params.beta == 0.0 && c.params.beta.is_sign_negative(),
        Effect::Output(|d| {
            if d.beta == 0.0 && d.beta.is_sign_negative() {
                d.change(|d, _, after, before| Some(d.bits(d.number(after) - 0.0 * d.number(before))));
            }
        }),
        &[VALUE, UNWRITTEN, STALE],
    ),
    Bug::new(
        F,
        "alpha: 0 leaves C as it is",
        "`if (alpha == 0) return`, before C is scaled",
        |c| product(c) && c.params.alpha == 0.0 && c.params.beta != 1.0,
        Effect::StepKernel(StepKernel {
            finish: |site, s| {
                if site.factors.0 == 0.0 { site.c } else { mul_then_add(site, s) }
            },
            ..HONEST
        }),
        &[VALUE, UNWRITTEN, STALE],
    ),
    Bug::new(
        F,
        "alpha: -0 reads A and B",
        "alpha is compared with zero bit by bit, and -0 * NaN is added",
        |c| product(c) && c.params.alpha == 0.0 && c.params.alpha.is_sign_negative(),
        Effect::StepKernel(StepKernel {
            finish: |site, s| {
                let y = mul_then_add(site, s);
                let alpha = site.factors.0;
                if alpha == 0.0 && alpha.is_sign_negative() {
                    site.unit.add(site.unit.mul(alpha, s), y)
                } else {
                    y
                }
            },
            ..HONEST
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: divides beta",
        "C = alpha (A B + (beta / alpha) C), which a small alpha overflows",
        |c| with_c(c) && !matches!(c.params.alpha.abs(), 0.0 | 1.0),
        Effect::StepKernel(StepKernel {
            finish: |site, s| match site.factors {
                (alpha, beta) if alpha == 0.0 || beta == 0.0 => mul_then_add(site, s),
                (alpha, beta) => {
                    let ratio = nearest_in(beta / alpha, site.unit.precision);
                    site.unit.mul(alpha, site.unit.add(s, site.unit.mul(ratio, site.c)))
                }
            },
            ..HONEST
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: folded into A in A's type",
        "alpha * a is stored as an element of A, where the accumulator is wider",
        |c| {
            product(c)
                && c.contract.types.a != c.contract.types.acc
                && !matches!(c.params.alpha.abs(), 0.0 | 1.0)
        },
        Effect::StepKernel(StepKernel {
            sum: |site, terms| {
                let types = site.types;
                let alpha = site.factors.0;
                if alpha == 0.0 {
                    return fused(site, terms);
                }
                let held = |v: f64| (HONEST.input)(types, true, nearest_in(v, types.a));
                let terms: Vec<_> = terms.iter().map(|&(a, b)| (held(alpha * a), b)).collect();
                fused(site, &terms)
            },
            finish: |site, s| match site.factors {
                (0.0, _) => mul_then_add(site, s),
                (_, beta) => mul_then_add(&StepInput { factors: (1.0, beta), ..*site }, s),
            },
            ..HONEST
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "alpha: in a half, SDDMM",
        "alpha is passed in the type of f16 kernels",
        |c| legal(c, Op::Sddmm) && shows(c, c.params.alpha, in_half(c.params.alpha)),
        Effect::Factors(|alpha, beta| (in_half(alpha), beta)),
        &[VALUE],
    ),
];

/// SpMM and SpMV with other factors than asked for.
const fn alpha(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    change: fn(f64, f64) -> (f64, f64),
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Factors(change), &[VALUE, STALE])
}

/// A half; what it does not hold is its largest number.
fn in_half(v: f64) -> f64 {
    nearest_in(v.clamp(-65504.0, 65504.0), Precision::F16)
}

fn in_bf16(v: f64) -> f64 {
    decode(encode(v, Precision::Bf16, Rounding::TowardZero), Precision::Bf16)
}

fn in_float(v: f64) -> f64 {
    nearest_in(v.clamp(f64::from(f32::MIN), f64::from(f32::MAX)), Precision::F32)
}

fn in_text(v: f64) -> f64 {
    if v.abs() < 1e9 { (v * 1e6).round() / 1e6 } else { v }
}

/// The power of two below.
fn power(v: f64) -> f64 {
    if v.is_normal() { v.signum() * v.abs().log2().floor().exp2() } else { v }
}

fn nothing(v: f64) -> f64 {
    if v.abs() < 1e-6 { 0.0 } else { v }
}

fn unit(v: f64) -> f64 {
    if (v - 1.0).abs() < 1e-3 { 1.0 } else { v }
}

/// True where a factor is a subnormal number of the accumulator, or below those of a float.
fn tiny(case: &Case, v: f64) -> bool {
    v != 0.0 && v.abs() < 2f64.powi(case.contract.types.acc.spec().emin).max(1.2e-38)
}
