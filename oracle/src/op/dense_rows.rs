//! The rows of a dense matrix where they lie, or in memory of their own.
//!
//! ```text
//! d00 d01 d02  ?  ?  d10 d11 d12      2 x 3, 5 elements from row to row      ? = never read, and none behind the last row
//! ```

use crate::exact::Lane;
use crate::format::{Dense, Layout};
use std::borrow::Cow;

/// A dense matrix in rows, which is read where somebody else has it, or owns its elements.
#[derive(Clone, Debug)]
pub struct DenseRows<'b, L: Clone> {
    rows: usize,
    cols: usize,
    /// Elements from row to row.
    ld: usize,
    data: Cow<'b, [L]>,
}

impl<'b, L: Lane> DenseRows<'b, L> {
    /// Rows of `cols` elements, `ld` from one to the next; `None` where `data` does not hold them all, or an index can't count them.
    pub(crate) fn borrowed(
        (rows, cols, ld): (usize, usize, usize),
        data: &'b [L],
    ) -> Option<DenseRows<'b, L>> {
        let needed = rows.checked_sub(1).map_or(0, |before| before as u128 * ld as u128 + cols as u128);
        let counted = [rows, cols].into_iter().all(|extent| u32::try_from(extent).is_ok());
        let fits = counted && cols <= ld && needed <= data.len() as u128;
        fits.then_some(DenseRows { rows, cols, ld, data: Cow::Borrowed(data) })
    }

    /// Rows without gaps.
    pub(super) fn compact(rows: usize, cols: usize, data: Vec<L>) -> DenseRows<'static, L> {
        DenseRows { rows, cols, ld: cols, data: Cow::Owned(data) }
    }

    /// The same rows, read where they are.
    pub(super) fn by_reference(&self) -> DenseRows<'_, L> {
        DenseRows { data: Cow::Borrowed(&self.data), ..*self }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    #[must_use]
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[L] {
        &self.data[i * self.ld..][..self.cols]
    }

    /// Element (i, j).
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> L {
        self.row(i)[j]
    }

    /// All elements, row by row.
    pub fn elements(&self) -> impl Iterator<Item = L> {
        (0..self.rows).flat_map(|i| self.row(i).iter().copied())
    }
}

/// Takes the elements of a row-major matrix over, and copies those of a column-major one into rows.
impl<L: Lane> From<Dense<L>> for DenseRows<'_, L> {
    fn from(dense: Dense<L>) -> Self {
        let (rows, cols) = (dense.rows(), dense.cols());
        let in_rows = match dense.layout() {
            Layout::RowMajor => dense,
            Layout::ColMajor => Dense::from_fn(rows, cols, |i, j| dense.at(i, j)),
        };
        DenseRows { rows, cols, ld: in_rows.ld(), data: Cow::Owned(in_rows.into_data()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_where_they_lie_and_gaps_are_not() {
        let data = [1.0, 2.0, f64::NAN, 3.0, 4.0];
        let rows = |extents| DenseRows::borrowed(extents, &data);
        let two = rows((2, 2, 3)).expect("five elements are enough");
        assert_eq!(two.elements().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!((two.row(1), two.at(1, 0)), (&[3.0, 4.0][..], 3.0));
        assert!(std::ptr::eq(two.row(0).as_ptr(), data.as_ptr()), "nothing is copied");
        assert!(std::ptr::eq(two.by_reference().row(0).as_ptr(), data.as_ptr()));
        assert!(rows((2, 3, 3)).is_none() && rows((3, 1, 3)).is_none(), "one element too few");
        assert!(rows((1, 4, 3)).is_none(), "rows do not overlap");
        assert_eq!(rows((0, 9, 9)).expect("no rows").elements().count(), 0);
        assert_eq!(rows((2, 0, 5)).expect("no columns").elements().count(), 0);
        assert!(rows((1 << 33, 0, 0)).is_none(), "no index counts them");
    }

    #[test]
    fn columns_become_rows() {
        let stored = vec![1.0f32, 2.0, 0.0, 3.0, 4.0, 0.0];
        let dense = Dense::try_new(2, 2, 3, Layout::ColMajor, stored).expect("legal");
        let rows = DenseRows::from(dense);
        assert_eq!(rows.elements().collect::<Vec<_>>(), [1.0, 3.0, 2.0, 4.0]);
    }
}
