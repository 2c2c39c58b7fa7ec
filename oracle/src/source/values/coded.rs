//! Position-coded values: which entry is which shows in its value.
//!
//! ```text
//! magnitude of entry i = code[g^(s + i) mod P]    P prime, g generates all of 1..P: P - 1 neighbours are all different
//! sign of entry i      = a bit of hash(seed, i)   tells apart what lies a multiple of P - 1 entries away
//! ```
//!
//! `P` is a safe prime (`P - 1` is twice a prime), so that no stride of a common leading dimension is a multiple of the
//! period: a row, its neighbour and the row a power of two further on hold different values in every column. How many codes
//! there are is what the significand allows beside sums that stay exact:
//!
//! ```text
//! f64              1,048,342 codes in 1..2      a product has 42 bits: 2^10 terms add up exactly in f64
//! f32, tf32, f16       1,018 codes in 1..2      22 bits: 4 terms add up exactly in f32
//! bf16                   502 codes in 1..16     22 bits
//! e4m3                    58 codes in 1/8..32   22 bits; with signs 116 values, so a longer row repeats some
//! e5m2                    22 codes in 1/8..32   20 bits; with signs 44 values
//! ```

use super::range::power_of_two;
use crate::scalar::Precision;
use crate::source::random::{Random, mix};

/// The codes of one precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    /// A safe prime; codes are `1..prime`.
    pub(super) prime: u64,
    /// Generates all of `1..prime` by its powers.
    generator: u64,
    /// Bits of a code below the leading one of the significand; those above count binades.
    fraction: u32,
    /// Exponent of the lowest binade.
    low: i32,
}

impl Code {
    /// The codes that values of this precision are taken from.
    pub(super) const fn of(precision: Precision) -> Code {
        let (prime, generator, fraction, low) = match precision {
            Precision::F64 => (1_048_343, 647_887, 20, 0),
            Precision::F32 | Precision::Tf32 | Precision::F16 => (1019, 325, 10, 0),
            Precision::Bf16 => (503, 164, 7, 0),
            Precision::E4m3 => (59, 23, 3, -3),
            Precision::E5m2 => (23, 10, 2, -3),
        };
        Code { prime, generator, fraction, low }
    }

    /// The value of a code, which is below `prime`.
    fn value(self, code: u64) -> f64 {
        let significand = 1 << self.fraction | code & ((1 << self.fraction) - 1);
        let exponent = self.low + (code >> self.fraction) as i32 - self.fraction as i32;
        significand as f64 * power_of_two(exponent)
    }

    /// One value, of a code drawn at random.
    pub(super) fn sample(self, random: &mut Random) -> f64 {
        let magnitude = self.value(1 + random.below(self.prime - 1));
        if random.below(2) == 0 { magnitude } else { -magnitude }
    }

    /// `n` values, coded by their positions from a place in the cycle that the stream chooses.
    pub(super) fn fill(self, n: usize, random: &mut Random) -> Vec<f64> {
        let mut code = 1 + random.below(self.prime - 1);
        let key = random.bits();
        let next = |position: u64| {
            let magnitude = self.value(code);
            code = code * self.generator % self.prime;
            let negative = mix(key.wrapping_add(position)) & 1 == 1;
            if negative { -magnitude } else { magnitude }
        };
        (0..n as u64).map(next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::values::ValueFamily;
    use std::collections::HashSet;

    fn coded(n: usize, seed: u64, precision: Precision) -> Vec<f64> {
        ValueFamily::Coded.fill(n, seed, precision)
    }

    #[test]
    fn as_many_neighbours_as_there_are_codes_differ_in_magnitude() {
        for precision in Precision::ALL {
            let period = Code::of(precision).prime as usize - 1;
            let values = coded(2 * period + 5, 3, precision);
            for start in [0, 1, period / 2, period, period + 5] {
                let window = &values[start..start + period];
                let seen: HashSet<u64> = window.iter().map(|x| x.abs().to_bits()).collect();
                assert_eq!(seen.len(), period, "{precision} from {start}");
            }
        }
    }

    #[test]
    fn strides_of_powers_of_two_and_common_extents_differ_in_every_column() {
        for precision in Precision::ALL {
            let period = Code::of(precision).prime as usize - 1;
            let values = coded(6000, 11, precision);
            let strides =
                (0..12).map(|k| 1usize << k).chain([3, 5, 7, 9, 31, 33, 63, 65, 127, 129, 255, 257, 1000]);
            for stride in strides {
                assert_ne!(stride % period, 0, "{precision}: stride {stride}");
                let pairs = values.iter().zip(&values[stride..]);
                assert!(pairs.clone().all(|(x, y)| x.abs() != y.abs()), "{precision}: {stride}");
            }
        }
    }

    #[test]
    fn rows_a_period_apart_differ_by_their_signs() {
        for precision in Precision::ALL {
            let period = Code::of(precision).prime as usize - 1;
            if period > 5000 {
                continue;
            }
            let values = coded(40 * period, 4, precision);
            let rows: HashSet<Vec<u64>> =
                values.chunks_exact(period).map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
            assert_eq!(rows.len(), 40, "{precision}");
        }
    }

    /// All sums of a few products differ, so that a result tells which of its terms took part.
    #[test]
    fn sums_of_few_terms_tell_which_took_part() {
        for (precision, terms) in [
            (Precision::F64, 14),
            (Precision::F32, 10),
            (Precision::Tf32, 10),
            (Precision::F16, 10),
            (Precision::Bf16, 8),
            (Precision::E4m3, 5),
            (Precision::E5m2, 4),
        ] {
            let mut ambiguous = 0;
            for seed in 0..50 {
                let (a, b) = (coded(terms, seed, precision), coded(terms, seed + 1000, precision));
                let mut sums = HashSet::new();
                for subset in 0..1u32 << terms {
                    let kept = (0..terms).filter(|i| subset >> i & 1 == 1);
                    let sum: f64 = kept.map(|i| a[i] * b[i]).sum();
                    ambiguous += usize::from(!sums.insert(sum.to_bits()));
                }
            }
            // Random sums of so few bits meet now and then: under one in fifty.
            assert!(ambiguous * 50 < 50 << terms, "{precision}: {ambiguous}");
        }
    }

    #[test]
    fn the_generator_generates_and_the_prime_is_safe() {
        for precision in Precision::ALL {
            let Code { prime, generator, .. } = Code::of(precision);
            let is_prime = |n: u64| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
            assert!(is_prime(prime) && is_prime((prime - 1) / 2), "{precision}");
            let power = |exponent: u64| (0..exponent).fold(1, |x, _| x * generator % prime);
            assert!(power(2) != 1 && power((prime - 1) / 2) != 1, "{precision}");
        }
    }
}
