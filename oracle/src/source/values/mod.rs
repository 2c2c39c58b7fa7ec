//! Families of values: what the stored entries and the dense operands hold.
//!
//! Every value is exactly representable in the precision asked for (for tf32: in the f32 it is stored in, full
//! significands, so that the declared input rounding matters). A NaN is always the canonical quiet one. All values
//! are built as `integer * 2^exponent`, exactly, from the raw bits of [`Random`]: a seed gives the same values on
//! every platform.

mod range;

use super::random::Random;
use crate::scalar::Precision;
use range::{Range, sign};
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
    ValueFamilyInfo {
        family,
        name,
        doc,
        t0_friendly,
        finite,
    }
}

/// Every family, in the order of [`ValueFamily`].
pub const VALUE_FAMILIES: [ValueFamilyInfo; 10] = [
    row(
        ValueFamily::Ones,
        "ones",
        true,
        true,
        "1 everywhere: a result counts its terms",
    ),
    row(
        ValueFamily::SmallInt,
        "small-int",
        true,
        true,
        "integers in -4..=4 without 0",
    ),
    row(
        ValueFamily::NearOne,
        "near-one",
        false,
        true,
        "full significands, exponents -1..=1, either sign",
    ),
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
    row(
        ValueFamily::Cancelling,
        "cancelling",
        false,
        true,
        "neighbours x, -x: sums cancel exactly",
    ),
    row(
        ValueFamily::NearCancelling,
        "near-cancelling",
        false,
        true,
        "neighbours x, -x off by one last place",
    ),
    row(
        ValueFamily::Subnormal,
        "subnormal",
        false,
        true,
        "half subnormal, the rest just above; either sign",
    ),
    row(
        ValueFamily::Special,
        "special",
        false,
        false,
        "NaN, infinities, zeros and extremes among normal values",
    ),
    row(
        ValueFamily::SignedZero,
        "signed-zero",
        true,
        true,
        "explicit +0 and -0 among small integers",
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
        VALUE_FAMILIES
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.family)
    }

    /// True when sums of products of two such values stay exact for moderate lengths: they are integers of
    /// magnitude at most 16, so any accumulator of `p` significand bits is exact up to `2^p / 16` terms.
    #[must_use]
    pub const fn is_t0_friendly(self) -> bool {
        self.info().t0_friendly
    }

    /// One value. The cancelling families pair their values in [`fill`](Self::fill) only; alone they draw `x`.
    pub fn sample(self, random: &mut Random, precision: Precision) -> f64 {
        let range = Range::of(precision);
        match self {
            ValueFamily::Ones => 1.0,
            ValueFamily::SmallInt => small_int(random),
            ValueFamily::NearOne | ValueFamily::Cancelling | ValueFamily::NearCancelling => {
                range.normal(random, -1, 1)
            }
            ValueFamily::Wide => range.wide(random),
            ValueFamily::Huge => range.normal(random, range.spec.emax - 2, range.spec.emax),
            ValueFamily::Subnormal => range.subnormal_or_tiny(random),
            ValueFamily::Special if random.below(4) == 0 => range.special(random),
            ValueFamily::Special => range.normal(random, -1, 1),
            ValueFamily::SignedZero => match random.below(4) {
                0 => 0.0,
                1 => -0.0,
                _ => small_int(random),
            },
        }
    }

    /// `n` values of one seed. In the cancelling families elements `2i` and `2i + 1` cancel (nearly); in the
    /// special one at least one value is an ordinary one, whenever `n` is not 0.
    #[must_use]
    pub fn fill(self, n: usize, seed: u64, precision: Precision) -> Vec<f64> {
        let mut random = Random::new(seed, self.name());
        let mut values: Vec<f64> = (0..n).map(|_| self.sample(&mut random, precision)).collect();
        match self {
            ValueFamily::Cancelling => pair_up(&mut values, |x| -x),
            ValueFamily::NearCancelling => {
                pair_up(&mut values, |x| {
                    -Range::of(precision).step(x, random.below(2) == 0)
                });
            }
            ValueFamily::Special if n > 0 => {
                let ordinary = random.below(n as u64) as usize;
                values[ordinary] = ValueFamily::NearOne.sample(&mut random, precision);
            }
            _ => {}
        }
        values
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
mod tests {
    use super::range::power_of_two;
    use super::*;
    use crate::scalar::{Specials, Values};

    fn every() -> impl Iterator<Item = (ValueFamily, Precision)> {
        let all = VALUE_FAMILIES.iter().map(|info| info.family);
        all.flat_map(|family| Precision::ALL.map(|precision| (family, precision)))
    }

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (at, info) in VALUE_FAMILIES.iter().enumerate() {
            assert_eq!(info.family as usize, at);
            assert_eq!(ValueFamily::from_name(info.name), Some(info.family));
        }
    }

    #[test]
    fn every_value_survives_its_precision_bit_for_bit() {
        for (family, precision) in every() {
            let values = family.fill(3000, 11, precision);
            let back = Values::from_f64(precision, &values).to_f64();
            for (x, y) in values.iter().zip(back) {
                assert_eq!(
                    x.to_bits(),
                    y.to_bits(),
                    "{family} in {precision}: {x} became {y}"
                );
            }
            assert_eq!(
                family.info().finite,
                values.iter().all(|x| x.is_finite()),
                "{family} in {precision}"
            );
        }
    }

    #[test]
    fn seeds_repeat_and_differ() {
        for (family, precision) in every().filter(|(family, _)| *family != ValueFamily::Ones) {
            let bits = |seed| {
                family
                    .fill(64, seed, precision)
                    .iter()
                    .map(|x| x.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(1), bits(1));
            assert_ne!(bits(1), bits(2), "{family} in {precision}");
        }
    }

    #[test]
    fn cancelling_pairs_cancel_and_near_ones_leave_one_last_place() {
        for precision in Precision::ALL {
            let sums = |family: ValueFamily| {
                let values = family.fill(501, 5, precision);
                values
                    .chunks_exact(2)
                    .map(|p| (p[0] + p[1]).abs())
                    .collect::<Vec<_>>()
            };
            assert!(sums(ValueFamily::Cancelling).iter().all(|&sum| sum == 0.0));
            let last_place = power_of_two(-(Range::of(precision).spec.significand as i32 - 1));
            let near = sums(ValueFamily::NearCancelling);
            assert!(
                near.iter().all(|&sum| sum > 0.0 && sum <= 2.0 * last_place),
                "{precision}"
            );
        }
    }

    #[test]
    fn wide_products_stay_finite_and_huge_ones_need_not() {
        for precision in Precision::ALL {
            let max = precision.spec().max_finite();
            let largest = |family: ValueFamily| {
                family
                    .fill(4000, 9, precision)
                    .into_iter()
                    .fold(0.0f64, |m, x| m.max(x.abs()))
            };
            assert!(largest(ValueFamily::Wide).powi(2) * 4.0 <= max, "{precision}");
            assert!(largest(ValueFamily::Huge) > max / 2.0, "{precision}");
        }
    }

    #[test]
    fn special_has_each_special_and_never_only_those() {
        for precision in Precision::ALL {
            let values = ValueFamily::Special.fill(4000, 2, precision);
            let has = |f: fn(&f64) -> bool| values.iter().any(f);
            assert!(has(|x| x.is_nan()) && has(|x| x.to_bits() == 0) && has(|x| x.to_bits() == 1 << 63));
            assert_eq!(
                has(|x| x.is_infinite()),
                precision.spec().specials == Specials::Ieee
            );
            assert!(values.contains(&Range::of(precision).spec.max_finite()));
            assert!(
                values
                    .iter()
                    .all(|x| !x.is_nan() || x.to_bits() == f64::NAN.to_bits())
            );
            for (n, seed) in [(1, 0), (2, 1), (3, 2)] {
                let few = ValueFamily::Special.fill(n, seed, precision);
                assert!(few.iter().any(|x| (0.5..4.0).contains(&x.abs())));
            }
        }
    }

    #[test]
    fn subnormals_are_about_half() {
        for precision in Precision::ALL {
            let limit = power_of_two(Range::of(precision).spec.emin);
            let values = ValueFamily::Subnormal.fill(2000, 3, precision);
            let below = values.iter().filter(|x| x.abs() < limit).count();
            assert!((1000..1500).contains(&below), "{precision}: {below}");
        }
    }
}
