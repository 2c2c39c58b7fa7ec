//! Dense operands and results as strides over a slice: one view for both layouts, either transposed.
//!
//! ```text
//! row-major, ld:   (i, j) at i * ld + j      column-major: i + j * ld      transposed: i and j exchanged
//! ```

use super::element::{Operand, Output};
use sparse_types::format::Layout;
use sparse_types::refusal::{Refusal, RequestError, check_u32};

/// A dense matrix: element (i, j) is `data[i * row_step + j * col_step]`.
#[derive(Debug)]
pub(crate) struct Strided<D> {
    /// Rows.
    pub(crate) rows: usize,
    /// Columns.
    pub(crate) cols: usize,
    /// Elements from one row to the next.
    pub(crate) row_step: usize,
    /// Elements from one column to the next.
    pub(crate) col_step: usize,
    /// The elements, pads included.
    pub(crate) data: D,
}

/// The names that a refusal about one dense operand uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    /// Of the number of rows.
    pub(crate) rows: &'static str,
    /// Of the number of columns.
    pub(crate) cols: &'static str,
    /// Of the leading dimension.
    pub(crate) ld: &'static str,
    /// Of the elements.
    pub(crate) data: &'static str,
}

impl<D> Strided<D> {
    /// Checks dimensions, leading dimension and length against `len` elements.
    pub(crate) fn try_new(
        names: Names,
        (rows, cols, ld, layout): (usize, usize, usize, Layout),
        len: usize,
        data: D,
    ) -> Result<Strided<D>, Refusal> {
        check_u32(names.rows, rows as u128)?;
        check_u32(names.cols, cols as u128)?;
        let (outer, inner, row_step, col_step) = match layout {
            Layout::RowMajor => (rows, cols, ld, 1),
            Layout::ColMajor => (cols, rows, 1, ld),
        };
        if ld < inner {
            return Err(RequestError::LeadingDimension { field: names.ld, found: ld, minimum: inner }.into());
        }
        let expected = outer as u128 * ld as u128;
        if expected != len as u128 {
            return Err(Refusal::Request(RequestError::Length {
                field: names.data,
                expected: usize::try_from(expected).unwrap_or(usize::MAX),
                found: len,
            }));
        }
        Ok(Strided { rows, cols, row_step, col_step, data })
    }

    /// A vector as a matrix of one column.
    pub(crate) fn column(len: usize, data: D) -> Strided<D> {
        Strided { rows: len, cols: 1, row_step: 1, col_step: 1, data }
    }

    /// The transposed view.
    pub(crate) fn turned(self) -> Strided<D> {
        Strided {
            rows: self.cols,
            cols: self.rows,
            row_step: self.col_step,
            col_step: self.row_step,
            data: self.data,
        }
    }

    fn offset(&self, i: usize, j: usize) -> usize {
        i * self.row_step + j * self.col_step
    }
}

impl<'a, T> Strided<&'a [T]> {
    /// The elements and the distance of two rows, where each row lies in one piece and rows do not overlap.
    #[cfg_attr(
        not(any(target_arch = "aarch64", feature = "cuda")),
        expect(dead_code, reason = "kernels for Arm and for GPUs use it")
    )]
    pub(crate) fn by_rows(&self) -> Option<(&'a [T], usize)> {
        (self.col_step == 1 && self.row_step >= self.cols).then_some((self.data, self.row_step))
    }

    /// Element (i, j) as stored.
    #[cfg_attr(
        not(any(target_arch = "aarch64", feature = "cuda")),
        expect(dead_code, reason = "kernels for Arm and for GPUs use it")
    )]
    pub(crate) fn at(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.data[self.offset(i, j)]
    }

    /// All elements in the unit, compact and row-major, with the input rounding applied.
    pub(crate) fn pack<A>(&self) -> Vec<A>
    where
        T: Operand<A>,
    {
        let mut packed = Vec::with_capacity(self.rows * self.cols);
        for i in 0..self.rows {
            packed.extend((0..self.cols).map(|j| self.data[self.offset(i, j)].load()));
        }
        packed
    }
}

impl<'a, T> Strided<&'a mut [T]> {
    /// The elements and the distance of two rows, where each row lies in one piece and rows do not overlap; else itself.
    #[cfg_attr(
        not(any(target_arch = "aarch64", feature = "cuda")),
        expect(dead_code, reason = "kernels for Arm and for GPUs use it")
    )]
    pub(crate) fn into_rows(self) -> Result<(&'a mut [T], usize), Self> {
        if self.col_step == 1 && self.row_step >= self.cols {
            Ok((self.data, self.row_step))
        } else {
            Err(self)
        }
    }

    /// Replaces element (i, j) by `f` of a reader of what it held.
    pub(crate) fn update<A>(&mut self, i: usize, j: usize, f: impl FnOnce(&dyn Fn() -> A) -> A)
    where
        T: Output<A>,
    {
        let at = self.offset(i, j);
        let element = &mut self.data[at];
        let before = *element;
        *element = T::store(f(&|| before.widen()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names { rows: "rows of B", cols: "columns of B", ld: "ldb", data: "B" };

    #[test]
    fn layouts_and_transposes_read_the_same_matrix() {
        let by_rows = [1.0f32, 2.0, 3.0, f32::NAN, 4.0, 5.0, 6.0, f32::NAN];
        let by_cols = [1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0];
        let rows = Strided::try_new(NAMES, (2, 3, 4, Layout::RowMajor), 8, &by_rows[..]).expect("legal");
        let cols = Strided::try_new(NAMES, (2, 3, 2, Layout::ColMajor), 6, &by_cols[..]).expect("legal");
        let packed: Vec<f32> = rows.pack();
        assert_eq!(packed, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(packed, cols.pack::<f32>());
        assert_eq!(rows.turned().pack::<f32>(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn sizes_are_checked_without_overflow() {
        let refused = |shape, len| Strided::try_new(NAMES, shape, len, ()).map(|_| ()).expect_err("illegal");
        let huge = u32::MAX as usize;
        assert!(matches!(
            refused((2, 3, 2, Layout::RowMajor), 4),
            Refusal::Request(RequestError::LeadingDimension { field: "ldb", .. })
        ));
        assert!(matches!(
            refused((2, 3, 3, Layout::RowMajor), 5),
            Refusal::Request(RequestError::Length { field: "B", expected: 6, .. })
        ));
        assert!(matches!(
            refused((huge, 1, usize::MAX, Layout::RowMajor), 0),
            Refusal::Request(RequestError::Length { .. })
        ));
        assert!(matches!(
            refused((huge + 1, 1, 1, Layout::RowMajor), 0),
            Refusal::Request(RequestError::TooLarge { .. })
        ));
    }
}
