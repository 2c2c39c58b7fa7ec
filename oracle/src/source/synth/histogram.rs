//! Row lengths as counts: how many rows have each length.
//!
//! All sums are integers, so a published matrix has the same lengths on every platform.

/// `(length, rows)` pairs, lengths ascending, no pair of 0 rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram(Vec<(u32, u64)>);

impl Histogram {
    /// Sorts and merges pairs.
    #[must_use]
    pub fn new(mut pairs: Vec<(u32, u64)>) -> Histogram {
        pairs.retain(|&(_, rows)| rows > 0);
        pairs.sort_unstable_by_key(|&(length, _)| length);
        pairs.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0 };
            same
        });
        Histogram(pairs)
    }

    /// `rows` rows shared out over lengths in proportion to their weights, to the last row.
    #[must_use]
    pub fn share_out(rows: u64, weights: &[(u32, u64)]) -> Histogram {
        let total: u128 = weights.iter().map(|&(_, weight)| u128::from(weight)).sum();
        let mut below = 0u128;
        let upto = |below: u128| (u128::from(rows) * below).checked_div(total).unwrap_or(0) as u64;
        let pairs = weights.iter().map(|&(length, weight)| {
            let start = upto(below);
            below += u128::from(weight);
            (length, upto(below) - start)
        });
        Histogram::new(pairs.collect())
    }

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u64)] {
        &self.0
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.iter().map(|&(_, rows)| rows).sum()
    }

    /// Sum of all lengths.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.0.iter().map(|&(length, rows)| u64::from(length) * rows).sum()
    }

    /// Sum of the squares of all lengths.
    #[must_use]
    pub fn squares(&self) -> u128 {
        self.0.iter().map(|&(length, rows)| u128::from(length).pow(2) * u128::from(rows)).sum()
    }

    /// Population standard deviation of the lengths.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let rows = self.rows() as f64;
        let mean = self.entries() as f64 / rows;
        (self.squares() as f64 / rows - mean * mean).max(0.0).sqrt()
    }

    /// Both together.
    #[must_use]
    pub fn merge(mut self, other: Histogram) -> Histogram {
        self.0.extend(other.0);
        Histogram::new(self.0)
    }

    /// The same rows, lengthened or shortened by one entry each, evenly over all lengths, until they hold `entries`
    /// in total; lengths stay in `low..=high`. None when that is impossible.
    #[must_use]
    pub fn drift_to(mut self, entries: u64, low: u32, high: u32) -> Option<Histogram> {
        loop {
            let have = self.entries();
            if have == entries {
                return Some(self);
            }
            let up = have < entries;
            let can = |length: u32| if up { length < high } else { length > low };
            let movable: u64 = self.0.iter().filter(|pair| can(pair.0)).map(|pair| pair.1).sum();
            if movable == 0 {
                return None;
            }
            let wanted = have.abs_diff(entries).min(movable);
            let mut pairs = Vec::with_capacity(2 * self.0.len());
            let mut seen = 0u64;
            for (length, rows) in self.0 {
                let share = |seen: u64| (u128::from(seen) * u128::from(wanted) / u128::from(movable)) as u64;
                let before = share(seen);
                seen += if can(length) { rows } else { 0 };
                let moved = share(seen) - before;
                pairs.push((length, rows - moved));
                // A row that cannot move has moved = 0, so its neighbour's length is never used.
                pairs.push((if up { length.saturating_add(1) } else { length.saturating_sub(1) }, moved));
            }
            self = Histogram::new(pairs);
        }
    }

    /// The lengths of `rows` rows, ascending, taken at equal steps from the shortest to the longest: all of them
    /// when `rows` is the number of rows; the longest alone when `rows` is 1.
    pub fn quantiles(&self, rows: u64) -> impl Iterator<Item = u32> {
        let total = u128::from(self.rows());
        let wanted = u128::from(rows);
        // Sample i sits at i * (total - 1) / (wanted - 1); so many samples sit below `below` of `total` rows.
        let upto = move |below: u128| match below {
            _ if below == total => wanted,
            _ if wanted < 2 => 0,
            _ => (below * (wanted - 1)).div_ceil(total - 1),
        };
        let mut below = 0u128;
        self.0.iter().flat_map(move |&(length, count)| {
            let start = upto(below);
            below += u128::from(count);
            std::iter::repeat_n(length, (upto(below) - start) as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_keep_proportions() {
        let shared = Histogram::share_out(10, &[(1, 1), (2, 1), (5, 2)]);
        assert_eq!(shared.pairs(), [(1, 2), (2, 3), (5, 5)]);
        assert_eq!(Histogram::share_out(7, &[(3, 10), (4, 1), (9, 3)]).rows(), 7);
    }

    #[test]
    fn drifting_reaches_every_possible_sum_and_no_other() {
        let start = Histogram::new(vec![(2, 3), (5, 4)]);
        for entries in 7..=42 {
            let there = start.clone().drift_to(entries, 1, 6).unwrap();
            assert_eq!((there.rows(), there.entries()), (7, entries));
            assert!(there.pairs().iter().all(|&(length, _)| (1..=6).contains(&length)));
        }
        assert_eq!(start.clone().drift_to(43, 1, 6), None);
        assert_eq!(start.drift_to(6, 1, 6), None);
    }

    #[test]
    fn quantiles_keep_all_rows_or_an_even_sample() {
        let all = Histogram::new(vec![(1, 4), (3, 2), (9, 2)]);
        assert_eq!(all.quantiles(8).collect::<Vec<_>>(), [1, 1, 1, 1, 3, 3, 9, 9]);
        assert_eq!(all.quantiles(4).collect::<Vec<_>>(), [1, 1, 3, 9]);
        assert_eq!(all.quantiles(2).collect::<Vec<_>>(), [1, 9]);
        assert_eq!(all.quantiles(1).collect::<Vec<_>>(), [9]);
        assert_eq!(all.quantiles(0).count(), 0);
    }
}
