//! The second pass: with every offset known, each range of windows writes its own parts of the arrays.

use super::distribute::REST;
use super::encode::{Index, Kept, PatternSource, cut, words};
use super::vectors::{ColumnVector, WINDOW};
use crate::portable::convert::jobs::with_scratch;
use std::ops::Range;

/// What a range of windows writes, and then each of its windows.
struct WindowArrays<'a> {
    bitmap: &'a mut [u64],
    block_value_ptr: &'a mut [u32],
    block_col: &'a mut [u32],
    position: &'a mut [u32],
    col_idx: &'a mut [u32],
    rest_position: &'a mut [u32],
}

/// Offsets of the whole matrix.
#[derive(Clone, Copy)]
struct Offsets<'a> {
    window_block_ptr: &'a [u32],
    window_values: &'a [u32],
    /// Of the CUDA-core part.
    row_ptr: &'a [u32],
}

impl<'a> WindowArrays<'a> {
    /// Cuts off what `windows` windows write, whose rows are `rows`.
    fn take(
        &mut self,
        windows: Range<usize>,
        rows: Range<usize>,
        offsets: Offsets<'_>,
        kb: usize,
    ) -> WindowArrays<'a> {
        let span = |ptr: &[u32], range: Range<usize>| (ptr[range.end] - ptr[range.start]) as usize;
        let blocks = span(offsets.window_block_ptr, windows.clone());
        let rest = span(offsets.row_ptr, rows);
        WindowArrays {
            bitmap: cut(&mut self.bitmap, blocks * words(kb)),
            block_value_ptr: cut(&mut self.block_value_ptr, blocks),
            block_col: cut(&mut self.block_col, blocks * kb),
            position: cut(&mut self.position, span(offsets.window_values, windows)),
            col_idx: cut(&mut self.col_idx, rest),
            rest_position: cut(&mut self.rest_position, rest),
        }
    }
}

/// Fills everything but the offsets of windows and rows.
pub(super) fn fill(
    source: PatternSource<'_>,
    tasks: Vec<(Range<usize>, Kept)>,
    index: &mut Index,
    window_values: &[u32],
) {
    let kb = source.rule.kb();
    let offsets =
        Offsets { window_block_ptr: &index.window_block_ptr, window_values, row_ptr: &index.row_ptr };
    let mut all = WindowArrays {
        bitmap: &mut index.bitmap,
        block_value_ptr: &mut index.block_value_ptr[1..],
        block_col: &mut index.block_col,
        position: &mut index.position,
        col_idx: &mut index.col_idx,
        rest_position: &mut index.rest_position,
    };
    let tasks = tasks.into_iter().map(|(windows, kept)| {
        let rows = WINDOW * windows.start..source.rows(windows.end - 1).end;
        let arrays = all.take(windows.clone(), rows, offsets, kb);
        (windows, kept, arrays)
    });
    with_scratch(tasks.collect(), |slots: &mut Vec<u32>, (windows, kept, mut arrays)| {
        let (mut left, mut counts) = (&kept.vectors[..], kept.counts.iter());
        for window in windows {
            let rows = source.rows(window);
            let ends = &source.row_ptr[rows.start..=rows.end];
            let rest = &offsets.row_ptr[rows.clone()];
            let mut arrays = arrays.take(window..window + 1, rows, offsets, kb);
            if arrays.block_value_ptr.is_empty() {
                let lane = ends[0] as usize..ends[ends.len() - 1] as usize;
                arrays.col_idx.copy_from_slice(&source.col_idx[lane]);
                arrays.rest_position.iter_mut().zip(ends[0]..).for_each(|(to, from)| *to = from);
            } else if let Some(&count) = counts.next() {
                let (vectors, behind) = left.split_at(count);
                left = behind;
                source.rule.assign(vectors, slots);
                let vectors = vectors.iter().copied().zip(slots.iter().copied());
                arrays.fill(vectors.clone(), kb, window_values[window]);
                arrays.place(vectors, kb, window_values[window], (ends, rest));
            }
        }
    });
}

impl WindowArrays<'_> {
    /// Bitmaps, columns and value offsets of a window; its values start at `first_value`.
    fn fill(&mut self, vectors: impl Iterator<Item = (ColumnVector, u32)>, kb: usize, first_value: u32) {
        let shift = kb.trailing_zeros();
        for (vector, slot) in vectors.filter(|v| v.1 != REST) {
            let slot = slot as usize;
            let (block, c) = (slot >> shift, slot & (kb - 1));
            self.block_col[slot] = vector.col();
            for r in vector.rows() {
                let bit = (r << shift) + c;
                self.bitmap[block * words(kb) + bit / 64] |= 1 << (bit % 64);
            }
        }
        let mut end = first_value;
        let blocks = self.bitmap.chunks_exact(words(kb));
        for (ptr, block) in self.block_value_ptr.iter_mut().zip(blocks) {
            end += block.iter().map(|word| word.count_ones()).sum::<u32>();
            *ptr = end;
        }
    }

    /// Where each entry of a window goes. `ends` are the window's row pointers in CSR, `rest` in the CUDA-core part.
    ///
    /// Vectors come by column, so that every row is read in its order.
    fn place(
        &mut self,
        vectors: impl Iterator<Item = (ColumnVector, u32)>,
        kb: usize,
        first_value: u32,
        (ends, rest): (&[u32], &[u32]),
    ) {
        let shift = kb.trailing_zeros();
        let (mut from, mut to) = ([0u32; WINDOW], [0u32; WINDOW]);
        for (r, &start) in rest.iter().enumerate() {
            (from[r], to[r]) = (ends[r], start - rest[0]);
        }
        for (vector, slot) in vectors {
            if slot == REST {
                for r in vector.rows() {
                    self.col_idx[to[r] as usize] = vector.col();
                    self.rest_position[to[r] as usize] = from[r];
                    to[r] += 1;
                    from[r] += 1;
                }
                continue;
            }
            let slot = slot as usize;
            let (block, c) = (slot >> shift, slot & (kb - 1));
            let start = block.checked_sub(1).map_or(0, |last| self.block_value_ptr[last] - first_value);
            let bitmap = &self.bitmap[block * words(kb)..(block + 1) * words(kb)];
            for r in vector.rows() {
                self.position[(start + below(bitmap, (r << shift) + c)) as usize] = from[r];
                from[r] += 1;
            }
        }
    }
}

/// Number of bits below `bit`.
fn below(bitmap: &[u64], bit: usize) -> u32 {
    let partial = (bitmap[bit / 64] & ((1 << (bit % 64)) - 1)).count_ones();
    bitmap[..bit / 64].iter().map(|word| word.count_ones()).sum::<u32>() + partial
}
