//! The vectors of a window, by column.
//!
//! ```text
//! row 0  1 4          (1, 01) (4, 01)   \
//! row 1  1 2          (1, 10) (2, 10)   /  (1, 11) (2, 10) (4, 01)      column, one bit per row
//! ```
//!
//! Where the columns lie close together, each has a byte, and the bytes are read in order; elsewhere the rows are merged
//! pairwise, three times.

/// Rows of a window.
pub(in crate::portable::convert) const WINDOW: usize = 8;

/// One vector: its column above, one bit per row in the lowest 8 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::portable::convert) struct ColumnVector(u64);

impl ColumnVector {
    fn single(col: u32, r: usize) -> ColumnVector {
        ColumnVector(u64::from(col) << WINDOW | 1 << r)
    }

    /// Its column.
    pub(in crate::portable::convert) fn col(self) -> u32 {
        (self.0 >> WINDOW) as u32
    }

    /// Number of entries.
    pub(in crate::portable::convert) fn nnz(self) -> u32 {
        (self.0 as u8).count_ones()
    }

    /// Rows of its entries, ascending.
    pub(in crate::portable::convert) fn rows(self) -> impl Iterator<Item = usize> {
        let mut left = self.0 as u8;
        std::iter::from_fn(move || {
            let r = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (r < WINDOW).then_some(r)
        })
    }
}

/// Columns per entry up to which a byte for each is cheaper than merging.
const CLOSE: usize = 16;

/// Space to merge in, kept from window to window.
#[derive(Debug, Default)]
pub(in crate::portable::convert) struct Merger {
    from: Vec<ColumnVector>,
    to: Vec<ColumnVector>,
    /// Rows of each column, one bit each; all 0 between windows.
    masks: Vec<u8>,
}

impl Merger {
    /// The vectors of a window, ascending; `ends` are the row pointers of its rows and the one behind them.
    pub(in crate::portable::convert) fn vectors(&mut self, ends: &[u32], col_idx: &[u32]) -> &[ColumnVector] {
        let lanes = ends.windows(2).map(|e| &col_idx[e[0] as usize..e[1] as usize]);
        let first = lanes.clone().filter_map(|lane| lane.first()).min();
        let last = lanes.clone().filter_map(|lane| lane.last()).max();
        let (Some(&first), Some(&last)) = (first, last) else {
            return &[];
        };
        let nnz = (ends[ends.len() - 1] - ends[0]) as usize;
        if ((last - first) as usize) < CLOSE * nnz {
            self.read_masks(lanes, first, last)
        } else {
            self.merge_rows(ends, col_idx)
        }
    }

    /// The vectors between two columns, by a byte for each.
    fn read_masks<'a>(
        &mut self,
        lanes: impl Iterator<Item = &'a [u32]>,
        first: u32,
        last: u32,
    ) -> &[ColumnVector] {
        // In whole words, so that empty stretches are skipped.
        let span = ((last - first) as usize + 1).next_multiple_of(8);
        if self.masks.len() < span {
            self.masks.resize(span, 0);
        }
        let masks = &mut self.masks[..span];
        for (r, lane) in lanes.enumerate() {
            for &col in lane {
                masks[(col - first) as usize] |= 1 << r;
            }
        }
        self.from.clear();
        for (word, bytes) in masks.chunks_exact_mut(8).enumerate() {
            let Ok(eight) = <[u8; 8]>::try_from(&*bytes) else {
                continue;
            };
            let mut left = u64::from_le_bytes(eight);
            while left != 0 {
                let byte = left.trailing_zeros() as usize / 8;
                let mask = u64::from(eight[byte]);
                left ^= mask << (8 * byte);
                let col = u64::from(first) + (8 * word + byte) as u64;
                self.from.push(ColumnVector(col << WINDOW | mask));
            }
            bytes.fill(0);
        }
        &self.from
    }

    fn merge_rows(&mut self, ends: &[u32], col_idx: &[u32]) -> &[ColumnVector] {
        self.from.clear();
        // Start and length of each run; rows that the matrix does not have are empty runs.
        let mut runs = [(0, 0); WINDOW];
        for (r, run) in runs.iter_mut().enumerate() {
            run.0 = self.from.len();
            if let Some(lane) = ends.get(r..r + 2) {
                let columns = &col_idx[lane[0] as usize..lane[1] as usize];
                self.from.extend(columns.iter().map(|&col| ColumnVector::single(col, r)));
                run.1 = columns.len();
            }
        }
        self.to.resize(self.from.len(), ColumnVector::default());
        for step in [1, 2, 4] {
            for first in (0..WINDOW).step_by(2 * step) {
                let ((a, na), (b, nb)) = (runs[first], runs[first + step]);
                let (x, y) = (&self.from[a..a + na], &self.from[b..b + nb]);
                runs[first].1 = merge(x, y, &mut self.to[a..b + nb]);
            }
            std::mem::swap(&mut self.from, &mut self.to);
        }
        &self.from[..runs[0].1]
    }
}

/// Merges two ascending runs, one vector per column; returns how many.
fn merge(x: &[ColumnVector], y: &[ColumnVector], out: &mut [ColumnVector]) -> usize {
    let (mut i, mut j, mut k) = (0, 0, 0);
    while i < x.len() && j < y.len() {
        let (a, b) = (x[i].0, y[j].0);
        let (left, right) = (a >> WINDOW <= b >> WINDOW, b >> WINDOW <= a >> WINDOW);
        // No branch: which side is next is hard to predict.
        out[k].0 = a & u64::from(left).wrapping_neg() | b & u64::from(right).wrapping_neg();
        i += usize::from(left);
        j += usize::from(right);
        k += 1;
    }
    for rest in [&x[i..], &y[j..]] {
        out[k..k + rest.len()].copy_from_slice(rest);
        k += rest.len();
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(vectors: &[ColumnVector]) -> Vec<(u32, Vec<usize>)> {
        vectors.iter().map(|v| (v.col(), v.rows().collect())).collect()
    }

    #[test]
    fn rows_merge_into_vectors() {
        let mut merger = Merger::default();
        let col_idx = [1, 4, 1, 2, u32::MAX - 1, 4];
        let found = flat(merger.vectors(&[0, 2, 5, 5, 6], &col_idx));
        let expected = [(1, vec![0, 1]), (2, vec![1]), (4, vec![0, 3]), (u32::MAX - 1, vec![1])];
        assert_eq!(found, expected);
        // Nothing of one window is left in the next.
        assert_eq!(flat(merger.vectors(&[2, 3], &col_idx)), [(1, vec![0])]);
        assert_eq!(merger.vectors(&[6, 6, 6], &col_idx), []);
        assert_eq!(merger.vectors(&[0, 2], &col_idx)[1].nnz(), 1);
    }

    #[test]
    fn close_and_distant_columns_give_the_same_vectors() {
        // 3 apart and 300 apart, a gap of whole words, both ends of the range of columns.
        for step in [1, 3, 40, 300, 50_000_000] {
            let col_idx: Vec<u32> = (0..40).map(|i| (7 + i % 10 * step) % (u32::MAX - 1)).collect();
            let ends = [0, 10, 20, 20, 30, 40];
            let mut merger = Merger::default();
            let merged = flat(merger.merge_rows(&ends, &col_idx));
            for _ in 0..2 {
                assert_eq!(flat(merger.vectors(&ends, &col_idx)), merged, "{step}");
            }
            assert!(merger.masks.iter().all(|&mask| mask == 0));
        }
    }

    #[test]
    fn a_full_vector_has_eight_rows() {
        let ends: Vec<u32> = (0..=8).collect();
        let mut merger = Merger::default();
        let found = merger.vectors(&ends, &[7; 8]);
        assert_eq!(flat(found), [(7, (0..8).collect::<Vec<_>>())]);
        assert_eq!(found[0].nnz(), 8);
    }
}
