//! In which order fragments, warps and blocks run.

/// One of the orders that a launch may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The lowest first.
    #[default]
    Forward,
    /// The highest first.
    Reverse,
    /// By the seed, with a change after a few steps each.
    Random,
}

/// An order of everything. The same schedule gives the same run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Of what is random.
    pub seed: u64,
    /// Of the parts of a warp that stand at different instructions.
    pub fragments: Order,
    /// Of the warps of a block.
    pub warps: Order,
    /// Of the blocks of the grid.
    pub blocks: Order,
}

impl Schedule {
    /// One of many: 0 is the default one, 1 its reverse, all others are random.
    #[must_use]
    pub const fn number(number: u64) -> Schedule {
        let order = match number {
            0 => Order::Forward,
            1 => Order::Reverse,
            2.. => Order::Random,
        };
        Schedule { seed: number, fragments: order, warps: order, blocks: order }
    }
}

/// Pseudo-random numbers (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Any order of these.
    pub(super) fn shuffle(&mut self, list: &mut [usize]) {
        (1..list.len()).rev().for_each(|i| list.swap(i, self.below(i as u64 + 1) as usize));
    }
}

/// A permutation of `0 .. count` that needs no memory: `i -> (i * step + first) mod count`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    count: u64,
    step: u64,
    first: u64,
}

impl Permutation {
    pub(super) fn new(order: Order, count: u64, random: &mut Random) -> Permutation {
        let count = count.max(1);
        let (step, first) = match order {
            Order::Forward => (1, 0),
            Order::Reverse => (count - 1, count - 1),
            Order::Random => {
                let mut step = random.below(count) | 1;
                while gcd(step, count) != 1 {
                    step += 1;
                }
                (step, random.below(count))
            }
        };
        Permutation { count, step, first }
    }

    pub(super) fn at(&self, i: u64) -> u64 {
        let product = u128::from(i) * u128::from(self.step) + u128::from(self.first);
        (product % u128::from(self.count)) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{Order, Permutation, Random};

    #[test]
    fn every_index_comes_once() {
        for order in [Order::Forward, Order::Reverse, Order::Random] {
            for count in 1..60 {
                let permutation = Permutation::new(order, count, &mut Random::new(count));
                let mut seen: Vec<u64> = (0..count).map(|i| permutation.at(i)).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..count).collect::<Vec<_>>(), "{order:?} of {count}");
            }
        }
    }
}
