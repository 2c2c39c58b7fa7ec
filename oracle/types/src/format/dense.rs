//! Dense matrices with a leading dimension, row- or column-major.
//!
//! ```text
//! row-major, 2 x 3, ld = 4:   d00 d01 d02  ?  d10 d11 d12  ?      ? = never read, never written
//! ```

use crate::refusal::{Refusal, RequestError, check_u32};

/// Which index runs fastest in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Elements of one row are adjacent.
    #[default]
    RowMajor,
    /// Elements of one column are adjacent.
    ColMajor,
}

/// A dense matrix that owns its elements. `data.len()` is `ld * outer`, `outer` being rows (row-major) or columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<T> {
    rows: usize,
    cols: usize,
    ld: usize,
    layout: Layout,
    data: Vec<T>,
}

impl<T> Dense<T> {
    /// Checks shape, leading dimension (in elements) and length.
    ///
    /// # Errors
    /// A dimension past u32, a leading dimension below the inner extent, or a wrong length.
    pub fn try_new(
        rows: usize,
        cols: usize,
        ld: usize,
        layout: Layout,
        data: Vec<T>,
    ) -> Result<Self, Refusal> {
        check_u32("rows", rows as u128)?;
        check_u32("cols", cols as u128)?;
        let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
        if ld < inner {
            return Err(RequestError::LeadingDimension { field: "ld", found: ld, minimum: inner }.into());
        }
        let expected = outer as u128 * ld as u128;
        if expected != data.len() as u128 {
            let expected = usize::try_from(expected).unwrap_or(usize::MAX);
            return Err(RequestError::Length { field: "data", expected, found: data.len() }.into());
        }
        Ok(Dense { rows, cols, ld, layout, data })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Leading dimension, in elements.
    pub fn ld(&self) -> usize {
        self.ld
    }

    /// Which index runs fastest.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All elements, the padding between rows (columns) included.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All elements, writable.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The elements back.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// Offset of element (i, j) in [`data`](Self::data).
    pub fn offset(&self, i: usize, j: usize) -> usize {
        match self.layout {
            Layout::RowMajor => i * self.ld + j,
            Layout::ColMajor => j * self.ld + i,
        }
    }

    /// The same shape and layout with other values.
    pub fn map<U>(&self, f: impl FnMut(&T) -> U) -> Dense<U> {
        Dense {
            rows: self.rows,
            cols: self.cols,
            ld: self.ld,
            layout: self.layout,
            data: self.data.iter().map(f).collect(),
        }
    }
}

impl<T: Copy> Dense<T> {
    /// Builds a compact row-major matrix (`ld = cols`) from a function of (row, column).
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Dense { rows, cols, ld: cols, layout: Layout::RowMajor, data }
    }

    /// Element (i, j).
    pub fn at(&self, i: usize, j: usize) -> T {
        self.data[self.offset(i, j)]
    }
}
