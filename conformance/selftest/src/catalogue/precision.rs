//! Another type than declared for accumulator, products, operands or result.
//!
//! ```text
//! a, b --input--> a * b --> acc (f32) --> y (f16)        each arrow rounds once, and only as declared
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::own::{HONEST, StepInput, StepKernel, fused};
use super::{dense, scaled, typed};
use sparse_conformance_core::case::Case;
use sparse_oracle::arithmetic::Input;
use sparse_oracle::contract::Types;
use sparse_oracle::model::chain::Unit;
use sparse_oracle::op;
use sparse_oracle::scalar::{Precision as P, Rounding, decode, encode, nearest_in};

const F: Family = Family::Precision;

fn tf32(case: &Case) -> bool {
    scaled(case) && case.contract.types.a == P::Tf32
}

fn narrow_out(case: &Case) -> bool {
    let types = case.contract.types;
    scaled(case) && types.out != types.acc
}

pub(super) static BUGS: &[Bug] = &[
    accumulates(
        "acc: f64 in f32",
        "f64 operands, summed in a float",
        |c| typed(c, P::F64, P::F64, P::F64),
        |_| P::F32,
    ),
    accumulates(
        "acc: f32 in f16",
        "f32 operands, summed in a half",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_| P::F16,
    ),
    accumulates(
        "acc: f32 in bf16",
        "f32 operands, summed in a bfloat16",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_| P::Bf16,
    ),
    accumulates(
        "acc: tf32 in f16",
        "tf32 operands, summed in a half",
        |c| typed(c, P::Tf32, P::F32, P::F32),
        |_| P::F16,
    ),
    accumulates(
        "acc: f16 in f16, f32 out",
        "f16 operands, summed in f16 where f32 is declared",
        |c| typed(c, P::F16, P::F32, P::F32),
        |_| P::F16,
    ),
    accumulates(
        "acc: f16 in f16, f16 out",
        "the same where only the accumulator is f32",
        |c| typed(c, P::F16, P::F32, P::F16),
        |_| P::F16,
    ),
    accumulates(
        "acc: bf16 in bf16, f32 out",
        "bf16 operands, summed in bf16",
        |c| typed(c, P::Bf16, P::F32, P::F32),
        |_| P::Bf16,
    ),
    accumulates(
        "acc: bf16 in bf16, bf16 out",
        "the same where only the accumulator is f32",
        |c| typed(c, P::Bf16, P::F32, P::Bf16),
        |_| P::Bf16,
    ),
    accumulates(
        "acc: e4m3 in f16",
        "fp8 operands, summed in f16",
        |c| typed(c, P::E4m3, P::F32, P::F32),
        |_| P::F16,
    ),
    accumulates(
        "acc: e5m2 in bf16",
        "fp8 operands, summed in bf16",
        |c| typed(c, P::E5m2, P::F32, P::F32),
        |_| P::Bf16,
    ),
    accumulates(
        "acc: f16 in bf16",
        "f16 operands, summed in bf16",
        |c| typed(c, P::F16, P::F16, P::F16),
        |_| P::Bf16,
    ),
    sums(
        "product: rounded to the operands' type",
        "products are stored before they are added",
        |c| scaled(c) && c.contract.types.a != c.contract.types.acc,
        |site, terms| {
            let narrow = Unit { precision: site.types.a };
            terms.iter().fold(0.0, |acc, &(a, b)| site.unit.add(acc, narrow.mul(a, b)))
        },
    ),
    sums(
        "product: rounded where fused is declared",
        "a * b + acc with two roundings, declared as fma",
        |c| scaled(c) && c.contract.types.acc != P::F16,
        |site, terms| terms.iter().fold(0.0, |acc, &(a, b)| site.unit.add(acc, site.unit.mul(a, b))),
    )
    .only_bits(),
    sums(
        "sum: exact where a chain is declared",
        "a wide accumulator, rounded once: better, and not what is declared",
        |c| scaled(c) && c.contract.types.acc == P::F32,
        |_, terms| {
            let wide = Unit { precision: P::F64 };
            let sum = terms.iter().fold(0.0, |acc, &(a, b)| wide.fma(a, b, acc));
            f64::from(sum as f32)
        },
    )
    .only_bits(),
    inputs("tf32: truncated where rna is declared", "the low 13 bits are dropped", tf32, |_, _, v| {
        op::input(v, Input::Tf32Truncate)
    }),
    inputs("tf32: only A rounded", "B goes into the instruction as it is stored", tf32, |_, of_a, v| {
        if of_a { op::input(v, Input::Tf32Rna) } else { op::input(v, Input::Tf32Truncate) }
    }),
    inputs("tf32: not rounded", "the product is computed in f32", tf32, |_, _, v| v),
    inputs(
        "f32: operands rounded to tf32",
        "a library computes f32 in tf32 unless told otherwise",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_, _, v| op::input(v, Input::Tf32Rna),
    ),
    inputs(
        "f32: operands rounded to bf16",
        "a fast mode that nobody asked for",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_, _, v| nearest_in(v, P::Bf16),
    ),
    inputs(
        "f64: operands rounded to f32",
        "a loader of single precision",
        |c| typed(c, P::F64, P::F64, P::F64),
        |_, _, v| nearest_in(v, P::F32),
    ),
    inputs(
        "fp8: e5m2 read as e4m3",
        "the two fp8 types are taken for one another",
        |c| typed(c, P::E5m2, P::F32, P::F32),
        |_, _, v| decode(encode(v, P::E5m2, Rounding::NearestEven), P::E4m3),
    ),
    inputs(
        "fp8: e4m3 read as e5m2",
        "the two fp8 types are taken for one another",
        |c| typed(c, P::E4m3, P::F32, P::F32),
        |_, _, v| decode(encode(v, P::E4m3, Rounding::NearestEven), P::E5m2),
    ),
    rounds("out: truncated", "the result is cut, not rounded", |y, types| {
        encode(y, types.out, Rounding::TowardZero)
    }),
    rounds(
        "out: rounded twice",
        "the result is rounded to 13 bits by a staging buffer, then to its type",
        |y, types| encode(to_13_bits(y), types.out, Rounding::NearestEven),
    ),
    Bug::new(
        F,
        "out: f32 through bf16",
        "a forgotten narrow temporary",
        |c| dense(c) && c.contract.types.out == P::F32,
        Effect::Output(|d| d.map(|y| nearest_in(y, P::Bf16))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "out: f64 through f32",
        "a forgotten float temporary",
        |c| dense(c) && c.contract.types.out == P::F64,
        Effect::Output(|d| d.map(|y| nearest_in(y, P::F32))),
        &[VALUE],
    ),
];

/// The nearest number of 13 significand bits, ties to even.
fn to_13_bits(y: f64) -> f64 {
    let bits = (y as f32).to_bits();
    if !y.is_finite() {
        return y;
    }
    f64::from(f32::from_bits((bits + 0x3ff + (bits >> 11 & 1)) & !0x7ff))
}

const fn accumulates(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    acc: fn(Types) -> P,
) -> Bug {
    Bug::new(
        F,
        name,
        story,
        concerns,
        Effect::StepKernel(StepKernel { acc, sum: converted, ..HONEST }),
        &[VALUE],
    )
}

/// A fused chain in the accumulator's type; operands that it does not hold are rounded to it.
fn converted(site: &StepInput, terms: &[(f64, f64)]) -> f64 {
    let of = |v: f64| nearest_in(v, site.unit.precision);
    let terms: Vec<(f64, f64)> = terms.iter().map(|&(a, b)| (of(a), of(b))).collect();
    fused(site, &terms)
}

const fn sums(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    sum: fn(&StepInput, &[(f64, f64)]) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

const fn inputs(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    input: fn(Types, bool, f64) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { input, ..HONEST }), &[VALUE])
}

const fn rounds(name: &'static str, story: &'static str, round: fn(f64, Types) -> u64) -> Bug {
    Bug::new(F, name, story, narrow_out, Effect::StepKernel(StepKernel { round, ..HONEST }), &[VALUE])
}
