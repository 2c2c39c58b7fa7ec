//! Medians, ratios with intervals, geometric means.
//!
//! Times come in rounds: in each round every contender runs once, in a drawn order, so that what disturbs the machine for longer
//! than a round disturbs all alike. An interval is found by drawing rounds with replacement, the same rounds for both sides
//! of a ratio (a paired bootstrap; Efron and Tibshirani 1993, chapter 13).

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drawn samples of rounds.
const SAMPLES: usize = 2000;
const SEED: u64 = 0x6265_6e63;

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Median time of the peer over median time of the kernel: how many times as fast the kernel is.
    pub ratio: f64,
    /// 2.5 % of the drawn samples lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
}

/// The middle, or the mean of the two in the middle; NaN of nothing.
#[must_use]
pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (at, odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
    match sorted.get(at) {
        None => f64::NAN,
        Some(&middle) if odd => middle,
        Some(&upper) => sorted[at - 1].midpoint(upper),
    }
}

/// How many times as fast as the peer the kernel is. Both were timed in the same rounds: the shorter list counts.
#[must_use]
pub fn ratio(kernel: &[f64], peer: &[f64]) -> Ratio {
    let rounds = kernel.len().min(peer.len());
    let (kernel, peer) = (&kernel[..rounds], &peer[..rounds]);
    let of = |kernel: &[f64], peer: &[f64]| median(peer) / median(kernel);
    let ratio = of(kernel, peer);
    if rounds == 0 {
        let (low, high) = (ratio, ratio);
        return Ratio { ratio, low, high };
    }
    let mut rng = Pcg64Mcg::seed_from_u64(SEED);
    let mut drawn = (vec![0.0; rounds], vec![0.0; rounds]);
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            for place in 0..rounds {
                let round = rng.random_range(0..rounds);
                drawn.0[place] = kernel[round];
                drawn.1[place] = peer[round];
            }
            of(&drawn.0, &drawn.1)
        })
        .collect();
    samples.sort_unstable_by(f64::total_cmp);
    let cut = SAMPLES / 40;
    Ratio { ratio, low: samples[cut], high: samples[SAMPLES - 1 - cut] }
}

/// The geometric mean; NaN of nothing.
#[must_use]
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.into_iter().fold((0.0, 0u32), |(sum, count), r| (sum + r.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn one_slow_round_does_not_move_a_median() {
        assert_eq!(median(&[1.0, 1.0, 900.0, 1.0, 1.0]), 1.0);
    }

    #[test]
    fn geometric_means_by_hand() {
        assert!((geometric_mean([2.0, 8.0]) - 4.0).abs() < 1e-12);
        assert!((geometric_mean([0.5, 2.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!(geometric_mean([]).is_nan());
    }

    #[test]
    fn a_ratio_without_noise_is_known_exactly() {
        let Ratio { ratio, low, high } = ratio(&[2.0; 9], &[3.0; 9]);
        assert_eq!((ratio, low, high), (1.5, 1.5, 1.5));
    }

    #[test]
    fn disturbances_that_both_suffer_cancel() {
        // Each round is as many times slower for both: every drawn sample has the same ratio.
        let slow = [1.0, 1.5, 3.0, 1.25, 1.75, 2.0, 1.0];
        let of = |time: f64| slow.map(|s| s * time);
        let Ratio { ratio, low, high } = ratio(&of(4.0), &of(8.0));
        for value in [ratio, low, high] {
            assert!((value - 2.0).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn an_interval_holds_the_ratio_and_narrows_with_rounds() {
        // Times 1.0, 1.1, .. 1.9 in turn; the peer's in another order.
        let noisy = |count: usize, step: usize| -> Vec<f64> {
            (0..count).map(|i| 1.0 + ((i * step) % 10) as f64 / 10.0).collect()
        };
        let width = |count| {
            let Ratio { ratio, low, high } = ratio(&noisy(count, 3), &noisy(count, 7));
            assert!(low <= ratio && ratio <= high && low < high, "{low} {ratio} {high}");
            high - low
        };
        assert!(width(200) < width(20), "{} {}", width(200), width(20));
    }

    #[test]
    fn intervals_are_the_same_each_time() {
        let times = [1.0, 2.0, 4.0, 3.0];
        assert_eq!(ratio(&times, &[2.0; 4]), ratio(&times, &[2.0; 4]));
    }

    #[test]
    fn no_rounds_give_no_number() {
        assert!(ratio(&[], &[1.0]).ratio.is_nan());
    }
}
