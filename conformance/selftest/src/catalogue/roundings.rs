//! Operands and results rounded another way than declared: ties, halves of a split, a type on the way.
//!
//! ```text
//! tf32  rna: half away from zero    rn: half to even      they differ in one value of 2^13
//! f32   = bf16 + bf16 + rest        f64 = f32 + f32 + rest      the rest is what a split forgets
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::own::{HONEST, StepKernel};
use super::{scaled, typed};
use sparse_conformance_core::case::Case;
use sparse_oracle::arithmetic::Input;
use sparse_oracle::contract::Types;
use sparse_oracle::op;
use sparse_oracle::scalar::{Precision as P, Rounding, encode, nearest_in};

const F: Family = Family::Precision;

fn tf32(case: &Case) -> bool {
    scaled(case) && case.contract.types.a == P::Tf32
}

pub(super) static BUGS: &[Bug] = &[
    inputs(
        "tf32: ties to even where rna is declared",
        "cvt.rn.tf32 and cvt.rna.tf32 are one instruction apart",
        tf32,
        |_, _, v| tf32_even(v),
    ),
    inputs("tf32: rounded away from zero", "any bit below the 13th rounds up", tf32, |_, _, v| tf32_up(v)),
    inputs("tf32: A cut", "A comes from a copy that was cut, B is rounded", tf32, |_, of_a, v| {
        op::input(v, if of_a { Input::Tf32Truncate } else { Input::Tf32Rna })
    }),
    inputs("tf32: 8 bits kept", "tf32 is taken for bf16 with more room", tf32, |_, _, v| {
        nearest_in(v, P::Bf16)
    }),
    inputs("tf32: B not rounded past 2^16", "large values take another path", tf32, |types, of_a, v| {
        if !of_a && v.abs() >= 65536.0 { v } else { (HONEST.input)(types, of_a, v) }
    }),
    inputs(
        "f32: two bf16",
        "f32 is split in two bf16, and what is left is dropped",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_, _, v| split(v, P::Bf16),
    ),
    inputs(
        "f32: two f16",
        "f32 is split in two halves, whose range is smaller",
        |c| typed(c, P::F32, P::F32, P::F32),
        |_, _, v| split(v, P::F16),
    ),
    inputs(
        "f64: two f32",
        "f64 is split in two floats, and what is left is dropped",
        |c| typed(c, P::F64, P::F64, P::F64),
        |_, _, v| split(v, P::F32),
    ),
    inputs(
        "bf16: through f16",
        "bf16 is widened by a function for halves",
        |c| scaled(c) && c.contract.types.a == P::Bf16,
        |_, _, v| nearest_in(v, P::F16),
    ),
    inputs(
        "f16: through bf16",
        "f16 operands are staged in bf16",
        |c| scaled(c) && c.contract.types.a == P::F16,
        |_, _, v| nearest_in(v, P::Bf16),
    ),
    rounds("out: ties away from zero", "half an ulp is added, and the rest is cut", |y, types| {
        encode(y, types.out, Rounding::NearestAway)
    }),
    rounds(
        "out: through the other half",
        "bf16 results are stored as f16 first, and f16 as bf16",
        |y, types| {
            let other = if types.out == P::F16 { P::Bf16 } else { P::F16 };
            encode(nearest_in(y, other), types.out, Rounding::NearestEven)
        },
    ),
    rounds("out: rounded up", "the rounding mode is left at +Inf by a caller", |y, types| {
        encode(y, types.out, Rounding::Up)
    }),
];

/// The two leading parts of a number in a narrower type; what overflows it stays.
fn split(v: f64, narrow: P) -> f64 {
    let high = nearest_in(v, narrow);
    if high.is_finite() { high + nearest_in(v - high, narrow) } else { v }
}

/// The float with 11 significand bits, ties to even.
fn tf32_even(v: f64) -> f64 {
    let bits = (v as f32).to_bits();
    if !v.is_finite() {
        return v;
    }
    f64::from(f32::from_bits((bits + 0xfff + (bits >> 13 & 1)) & !0x1fff))
}

fn tf32_up(v: f64) -> f64 {
    let bits = (v as f32).to_bits();
    if !v.is_finite() {
        return v;
    }
    f64::from(f32::from_bits((bits + 0x1fff) & !0x1fff))
}

const fn inputs(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    input: fn(Types, bool, f64) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { input, ..HONEST }), &[VALUE])
}

/// Contracts whose result is narrower than the accumulator.
fn narrow_out(case: &Case) -> bool {
    let types = case.contract.types;
    scaled(case) && types.out != types.acc
}

const fn rounds(name: &'static str, story: &'static str, round: fn(f64, Types) -> u64) -> Bug {
    Bug::new(F, name, story, narrow_out, Effect::StepKernel(StepKernel { round, ..HONEST }), &[VALUE])
}
