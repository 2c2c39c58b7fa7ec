//! Rows cut into windows, with one vector per column that a window stores: the tiles of LOOPS and the vectors of SR-BCRS.
//!
//! ```text
//! windows of height 2, groups of stride 2          columns of the entries   0 2 3 | 0
//!   a . b c      entries, by (column, entry)       sorted, distinct         0 2 3, pad
//!   d . . .      0:0 0:3 2:1 3:2                   slot of row 0            0 1 4 | 0    (row r: + r * stride)
//! ```
//!
//! Each window is sorted on its own: first where every entry goes, which does not depend on the element type, then, once
//! the length is known, the values. Windows are dealt out in spans of about equally many entries; what comes out does
//! not depend on the spans.

use crate::portable::convert::jobs::all;
use crate::portable::element::Stored;
use crate::portable::moves::{Arrays, check_slots};
use rayon::prelude::*;
use sparse_types::Precision;
use sparse_types::format::PAD;
use sparse_types::refusal::Refusal;
use std::ops::Range;

/// Matrices with fewer slots or entries are converted by the calling thread alone.
const PARALLEL_FROM: usize = 1 << 14;

/// How the rows from `first_row` on are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowCut {
    pub(super) first_row: usize,
    /// Rows of the matrix.
    pub(super) rows: usize,
    /// Rows of a window.
    pub(super) height: usize,
    /// Vectors per group; groups are stored row by row.
    pub(super) stride: usize,
}

/// Vectors of all windows, and where the entries go.
pub(super) struct Vectors {
    /// Offsets of the windows, in vectors, pads included.
    pub(super) window_ptr: Vec<u32>,
    /// Columns, with [`PAD`] up to the end of the last group of each window.
    pub(super) vector_col: Vec<u32>,
    /// For each entry, the slot that its vector has for row 0, counted from the window's first.
    slots: Vec<u32>,
    spans: Vec<Range<usize>>,
}

impl RowCut {
    /// Number of windows.
    pub(super) fn windows(&self) -> usize {
        (self.rows - self.first_row).div_ceil(self.height)
    }

    /// First row of a window, or the end of the matrix.
    fn row(&self, window: usize) -> usize {
        self.rows.min(self.first_row + window * self.height)
    }

    /// Windows in consecutive spans of about as much work; `work` gives what lies before a window.
    fn spans(&self, work: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
        let windows = self.windows();
        let total = work(windows) - work(0);
        if total < PARALLEL_FROM {
            return std::iter::once(0..windows).collect();
        }
        let share = PARALLEL_FROM.max(total / (8 * rayon::current_num_threads()));
        let mut spans = Vec::new();
        let mut start = 0;
        for end in 1..=windows {
            if end == windows || work(end) - work(start) >= share {
                spans.push(start..end);
                start = end;
            }
        }
        spans
    }

    /// The vectors of a matrix, and where its entries go.
    pub(super) fn find(&self, row_ptr: &[u32], col_idx: &[u32]) -> Result<Vectors, Refusal> {
        let entries_before = |window| row_ptr[self.row(window)] as usize;
        let first = entries_before(0);
        let spans = self.spans(entries_before);
        let mut slots = vec![0u32; col_idx.len() - first];
        let lengths = spans.iter().map(|s| entries_before(s.end) - entries_before(s.start));
        let jobs = spans.iter().cloned().zip(pieces(&mut slots, lengths)).collect();
        let found = all(jobs, |(span, slots): (Range<usize>, _)| {
            let ptr = &row_ptr[self.row(span.start)..=self.row(span.end)];
            let range = ptr[0] as usize..ptr[ptr.len() - 1] as usize;
            self.find_in_span(ptr, &col_idx[range], slots)
        });
        let counts = || found.iter().flat_map(|(counts, _)| counts);
        let padded: u128 = counts().map(|&c| (c as usize).next_multiple_of(self.stride) as u128).sum();
        check_slots("slots", padded * self.height as u128)?;
        let mut window_ptr = Vec::with_capacity(self.windows() + 1);
        window_ptr.push(0u32);
        let mut end = 0;
        for &count in counts() {
            end += count.next_multiple_of(self.stride as u32);
            window_ptr.push(end);
        }
        Ok(Vectors {
            vector_col: self.padded_columns(padded as usize, &window_ptr, &spans, found),
            window_ptr,
            slots,
            spans,
        })
    }

    /// Vectors per window and their columns; fills in the slots. `row_ptr` and `col_idx` are those of the span.
    fn find_in_span(&self, row_ptr: &[u32], col_idx: &[u32], slots: &mut [u32]) -> (Vec<u32>, Vec<u32>) {
        let first = row_ptr[0];
        let rows = row_ptr.len() - 1;
        let mut counts = Vec::with_capacity(rows.div_ceil(self.height));
        let mut columns = Vec::with_capacity(col_idx.len());
        let mut keys: Vec<u64> = Vec::new();
        for row in (0..rows).step_by(self.height) {
            let end = rows.min(row + self.height);
            let range = (row_ptr[row] - first) as usize..(row_ptr[end] - first) as usize;
            keys.clear();
            let entries = col_idx[range.clone()].iter().enumerate();
            keys.extend(entries.map(|(at, &col)| u64::from(col) << 32 | at as u64));
            keys.sort_unstable();
            let before = columns.len();
            self.number(&keys, &mut columns, &mut slots[range]);
            counts.push((columns.len() - before) as u32);
        }
        (counts, columns)
    }

    /// Lists the distinct columns of sorted keys (column, entry), and gives each entry the slot of its column.
    fn number(&self, keys: &[u64], columns: &mut Vec<u32>, slots: &mut [u32]) {
        // Where a slot does not fit, there are too many of them, which is refused later.
        let next_group = ((self.height - 1) * self.stride) as u32;
        let (mut slot, mut lane, mut previous) = (0u32, 0, None);
        for &key in keys {
            let col = (key >> 32) as u32;
            if previous != Some(col) {
                if previous.is_some() {
                    slot = slot.wrapping_add(1);
                    lane += 1;
                }
                if lane == self.stride {
                    slot = slot.wrapping_add(next_group);
                    lane = 0;
                }
                columns.push(col);
                previous = Some(col);
            }
            slots[key as u32 as usize] = slot;
        }
    }

    /// Columns of all spans, each window padded.
    fn padded_columns(
        &self,
        padded: usize,
        window_ptr: &[u32],
        spans: &[Range<usize>],
        mut found: Vec<(Vec<u32>, Vec<u32>)>,
    ) -> Vec<u32> {
        if self.stride == 1 && found.len() == 1 {
            return found.pop().unwrap_or_default().1;
        }
        let mut vector_col = vec![0; padded];
        let lengths = spans.iter().map(|s| (window_ptr[s.end] - window_ptr[s.start]) as usize);
        let jobs = found.into_iter().zip(pieces(&mut vector_col, lengths)).collect();
        all(jobs, |((counts, columns), piece): ((Vec<u32>, Vec<u32>), &mut [u32])| {
            let (mut from, mut to) = (0, 0);
            for count in counts {
                let (real, end) = (to + count as usize, from + count as usize);
                piece[to..real].copy_from_slice(&columns[from..end]);
                to += (count as usize).next_multiple_of(self.stride);
                piece[real..to].fill(PAD);
                from = end;
            }
        });
        vector_col
    }

    /// The values of the vectors. `row_ptr` and `values` are those of the matrix.
    pub(super) fn fill<T: Stored>(&self, vectors: &Vectors, row_ptr: &[u32], values: &[T]) -> Vec<T> {
        let Vectors { window_ptr, vector_col, slots, spans } = vectors;
        let first = row_ptr[self.first_row] as usize;
        let mut filled = zeros(vector_col.len() * self.height);
        let lengths = spans.iter().map(|s| (window_ptr[s.end] - window_ptr[s.start]) as usize * self.height);
        let jobs = spans.iter().cloned().zip(pieces(&mut filled, lengths)).collect();
        all(jobs, |(span, piece): (Range<usize>, &mut [T])| {
            for window in span.clone() {
                let start = (window_ptr[window] - window_ptr[span.start]) as usize * self.height;
                for (r, row) in (self.row(window)..self.row(window + 1)).enumerate() {
                    let range = row_ptr[row] as usize..row_ptr[row + 1] as usize;
                    let slots = &slots[range.start - first..range.end - first];
                    for (&slot, &value) in slots.iter().zip(&values[range]) {
                        piece[start + slot as usize + r * self.stride] = value;
                    }
                }
            }
        });
        filled
    }

    /// Appends the rows of the vectors, without the slots that are bitwise +0.0, to the arrays of a CSR matrix whose
    /// rows end at `first_row`.
    pub(super) fn append_rows<T: Stored>(
        &self,
        window_ptr: &[u32],
        vector_col: &[u32],
        values: &[T],
        (row_ptr, col_idx, kept): &mut Arrays<T>,
    ) {
        let slots_before = |window: usize| window_ptr[window] as usize * self.height;
        let spans = self.spans(slots_before);
        let found = all(spans, |span: Range<usize>| {
            let (mut rows, mut row) = (Arrays::default(), Lane::default());
            for window in span {
                let vectors = window_ptr[window] as usize..window_ptr[window + 1] as usize;
                let slots = slots_before(window)..slots_before(window + 1);
                let height = self.row(window + 1) - self.row(window);
                self.append_window(height, &vector_col[vectors], &values[slots], &mut row, &mut rows);
            }
            rows
        });
        let before = col_idx.len();
        let total: usize = found.iter().map(|(_, columns, _)| columns.len()).sum();
        col_idx.reserve_exact(total);
        kept.reserve_exact(total);
        row_ptr.reserve_exact(self.rows - self.first_row);
        let mut end = before as u32;
        for (lengths, columns, values) in found {
            for length in lengths {
                end += length;
                row_ptr.push(end);
            }
            col_idx.extend_from_slice(&columns);
            kept.extend_from_slice(&values);
        }
    }

    /// Appends the first `height` rows of a window: lengths, columns, values.
    fn append_window<T: Stored>(
        &self,
        height: usize,
        columns: &[u32],
        values: &[T],
        lane: &mut Lane<T>,
        (lengths, col_idx, kept): &mut Arrays<T>,
    ) {
        if columns.is_empty() {
            lengths.resize(lengths.len() + height, 0);
            return;
        }
        for r in 0..height {
            lane.start(columns.len());
            if self.stride == 1 {
                let slots = values[r..].iter().step_by(self.height);
                lane.offer(columns.iter().zip(slots));
            } else {
                for (group, columns) in columns.chunks_exact(self.stride).enumerate() {
                    let at = (group * self.height + r) * self.stride;
                    lane.offer(columns.iter().zip(&values[at..at + self.stride]));
                }
            }
            col_idx.extend_from_slice(&lane.columns[..lane.len]);
            kept.extend_from_slice(&lane.values[..lane.len]);
            lengths.push(lane.len as u32);
        }
    }
}

/// What is kept of one row. Every slot is written behind the kept ones, and counted if it is not +0.0: which slots are pads is
/// hard to guess for a processor, and a branch that is guessed wrong costs more.
#[derive(Default)]
struct Lane<T> {
    len: usize,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Stored> Lane<T> {
    fn start(&mut self, most: usize) {
        self.len = 0;
        if self.columns.len() < most {
            self.columns.resize(most, 0);
            self.values.resize(most, T::from_bits64(0));
        }
    }

    fn offer<'a>(&mut self, slots: impl Iterator<Item = (&'a u32, &'a T)>) {
        for (&col, &value) in slots {
            self.columns[self.len] = col;
            self.values[self.len] = value;
            self.len += usize::from(!value.is_positive_zero());
        }
    }
}

/// As many +0.0. For primitive types `vec!` leaves it to the first write to map a page, which the threads then do side by
/// side; other types are written here, so by all threads as well.
fn zeros<T: Stored>(count: usize) -> Vec<T> {
    let zero = T::from_bits64(0);
    if count < PARALLEL_FROM || matches!(T::PRECISION, Precision::F64 | Precision::F32) {
        return vec![zero; count];
    }
    rayon::iter::repeat_n(zero, count).collect()
}

/// Both, side by side if there is much to do.
pub(super) fn both<A: Send, B: Send>(
    work: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if work < PARALLEL_FROM { (a(), b()) } else { rayon::join(a, b) }
}

/// A slice in consecutive pieces.
fn pieces<X>(mut slice: &mut [X], lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = &mut [X]> {
    lengths.map(move |length| slice.split_off_mut(..length).expect("the lengths add up to the slice"))
}
