//! NaN, infinities, zeros and subnormals that get lost, or appear.
//!
//! ```text
//! 0 * inf = NaN   an explicit zero takes part     .  * inf = nothing    an absent position does not
//! ```

use super::super::bug::symptom::{PATTERN, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::edit::{edit_values, retain};
use super::super::own::{HONEST, StepInput, StepKernel, fused};
use super::{dense, general_move, product, scaled};
use sparse_conformance_core::case::{Case, Filling};
use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::{Precision, decode};

const F: Family = Family::Special;

// Which cases can show a bug is asked of the names of value families, so that families to come are counted as well.

fn named(case: &Case, parts: &[&str]) -> bool {
    matches!(case.filling, Filling::Drawn(family, _) if parts.iter().any(|part| family.name().contains(part)))
}

fn special(case: &Case) -> bool {
    dense(case) && named(case, &["special", "huge"])
}

fn zeros(case: &Case) -> bool {
    scaled(case) && named(case, &["special", "zero"])
}

fn tiny(case: &Case) -> bool {
    dense(case) && named(case, &["subnormal"])
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "NaN: swallowed in the result",
        "`if (c != c) c = 0`",
        special,
        Effect::Output(|d| d.map(|y| if y.is_nan() { 0.0 } else { y })),
        &[VALUE],
    ),
    Bug::new(
        F,
        "NaN: swallowed by max",
        "an activation is fused: max(y, lowest) drops NaN",
        special,
        Effect::Output(|d| d.map(|y| y.max(-f64::MAX))),
        &[VALUE],
    ),
    sums("NaN: products skipped", "a product that is NaN is not added", special_product, |site, terms| {
        let kept: Vec<_> = terms.iter().copied().filter(|(a, b)| !(a * b).is_nan()).collect();
        fused(site, &kept)
    }),
    Bug::new(
        F,
        "Inf: sign lost",
        "-Inf is returned as +Inf",
        special,
        Effect::Output(|d| d.map(|y| if y.is_infinite() { y.abs() } else { y })),
        &[VALUE],
    ),
    Bug::new(
        F,
        "Inf: turned into the largest number",
        "stores saturate (satfinite)",
        special,
        Effect::Output(|d| {
            let largest = d.precision.spec().max_finite();
            d.map(|y| if y.is_nan() { y } else { y.clamp(-largest, largest) });
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "Inf: turned into NaN",
        "Inf - Inf in a compensation step",
        special,
        Effect::Output(|d| d.map(|y| if y.is_infinite() { f64::NAN } else { y })),
        &[VALUE],
    ),
    sums(
        "Inf: times zero is zero",
        "0 * Inf is taken for 0, as tensor formats with zero skipping do",
        special_product,
        |site, terms| {
            let kept: Vec<_> = terms
                .iter()
                .copied()
                .filter(|&(a, b)| a != 0.0 && b != 0.0 || a.is_nan() || b.is_nan())
                .collect();
            fused(site, &kept)
        },
    ),
    sums("zero: explicit zeros of A skipped", "`if (a == 0) continue`", zeros, |site, terms| {
        let kept: Vec<_> = terms.iter().copied().filter(|t| t.0 != 0.0).collect();
        fused(site, &kept)
    }),
    sums("zero: zeros of B skipped", "`if (b == 0) continue`", special_product, |site, terms| {
        let kept: Vec<_> = terms.iter().copied().filter(|t| t.1 != 0.0).collect();
        fused(site, &kept)
    }),
    Bug::new(
        F,
        "zero: absent positions multiplied",
        "the matrix is made dense, and 0 * Inf of an absent position reaches C",
        |c| special_product(c) && !c.params.transpose_a,
        Effect::StepKernel(StepKernel {
            gather: |a, transposed| {
                let mut lanes = (HONEST.gather)(a, transposed);
                let inner = if transposed { a.shape().0 } else { a.shape().1 };
                for lane in &mut lanes {
                    let mut full: Vec<(u32, f64)> = (0..inner as u32).map(|k| (k, 0.0)).collect();
                    lane.iter().for_each(|&(k, v)| full[k as usize].1 = v);
                    *lane = full;
                }
                lanes
            },
            ..HONEST
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "zero: sign of a modelled zero lost",
        "-0 is stored as +0 where the bits are declared",
        scaled,
        Effect::StepKernel(StepKernel {
            round: |y, types| (HONEST.round)(if y == 0.0 { 0.0 } else { y }, types),
            ..HONEST
        }),
        &[VALUE],
    )
    .only_bits(),
    Bug::new(
        F,
        "zero: sign lost by a conversion",
        "-0 is written as +0",
        |c| general_move(c) && named(c, &["special", "zero"]),
        Effect::Result(|raw| {
            let precision = raw.values.precision();
            edit_values(raw, |bits| {
                let zero = |b: &&mut u64| decode(**b, precision) == 0.0;
                bits.iter_mut().filter(zero).for_each(|b| *b = 0);
            });
        }),
        &[VALUE, PATTERN],
    ),
    Bug::new(
        F,
        "zero: explicit zeros dropped by a conversion",
        "entries that are zero are not stored",
        |c| c.contract.op == Op::Convert && c.contract.to == Some(FormatKind::Csr),
        Effect::Result(|raw| {
            let precision = raw.values.precision();
            retain(raw, |_, bits| decode(bits, precision) != 0.0);
        }),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "subnormal: results flushed",
        "the unit runs with flush-to-zero, undeclared",
        tiny,
        Effect::Output(|d| {
            let least = least_normal(d.precision);
            d.map(|y| if y.abs() < least { 0.0 } else { y });
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "subnormal: operands flushed",
        "denormals-are-zero is on, undeclared",
        |c| product(c) && tiny(c) && c.params.alpha != 0.0,
        Effect::StepKernel(StepKernel {
            input: |types, of_a, v| {
                let v = (HONEST.input)(types, of_a, v);
                if v.abs() < least_normal(types.a) { 0.0 * v } else { v }
            },
            ..HONEST
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "fp8: NaN of e4m3 read as 480",
        "the pattern after 448 is taken for a number",
        |c| scaled(c) && c.contract.types.a == Precision::E4m3 && named(c, &["special"]),
        Effect::StepKernel(StepKernel { input: |_, _, v| if v.is_nan() { 480.0 } else { v }, ..HONEST }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "NaN: rounded past the sign to zero",
        "tf32 is rounded by adding half an ulp to the bits, without a look at what they are",
        |c| scaled(c) && c.contract.types.b == Precision::Tf32 && named(c, &["special"]),
        Effect::Right(|b| {
            let bits = |at| b.data.bits(at);
            let rounded =
                |bits: u64| if bits & 0x7fff_ffff > 0x7fff_efff { !bits & 0x8000_0000 } else { bits };
            (0..b.data.len()).map(|at| rounded(bits(at))).collect()
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "NaN: payload lost by a conversion",
        "values are copied through arithmetic, which makes every NaN alike",
        |c| moved_nan(c) && c.contract.types.a != Precision::E4m3,
        Effect::Stored(|precision, bits| of_nan(precision, bits, bits | fraction(precision))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "NaN: signalling made quiet by a conversion",
        "values are copied through registers of a wider type",
        |c| moved_nan(c) && c.contract.types.a != Precision::E4m3,
        Effect::Stored(|precision, bits| {
            of_nan(precision, bits, bits | (fraction(precision) ^ (fraction(precision) >> 1)))
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "NaN: sign lost by a conversion",
        "what is NaN is written as a positive one",
        moved_nan,
        Effect::Stored(|precision, bits| {
            of_nan(precision, bits, bits & !(1 << (precision.spec().storage_bits - 1)))
        }),
        &[VALUE],
    ),
];

/// Legal conversions and transposes of values that hold a NaN.
fn moved_nan(case: &Case) -> bool {
    case.contract.op.is_exact() && case.params.fault.is_none() && named(case, &["special"])
}

/// The bits of a type's fraction, as it is stored.
fn fraction(precision: Precision) -> u64 {
    let stored = if precision == Precision::Tf32 { Precision::F32 } else { precision };
    (1 << (stored.spec().significand - 1)) - 1
}

/// The other bits where these are of a NaN.
fn of_nan(precision: Precision, bits: u64, other: u64) -> u64 {
    if decode(bits, precision).is_nan() { other } else { bits }
}

fn special_product(case: &Case) -> bool {
    scaled(case) && special(case)
}

const fn sums(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    sum: fn(&StepInput, &[(f64, f64)]) -> f64,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

/// The least normal number of a type.
fn least_normal(precision: Precision) -> f64 {
    2f64.powi(precision.spec().emin)
}
