//! Exact sums of f64 numbers, for positions that COO stores more than once.
//!
//! A fixed-point number long enough for any f64 and 2^32 of them: limb `i` counts units of `2^(32 i - 1074)`.
//!
//! ```text
//! limbs   67 ........ 33 ........ 1  0        32 bits each, held in i64, so that carries can wait
//!         2^1070 ...  2^-18 ...    2^-1074
//! ```

/// Limbs: 2^-1074 to 2^1024, and 32 bits for the number of terms.
const LIMBS: usize = 68;

/// Terms between two carries: each adds less than 2^32 to a limb, which must stay below 2^63.
const CARRY_EVERY: u32 = 1 << 30;

/// A sum in progress.
#[derive(Clone, Debug)]
pub(crate) struct ExactSum {
    limbs: [i64; LIMBS],
    pending: u32,
    /// The sum of the terms that are not finite: 0, an infinity, or NaN.
    special: f64,
}

/// How to round an exact number that 53 bits do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// The nearest f64, ties to even.
    Nearest,
    /// The neighbour whose last bit is set, for a second rounding to a narrower type.
    Odd,
}

impl ExactSum {
    /// The exact sum of `terms`.
    pub(crate) fn of(terms: impl Iterator<Item = f64>) -> ExactSum {
        let mut sum = ExactSum { limbs: [0; LIMBS], pending: 0, special: 0.0 };
        for term in terms {
            sum.add(term);
        }
        sum
    }

    fn add(&mut self, x: f64) {
        if !x.is_finite() {
            self.special += x;
            return;
        }
        let bits = x.to_bits();
        let (field, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        // Subnormals share the exponent of the smallest normal numbers, without its leading bit.
        let (shift, significand) = match field {
            0 => (0, fraction),
            field => (field - 1, fraction | 1 << 52),
        };
        let (limb, offset) = ((shift / 32) as usize, shift % 32);
        let wide = u128::from(significand) << offset;
        for part in 0..3 {
            let digit = (wide >> (32 * part) & 0xffff_ffff) as i64;
            self.limbs[limb + part] += if x < 0.0 { -digit } else { digit };
        }
        self.pending += 1;
        if self.pending == CARRY_EVERY {
            carry(&mut self.limbs);
            self.pending = 0;
        }
    }

    /// The sum as f64; an exact zero is +0.
    pub(crate) fn round(&self, to: To) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let mut limbs = self.limbs;
        carry(&mut limbs);
        let negative = limbs[LIMBS - 1] < 0;
        if negative {
            limbs.iter_mut().for_each(|limb| *limb = -*limb);
            carry(&mut limbs);
        }
        let magnitude = magnitude(&limbs, to);
        if negative { -magnitude } else { magnitude }
    }
}

/// Moves what exceeds 32 bits upwards; the top limb keeps the sign.
fn carry(limbs: &mut [i64; LIMBS]) {
    for i in 0..LIMBS - 1 {
        limbs[i + 1] += limbs[i] >> 32;
        limbs[i] &= 0xffff_ffff;
    }
}

/// Rounds a non-negative number with carries done.
fn magnitude(limbs: &[i64; LIMBS], to: To) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else {
        return 0.0;
    };
    // Position of the leading bit, in units of 2^-1074.
    let lead = 32 * top + 63 - limbs[top].leading_zeros() as usize;
    // Up to 2^53 units: the number is its own bit pattern (subnormal, or the smallest normal exponent).
    let cut = lead.saturating_sub(52);
    let kept = bits_from(limbs, cut);
    let pattern = ((cut as u64) << 52) + kept;
    let half = cut > 0 && bit(limbs, cut - 1);
    let sticky = cut > 1 && (0..cut - 1).any(|i| bit(limbs, i));
    let pattern = match to {
        To::Nearest => pattern + u64::from(half && (sticky || pattern & 1 == 1)),
        To::Odd => pattern | u64::from(half || sticky),
    };
    let infinity = f64::INFINITY.to_bits();
    if cut >= 2046 || pattern >= infinity { f64::INFINITY } else { f64::from_bits(pattern) }
}

fn bit(limbs: &[i64; LIMBS], position: usize) -> bool {
    limbs[position / 32] >> (position % 32) & 1 == 1
}

/// The 53 bits from `cut` upwards; there are no more above them.
fn bits_from(limbs: &[i64; LIMBS], cut: usize) -> u64 {
    let digit = |i: usize| limbs.get(i).map_or(0, |&limb| limb as u128);
    let limb = cut / 32;
    let wide = digit(limb) | digit(limb + 1) << 32 | digit(limb + 2) << 64;
    (wide >> (cut % 32)) as u64 & ((1 << 53) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[f64]) -> f64 {
        ExactSum::of(terms.iter().copied()).round(To::Nearest)
    }

    #[test]
    fn one_term_is_itself() {
        for bits in
            [0, 1, 0x000f_ffff_ffff_ffff, 0x0010_0000_0000_0000, 0x3ff0_0000_0000_0001, 0x7fef_ffff_ffff_ffff]
        {
            let x = f64::from_bits(bits);
            assert_eq!(sum(&[x]).to_bits(), bits);
            assert_eq!(sum(&[-x, 0.0]), -x);
        }
    }

    #[test]
    fn cancellation_and_overflow_in_between() {
        assert_eq!(sum(&[1e308, 1e308, -1e308]), 1e308);
        assert_eq!(sum(&[1e308, 1e308]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX.next_up(), 1.0]), f64::INFINITY);
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum(&[1.0, -1.0]).to_bits(), 0);
        assert_eq!(sum(&[f64::from_bits(1), f64::from_bits(1)]), f64::from_bits(2));
    }

    #[test]
    fn halfway_cases_look_at_the_last_bit() {
        let ulp = f64::EPSILON;
        assert_eq!(sum(&[1.0, ulp / 2.0]), 1.0);
        assert_eq!(sum(&[1.0 + ulp, ulp / 2.0]), 1.0 + 2.0 * ulp);
        assert_eq!(sum(&[1.0, ulp / 2.0, f64::from_bits(1)]), 1.0 + ulp);
        assert_eq!(sum(&[f64::MAX, f64::MAX * f64::EPSILON / 4.0]), f64::MAX);
    }

    #[test]
    fn specials_win() {
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(sum(&[1.0, f64::NEG_INFINITY]), f64::NEG_INFINITY);
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn agrees_with_integers() {
        let mut state = 1u64;
        for _ in 0..200 {
            let terms: Vec<i64> = (0..50)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 11) as i64 - (1 << 52)
                })
                .collect();
            let exact: i128 = terms.iter().map(|&t| i128::from(t)).sum();
            // Integer to float conversion rounds once, to nearest even.
            assert_eq!(sum(&terms.iter().map(|&t| t as f64).collect::<Vec<_>>()), exact as f64);
        }
    }
}
