//! The arrays of the product, written as chunks of lanes come in, each entry once.
//!
//! ```text
//! chunk    3 done: waits     0 done: placed     1 done: placed     2 done: placed, and 3 with it
//! arrays   ..                [ 0 ..             [ 0 | 1 ..         [ 0 | 1 | 2 | 3 ..
//! ```
//!
//! A chunk has its place as soon as those before it are done; whoever finishes the last of them copies it there from a buffer that is
//! still in cache and is used again. So memory is touched once, and huge pages are asked for. Room is that of all products, which
//! costs no memory until it is touched; where that is too much to ask for, chunks are kept, and placed when all are done.

use super::accumulate::Chunk;
use super::pages;
use crate::portable::element::Output;
use crate::portable::moves::Arrays;
use crate::portable::unit::Unit;
use crate::spread::each_piece;
use sparse_types::format::SLOT_LIMIT;
use sparse_types::refusal::{Limit, Refusal};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Entries that room is made for without knowing how many there are.
const UNKNOWN_MOST: u64 = 1 << 26;

/// The arrays before they have all their entries.
pub(super) struct Room<O> {
    offsets: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<O>,
    most: usize,
}

impl<O> Room<O> {
    /// For `lanes` lanes of at most `most` entries in all.
    pub(super) fn new(lanes: usize, most: u64) -> Room<O> {
        Room::with_limit(lanes, most, UNKNOWN_MOST)
    }

    fn with_limit(lanes: usize, most: u64, limit: u64) -> Room<O> {
        let mut room = Room { offsets: vec![0; lanes + 1], indices: Vec::new(), values: Vec::new(), most: 0 };
        if most <= limit {
            room.reserve(most as usize);
        }
        room
    }

    /// Room for `most` entries; none where there is no memory to reserve.
    fn reserve(&mut self, most: usize) {
        if self.indices.try_reserve_exact(most).is_ok() && self.values.try_reserve_exact(most).is_ok() {
            pages::advise_huge(self.indices.spare_capacity_mut());
            pages::advise_huge(self.values.spare_capacity_mut());
            self.most = most;
        }
    }
}

/// What is still to be written.
struct Unwritten<'a, A, O> {
    /// The chunk that is next in order.
    next: usize,
    /// Chunks that wait for others.
    ready: BTreeMap<usize, Chunk<A>>,
    /// Entries placed.
    end: u32,
    offsets: &'a mut [u32],
    indices: &'a mut [MaybeUninit<u32>],
    values: &'a mut [MaybeUninit<O>],
}

/// A chunk and where it goes.
struct ChunkPlace<'a, A, O> {
    chunk: Chunk<A>,
    start: u32,
    offsets: &'a mut [u32],
    indices: &'a mut [MaybeUninit<u32>],
    values: &'a mut [MaybeUninit<O>],
}

impl<'a, A: Unit, O: Output<A>> Unwritten<'a, A, O> {
    fn new(room: &'a mut Room<O>) -> Unwritten<'a, A, O> {
        Unwritten {
            next: 0,
            ready: BTreeMap::new(),
            end: 0,
            offsets: &mut room.offsets[1..],
            indices: &mut room.indices.spare_capacity_mut()[..room.most],
            values: &mut room.values.spare_capacity_mut()[..room.most],
        }
    }

    /// The next chunk in order, if it is done.
    fn place(&mut self) -> Option<ChunkPlace<'a, A, O>> {
        let first = self.ready.first_entry().filter(|first| *first.key() == self.next)?;
        let chunk = first.remove();
        self.next += 1;
        let start = self.end;
        self.end += chunk.entries as u32;
        let (offsets, more) = std::mem::take(&mut self.offsets).split_at_mut(chunk.lengths.len());
        self.offsets = more;
        let (indices, more) = std::mem::take(&mut self.indices).split_at_mut(chunk.entries);
        self.indices = more;
        let (values, more) = std::mem::take(&mut self.values).split_at_mut(chunk.entries);
        self.values = more;
        Some(ChunkPlace { chunk, start, offsets, indices, values })
    }
}

impl<A: Unit, O: Output<A>> ChunkPlace<'_, A, O> {
    /// Writes all of it; the chunk can be used again.
    fn write(self) -> Chunk<A> {
        let mut end = self.start;
        for (offset, &length) in self.offsets.iter_mut().zip(&self.chunk.lengths) {
            end += length;
            *offset = end;
        }
        for (to, &index) in self.indices.iter_mut().zip(&self.chunk.indices) {
            to.write(index);
        }
        for (to, &value) in self.values.iter_mut().zip(&self.chunk.values) {
            to.write(O::store(value));
        }
        self.chunk
    }
}

/// Takes chunks of lanes in any order.
pub(super) struct Assembly<'a, A, O> {
    open: Mutex<Unwritten<'a, A, O>>,
    spare: Mutex<Vec<Chunk<A>>>,
    in_order: bool,
}

/// What a panicking thread left is whole: nothing panics between two changes that belong together.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, A: Unit, O: Output<A>> Assembly<'a, A, O> {
    pub(super) fn new(room: &'a mut Room<O>) -> Assembly<'a, A, O> {
        Assembly {
            in_order: room.most > 0,
            open: Mutex::new(Unwritten::new(room)),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// An empty chunk.
    pub(super) fn spare(&self) -> Chunk<A> {
        let mut chunk = locked(&self.spare).pop().unwrap_or_else(Chunk::new);
        chunk.clear();
        chunk
    }

    /// Chunk number `at` is done. Places it, and those that waited for it.
    pub(super) fn done(&self, at: usize, mut chunk: Chunk<A>) {
        if !self.in_order {
            let Chunk { entries, indices, values, .. } = &mut chunk;
            indices.truncate(*entries);
            indices.shrink_to_fit();
            values.truncate(*entries);
            values.shrink_to_fit();
            locked(&self.open).ready.insert(at, chunk);
            return;
        }
        let mut places = Vec::new();
        let mut open = locked(&self.open);
        open.ready.insert(at, chunk);
        places.extend(std::iter::from_fn(|| open.place()));
        drop(open);
        for place in places {
            let chunk = place.write();
            locked(&self.spare).push(chunk);
        }
    }

    /// What was not placed, and how many entries were.
    fn left(self) -> (BTreeMap<usize, Chunk<A>>, u32) {
        let open = self.open.into_inner().unwrap_or_else(PoisonError::into_inner);
        (open.ready, open.end)
    }
}

/// More entries than an index can count.
pub(super) fn too_large() -> Refusal {
    Refusal::Limit(Limit { field: "nnz of A * B", found: u128::from(SLOT_LIMIT) + 1, limit: SLOT_LIMIT })
}

/// The arrays of all lanes, whose chunks `compute` hands to the assembly.
///
/// # Errors
/// Those of `compute`.
pub(super) fn assembled<A: Unit, O: Output<A>>(
    mut room: Room<O>,
    compute: impl FnOnce(&Assembly<'_, A, O>) -> Result<(), Refusal>,
) -> Result<Arrays<O>, Refusal> {
    let assembly = Assembly::new(&mut room);
    compute(&assembly)?;
    let (left, mut end) = assembly.left();
    if !left.is_empty() {
        let entries = left.values().map(|chunk| chunk.entries).sum();
        room.indices.reserve_exact(entries);
        room.values.reserve_exact(entries);
        pages::advise_huge(room.indices.spare_capacity_mut());
        pages::advise_huge(room.values.spare_capacity_mut());
        room.most = entries;
        let mut open = Unwritten::new(&mut room);
        open.ready = left;
        let mut places: Vec<Option<ChunkPlace<'_, A, O>>> =
            std::iter::from_fn(|| open.place().map(Some)).collect();
        end = open.end;
        each_piece(&mut places, 1, |_, place| drop(place[0].take().map(ChunkPlace::write)));
    }
    let Room { offsets, mut indices, mut values, .. } = room;
    #[expect(unsafe_code, reason = "elements that were written in place, in pieces")]
    // SAFETY: places follow one another from 0 to `end` without a gap, `end` is at most the room that they were cut from, which is
    // within the capacity of both; each was written whole: its chunk has at least `entries` indices and values.
    unsafe {
        indices.set_len(end as usize);
        values.set_len(end as usize);
    }
    indices.shrink_to_fit();
    values.shrink_to_fit();
    Ok((offsets, indices, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of lanes of these lengths, its entries numbered from `first`; the buffer is longer.
    fn filled(mut chunk: Chunk<f64>, lengths: &[u32], first: u32) -> Chunk<f64> {
        chunk.lengths.extend(lengths);
        chunk.entries = lengths.iter().sum::<u32>() as usize;
        chunk.indices = (first..).take(chunk.entries + 3).collect();
        chunk.values = chunk.indices.iter().map(|&i| f64::from(i) / 2.0).collect();
        chunk
    }

    #[test]
    fn chunks_come_out_in_order_whether_placed_at_once_or_kept() {
        let lengths: [&[u32]; 4] = [&[2, 0, 3], &[], &[1], &[0, 4]];
        let firsts = [0, 5, 5, 6];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            for limit in [0, 10, 1000] {
                let room = Room::<f64>::with_limit(6, 10, limit);
                let product = assembled(room, |assembly| {
                    for at in order {
                        assembly.done(at, filled(assembly.spare(), lengths[at], firsts[at]));
                    }
                    Ok(())
                });
                let (offsets, indices, values) = product.expect("nothing refuses");
                assert_eq!(offsets, [0, 2, 2, 5, 6, 6, 10], "{order:?} {limit}");
                assert_eq!(indices, (0..10).collect::<Vec<u32>>(), "{order:?} {limit}");
                assert!(values.iter().zip(0..).all(|(&v, i)| v == f64::from(i) / 2.0));
            }
        }
    }

    #[test]
    fn a_refusal_leaves_no_arrays() {
        let product = assembled(Room::<f64>::new(3, 5), |assembly: &Assembly<'_, f64, f64>| {
            assembly.done(1, filled(assembly.spare(), &[2], 0));
            Err(too_large())
        });
        assert_eq!(product, Err(too_large()));
    }
}
