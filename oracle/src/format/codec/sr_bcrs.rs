//! Encoder and decoder of SR-BCRS; the layout is that of [`SrBcrsParts`](crate::format::SrBcrsParts).

use super::tiles::{distinct_blocks, filled, windows};
use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, PAD, SrBcrs, SrBcrsParts, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use sparse_types::format::sr_bcrs::check_group;

impl<T: Scalar> Codec<T> for SrBcrs<T> {
    /// Encodes sorted entries: a vector for every column of a window that holds an entry, an explicit +0.0 included, and
    /// as few pads as the groups need.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `v` or `stride` 0, their product past [`BLOCK_AREA_LIMIT`](crate::format::BLOCK_AREA_LIMIT); more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) offsets or slots.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (v, stride) = (params.v as usize, params.stride as usize);
        check_group(v, stride)?;
        let windows = entries.rows.div_ceil(v);
        let mut window_ptr = vec![0u32; check_slots("window_ptr", windows as u128 + 1)?];
        // (window, column) of every vector but the pads, in stored order.
        let vector_of = |e: &Entry<T>| (e.row as usize / v, e.col);
        let mut vectors: Vec<(usize, u32)> = entries.list.iter().map(vector_of).collect();
        vectors.sort_unstable();
        vectors.dedup();
        let in_window = || vectors.chunk_by(|a, b| a.0 == b.0);
        let padded: usize = in_window().map(|w| w.len().next_multiple_of(stride)).sum();
        let slots = check_slots("slots", padded as u128 * v as u128)?;
        let mut vector_col = Vec::with_capacity(padded);
        let mut values = vec![T::from_bits64(0); slots];
        for window in in_window() {
            let first = vector_col.len();
            vector_col.extend(window.iter().map(|&(_, col)| col));
            vector_col.resize(vector_col.len().next_multiple_of(stride), PAD);
            window_ptr[window[0].0 + 1] = (vector_col.len() - first) as u32;
        }
        for i in 0..windows {
            window_ptr[i + 1] += window_ptr[i];
        }
        for e in &entries.list {
            let (window, r) = (e.row as usize / v, e.row as usize % v);
            let (start, end) = (window_ptr[window] as usize, window_ptr[window + 1] as usize);
            let vector = start + vector_col[start..end].partition_point(|&col| col < e.col);
            let (group, lane) = (vector / stride, vector % stride);
            values[group * v * stride + r * stride + lane] = e.value;
        }
        SrBcrs::try_new(SrBcrsParts {
            rows: entries.rows,
            cols: entries.cols,
            v,
            stride,
            window_ptr,
            vector_col,
            values,
        })
    }

    /// Decodes: every slot that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for (window, ends) in p.window_ptr.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
            let first_row = window * p.v;
            for r in 0..p.v.min(p.rows - first_row) {
                for vector in ends[0] as usize..ends[1] as usize {
                    let value = p.values[p.slot(vector, r)];
                    if !value.is_positive_zero() {
                        let (row, col) = ((first_row + r) as u32, p.vector_col[vector]);
                        list.push(Entry { row, col, value });
                    }
                }
            }
        }
        Entries { rows: p.rows, cols: p.cols, list }
    }

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        // The constructor has checked that both fit.
        FormatParams { v: self.v as u32, stride: self.stride as u32, ..FormatParams::default() }
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (self.v, 1),
            count: self.vector_col.iter().filter(|&&col| col != PAD).count(),
            windows: filled(&self.window_ptr),
            entries: self.nnz(),
            is_hybrid: false,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        windows(&self.window_ptr, self.v, 0, |vector| vec![self.vector_col[vector]]).slots(self.rows)
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let windows = (entries.rows as u128).div_ceil(u128::from(params.v.max(1)));
        distinct_blocks(entries, params.v, 1).len() as u128 * u128::from(params.v)
            + windows * u128::from(params.stride)
    }
}
