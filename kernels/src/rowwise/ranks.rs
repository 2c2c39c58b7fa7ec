//! Short lanes: the place of each column is the number of smaller ones.
//!
//! ```text
//! columns   7 2 9 4 | - - ..        ranks   2 0 3 1        each of 16 columns at a time is compared with all: no branch depends
//! terms     a b c d                                        on the data, where a sort would guess wrong every other time
//! ```
//!
//! The ranks of distinct columns add up to n (n - 1) / 2, and those of others to less: then they are sorted, and added up in the
//! order in which they came.

use super::lanes::UnitLanes;
use crate::portable::unit::Unit;

/// Columns that are ranked at the same time.
const WIDTH: usize = 16;
/// Products of a lane at most.
const MOST: usize = 48;

/// The products of a short lane.
pub(super) struct Ranks<A> {
    columns: [u32; MOST],
    terms: [A; MOST],
    keys: Vec<u64>,
}

impl<A: Unit> Ranks<A> {
    /// Products of a lane at most.
    pub(super) const LIMIT: u64 = MOST as u64;

    pub(super) fn new() -> Ranks<A> {
        Ranks { columns: [0; MOST], terms: [A::ZERO; MOST], keys: Vec::with_capacity(MOST) }
    }

    /// Writes one lane of the product, of at most [`LIMIT`](Self::LIMIT) multiplications; returns its entries.
    #[inline(always)]
    pub(super) fn lane(
        &mut self,
        picks: UnitLanes<'_, A>,
        lane: usize,
        added: UnitLanes<'_, A>,
        (indices, values): (&mut [u32], &mut [A]),
    ) -> usize {
        let (columns, terms) = (&mut self.columns, &mut self.terms);
        let mut n = 0;
        picks.products(lane, added, |column, factor, value| {
            columns[n] = column;
            // Products and sums are rounded apart, so the sum can wait.
            terms[n] = factor.mul(value);
            n += 1;
        });
        let padded = n.next_multiple_of(WIDTH);
        columns[n..padded].fill(u32::MAX);
        let mut ranks = [0; MOST];
        let total = rank(&columns[..n], &columns[..padded], &mut ranks);
        // No column is u32::MAX: each pad is above all n.
        if total as usize != n * (n - 1) / 2 + (padded - n) * n {
            return self.added_up(n, indices, values);
        }
        for ((&column, &term), &rank) in columns[..n].iter().zip(&*terms).zip(&ranks) {
            indices[rank as usize] = column;
            values[rank as usize] = A::ZERO.add(term);
        }
        n
    }

    /// The same where columns occur several times.
    fn added_up(&mut self, n: usize, indices: &mut [u32], values: &mut [A]) -> usize {
        let keys = &mut self.keys;
        keys.clear();
        keys.extend((0u64..).zip(&self.columns[..n]).map(|(at, &column)| u64::from(column) << 32 | at));
        keys.sort_unstable();
        let mut count = 0;
        for same in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            let terms = same.iter().map(|&key| self.terms[key as u32 as usize]);
            indices[count] = (same[0] >> 32) as u32;
            values[count] = terms.fold(A::ZERO, A::add);
            count += 1;
        }
        count
    }
}

/// How many of `columns` are below each of `padded`, and the sum of that. Whole blocks are ranked.
#[inline(always)]
fn rank(columns: &[u32], padded: &[u32], ranks: &mut [u32; MOST]) -> u32 {
    // Compared as signed numbers, which every vector unit has.
    let signed = |column: u32| (column ^ 1 << 31).cast_signed();
    let mut total = 0;
    let (blocks, _) = padded.as_chunks::<WIDTH>();
    let (places, _) = ranks.as_chunks_mut::<WIDTH>();
    for (block, places) in blocks.iter().zip(places) {
        let block = block.map(signed);
        let mut below = [0u32; WIDTH];
        for &column in columns {
            let column = signed(column);
            for (below, &other) in below.iter_mut().zip(&block) {
                *below += u32::from(column < other);
            }
        }
        total += below.iter().sum::<u32>();
        *places = below;
    }
    total
}
