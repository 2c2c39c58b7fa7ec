//! The rows most similar to a row, among those that an inverted index proposes.
//!
//! ```text
//! column 3 -> rows 0 4 9 ... (256 at most)       row 4 has columns 3 and 8: its candidates are the rows of both lists
//! column 8 -> rows 4 6                           shared weight so far: 0: w3, 6: w8, 9: w3
//! ```
//!
//! While the lists are read, shared weights add up. They are exact unless a column's list was cut; then a candidate may
//! share more, at most the weights of the cut columns. That bounds its similarity from both sides, and only candidates
//! that may be among the nearest are computed column by column: what comes out is as if all had been.

use super::CANDIDATES_PER_COLUMN;
use super::similarity::RowPatterns;

/// More than the relative error of a similarity from rounded sums of up to 2^32 weights: each sum is off by 2^-21 at
/// most, and three of them enter, one twice.
const SLACK: f64 = 1.0 / 65536.0;

/// The inverted index, and room for the candidates of one row.
#[derive(Debug)]
pub(super) struct Neighbours<'a> {
    rows: &'a RowPatterns<'a>,
    /// Offset of the list of each column.
    starts: Vec<usize>,
    /// The lists, each ascending.
    lists: Vec<u32>,
    /// Weight shared with each row; 0 but for the candidates of the row at hand.
    shared: Vec<f64>,
}

/// The nearest rows of every row, with their similarities.
#[derive(Debug)]
pub(super) struct Nearest {
    starts: Vec<usize>,
    lists: Vec<(f64, u32)>,
}

impl Nearest {
    /// Finds `count` for each row.
    pub(super) fn new(neighbours: &mut Neighbours<'_>, count: usize) -> Nearest {
        let (mut starts, mut lists) = (vec![0], Vec::new());
        for row in 0..neighbours.rows.count() as u32 {
            lists.extend(neighbours.nearest(row, count, |_| true));
            starts.push(lists.len());
        }
        Nearest { starts, lists }
    }

    /// Those of one row, the most similar first.
    pub(super) fn of(&self, row: u32) -> &[(f64, u32)] {
        &self.lists[self.starts[row as usize]..self.starts[row as usize + 1]]
    }
}

/// A candidate and the least and the most that its similarity can be.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    row: u32,
    least: f64,
    most: f64,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(rows: &'a RowPatterns<'a>) -> Neighbours<'a> {
        let mut starts = vec![0];
        for rank in 0..rows.columns() as u32 {
            let length = CANDIDATES_PER_COLUMN.min(rows.degree(rank) as usize);
            starts.push(starts[rank as usize] + length);
        }
        let mut lists = vec![0; starts[rows.columns()]];
        let mut next = starts.clone();
        for row in 0..rows.count() as u32 {
            for &rank in rows.row(row) {
                let rank = rank as usize;
                if next[rank] < starts[rank + 1] {
                    lists[next[rank]] = row;
                    next[rank] += 1;
                }
            }
        }
        Neighbours { rows, starts, lists, shared: vec![0.0; rows.count()] }
    }

    /// The `count` candidates most similar to `row` among those that `allowed` takes, with their similarities: largest
    /// first, then by id. Fewer where there are not as many candidates; rows without a common column never are any.
    pub(super) fn nearest(
        &mut self,
        row: u32,
        count: usize,
        allowed: impl Fn(u32) -> bool,
    ) -> Vec<(f64, u32)> {
        let rows = self.rows;
        let hidden = self.hidden(row);
        let mut candidates = self.candidates(row, hidden);
        candidates.retain(|c| allowed(c.row));
        keep_possible(&mut candidates, count);
        if hidden > 0.0 && candidates.len() > count {
            for c in &mut candidates {
                *c = self.bounded(row, c.row, rows.shared_weight(row, c.row), 0.0);
            }
            keep_possible(&mut candidates, count);
        }
        let compared = candidates.iter().map(|c| (rows.similarity(row, c.row), c.row));
        let mut nearest: Vec<(f64, u32)> = compared.collect();
        nearest.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        nearest.truncate(count);
        nearest
    }

    /// Weight of the columns of a row whose lists were cut.
    fn hidden(&self, row: u32) -> f64 {
        let cut = |rank: &&u32| self.rows.degree(**rank) as usize > CANDIDATES_PER_COLUMN;
        let weights = self.rows.row(row).iter().filter(cut).map(|&rank| self.rows.weight(rank));
        weights.sum()
    }

    /// Every row that shares a listed column with `row`, once; `hidden` is the weight of its cut columns.
    fn candidates(&mut self, row: u32, hidden: f64) -> Vec<Candidate> {
        let mut found = Vec::new();
        for &rank in self.rows.row(row) {
            let weight = self.rows.weight(rank);
            for &other in &self.lists[self.starts[rank as usize]..self.starts[rank as usize + 1]] {
                let shared = &mut self.shared[other as usize];
                if *shared == 0.0 && other != row {
                    found.push(other);
                }
                *shared += weight;
            }
        }
        let bounded = |&other: &u32| self.bounded(row, other, self.shared[other as usize], hidden);
        let candidates = found.iter().map(bounded).collect();
        for other in found {
            self.shared[other as usize] = 0.0;
        }
        self.shared[row as usize] = 0.0;
        candidates
    }

    /// Bounds on the similarity of two rows that share between `shared` and `shared + hidden`.
    fn bounded(&self, row: u32, other: u32, shared: f64, hidden: f64) -> Candidate {
        let (one, two) = (self.rows.total(row), self.rows.total(other));
        let most = (shared + hidden).min(one).min(two);
        let ratio = |shared: f64| shared / (one + two - shared);
        Candidate {
            row: other,
            least: ratio(shared.min(most)) * (1.0 - SLACK),
            most: ratio(most) * (1.0 + SLACK),
        }
    }
}

/// Drops the candidates that are surely less similar than `count` others.
fn keep_possible(candidates: &mut Vec<Candidate>, count: usize) {
    if candidates.len() <= count {
        return;
    }
    let mut least: Vec<f64> = candidates.iter().map(|c| c.least).collect();
    let (_, &mut bar, _) = least.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    candidates.retain(|c| c.most >= bar);
}

#[cfg(test)]
mod tests {
    use super::{CANDIDATES_PER_COLUMN, Neighbours};
    use crate::reorder::similarity::RowPatterns;
    use sparse_oracle::format::{Csr, Entries, Entry};
    use sparse_oracle::prelude::*;
    use sparse_oracle::source::random::Random;
    use std::collections::BTreeSet;

    /// Every candidate compared column by column.
    fn plainly(rows: &RowPatterns<'_>, row: u32, count: usize) -> Vec<(f64, u32)> {
        let mut candidates = BTreeSet::new();
        for rank in rows.row(row) {
            let having = (0..rows.count() as u32).filter(|&other| rows.row(other).contains(rank));
            candidates.extend(having.take(CANDIDATES_PER_COLUMN));
        }
        candidates.remove(&row);
        let mut all: Vec<(f64, u32)> =
            candidates.into_iter().map(|other| (rows.similarity(row, other), other)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(count);
        all
    }

    /// Columns 0 to 3 in most rows, so that their lists are cut and what the later rows share there is hidden; long rows.
    fn crowded(seed: u64) -> Csr<()> {
        let mut random = Random::new(seed, "crowded");
        let mut list = Vec::new();
        for row in 0..600u32 {
            let mut lane: BTreeSet<u32> = (0..4).filter(|_| random.below(10) < 7).collect();
            let others = if random.below(30) == 0 { 40 } else { 3 };
            lane.extend((0..random.below(others)).map(|_| 4 + random.below(60) as u32));
            list.extend(lane.into_iter().map(|col| Entry { row, col, value: () }));
        }
        Csr::from_entries(&Entries::try_new(600, 64, list).expect("sorted")).expect("encodes")
    }

    #[test]
    fn none_of_the_nearest_is_dropped_unseen() {
        for seed in 0..3 {
            let matrix = crowded(seed);
            let rows = RowPatterns::new(&matrix);
            let mut neighbours = Neighbours::new(&rows);
            for row in 0..600 {
                for count in [1, 8] {
                    let found = neighbours.nearest(row, count, |_| true);
                    assert_eq!(found, plainly(&rows, row, count), "row {row} of matrix {seed}");
                }
            }
        }
    }
}
