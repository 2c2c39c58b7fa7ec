//! Operands that are hard for a reduction, and a search that makes them harder.

use super::Case;
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Reduction, Slot};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

/// The families of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Random, near one.
    NearOne,
    /// All signs alike, near one: errors cannot cancel.
    Positive,
    /// Exponents all over the type.
    Wide,
    /// Subnormals among small numbers.
    Subnormal,
    /// Products whose sum comes near the largest number.
    Huge,
    /// Pairs that cancel but for a little.
    Cancelling,
    /// One large term; all others just below the end of its alignment.
    BelowAlignment,
    /// Halfway between neighbours, and a little more or less.
    Ties,
    /// Small integers times one power of two.
    Integers,
    /// Any finite bits.
    Bits,
}

impl Family {
    pub(crate) const ALL: [Family; 10] = [
        Family::NearOne,
        Family::Positive,
        Family::Wide,
        Family::Subnormal,
        Family::Huge,
        Family::Cancelling,
        Family::BelowAlignment,
        Family::Ties,
        Family::Integers,
        Family::Bits,
    ];
}

/// The nearest number of a type, its largest instead of an infinity.
pub(crate) fn near(v: f64, precision: Precision) -> f64 {
    let most = precision.spec().max_finite();
    decode(encode(v.clamp(-most, most), precision, Rounding::NearestEven), precision)
}

fn fraction(random: &mut Random) -> f64 {
    1.0 + random.bits() as f64 / u64::MAX as f64
}

fn sign(random: &mut Random) -> f64 {
    if random.below(2) == 0 { 1.0 } else { -1.0 }
}

fn any_bits(random: &mut Random, precision: Precision) -> f64 {
    let spec = precision.spec();
    loop {
        let v = decode(random.bits() & (u64::MAX >> (64 - spec.storage_bits)), precision);
        let v = near(v, precision);
        if v.is_finite() {
            return v;
        }
    }
}

/// F of the unit, or the significand of its accumulator.
fn alignment(arithmetic: &Arithmetic) -> i32 {
    let acc = arithmetic.part().acc.spec().significand as i32;
    match arithmetic.part().reduction {
        Reduction::Mma { architecture, instruction } => architecture
            .and_then(|a| TensorCore::new(a, instruction).ok())
            .and_then(|core| core.fused_sum())
            .map_or(acc, |sum| sum.fraction),
        _ => acc,
    }
}

/// n terms of a family for a declaration whose operands are of `input`.
pub(crate) fn terms(
    family: Family,
    arithmetic: &Arithmetic,
    input: Precision,
    n: usize,
    random: &mut Random,
) -> Vec<(f64, f64)> {
    let spec = input.spec();
    let (emin, emax) = (spec.emin, spec.emax);
    let at = |v: f64| near(v, input);
    let two = |e: i32| 2.0f64.powi(e);
    let (low, high) = (i64::from(emin), i64::from(emax));
    match family {
        Family::NearOne => (0..n)
            .map(|_| (at(sign(random) * fraction(random)), at(sign(random) * fraction(random))))
            .collect(),
        Family::Positive => (0..n).map(|_| (at(fraction(random)), at(fraction(random)))).collect(),
        Family::Wide => (0..n)
            .map(|_| {
                let reach = (emax / 2).min(60);
                let e = random.between(-i64::from(reach), i64::from(reach)) as i32;
                let v = |random: &mut Random, e: i32| at(sign(random) * fraction(random) * two(e));
                (v(random, e), v(random, random_shift(e, reach)))
            })
            .collect(),
        Family::Subnormal => (0..n)
            .map(|_| {
                let tiny = at(sign(random) * fraction(random) * two(emin - random.between(0, 6) as i32));
                let e = random.between(low, (low + 8).min(high)) as i32;
                let small = at(sign(random) * fraction(random) * two(e));
                if random.below(2) == 0 { (tiny, small) } else { (small, at(fraction(random))) }
            })
            .collect(),
        Family::Huge => {
            let acc = arithmetic.part().acc.spec().emax.min(arithmetic.out.spec().emax);
            let half = (acc / 2).min(emax - 1);
            (0..n)
                .map(|_| {
                    let v = |random: &mut Random| at(sign(random) * fraction(random) * two(half - 2));
                    (v(random), v(random))
                })
                .collect()
        }
        Family::Cancelling => {
            let mut list: Vec<(f64, f64)> = Vec::with_capacity(n);
            for i in 0..n {
                let previous = list.get(i / 2 * 2).copied();
                list.push(match previous {
                    Some((a, b)) if i % 2 == 1 => (-a, at(b * (1.0 + two(-3 - (i as i32 % 9))))),
                    _ => (at(fraction(random)), at(fraction(random) * two((i % 5) as i32))),
                });
            }
            list
        }
        Family::BelowAlignment => {
            let f = alignment(arithmetic);
            let top = (emax - 1).min(f / 2);
            // Largest exponent 2 * top: what is cut lies below 2^(2 top - F).
            let (below, rest) = (2 * top - f - 1, 2.0 - two(1 - spec.significand as i32));
            let (left, right) = (below / 2, below - below / 2 - 1);
            let small = (at(rest * two(left)), at(rest * two(right)));
            let place = random.below(n.max(1) as u64) as usize;
            (0..n).map(|i| if i == 0 || i == place { (two(top), two(top)) } else { small }).collect()
        }
        Family::Ties => {
            let p = alignment(arithmetic).min(emax + 4 - emin);
            (0..n)
                .map(|i| match i % 3 {
                    0 => (at(two(p / 2)), at(two(p - p / 2))),
                    1 => (1.0, at(sign(random))),
                    _ => (at(0.5 * sign(random)), at(fraction(random))),
                })
                .collect()
        }
        Family::Integers => {
            let shift = two(random.between(-6, 2) as i32);
            let bits = random.between(1, 7) as i32;
            let integer = |random: &mut Random| random.between(-(1 << bits), 1 << bits) as f64;
            (0..n).map(|_| (at(integer(random)), at(integer(random) * shift))).collect()
        }
        Family::Bits => (0..n).map(|_| (any_bits(random, input), any_bits(random, input))).collect(),
    }
}

fn random_shift(e: i32, reach: i32) -> i32 {
    (e / 3 + 1).clamp(-reach, reach)
}

/// A whole element: terms, factors, C, and slots for a hybrid.
pub(crate) fn case(
    family: Family,
    arithmetic: &Arithmetic,
    input: Precision,
    n: usize,
    random: &mut Random,
) -> Case {
    let terms = terms(family, arithmetic, input, n, random);
    let exact = |v: f64| near(v, arithmetic.part().acc);
    let scalings = match arithmetic.epilogue {
        Epilogue::None => vec![(1.0, 0.0), (1.0, 1.0), (1.0, 1.0), (1.0, exact(-0.7))],
        _ => vec![(1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (exact(-1.0 / 3.0), exact(0.7)), (exact(1.9), 0.0)],
    };
    let scaling = *random.pick(&scalings);
    let sum: f64 = terms.iter().map(|(a, b)| a * b).sum();
    let c = match random.below(4) {
        0 => 0.0,
        1 => near(-sum, arithmetic.out),
        2 => near(fraction(random) * sign(random), arithmetic.out),
        _ => near(sum * fraction(random), arithmetic.out),
    };
    let hybrid = arithmetic.parts.second().is_some();
    let one_part = arithmetic.combine == sparse_oracle::arithmetic::Combine::Disjoint;
    let all_in_tile = random.below(2) == 0;
    let slots = hybrid.then(|| {
        let slot = |at: usize| Slot {
            in_tile: if one_part { all_in_tile } else { at % 3 != 2 },
            at: (at + at / 7) as u32,
        };
        (0..n).map(slot).collect()
    });
    Case { terms, slots, scaling, c: if c.is_finite() { c } else { 0.0 } }
}

/// The case with one operand, or C, changed a little.
pub(crate) fn mutated(case: &Case, input: Precision, out: Precision, random: &mut Random) -> Case {
    let mut next = case.clone();
    if next.terms.is_empty() || random.below(12) == 0 {
        next.c = nudged(next.c, out, random);
        return next;
    }
    let n = next.terms.len() as u64;
    let at = random.below(n) as usize;
    let (a, b) = next.terms[at];
    next.terms[at] = match random.below(7) {
        0 => (nudged(a, input, random), b),
        1 => (a, nudged(b, input, random)),
        2 => (-a, b),
        3 => (near(a * 2.0, input), b),
        4 => (a, near(b * 0.5, input)),
        5 => next.terms[random.below(n) as usize],
        _ => (nudged(a, input, random), nudged(b, input, random)),
    };
    next
}

/// Another finite number of the type: one bit flipped, or the neighbour.
fn nudged(v: f64, precision: Precision, random: &mut Random) -> f64 {
    let bits = encode(v, precision, Rounding::NearestEven);
    let spec = precision.spec();
    let unused = if precision == Precision::Tf32 { 13 } else { 0 };
    let flip = u64::from(unused) + random.below(u64::from(spec.storage_bits - unused));
    let changed = decode(bits ^ 1 << flip, precision);
    if changed.is_finite() { changed } else { v }
}
