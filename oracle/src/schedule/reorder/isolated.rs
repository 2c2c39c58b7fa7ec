//! Isolation adjustment: rows that share no column with the row before and the row after them find a better place.
//!
//! ```text
//! p r q ... u v      r shares nothing with p and q, and most with u:      p q ... u r v   or   p q ... r u v
//! ```
//!
//! Which rows are isolated is settled before any moves. They move one by one, in the order in which they stand, next to
//! the most similar row that is not isolated (among the candidates of the inverted index), on the cheaper side, after it
//! where both cost the same; to the end of the order when there is no such row, as for empty rows. A move that would make
//! the order cost more is not made.

use super::neighbours::Neighbours;
use super::similarity::Rows;

/// The adjusted order.
pub(super) fn adjust(rows: &Rows<'_>, neighbours: &mut Neighbours<'_>, order: &[u32]) -> Vec<u32> {
    let strangers = |a: Option<&u32>, b: u32| a.is_none_or(|&a| rows.similarity(a, b) == 0.0);
    let mut isolated = vec![false; order.len()];
    let mut moving = Vec::new();
    for (at, &row) in order.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|i| order.get(i));
        if strangers(before, row) && strangers(order.get(at + 1), row) {
            isolated[row as usize] = true;
            moving.push(row);
        }
    }
    let mut chain = Chain::new(order);
    for row in moving {
        let fit = neighbours.nearest(row, 1, |other| !isolated[other as usize]);
        chain.replace(rows, row, fit.first().map(|&(_, similar)| similar));
    }
    chain.order()
}

/// An order as a ring of rows, closed by a mark that stands before the first and after the last.
struct Chain {
    next: Vec<u32>,
    previous: Vec<u32>,
    mark: u32,
}

impl Chain {
    fn new(order: &[u32]) -> Chain {
        let mark = order.len() as u32;
        let mut chain = Chain {
            next: vec![mark; order.len() + 1],
            previous: vec![mark; order.len() + 1],
            mark,
        };
        let mut last = mark;
        for &row in order {
            chain.join(last, row);
            last = row;
        }
        chain.join(last, mark);
        chain
    }

    fn join(&mut self, a: u32, b: u32) {
        self.next[a as usize] = b;
        self.previous[b as usize] = a;
    }

    /// Cost between neighbours; the ends of the order cost nothing.
    fn cost(&self, rows: &Rows<'_>, a: u32, b: u32) -> u64 {
        if a == self.mark || b == self.mark {
            return 0;
        }
        rows.cost(a, b)
    }

    /// Moves `row` beside `similar`, or to the end, unless that costs more.
    fn replace(&mut self, rows: &Rows<'_>, row: u32, similar: Option<u32>) {
        let (before, after) = (self.previous[row as usize], self.next[row as usize]);
        self.join(before, after);
        // What the order costs more with the row between two neighbours, as units that may be negative.
        let rise = |a: u32, b: u32| {
            let with = self.cost(rows, a, row) + self.cost(rows, row, b);
            with as i64 - self.cost(rows, a, b) as i64
        };
        let place = match similar {
            None => (self.previous[self.mark as usize], self.mark),
            Some(similar) => {
                let behind = (similar, self.next[similar as usize]);
                let ahead = (self.previous[similar as usize], similar);
                if rise(ahead.0, ahead.1) < rise(behind.0, behind.1) {
                    ahead
                } else {
                    behind
                }
            }
        };
        let stays = rise(place.0, place.1) > rise(before, after);
        let (a, b) = if stays { (before, after) } else { place };
        self.join(a, row);
        self.join(row, b);
    }

    fn order(&self) -> Vec<u32> {
        let step = |&row: &u32| Some(self.next[row as usize]);
        let rows = std::iter::successors(step(&self.mark), step);
        rows.take_while(|&row| row != self.mark).collect()
    }
}
