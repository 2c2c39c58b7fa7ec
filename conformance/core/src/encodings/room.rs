//! The free choices of a loose encoding, and how much more it may store than the canonical one.

use sparse_oracle::format::{Entries, Entry, FormatKind};
use sparse_oracle::source::random::Random;
use std::ops::Range;

/// Slots that one encoding may hold for nothing.
const SLOTS: usize = 1 << 16;

/// Choices by the seed, and what is left to spend.
pub(super) struct Room {
    pub(super) random: Random,
    /// True where a vector of a hybrid format may be cut in two.
    pub(super) apart: bool,
    columns: u64,
    left: usize,
}

impl Room {
    pub(super) fn new<T>(seed: u64, format: FormatKind, entries: &Entries<T>, apart: bool) -> Room {
        Room {
            random: Random::new(seed, format.name()),
            apart,
            columns: entries.cols as u64,
            left: SLOTS.max(entries.list.len()),
        }
    }

    /// One in `n`.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    /// True if so many slots more may be stored; then they are spent.
    pub(super) fn spend(&mut self, slots: usize) -> bool {
        let fits = slots <= self.left;
        self.left -= if fits { slots } else { 0 };
        fits
    }

    /// `used` (ascending), and half the time also up to `most` random numbers below `limit` that it does not have; each of those costs
    /// `slots`. The result ascends.
    pub(super) fn beside(&mut self, used: Vec<u32>, limit: u64, most: u64, slots: usize) -> Vec<u32> {
        if limit == 0 || self.one_in(2) {
            return used;
        }
        let mut all = used;
        for _ in 0..self.random.between(1, most as i64) {
            let one = self.random.below(limit) as u32;
            if let Err(at) = all.binary_search(&one)
                && self.spend(slots)
            {
                all.insert(at, one);
            }
        }
        all
    }

    /// Columns of a window: those of its entries and some without one; `height` slots each.
    pub(super) fn columns<T>(&mut self, inside: &[Entry<T>], most: u64, height: usize) -> Vec<u32> {
        let mut used: Vec<u32> = inside.iter().map(|e| e.col).collect();
        used.sort_unstable();
        used.dedup();
        self.beside(used, self.columns, most, height)
    }

    /// `count` of `0..limit`, ascending: those of `used`, and others at random.
    pub(super) fn filled(&mut self, used: Vec<u32>, limit: usize, count: usize) -> Vec<u32> {
        let mut others: Vec<u32> = (0..limit as u32).filter(|x| !used.contains(x)).collect();
        self.random.shuffle(&mut others);
        let missing = count.saturating_sub(used.len());
        let mut all = used;
        all.extend(others.into_iter().take(missing));
        all.sort_unstable();
        all
    }
}

/// The entries of rows of a sorted list.
pub(super) fn of_rows<T>(list: &[Entry<T>], rows: Range<usize>) -> &[Entry<T>] {
    let before = |row: usize| list.partition_point(|e| (e.row as usize) < row);
    &list[before(rows.start)..before(rows.end)]
}

/// The value at a position of a sorted list.
pub(super) fn at<T: Copy>(list: &[Entry<T>], row: usize, col: u32) -> Option<T> {
    let found = list.binary_search_by_key(&(row, col), |e| (e.row as usize, e.col));
    found.ok().map(|i| list[i].value)
}

/// Offsets from counts: 0, and the sum so far after each.
pub(super) fn offsets(counts: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut all = vec![0];
    let mut sum = 0;
    for count in counts {
        sum += count as u32;
        all.push(sum);
    }
    all
}
