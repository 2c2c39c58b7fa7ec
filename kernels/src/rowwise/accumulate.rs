//! One lane of a product, by the accumulator that suits the number of its products.
//!
//! ```text
//! one lane picked      scaled copy: it is sorted already
//! few products         ranks: each column is compared with all others, which no branch has to predict
//! more, wide matrix    hash:  open addressing, columns sorted at the end
//! many                 dense: one slot per column, and a set of the columns, read in order
//!
//!   columns  1 bit each          0100000101.. | 0000..  | ..
//!   words    1 bit per 64        1 0 ..                          so that empty stretches cost little
//!   blocks   1 bit per 4096      1 ..
//! ```
//!
//! All of them add the products of one column in the order in which the lanes are picked, ascending k, from +0.

use super::lanes::UnitLanes;
use super::ranks::Ranks;
use crate::portable::spgemm::SpgemmSteps;
use crate::portable::unit::{Chain, Unit};
use sparse_types::format::SLOT_LIMIT;

/// The widest dense accumulator: 2^25 columns are 260 MiB of f64 and sets a thread.
const DENSE_LIMIT: usize = 1 << 25;
/// A dense accumulator has at most 2^12 columns for each product: beyond that its cache misses cost more than hashing.
const COLUMN_BITS: u32 = 12;
/// Slots that a hash table starts with.
const HASH_SLOTS: usize = 256;
/// No column: extents are at most 2^32 - 1.
const EMPTY: u32 = u32::MAX;

/// Lanes of the product, one after another. The arrays are longer than what is in them.
#[derive(Debug)]
pub(super) struct Chunk<A> {
    /// Entries of each lane.
    pub(super) lengths: Vec<u32>,
    /// Entries in all.
    pub(super) entries: usize,
    /// Their indices.
    pub(super) indices: Vec<u32>,
    /// Their values.
    pub(super) values: Vec<A>,
}

impl<A: Unit> Chunk<A> {
    pub(super) fn new() -> Chunk<A> {
        Chunk { lengths: Vec::new(), entries: 0, indices: Vec::new(), values: Vec::new() }
    }

    /// Empty, the memory kept.
    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.entries = 0;
    }

    /// Room for the next lane.
    fn room(&mut self, most: usize) -> (&mut [u32], &mut [A]) {
        let end = self.entries + most;
        if self.indices.len() < end {
            let grown = end.max(2 * self.indices.len());
            self.indices.resize(grown, 0);
            self.values.resize(grown, A::ZERO);
        }
        (&mut self.indices[self.entries..end], &mut self.values[self.entries..end])
    }
}

/// The accumulators of one thread; between lanes all are empty.
pub(super) struct Workspace<A> {
    extent: usize,
    /// Dense pays in memory, in view of the whole product.
    dense_allowed: bool,
    dense: DenseSlots<A>,
    hash: Hash<A>,
    ranks: Ranks<A>,
    keys: Vec<u64>,
}

impl<A: Unit> Workspace<A> {
    /// For lanes of `extent` columns and a product of `total` multiplications.
    pub(super) fn new(extent: usize, total: u64) -> Workspace<A> {
        Workspace {
            extent,
            dense_allowed: extent <= DENSE_LIMIT && extent as u64 <= total.max(1 << 16),
            dense: DenseSlots {
                sums: Vec::new(),
                columns: Vec::new(),
                words: Vec::new(),
                blocks: Vec::new(),
            },
            hash: Hash { columns: Vec::new(), sums: Vec::new() },
            ranks: Ranks::new(),
            keys: Vec::new(),
        }
    }

    /// Appends one lane of the product; it takes `work` multiplications.
    pub(super) fn lane(
        &mut self,
        picks: UnitLanes<'_, A>,
        lane: usize,
        added: UnitLanes<'_, A>,
        work: u64,
        chunk: &mut Chunk<A>,
    ) {
        let most = work.min(self.extent as u64) as usize;
        let entries = if work == 0 {
            0
        } else if let ([k], [factor]) = picks.lane(lane) {
            let (columns, values) = added.lane(*k as usize);
            let (indices, sums) = chunk.room(most);
            indices.copy_from_slice(columns);
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = SpgemmSteps::step(A::ZERO, *factor, value);
            }
            most
        } else if work <= Ranks::<A>::LIMIT {
            // All products are placed before equal columns are added up.
            self.ranks.lane(picks, lane, added, chunk.room(work as usize))
        } else if self.dense_allowed && self.extent as u64 >> COLUMN_BITS <= work {
            self.dense.lane(self.extent, picks, lane, added, chunk.room(most))
        } else {
            self.hash.sum(picks, lane, added, &mut self.keys);
            let out = chunk.room(self.keys.len());
            self.hash.drain(&mut self.keys, out)
        };
        chunk.entries += entries;
        chunk.lengths.push(entries as u32);
    }
}

/// One slot per column.
struct DenseSlots<A> {
    sums: Vec<A>,
    columns: Vec<u64>,
    words: Vec<u64>,
    blocks: Vec<u64>,
}

impl<A: Unit> DenseSlots<A> {
    fn lane(
        &mut self,
        extent: usize,
        picks: UnitLanes<'_, A>,
        lane: usize,
        added: UnitLanes<'_, A>,
        (indices, values): (&mut [u32], &mut [A]),
    ) -> usize {
        if self.sums.is_empty() {
            let words = extent.div_ceil(64).next_multiple_of(64);
            self.sums = vec![A::ZERO; words * 64];
            self.columns = vec![0; words];
            self.words = vec![0; words / 64];
            self.blocks = vec![0; (words / 64).div_ceil(64)];
        }
        let DenseSlots { sums, columns, words, blocks } = self;
        picks.products(lane, added, |column, factor, value| {
            let at = column as usize;
            sums[at] = SpgemmSteps::step(sums[at], factor, value);
            columns[at >> 6] |= 1 << (at & 63);
            words[at >> 12] |= 1 << (at >> 6 & 63);
            blocks[at >> 18] |= 1 << (at >> 12 & 63);
        });
        let mut entries = indices.iter_mut().zip(values);
        let mut count = 0;
        for (i, set) in blocks.iter_mut().enumerate() {
            drain(set, 64 * i, |block| {
                drain(&mut words[block], 64 * block, |word| {
                    drain(&mut columns[word], 64 * word, |column| {
                        let sum = std::mem::replace(&mut sums[column], A::ZERO);
                        if let Some((index, value)) = entries.next() {
                            (*index, *value) = (column as u32, sum);
                            count += 1;
                        }
                    });
                });
            });
        }
        count
    }
}

/// Visits the bits of a word, ascending, numbered from `first`, and clears it.
#[inline(always)]
fn drain(word: &mut u64, first: usize, mut visit: impl FnMut(usize)) {
    let mut set = std::mem::take(word);
    while set != 0 {
        visit(first + set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

/// Open addressing with linear probing: a power of two of slots, at least twice the columns in it.
struct Hash<A> {
    columns: Vec<u32>,
    sums: Vec<A>,
}

impl<A: Unit> Hash<A> {
    /// Adds up a lane; `keys` are then its columns, each with its slot.
    fn sum(&mut self, picks: UnitLanes<'_, A>, lane: usize, added: UnitLanes<'_, A>, keys: &mut Vec<u64>) {
        keys.clear();
        let mut slots = 0;
        picks.products(lane, added, |column, factor, value| {
            if 2 * keys.len() >= slots {
                // More are refused in the end: the table need not hold them.
                if keys.len() as u64 > SLOT_LIMIT {
                    return;
                }
                slots = (2 * slots).max(HASH_SLOTS);
                self.grow(slots, keys);
            }
            let at = self.find(slots, column);
            if self.columns[at] == EMPTY {
                self.columns[at] = column;
                keys.push(u64::from(column) << 32 | at as u64);
            }
            self.sums[at] = SpgemmSteps::step(self.sums[at], factor, value);
        });
    }

    /// Writes the sums in ascending order of their columns.
    fn drain(&mut self, keys: &mut [u64], (indices, values): (&mut [u32], &mut [A])) -> usize {
        keys.sort_unstable();
        for ((&key, index), value) in keys.iter().zip(indices).zip(values) {
            (*index, *value) = self.take(key);
        }
        keys.len()
    }

    /// The slot of a column, or the empty one where it belongs, among the first `slots`.
    #[inline(always)]
    fn find(&self, slots: usize, column: u32) -> usize {
        // Fibonacci hashing: the high bits of a product with 2^64 / phi.
        let hash = u64::from(column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> (64 - slots.trailing_zeros())) as usize;
        let columns = &self.columns[..slots];
        while columns[at] != column && columns[at] != EMPTY {
            at = (at + 1) & (slots - 1);
        }
        at
    }

    /// Empties the slot of a key.
    fn take(&mut self, key: u64) -> (u32, A) {
        let at = key as u32 as usize;
        self.columns[at] = EMPTY;
        ((key >> 32) as u32, std::mem::replace(&mut self.sums[at], A::ZERO))
    }

    /// Moves what is there to its places among the first `slots`.
    #[cold]
    fn grow(&mut self, slots: usize, keys: &mut [u64]) {
        let moved: Vec<(u32, A)> = keys.iter().map(|&key| self.take(key)).collect();
        if self.columns.len() < slots {
            self.columns.resize(slots, EMPTY);
            self.sums.resize(slots, A::ZERO);
        }
        for (key, (column, sum)) in keys.iter_mut().zip(moved) {
            let at = self.find(slots, column);
            self.columns[at] = column;
            self.sums[at] = sum;
            *key = u64::from(column) << 32 | at as u64;
        }
    }
}
