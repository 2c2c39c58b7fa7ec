//! Squeezed windows as blocks of 8 columns, and back: the index work of ME-TCF and BitTCF, without values.
//!
//! ```text
//! CSR  --rank, count--> blocks per window, entries per block  --fill--> slot and local id of each entry
//! ```
//!
//! Inside a window, entries in the order of CSR fall into each block in ascending local id (8 * row + column), so one
//! cursor per block is all that sorting takes.

use super::squeeze::{Windows, crowded, cut, jobs};
use crate::portable::convert::jobs::each;
use crate::portable::moves::check_slots;
use crate::spread::mapped;
use sparse_types::format::PAD;
use sparse_types::refusal::{Refusal, check_u32};
use std::ops::Range;

/// Columns of a block.
const COLS: usize = 8;

/// Most rows of a window.
const ROWS: usize = 16;

/// The blocks of a matrix, as ME-TCF has them.
#[derive(Debug, Default)]
pub(in crate::portable) struct Folded {
    /// Offsets in blocks, per window.
    pub(in crate::portable) row_window_offset: Vec<u32>,
    /// Offsets in entries, per block.
    pub(in crate::portable) tc_offset: Vec<u32>,
    /// Columns of each block.
    pub(in crate::portable) sparse_a_to_b: Vec<u32>,
    /// Of each entry of the result: position in its block.
    pub(in crate::portable) local_id: Vec<u8>,
    /// Of each entry of CSR: its place in the result.
    pub(in crate::portable) slot: Vec<u32>,
}

/// What one job writes of [`Folded`].
struct Share<'a> {
    windows: Range<usize>,
    /// Ends of its blocks.
    ends: &'a mut [u32],
    columns: &'a mut [u32],
    ids: &'a mut [u8],
    /// Ranks, which become slots.
    slots: &'a mut [u32],
}

/// Folds the windows of a CSR matrix.
///
/// # Errors
/// Too many windows to allocate their offsets, or 2^32 column slots.
pub(in crate::portable) fn fold(csr: Windows<'_>) -> Result<Folded, Refusal> {
    let mut row_window_offset =
        Vec::with_capacity(check_slots("row_window_offset", csr.count() as u128 + 1)?);
    let (rank, width) = csr.ranks();
    let mut blocks = 0;
    row_window_offset.push(0);
    for width in width {
        blocks += width.div_ceil(COLS as u32) as usize;
        check_u32("slots", (blocks * COLS) as u128)?;
        row_window_offset.push(blocks as u32);
    }
    let mut folded = Folded {
        row_window_offset,
        tc_offset: vec![0; blocks + 1],
        sparse_a_to_b: vec![PAD; blocks * COLS],
        local_id: vec![0; rank.len()],
        slot: rank,
    };
    let jobs = csr.jobs();
    let block_end = |job: &Range<usize>| folded.row_window_offset[job.end] as usize;
    let entry_ends = || jobs.iter().map(|job| csr.start(job.end));
    let mut ends = cut(&mut folded.tc_offset[1..], jobs.iter().map(block_end)).into_iter();
    let mut columns =
        cut(&mut folded.sparse_a_to_b, jobs.iter().map(|job| block_end(job) * COLS)).into_iter();
    let mut ids = cut(&mut folded.local_id, entry_ends()).into_iter();
    let mut slots = cut(&mut folded.slot, entry_ends()).into_iter();
    let mut shares = Vec::with_capacity(jobs.len());
    for windows in &jobs {
        let next = (ends.next(), columns.next(), ids.next(), slots.next());
        let (Some(ends), Some(columns), Some(ids), Some(slots)) = next else {
            break;
        };
        shares.push(Share { windows: windows.clone(), ends, columns, ids, slots });
    }
    each(shares, |share| fill(csr, share));
    Ok(folded)
}

/// Fills one job's share, window by window.
fn fill(csr: Windows<'_>, share: Share<'_>) {
    let Share { windows, mut ends, mut columns, ids, slots } = share;
    let first = csr.start(windows.start);
    for window in windows {
        let (start, end) = (csr.start(window), csr.start(window + 1));
        let ranks = &mut slots[start - first..end - first];
        let width = ranks.iter().max().map_or(0, |&rank| rank as usize + 1);
        let blocks = width.div_ceil(COLS);
        let (own, rest) = std::mem::take(&mut ends).split_at_mut(blocks);
        let (names, other) = std::mem::take(&mut columns).split_at_mut(blocks * COLS);
        (ends, columns) = (rest, other);
        starts(own, ranks, start as u32);
        let first_row = window * csr.height;
        for row in first_row..(first_row + csr.height).min(csr.row_ptr.len() - 1) {
            for at in csr.row_ptr[row] as usize..csr.row_ptr[row + 1] as usize {
                let rank = ranks[at - start] as usize;
                // The cursor of a block ends where the next one starts, which is what tc_offset says.
                let cursor = &mut own[rank / COLS];
                let slot = *cursor;
                *cursor += 1;
                names[rank] = csr.col_idx[at];
                ids[slot as usize - first] = ((row - first_row) * COLS + rank % COLS) as u8;
                ranks[at - start] = slot;
            }
        }
    }
}

/// Where the entries of each block start, the first block at `start`.
fn starts(blocks: &mut [u32], ranks: &[u32], start: u32) {
    for &rank in ranks {
        blocks[rank as usize / COLS] += 1;
    }
    let mut next = start;
    for block in blocks {
        next += std::mem::replace(block, next);
    }
}

/// The values of CSR in the order of the blocks.
pub(in crate::portable) fn scatter<T: Copy + Send + Sync>(
    csr: Windows<'_>,
    slot: &[u32],
    values: &[T],
) -> Vec<T> {
    let mut placed = values.to_vec();
    let jobs = csr.jobs();
    let slices = cut(&mut placed, jobs.iter().map(|job| csr.start(job.end)));
    each(jobs.into_iter().zip(slices).collect(), |(job, slice)| {
        let first = csr.start(job.start);
        for at in first..first + slice.len() {
            slice[slot[at] as usize - first] = values[at];
        }
    });
    placed
}

/// Window of each block.
pub(in crate::portable) fn block_windows(row_window_offset: &[u32]) -> Vec<u32> {
    let mut windows = Vec::new();
    for (window, &end) in row_window_offset[1..].iter().enumerate() {
        windows.resize(end as usize, window as u32);
    }
    windows
}

/// The blocks of a valid matrix, to be unfolded.
#[derive(Clone, Copy, Debug)]
pub(in crate::portable) struct TcfBlocks<'a> {
    pub(in crate::portable) rows: usize,
    pub(in crate::portable) height: usize,
    pub(in crate::portable) row_window_offset: &'a [u32],
    pub(in crate::portable) tc_offset: &'a [u32],
    pub(in crate::portable) sparse_a_to_b: &'a [u32],
}

/// The positions of a CSR matrix.
#[derive(Debug)]
pub(in crate::portable) struct Unfolded {
    pub(in crate::portable) row_ptr: Vec<u32>,
    pub(in crate::portable) col_idx: Vec<u32>,
    /// Of each entry: its place in the blocks.
    pub(in crate::portable) slot: Vec<u32>,
}

impl TcfBlocks<'_> {
    fn start(&self, window: usize) -> usize {
        self.tc_offset[self.row_window_offset[window] as usize] as usize
    }

    /// CSR again; `local_id` is the position in its block of each entry.
    ///
    /// # Errors
    /// Too many rows to allocate their offsets.
    pub(in crate::portable) fn unfold(self, local_id: &[u8]) -> Result<Unfolded, Refusal> {
        let mut row_ptr = vec![0; check_slots("row_ptr", self.rows as u128 + 1)?];
        let mut col_idx = vec![0; local_id.len()];
        let mut slot = vec![0; local_id.len()];
        let jobs = jobs(self.row_window_offset.len() - 1, |window| self.start(window));
        let entry_ends = || jobs.iter().map(|job| self.start(job.end));
        let row_ends = jobs.iter().map(|job| (job.end * self.height).min(self.rows));
        let ends = cut(&mut row_ptr[1..], row_ends);
        let arrays = cut(&mut col_idx, entry_ends()).into_iter().zip(cut(&mut slot, entry_ends()));
        let shares = ends.into_iter().zip(arrays);
        each(jobs.iter().cloned().zip(shares).collect(), |(job, (ends, (columns, slots)))| {
            let first = self.start(job.start);
            for (window, ends) in job.zip(ends.chunks_mut(self.height)) {
                self.unfold_window(window, local_id, ends, |at, column, slot| {
                    columns[at - first] = column;
                    slots[at - first] = slot;
                });
            }
        });
        Ok(Unfolded { row_ptr, col_idx, slot })
    }

    /// Sets the row ends of a window and calls `put` with the place in CSR, the column and the slot of each entry.
    fn unfold_window(
        &self,
        window: usize,
        ids: &[u8],
        ends: &mut [u32],
        mut put: impl FnMut(usize, u32, u32),
    ) {
        let blocks = self.row_window_offset[window] as usize..self.row_window_offset[window + 1] as usize;
        let (start, end) = (self.start(window), self.start(window + 1));
        let mut cursors = [0u32; ROWS];
        for &id in &ids[start..end] {
            cursors[usize::from(id) / COLS] += 1;
        }
        let mut next = start as u32;
        for (cursor, end) in cursors.iter_mut().zip(ends) {
            next += std::mem::replace(cursor, next);
            *end = next;
        }
        for block in blocks {
            let names = &self.sparse_a_to_b[block * COLS..(block + 1) * COLS];
            for slot in self.tc_offset[block]..self.tc_offset[block + 1] {
                let id = usize::from(ids[slot as usize]);
                let cursor = &mut cursors[id / COLS];
                put(*cursor as usize, names[id % COLS], slot);
                *cursor += 1;
            }
        }
    }
}

/// The values of the blocks in the order of CSR.
pub(in crate::portable) fn gather<T: Copy + Send + Sync>(slot: &[u32], values: &[T]) -> Vec<T> {
    let smallest = if crowded(slot.len()) { 1 << 12 } else { slot.len() };
    mapped(slot, smallest, |&slot| values[slot as usize])
}
