//! The numbers of one precision: how to draw normal, tiny and special ones exactly.

use crate::scalar::{FloatSpec, Precision, Specials};
use crate::source::random::Random;

/// `magnitude * 2^exponent`, exact whenever the result is representable in f64.
fn scaled(magnitude: u64, exponent: i32) -> f64 {
    magnitude as f64 * power_of_two(exponent)
}

/// `2^exponent` for -1074..=1023, from bits: `powi` promises no exactness, and fails on subnormal powers.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        -1022.. => crate::scalar::power_of_two(exponent),
        _ => f64::from_bits(1 << (exponent + 1074)),
    }
}

/// The numbers of one precision, as stored.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) spec: FloatSpec,
}

impl Range {
    /// tf32 lives in an f32 and is filled like one.
    pub(super) fn of(precision: Precision) -> Range {
        let stored = if precision == Precision::Tf32 { Precision::F32 } else { precision };
        Range { spec: stored.spec() }
    }

    /// A normal number with a random full significand and an exponent in `low..=high`, either sign.
    #[inline(always)]
    pub(super) fn normal(self, random: &mut Random, low: i32, high: i32) -> f64 {
        let fraction_bits = self.spec.significand - 1;
        let fraction = random.below(1 << fraction_bits) << (52 - fraction_bits);
        // Every binade of every type is one of normal numbers of f64; bits of positive floats are in the order of the floats.
        let exponent = random.between(i64::from(low), i64::from(high)) + 1023;
        let magnitude = ((exponent as u64) << 52 | fraction).min(self.spec.max_finite().to_bits());
        f64::from_bits(random.below(2) << 63 | magnitude)
    }

    /// Half subnormal; else the smallest subnormal, the smallest normal, or up to 2^3 times that.
    pub(super) fn subnormal_or_tiny(self, random: &mut Random) -> f64 {
        let FloatSpec { significand, emin, .. } = self.spec;
        match random.below(8) {
            0..=3 => {
                let magnitude = 1 + random.below((1 << (significand - 1)) - 1);
                sign(random, scaled(magnitude, self.spec.min_exponent()))
            }
            4 => sign(random, scaled(1, self.spec.min_exponent())),
            5 => sign(random, scaled(1, emin)),
            _ => self.normal(random, emin, emin + 3),
        }
    }

    /// Half subnormal, from the three highest binades of those; half normal, of the two lowest binades. All are of like size, so
    /// that whatever drops the subnormal ones changes a sum in its leading bits.
    pub(super) fn around_smallest_normal(self, random: &mut Random) -> f64 {
        let FloatSpec { significand, emin, .. } = self.spec;
        if random.below(2) == 0 {
            return self.normal(random, emin, emin + 1);
        }
        let least = 1 << significand.saturating_sub(4);
        let magnitude = least + random.below((1 << (significand - 1)) - least);
        sign(random, scaled(magnitude, self.spec.min_exponent()))
    }

    /// NaN, infinities where the type has them, zeros, extremes.
    pub(super) fn special(self, random: &mut Random) -> f64 {
        let magnitude = match random.below(8) {
            0 => return f64::NAN,
            1 | 2 if self.spec.specials == Specials::Ieee => f64::INFINITY,
            3 | 4 => 0.0,
            5 => scaled(1, self.spec.min_exponent()),
            6 => scaled(1, self.spec.emin),
            _ => self.spec.max_finite(),
        };
        sign(random, magnitude)
    }

    /// The neighbour of a normal number, away from or toward zero; one step never leaves the normal range here,
    /// because the exponents of the cancelling families are -1..=1.
    pub(super) fn step(self, x: f64, away: bool) -> f64 {
        let last_place = 1u64 << (53 - self.spec.significand);
        let bits = if away { x.to_bits() + last_place } else { x.to_bits() - last_place };
        f64::from_bits(bits)
    }
}

pub(super) fn sign(random: &mut Random, magnitude: f64) -> f64 {
    if random.below(2) == 0 { magnitude } else { -magnitude }
}
