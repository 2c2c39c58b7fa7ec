//! Isolation adjustment: rows that have nothing in common with the row before and the row after them, so that both pairs
//! cost 1, find a better place.
//!
//! ```text
//! p r q ... u v      r shares nothing with p and q, and most with u:      p q ... u r v   or   p q ... r u v
//! ```
//!
//! Which rows are isolated is settled before any moves. They move one by one, in the order in which they stand, next to
//! the most similar row that is not isolated (among the candidates of the inverted index), on the cheaper side, after it
//! where both cost the same; to the end of the order when there is no such row, as for empty rows. A move that would make
//! the order cost more is not made.

use super::neighbours::{Nearest, Neighbours};
use super::similarity::{RowPatterns, units};
use super::{COST_ONE, NEAREST};

/// The adjusted order.
pub(super) fn adjust(
    rows: &RowPatterns<'_>,
    neighbours: &mut Neighbours<'_>,
    nearest: &Nearest,
    order: &[u32],
) -> Vec<u32> {
    let mut chain = Chain::new(rows, order);
    let mut isolated = vec![false; order.len()];
    for &row in order {
        isolated[row as usize] = chain.is_isolated(row);
    }
    for &row in order.iter().filter(|&&row| isolated[row as usize]) {
        let fits = |other: u32| !isolated[other as usize];
        let listed = nearest.of(row);
        let mut fit = listed.iter().find(|n| fits(n.1)).copied();
        // A list that is not full has all candidates.
        if fit.is_none() && listed.len() == NEAREST {
            fit = neighbours.nearest(row, 1, fits).first().copied();
        }
        chain.replace(row, fit.map(|(similarity, similar)| (units(similarity), similar)));
    }
    chain.order()
}

/// An order as a ring of rows, closed by a mark that stands before the first and after the last.
struct Chain<'a> {
    rows: &'a RowPatterns<'a>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// What each row and the next cost. A pair of which one is the mark costs nothing.
    gap: Vec<u64>,
    mark: u32,
}

impl<'a> Chain<'a> {
    fn new(rows: &'a RowPatterns<'a>, order: &[u32]) -> Chain<'a> {
        let mark = order.len() as u32;
        let ring = || vec![mark; order.len() + 1];
        let mut chain = Chain { rows, next: ring(), previous: ring(), gap: vec![0; order.len() + 1], mark };
        let mut last = mark;
        for &row in order.iter().chain([&mark]) {
            chain.join(last, row, chain.cost(last, row));
            last = row;
        }
        chain
    }

    fn join(&mut self, a: u32, b: u32, cost: u64) {
        self.next[a as usize] = b;
        self.previous[b as usize] = a;
        self.gap[a as usize] = cost;
    }

    fn cost(&self, a: u32, b: u32) -> u64 {
        if a == self.mark || b == self.mark {
            return 0;
        }
        self.rows.cost(a, b)
    }

    /// True when a row costs 1 beside its neighbours, as far as there are any.
    fn is_isolated(&self, row: u32) -> bool {
        let (before, after) = (self.previous[row as usize], self.next[row as usize]);
        let stranger = |a: u32, cost: u64| a == self.mark || cost == COST_ONE;
        stranger(before, self.gap[before as usize]) && stranger(after, self.gap[row as usize])
    }

    /// Moves `row` beside a row, what both cost being given, or to the end, unless that costs more.
    fn replace(&mut self, row: u32, fit: Option<(u64, u32)>) {
        let (before, after) = (self.previous[row as usize], self.next[row as usize]);
        let here = (before, self.gap[before as usize], self.gap[row as usize], after);
        self.join(before, after, self.cost(before, after));
        let place = match fit {
            None => {
                let last = self.previous[self.mark as usize];
                (last, self.cost(last, row), 0, self.mark)
            }
            Some((cost, similar)) => {
                let (ahead, behind) = (self.previous[similar as usize], self.next[similar as usize]);
                let ahead = (ahead, self.cost(ahead, row), cost, similar);
                let behind = (similar, cost, self.cost(row, behind), behind);
                if self.rise(ahead) < self.rise(behind) { ahead } else { behind }
            }
        };
        let stays = self.rise(place) > self.rise(here);
        let (a, left, right, b) = if stays { here } else { place };
        self.join(a, row, left);
        self.join(row, b, right);
    }

    /// What the order costs more with a row between two neighbours, as units that may be negative: the rows on both
    /// sides, each with what it and the row cost.
    fn rise(&self, (before, left, right, _): (u32, u64, u64, u32)) -> i64 {
        (left + right) as i64 - self.gap[before as usize] as i64
    }

    fn order(&self) -> Vec<u32> {
        let step = |&row: &u32| Some(self.next[row as usize]);
        let rows = std::iter::successors(step(&self.mark), step);
        rows.take_while(|&row| row != self.mark).collect()
    }
}
