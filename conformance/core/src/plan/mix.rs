//! The stream of choices that plans draw from.

/// A stream of choices that depends on nothing but its key (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct Mix(u64);

impl Mix {
    /// The stream of a key.
    pub(crate) fn new(key: &[u64]) -> Mix {
        let mut mix = Mix(0x5eed);
        for &part in key {
            mix.0 = mix.0.wrapping_add(part).wrapping_mul(0x2545_f491_4f6c_dd1d);
            mix.0 = mix.next();
        }
        mix
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of some choices.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Brings a list into mixed order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}
