//! Families of values: what the stored entries and the dense operands hold.
//!
//! Every value is exactly representable in the precision asked for (for tf32: in the f32 it is stored in, full
//! significands, so that the declared input rounding matters). A NaN is always the canonical quiet one. All values
//! are built as `integer * 2^exponent`, exactly, from the raw bits of [`Random`]: a seed gives the same values on
//! every platform.
//!
//! Values depend on their number in the operand alone: the sparse operand's entries are numbered as the source stores them,
//! those of dense operands as they lie, padding left out. Families that name one operand hold something else in the other
//! ([`ValueFamily::of`]).

mod coded;
mod operand;
pub mod placed;
mod range;
mod side_by_side;

pub use operand::Operand;

use super::random::Random;
use crate::prelude::*;
use crate::scalar::{FloatSpec, Precision, Scalar};
use coded::Code;
use range::{Range, power_of_two, sign};
use std::fmt;

/// A family of values by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the doc line of each is in VALUE_FAMILIES")]
pub enum ValueFamily {
    Ones,
    SmallInt,
    NearOne,
    Wide,
    Huge,
    Cancelling,
    NearCancelling,
    Subnormal,
    Special,
    SignedZero,
    Coded,
    OnesA,
    OnesB,
    SubnormalA,
    SubnormalB,
    OneBig,
    PlacedSpecial,
    SubnormalSums,
    OneTerm,
}

/// One row of [`VALUE_FAMILIES`].
#[derive(Clone, Copy, Debug)]
pub struct ValueFamilyInfo {
    /// The family.
    pub family: ValueFamily,
    /// Name in case lines.
    pub name: &'static str,
    /// What it draws, for the command line's help.
    pub doc: &'static str,
    /// Sums of products stay exact for moderate lengths in every accumulator: tier T0 applies.
    pub t0_friendly: bool,
    /// Every value is finite.
    pub finite: bool,
}

const fn row(
    family: ValueFamily,
    name: &'static str,
    t0_friendly: bool,
    finite: bool,
    doc: &'static str,
) -> ValueFamilyInfo {
    ValueFamilyInfo { family, name, doc, t0_friendly, finite }
}

/// Every family, in the order of [`ValueFamily`].
pub const VALUE_FAMILIES: [ValueFamilyInfo; 19] = [
    row(ValueFamily::Ones, "ones", true, true, "1 everywhere: a result counts its terms"),
    row(
        ValueFamily::SmallInt,
        "small-int",
        true,
        true,
        "integers in -4..=4 without 0; where 16 bits can't hold their sums, 1, -1 and zeros in B (Y)",
    ),
    row(ValueFamily::NearOne, "near-one", false, true, "full significands, exponents -1..=1, either sign"),
    row(
        ValueFamily::Wide,
        "wide",
        false,
        true,
        "full significands over half the exponent range: products stay finite",
    ),
    row(
        ValueFamily::Huge,
        "huge",
        false,
        true,
        "within 2^3 of the largest finite value: products may overflow",
    ),
    row(ValueFamily::Cancelling, "cancelling", false, true, "neighbours x, -x: sums cancel exactly"),
    row(
        ValueFamily::NearCancelling,
        "near-cancelling",
        false,
        true,
        "neighbours x, -x off by one last place",
    ),
    row(ValueFamily::Subnormal, "subnormal", false, true, "half subnormal, the rest just above; either sign"),
    row(
        ValueFamily::Special,
        "special",
        false,
        false,
        "NaN, infinities, zeros and extremes among normal values",
    ),
    row(ValueFamily::SignedZero, "signed-zero", true, true, "explicit +0 and -0 among small integers"),
    row(
        ValueFamily::Coded,
        "coded",
        false,
        true,
        "coded by position: neighbours differ, and so do rows and columns; sums of few terms tell which took part",
    ),
    row(ValueFamily::OnesA, "ones-a", false, true, "1 in A (X of SDDMM), position codes in the others"),
    row(ValueFamily::OnesB, "ones-b", false, true, "1 in B, x (Y of SDDMM), position codes in the others"),
    row(
        ValueFamily::SubnormalA,
        "subnormal-a",
        false,
        true,
        "A around the smallest normal number, half of it subnormal; B so large that products are ordinary",
    ),
    row(
        ValueFamily::SubnormalB,
        "subnormal-b",
        false,
        true,
        "B around the smallest normal number, half of it subnormal; A so large that products are ordinary",
    ),
    row(
        ValueFamily::OneBig,
        "one-big",
        false,
        true,
        "a big value now and then among small integers in A, small integers in the others",
    ),
    row(
        ValueFamily::PlacedSpecial,
        "placed-special",
        false,
        false,
        "few NaN and infinities: in A, in single elements of B, and in rows of B that no entry of A meets; zeros that face them",
    ),
    row(
        ValueFamily::SubnormalSums,
        "subnormal-sums",
        false,
        true,
        "A small multiples of the smallest subnormal, B small integers: products and sums are subnormal, and exact",
    ),
    row(
        ValueFamily::OneTerm,
        "one-term",
        false,
        true,
        "full significands and powers of two; one value in each column of B (row of Y), zeros beside it: no other term hides what is lost",
    ),
];

impl ValueFamily {
    /// The row of the table.
    #[must_use]
    pub const fn info(self) -> &'static ValueFamilyInfo {
        &VALUE_FAMILIES[self as usize]
    }

    /// Name in case lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The family with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ValueFamily> {
        VALUE_FAMILIES.iter().find(|info| info.name == name).map(|info| info.family)
    }

    /// True when sums of products of two such values stay exact for moderate lengths: they are integers of
    /// magnitude at most 16, so any accumulator of `p` significand bits is exact up to `2^p / 16` terms.
    #[must_use]
    pub const fn is_t0_friendly(self) -> bool {
        self.info().t0_friendly
    }

    /// One value, of operand A where they differ. What pairs values, codes positions or places rare ones does so in
    /// [`fill`](Self::fill) only; alone those draw `x`, a code of any position, an ordinary value.
    pub fn sample(self, random: &mut Random, precision: Precision) -> f64 {
        let range = Range::of(precision);
        if let Some((low, high)) = self.binades(range.spec) {
            return range.normal(random, low, high);
        }
        match self {
            ValueFamily::SmallInt | ValueFamily::OneBig => small_int(random),
            ValueFamily::Subnormal => range.subnormal_or_tiny(random),
            ValueFamily::Special if random.below(4) == 0 => range.special(random),
            ValueFamily::Special => range.normal(random, -1, 1),
            ValueFamily::SignedZero => match random.below(4) {
                0 => 0.0,
                1 => -0.0,
                _ => small_int(random),
            },
            ValueFamily::Coded | ValueFamily::OnesB => Code::of(precision).sample(random),
            ValueFamily::SubnormalA => range.around_smallest_normal(random),
            ValueFamily::SubnormalSums => small_int(random) * power_of_two(range.spec.min_exponent()),
            ValueFamily::OneTerm if random.below(2) == 0 => range.normal(random, -1, 1),
            ValueFamily::OneTerm => {
                let exponent = random.between(-1, 1) as i32;
                sign(random, power_of_two(exponent))
            }
            // Those with binades have returned.
            ValueFamily::Ones
            | ValueFamily::OnesA
            | ValueFamily::NearOne
            | ValueFamily::Wide
            | ValueFamily::Huge
            | ValueFamily::Cancelling
            | ValueFamily::NearCancelling
            | ValueFamily::SubnormalB
            | ValueFamily::PlacedSpecial => 1.0,
        }
    }

    /// The binades that values are drawn from, of families that draw normal numbers with full significands.
    const fn binades(self, FloatSpec { emin, emax, .. }: FloatSpec) -> Option<(i32, i32)> {
        match self {
            ValueFamily::NearOne
            | ValueFamily::Cancelling
            | ValueFamily::NearCancelling
            | ValueFamily::PlacedSpecial => Some((-1, 1)),
            // Over half the range: a product of two stays 2^3 below the largest finite value of the type, and a product of the two
            // smallest stays normal (a little below, in the narrowest types).
            ValueFamily::Wide => Some((emin / 2, (emax - 5) / 2)),
            ValueFamily::Huge => Some((emax - 2, emax)),
            ValueFamily::SubnormalB => Some((emax - 5, emax - 3)),
            _ => None,
        }
    }

    /// `n` values of one seed. In the cancelling families elements `2i` and `2i + 1` cancel (nearly); in the
    /// special one at least one value is an ordinary one, whenever `n` is not 0. Families that differ from operand to operand
    /// give what A holds.
    #[must_use]
    pub fn fill(self, n: usize, seed: u64, precision: Precision) -> Vec<f64> {
        let mut random = Random::new(seed, self.name());
        if let ValueFamily::Coded | ValueFamily::OnesB = self {
            return Code::of(precision).fill(n, &mut random);
        }
        let range = Range::of(precision);
        let mut values: Vec<f64> = if let Some((low, high)) = self.binades(range.spec) {
            let mut values = vec![0.0; n];
            side_by_side::fill(&mut values, &mut random, |random| range.normal(random, low, high));
            values
        } else {
            (0..n).map(|_| self.sample(&mut random, precision)).collect()
        };
        match self {
            ValueFamily::Cancelling => pair_up(&mut values, |x| -x),
            ValueFamily::NearCancelling => {
                pair_up(&mut values, |x| -Range::of(precision).step(x, random.below(2) == 0));
            }
            ValueFamily::Special if n > 0 => {
                let ordinary = random.below(n as u64) as usize;
                values[ordinary] = ValueFamily::NearOne.sample(&mut random, precision);
            }
            ValueFamily::OneBig => placed::put_big(&mut values, &mut random, precision),
            ValueFamily::PlacedSpecial => placed::put_special(&mut values, &mut random, precision),
            _ => {}
        }
        values
    }
}

impl ValueFamily {
    /// As [`fill`](Self::fill), straight into elements of their type.
    pub fn fill_elements<T: Scalar>(self, elements: &mut [T], seed: u64) {
        let is_changed_later = matches!(
            self,
            ValueFamily::Cancelling | ValueFamily::NearCancelling | ValueFamily::PlacedSpecial
        );
        let range = Range::of(T::PRECISION);
        match self.binades(range.spec) {
            Some((low, high)) if !is_changed_later => {
                let mut random = Random::new(seed, self.name());
                side_by_side::fill(elements, &mut random, |random| {
                    T::from_f64(range.normal(random, low, high))
                });
            }
            _ => {
                let values = self.fill(elements.len(), seed, T::PRECISION);
                elements.iter_mut().zip(values).for_each(|(to, value)| *to = T::from_f64(value));
            }
        }
    }
}

impl fmt::Display for ValueFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Replaces every second value by a function of the one before it.
fn pair_up(values: &mut [f64], mut other: impl FnMut(f64) -> f64) {
    for pair in values.chunks_exact_mut(2) {
        pair[1] = other(pair[0]);
    }
}

/// An integer in -4..=4 that is not 0.
fn small_int(random: &mut Random) -> f64 {
    let magnitude = random.between(1, 4) as f64;
    sign(random, magnitude)
}

#[cfg(test)]
mod tests;
