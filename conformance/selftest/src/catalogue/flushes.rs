//! Subnormal numbers flushed in one place and kept in the others.
//!
//! ```text
//! a, b --input--> a * b --sum--> acc --alpha--> + beta * C --> out        each arrow may flush alone: a flag per kernel, per loop,
//! ```                                                                      per type
//!
//! Which cases can show it is asked of the value family's name, so that families to come are counted as well.

use super::super::bug::symptom::{PATTERN, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::edit::edit_values;
use super::super::own::{HONEST, StepInput, StepKernel, fused, mul_then_add};
use super::{general_move, legal, scaled};
use sparse_conformance_core::case::{Case, Filling};
use sparse_oracle::contract::{Op, Types};
use sparse_oracle::scalar::{Precision as P, decode};
use sparse_oracle::task::RawSparse;

const F: Family = Family::Special;

/// Values among which some are subnormal, or next to it.
fn small(case: &Case) -> bool {
    matches!(case.filling, Filling::Drawn(family, _) if family.name().contains("subnormal"))
}

fn tiny(case: &Case) -> bool {
    scaled(case) && small(case)
}

fn tiny_c(case: &Case) -> bool {
    tiny(case) && case.reads_c()
}

/// Products of which some may be subnormal in the accumulator: its exponents are those of the operands.
fn tiny_products(case: &Case) -> bool {
    let wide = matches!(case.filling, Filling::Drawn(family, _) if family.name() == "wide");
    let types = case.contract.types;
    scaled(case) && (small(case) || wide) && types.a.spec().emin == types.acc.spec().emin
}

pub(super) static BUGS: &[Bug] = &[
    inputs("flush: B only", "B goes through a load that flushes", tiny, |types, of_a, v| {
        if of_a { v } else { flushed(v, types.b) }
    }),
    inputs("flush: A only", "A is unpacked with arithmetic that flushes", tiny, |types, of_a, v| {
        if of_a { flushed(v, types.a) } else { v }
    }),
    inputs(
        "flush: fp8 of e4m3",
        "the table of fp8 values has no subnormal numbers",
        |c| tiny(c) && c.contract.types.a == P::E4m3,
        |types, _, v| flushed(v, types.a),
    ),
    inputs(
        "flush: fp8 of e5m2",
        "fp8 is widened by shifting the exponent",
        |c| tiny(c) && c.contract.types.a == P::E5m2,
        |types, _, v| flushed(v, types.a),
    ),
    inputs(
        "flush: halves widened",
        "f16 is widened by shifting the exponent, which zeroes what has none",
        |c| tiny(c) && c.contract.types.a == P::F16,
        |types, _, v| flushed(v, types.a),
    ),
    inputs(
        "flush: halves under 2^-20",
        "subnormal halves are widened in steps of 2^-20",
        |c| tiny(c) && c.contract.types.a == P::F16,
        |_, _, v| {
            if v.abs() < 2f64.powi(-20) { 0.0 * v } else { v }
        },
    ),
    sums(
        "flush: products",
        "products are rounded with flush-to-zero, sums are not",
        tiny_products,
        |site, terms| {
            terms.iter().fold(0.0, |acc, &(a, b)| {
                let exact = a * b;
                if exact != 0.0 && flushed(exact, site.unit.precision) == 0.0 {
                    acc
                } else {
                    site.unit.fma(a, b, acc)
                }
            })
        },
    ),
    sums("flush: partial sums", "each partial sum is flushed", tiny_products, |site, terms| {
        terms.iter().fold(0.0, |acc, &(a, b)| flushed(site.unit.fma(a, b, acc), site.unit.precision))
    }),
    sums(
        "flush: whole vectors only",
        "blocks of 8 terms run with denormals-are-zero, the scalar tail without",
        tiny,
        |site, terms| {
            let whole = terms.len() / 8 * 8;
            let read = |(at, &(a, b)): (usize, &(f64, f64))| {
                if at < whole { (flushed(a, site.types.a), flushed(b, site.types.b)) } else { (a, b) }
            };
            let terms: Vec<_> = terms.iter().enumerate().map(read).collect();
            fused(site, &terms)
        },
    ),
    sums(
        "flush: tail of a vector only",
        "the scalar tail after blocks of 8 runs with denormals-are-zero",
        tiny,
        |site, terms| {
            let whole = if terms.len() > 8 { terms.len() / 8 * 8 } else { terms.len() };
            let read = |(at, &(a, b)): (usize, &(f64, f64))| {
                if at >= whole { (flushed(a, site.types.a), flushed(b, site.types.b)) } else { (a, b) }
            };
            let terms: Vec<_> = terms.iter().enumerate().map(read).collect();
            fused(site, &terms)
        },
    ),
    finishes("flush: C as it is read", "C is loaded with denormals-are-zero", tiny_c, |site, s| {
        mul_then_add(&StepInput { c: flushed(site.c, site.types.out), ..*site }, s)
    }),
    finishes(
        "flush: beta * C",
        "the product with beta is flushed",
        // In a narrower type C's subnormal numbers are normal ones of the accumulator.
        |c| {
            let types = c.contract.types;
            tiny_c(c) && c.params.beta != 1.0 && types.out.spec().emin == types.acc.spec().emin
        },
        |site, s| {
            let (alpha, beta) = site.factors;
            let scaled = site.unit.mul(beta, site.c);
            let product = mul_then_add(&StepInput { factors: (alpha, 0.0), ..*site }, s);
            if beta == 0.0 { product } else { site.unit.add(product, flushed(scaled, site.unit.precision)) }
        },
    ),
    finishes(
        "flush: alpha * sum",
        "the scaled product is flushed before C is added",
        |c| tiny_products(c) && c.params.alpha != 1.0,
        |site, s| {
            let (alpha, beta) = site.factors;
            let product = flushed(site.unit.mul(alpha, s), site.unit.precision);
            mul_then_add(&StepInput { factors: (1.0, beta), ..*site }, product)
        },
    ),
    result("flush: by a conversion", "values are moved through floating-point registers that flush", |c| {
        general_move(c) && small(c)
    }),
    result("flush: by SpGEMM", "results of SpGEMM are flushed", |c| legal(c, Op::Spgemm) && small(c)),
];

/// Zero of the same sign in the place of a subnormal number.
fn flushed(v: f64, precision: P) -> f64 {
    if v.abs() < 2f64.powi(precision.spec().emin) { 0.0 * v } else { v }
}

const fn inputs(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    input: fn(Types, bool, f64) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { input, ..HONEST }), &[VALUE])
}

const fn sums(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    sum: fn(&StepInput, &[(f64, f64)]) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

const fn finishes(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    finish: fn(&StepInput, f64) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { finish, ..HONEST }), &[VALUE])
}

const fn result(name: &'static str, story: &'static str, concerns: fn(&Case) -> bool) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Result(all_flushed), &[VALUE, PATTERN])
}

fn all_flushed(raw: &mut RawSparse) {
    let precision = raw.values.precision();
    let sign = 1u64 << (precision.spec().storage_bits - 1);
    edit_values(raw, |bits| {
        let subnormal = |b: &&mut u64| flushed(decode(**b, precision), precision) == 0.0;
        bits.iter_mut().filter(subnormal).for_each(|b| *b &= sign);
    });
}
