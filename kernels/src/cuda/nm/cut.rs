//! How the rows of an N:M matrix are cut into slices, and which rows of B a block of columns needs for each (NM-SpMM, listing 3:
//! `col_info` and the re-indexed D).
//!
//! ```text
//! n = 2, m = 4, l = 2: two groups in a block, slices of one window (span = 2 rows of W)
//!
//!   D     0 1      slice 0 names rows {0, 3} and {1, 3} of B       listed  0 1 3        d   group 0: 0 2    group 1: 1 2
//!         3 3                                                      whole   0 1 2 3      d   group 0: 0 3    group 1: 1 3
//!         ---
//!         0 0      slice 1 ...
//! ```
//!
//! d counts bytes of the slice of B in shared memory, [block][slice][group][row of W]. What does not exist (a row of W past the
//! end or past the span, a group past the last, a row of B past k) names the row behind the slice, number `cap`. For the matrix
//! unit the bits below the size of a row say which chunks of the row are exchanged (`SlicedMatrix::exchanged`).
//!
//! On the device a slice of W is followed by its part of d, as in shared memory: one run of 16-byte copies brings both.

use crate::cuda::buffer::GpuBuffer;
use crate::cuda::gpu::Gpu;
use sparse_types::format::NmParts;
use sparse_types::refusal::Refusal;
use std::collections::BTreeSet;

/// Tile sizes of an N:M kernel: how W is cut into blocks of columns and slices of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocking {
    /// Columns of a block.
    pub(super) tn: usize,
    /// Rows of W in a slice.
    pub(super) span: usize,
    /// Rows of W in a slice with its pads.
    pub(super) ws: usize,
    /// Bytes of one row of B in shared memory.
    pub(super) row_bytes: usize,
    /// True if each slice lists the rows of B that its block needs. Else it loads every row of B of its windows, which are whole.
    pub(super) packed: bool,
}

/// Number of blocks, slices and groups of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Slices of W.
    pub(super) slices: usize,
    /// Blocks of columns.
    pub(super) blocks: usize,
    /// Groups that a block may touch.
    pub(super) groups: usize,
    /// Rows of B in a slice, at most.
    pub(super) cap: usize,
    /// Rows of B from one slice to the next; 0 where they are listed.
    pub(super) ks: usize,
}

/// A matrix cut into slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlicedMatrix {
    /// How many.
    pub(super) sizes: Sizes,
    /// Bytes, [block][slice][group][ws].
    d: Vec<u32>,
    /// Rows of B, [block][slice][cap], -1 behind the last; empty where all are there.
    rows: Vec<i32>,
}

/// A cut matrix on the device.
#[derive(Debug)]
pub(super) struct Slices {
    /// How many.
    pub(super) sizes: Sizes,
    /// [block][slice]: words of W, then groups * ws of d.
    pub(super) w: GpuBuffer<u32>,
    /// Rows of B, [block][slice][cap]; nothing where all are there.
    pub(super) rows: GpuBuffer<i32>,
}

impl SlicedMatrix {
    /// d with `low` of the row in the bits below the size of a row, `row_bytes`.
    pub(super) fn exchanged(mut self, low: impl Fn(u32) -> u32, row_bytes: usize) -> SlicedMatrix {
        for d in &mut self.d {
            *d |= low(*d / row_bytes as u32);
        }
        self
    }

    /// Uploads the slices; `words` appends those of W of a block and a slice, as many for each.
    pub(super) fn upload(
        &self,
        gpu: &Gpu,
        words: impl Fn((usize, usize), &mut Vec<u32>),
    ) -> Result<Slices, Refusal> {
        Ok(Slices { sizes: self.sizes, w: gpu.upload(&self.words(words))?, rows: gpu.upload(&self.rows)? })
    }

    fn words(&self, words: impl Fn((usize, usize), &mut Vec<u32>)) -> Vec<u32> {
        let Sizes { blocks, slices, .. } = self.sizes;
        let each = self.d.len() / (blocks * slices).max(1);
        let mut w = Vec::new();
        let places = (0..blocks).flat_map(|block| (0..slices).map(move |slice| (block, slice)));
        for (at, place) in places.enumerate() {
            words(place, &mut w);
            w.extend_from_slice(&self.d[at * each..][..each]);
        }
        w
    }
}

/// Rows of B'.
pub(super) fn height<T>(m: &NmParts<T>) -> usize {
    m.rows.div_ceil(m.m) * m.n
}

/// The row of B that row `u` of W meets in a group, if there is one.
pub(super) fn met<T>(m: &NmParts<T>, u: usize, group: usize) -> Option<usize> {
    let groups = m.cols.div_ceil(m.l);
    let at = (u < height(m) && group < groups).then(|| u * groups + group)?;
    let row = u / m.n * m.m + m.index[at] as usize;
    (row < m.rows).then_some(row)
}

impl Blocking {
    /// Cuts the matrix.
    pub(super) fn cut<T>(self, m: &NmParts<T>) -> SlicedMatrix {
        let slices = height(m).div_ceil(self.span);
        let blocks = m.cols.div_ceil(self.tn);
        let touched = |block: usize| ((block + 1) * self.tn - 1) / m.l - block * self.tn / m.l + 1;
        let groups = (0..blocks).map(touched).max().unwrap_or(1);
        let ks = if self.packed { 0 } else { self.span / m.n * m.m };
        let sizes = Sizes { slices, blocks, groups, cap: ks, ks };
        let mut cut = SlicedMatrix { sizes, ..SlicedMatrix::default() };
        let lists = self.packed.then(|| self.lists(m, &mut cut));
        let cap = cut.sizes.cap;
        let mut place = vec![0u32; m.rows];
        cut.d.reserve(blocks * slices * groups * self.ws);
        for block in 0..blocks {
            for slice in 0..slices {
                if let Some(lists) = &lists {
                    for (at, &row) in (0..).zip(&lists[block * slices + slice]) {
                        place[row as usize] = at;
                    }
                }
                for group in (0..groups).map(|x| block * self.tn / m.l + x) {
                    for r in 0..self.ws {
                        let row = (r < self.span).then(|| met(m, slice * self.span + r, group)).flatten();
                        // A group that begins behind the block is not listed with it.
                        let row = row.filter(|_| group * m.l < (block + 1) * self.tn);
                        let at = row.map_or(cap, |row| match &lists {
                            Some(_) => place[row] as usize,
                            None => row - slice * ks,
                        });
                        cut.d.push((at * self.row_bytes) as u32);
                    }
                }
            }
        }
        cut
    }

    /// The rows of B that a block names in a slice, ascending.
    pub(super) fn named<T>(self, m: &NmParts<T>, (block, slice): (usize, usize)) -> Vec<u32> {
        let (first, last) = (block * self.tn / m.l, ((block + 1) * self.tn - 1) / m.l);
        let of = |group| (0..self.span).filter_map(move |r| met(m, slice * self.span + r, group));
        let rows: BTreeSet<usize> = (first..=last).flat_map(of).collect();
        rows.into_iter().map(|row| row as u32).collect()
    }

    /// The rows of B of every block and slice.
    fn lists<T>(self, m: &NmParts<T>, cut: &mut SlicedMatrix) -> Vec<Vec<u32>> {
        let Sizes { blocks, slices, .. } = cut.sizes;
        let mut lists = Vec::with_capacity(blocks * slices);
        for block in 0..blocks {
            lists.extend((0..slices).map(|slice| self.named(m, (block, slice))));
        }
        let cap = lists.iter().map(Vec::len).max().unwrap_or(0);
        cut.sizes.cap = cap;
        cut.rows = Vec::with_capacity(lists.len() * cap);
        for list in &lists {
            cut.rows.extend(list.iter().map(|&row| row as i32));
            cut.rows.resize(cut.rows.len() + cap - list.len(), -1);
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture above, with a second window of which rows 4 and 5 exist.
    fn small() -> NmParts<f32> {
        NmParts {
            rows: 6,
            cols: 4,
            n: 2,
            m: 4,
            l: 2,
            index: vec![0, 1, 3, 3, 0, 1, 1, 2],
            values: vec![0.0; 16],
        }
    }

    fn blocking(packed: bool) -> Blocking {
        Blocking { tn: 4, span: 2, ws: 4, row_bytes: 1, packed }
    }

    #[test]
    fn a_whole_slice_is_indexed_by_row() {
        let cut = blocking(false).cut(&small());
        let sizes = Sizes { slices: 2, blocks: 1, groups: 2, cap: 4, ks: 4 };
        assert_eq!(cut.sizes, sizes);
        // Two rows of W and two pads a group; row 6 of B does not exist.
        assert_eq!(cut.d, [0, 3, 4, 4, 1, 3, 4, 4, 0, 1, 4, 4, 1, 4, 4, 4]);
        assert!(cut.rows.is_empty());
    }

    #[test]
    fn a_packed_slice_is_indexed_by_place_in_its_list() {
        let cut = blocking(true).cut(&small());
        assert_eq!((cut.sizes.cap, cut.sizes.ks), (3, 0));
        assert_eq!(cut.rows, [0, 1, 3, 4, 5, -1]);
        assert_eq!(cut.d, [0, 2, 3, 3, 1, 2, 3, 3, 0, 1, 3, 3, 1, 3, 3, 3]);
    }

    #[test]
    fn a_slice_is_followed_by_its_part_of_d() {
        let cut = blocking(true).cut(&small());
        let words = cut.words(|(block, slice), to| to.push((100 * (block + 1) + slice) as u32));
        assert_eq!(words[..9], [100, 0, 2, 3, 3, 1, 2, 3, 3]);
        assert_eq!(words[9..], [101, 0, 1, 3, 3, 1, 3, 3, 3]);
    }

    #[test]
    fn every_row_that_is_met_is_in_its_slice() {
        let m = NmParts {
            rows: 37,
            cols: 50,
            n: 3,
            m: 8,
            l: 8,
            index: (0..15 * 7).map(|at| (at / 7 % 3 * 2 + at % 3) as u32).collect(),
            values: vec![0.0f32; 15 * 56],
        };
        for (packed, span, ws, tn) in
            [(true, 3, 4, 32), (false, 6, 8, 32), (true, 4, 4, 16), (true, 7, 8, 24)]
        {
            let blocking = Blocking { tn, span, ws, row_bytes: 16, packed };
            let cut = blocking.cut(&m);
            let sizes = cut.sizes;
            for block in 0..sizes.blocks {
                for (slice, r, x) in (0..sizes.slices)
                    .flat_map(|s| (0..ws).flat_map(move |r| (0..sizes.groups).map(move |x| (s, r, x))))
                {
                    let group = block * tn / m.l + x;
                    let d = cut.d[((block * sizes.slices + slice) * sizes.groups + x) * ws + r] as usize / 16;
                    let inside = r < span && group * m.l < (block + 1) * tn;
                    match inside.then(|| met(&m, slice * span + r, group)).flatten() {
                        None => assert_eq!(d, sizes.cap),
                        Some(row) if packed => {
                            assert_eq!(cut.rows[(block * sizes.slices + slice) * sizes.cap + d], row as i32);
                        }
                        Some(row) => assert_eq!(slice * sizes.ks + d, row),
                    }
                }
            }
        }
    }
}
