//! The one source of randomness: a PCG stream whose every draw is defined here.
//!
//! Only the raw 64-bit outputs come from `rand_pcg`; ranges, choices and shuffles are integer arithmetic written
//! out below, so that a seed gives the same matrix on every platform and with every version of `rand`.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// One whole, in the parts per million that stand for probabilities and densities.
pub const ONE: u64 = 1_000_000;

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// The stream of `seed` for one purpose; `purpose` (a family's name, say) keeps streams of one seed apart.
    #[must_use]
    pub fn new(seed: u64, purpose: &str) -> Random {
        let low = mix(seed ^ fnv1a(purpose.bytes()));
        let high = mix(low ^ seed.rotate_left(32));
        Random(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }

    /// The stream as it is after so many draws.
    #[must_use]
    pub fn ahead(&self, draws: u64) -> Random {
        let mut ahead = self.clone();
        ahead.0.advance(u128::from(draws));
        ahead
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit` (0 when `limit` is 0). The bias is at most `limit / 2^64`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `low..=high`, which must be a range.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// True with a probability of `parts` in a million.
    pub fn chance(&mut self, parts: u64) -> bool {
        self.below(ONE) < parts
    }

    /// An element of a non-empty slice.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len() as u64) as usize]
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }

    /// Replaces `out` by `count` distinct numbers below `limit`, ascending; every subset is equally likely.
    /// `count` is cut to `limit`. Takes time and memory proportional to `count`, whatever `limit` is.
    pub fn distinct(&mut self, limit: u64, count: u64, out: &mut Vec<u64>) {
        out.clear();
        let count = count.min(limit);
        if count > limit / 2 {
            let mut left_out = Vec::new();
            self.sparse_subset(limit, limit - count, &mut left_out);
            let mut next = left_out.iter().copied().peekable();
            out.extend((0..limit).filter(|x| next.next_if_eq(x).is_none()));
        } else {
            self.sparse_subset(limit, count, out);
        }
    }

    /// Rejection: draw what is missing until nothing is. `count <= limit / 2`, so that each draw counts with a
    /// probability of at least one half.
    fn sparse_subset(&mut self, limit: u64, count: u64, out: &mut Vec<u64>) {
        while (out.len() as u64) < count {
            for _ in 0..count - out.len() as u64 {
                out.push(self.below(limit));
            }
            out.sort_unstable();
            out.dedup();
        }
    }

    /// Appends `count` distinct numbers of `low..high`, ascending, one from each of `count` equal strata: evenly
    /// spread, and linear in `count` for any range. `count` is cut to the length of the range.
    pub fn stratified(&mut self, low: u64, high: u64, count: u64, out: &mut Vec<u32>) {
        let width = high - low;
        let count = count.min(width);
        let stratum = |i: u64| (u128::from(i) * u128::from(width) / u128::from(count)) as u64;
        let mut start = 0;
        for i in 0..count {
            let end = stratum(i + 1);
            out.push((low + start + self.below(end - start)) as u32);
            start = end;
        }
    }
}

/// Finaliser of splitmix64: a bijection that spreads every bit.
#[must_use]
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// FNV-1a, 64 bits: names streams and pins fingerprints.
#[must_use]
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_pinned() {
        let mut random = Random::new(7, "test");
        let found: Vec<u64> = (0..4).map(|_| random.below(1000)).collect();
        assert_eq!(found, [430, 562, 866, 354]);
    }

    #[test]
    fn distinct_gives_exact_counts_in_order() {
        let mut random = Random::new(1, "test");
        let mut out = Vec::new();
        for (limit, count) in [(0, 0), (1, 1), (10, 0), (10, 4), (10, 9), (10, 12), (1 << 40, 100)] {
            random.distinct(limit, count, &mut out);
            assert_eq!(out.len() as u64, count.min(limit));
            assert!(out.windows(2).all(|w| w[0] < w[1]) && out.iter().all(|&x| x < limit));
        }
    }

    #[test]
    fn stratified_gives_exact_counts_in_order() {
        let mut random = Random::new(1, "test");
        for (low, high, count) in
            [(0u64, 0u64, 3u64), (5, 6, 1), (5, 25, 20), (5, 25, 7), (0, 4_294_967_295, 9)]
        {
            let mut out = Vec::new();
            random.stratified(low, high, count, &mut out);
            assert_eq!(out.len() as u64, count.min(high - low));
            assert!(out.windows(2).all(|w| w[0] < w[1]));
            assert!(out.iter().all(|&x| (low..high).contains(&u64::from(x))));
        }
    }

    #[test]
    fn subsets_are_evenly_likely() {
        let (mut random, mut seen, mut out) = (Random::new(3, "test"), [0u32; 8], Vec::new());
        for _ in 0..8000 {
            random.distinct(8, 3, &mut out);
            out.iter().for_each(|&x| seen[x as usize] += 1);
        }
        assert!(seen.iter().all(|&n| (2800..3200).contains(&n)), "{seen:?}");
    }
}
