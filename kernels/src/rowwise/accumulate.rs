//! One lane of a product, by the accumulator that suits the number of its products.
//!
//! ```text
//! one lane picked      scaled copy: it is sorted already
//! few products         sort:  (column, order of arrival) as one u64 each, sorted; equal columns are added in that order
//! more, wide matrix    hash:  open addressing, columns sorted at the end
//! many                 dense: one slot per column and one flag byte; flags read in order give the columns sorted
//!
//!   flags   0 1 0 0 0 0 0 1 | 0 0 0 0 0 0 0 0 | ..      one byte per column, read as u64
//!   blocks  1 (256 flags)     0                 ..      one byte per block, so that empty stretches cost little
//! ```
//!
//! All of them add the products of one column in the order in which the lanes are picked, ascending k, from +0.

use crate::portable::spgemm::Steps;
use crate::portable::unit::{Chain, Unit};
use sparse_oracle::format::SLOT_LIMIT;

/// Up to here products are sorted.
const SORT_LIMIT: u64 = 48;
/// The widest dense accumulator: 2^25 columns are 288 MiB of f64 and flags a thread.
const DENSE_LIMIT: usize = 1 << 25;
/// Slots that a hash table starts with.
const HASH_SLOTS: usize = 256;
/// Columns of one block of flags, as a power of two.
const BLOCK_BITS: u32 = 8;
/// No column: extents are at most 2^32 - 1.
const EMPTY: u32 = u32::MAX;

/// Compressed lanes with values in the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a, A> {
    ptr: &'a [u32],
    index: &'a [u32],
    values: &'a [A],
}

impl<'a, A> Lanes<'a, A> {
    pub(super) fn new(ptr: &'a [u32], index: &'a [u32], values: &'a [A]) -> Lanes<'a, A> {
        Lanes { ptr, index, values }
    }

    pub(super) fn count(&self) -> usize {
        self.ptr.len() - 1
    }

    /// Entries of lane `k`.
    pub(super) fn len(&self, k: u32) -> usize {
        (self.ptr[k as usize + 1] - self.ptr[k as usize]) as usize
    }

    /// Indices of a lane.
    pub(super) fn index(&self, lane: usize) -> &'a [u32] {
        &self.index[self.ptr[lane] as usize..self.ptr[lane + 1] as usize]
    }

    /// Indices and values of a lane.
    fn lane(&self, lane: usize) -> (&'a [u32], &'a [A]) {
        let range = self.ptr[lane] as usize..self.ptr[lane + 1] as usize;
        (&self.index[range.clone()], &self.values[range])
    }
}

/// Calls `add` with (column, product) of every product of a lane, ascending k.
#[inline(always)]
fn products<A: Unit>(picks: Lanes<'_, A>, lane: usize, added: Lanes<'_, A>, mut add: impl FnMut(u32, A, A)) {
    let (ks, factors) = picks.lane(lane);
    for (&k, &factor) in ks.iter().zip(factors) {
        let (columns, values) = added.lane(k as usize);
        for (&column, &value) in columns.iter().zip(values) {
            add(column, factor, value);
        }
    }
}

/// The accumulators of one thread; between lanes all are empty.
pub(super) struct Workspace<A> {
    extent: usize,
    /// Dense pays in memory, in view of the whole product.
    dense_allowed: bool,
    dense: Dense<A>,
    hash: Hash<A>,
    keys: Vec<u64>,
    terms: Vec<(A, A)>,
}

impl<A: Unit> Workspace<A> {
    /// For lanes of `extent` columns and a product of `total` multiplications.
    pub(super) fn new(extent: usize, total: u64) -> Workspace<A> {
        Workspace {
            extent,
            dense_allowed: extent <= DENSE_LIMIT && extent as u64 <= total.max(1 << 16),
            dense: Dense {
                sums: Vec::new(),
                flags: Vec::new(),
                blocks: Vec::new(),
            },
            hash: Hash {
                columns: Vec::new(),
                sums: Vec::new(),
            },
            keys: Vec::new(),
            terms: Vec::new(),
        }
    }

    /// Appends one lane of the product; it takes `work` multiplications.
    pub(super) fn lane(
        &mut self,
        picks: Lanes<'_, A>,
        lane: usize,
        added: Lanes<'_, A>,
        work: u64,
        indices: &mut Vec<u32>,
        values: &mut Vec<A>,
    ) {
        if work == 0 {
            return;
        }
        if picks.index(lane).len() == 1 {
            products(picks, lane, added, |column, factor, value| {
                indices.push(column);
                values.push(Steps::step(A::ZERO, factor, value));
            });
        } else if work <= SORT_LIMIT {
            self.sort(picks, lane, added, indices, values);
        } else if self.dense_allowed && self.extent as u64 >> (BLOCK_BITS + 4) <= work {
            self.dense
                .lane(self.extent, picks, lane, added, work, (indices, values));
        } else {
            self.hash
                .lane(picks, lane, added, &mut self.keys, indices, values);
        }
    }

    fn sort(
        &mut self,
        picks: Lanes<'_, A>,
        lane: usize,
        added: Lanes<'_, A>,
        indices: &mut Vec<u32>,
        values: &mut Vec<A>,
    ) {
        let (keys, terms) = (&mut self.keys, &mut self.terms);
        keys.clear();
        terms.clear();
        products(picks, lane, added, |column, factor, value| {
            keys.push(u64::from(column) << 32 | terms.len() as u64);
            terms.push((factor, value));
        });
        keys.sort_unstable();
        for same in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            let sum = same.iter().fold(A::ZERO, |sum, &key| {
                let (factor, value) = terms[key as u32 as usize];
                Steps::step(sum, factor, value)
            });
            indices.push((same[0] >> 32) as u32);
            values.push(sum);
        }
    }
}

/// One slot per column.
struct Dense<A> {
    sums: Vec<A>,
    flags: Vec<u8>,
    blocks: Vec<u8>,
}

impl<A: Unit> Dense<A> {
    fn lane(
        &mut self,
        extent: usize,
        picks: Lanes<'_, A>,
        lane: usize,
        added: Lanes<'_, A>,
        work: u64,
        (indices, values): (&mut Vec<u32>, &mut Vec<A>),
    ) {
        let blocks = extent.div_ceil(1 << BLOCK_BITS);
        if self.sums.is_empty() {
            self.sums = vec![A::ZERO; blocks << BLOCK_BITS];
            self.flags = vec![0; blocks << BLOCK_BITS];
            self.blocks = vec![0; blocks.next_multiple_of(8)];
        }
        let Dense { sums, flags, blocks } = self;
        products(picks, lane, added, |column, factor, value| {
            let at = column as usize;
            sums[at] = Steps::step(sums[at], factor, value);
            flags[at] = 1;
            blocks[at >> BLOCK_BITS] = 1;
        });
        let most = (extent as u64).min(work) as usize;
        indices.reserve(most);
        values.reserve(most);
        each_set(blocks, |block| {
            let first = block << BLOCK_BITS;
            each_set(&mut flags[first..first + (1 << BLOCK_BITS)], |within| {
                let at = first + within;
                indices.push(at as u32);
                values.push(std::mem::replace(&mut sums[at], A::ZERO));
            });
        });
    }
}

/// Visits the bytes that are 1 (the others are 0), ascending, and clears them. The length is a multiple of 8.
#[inline(always)]
fn each_set(bytes: &mut [u8], mut visit: impl FnMut(usize)) {
    let (words, _) = bytes.as_chunks_mut::<8>();
    for (at, word) in words.iter_mut().enumerate() {
        let mut set = u64::from_le_bytes(*word);
        if set == 0 {
            continue;
        }
        *word = [0; 8];
        while set != 0 {
            visit(8 * at + set.trailing_zeros() as usize / 8);
            set &= set - 1;
        }
    }
}

/// Open addressing with linear probing: a power of two of slots, at least twice the columns in it.
struct Hash<A> {
    columns: Vec<u32>,
    sums: Vec<A>,
}

impl<A: Unit> Hash<A> {
    fn lane(
        &mut self,
        picks: Lanes<'_, A>,
        lane: usize,
        added: Lanes<'_, A>,
        keys: &mut Vec<u64>,
        indices: &mut Vec<u32>,
        values: &mut Vec<A>,
    ) {
        keys.clear();
        let mut slots = 0;
        products(picks, lane, added, |column, factor, value| {
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
            self.sums[at] = Steps::step(self.sums[at], factor, value);
        });
        keys.sort_unstable();
        for &key in keys.iter() {
            let (column, sum) = self.take(key);
            indices.push(column);
            values.push(sum);
        }
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
