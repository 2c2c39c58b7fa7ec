//! What the inner loops take of a sparse matrix: rows of entries, or blocks of tiles, a few at a time.
//!
//! ```text
//! CSR             units are rows           its arrays as they are
//! bitmaps, ..     units are windows        decoded into a buffer when their turn comes, see `window`
//! LOOPS           units are rows, blocks   its arrays as they are
//! ```

use sparse_types::refusal::Refusal;
use std::ops::Range;

/// Consecutive rows: row `r` has entries `ptr[r] - ptr[0]..ptr[r + 1] - ptr[0]`, columns ascending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a, T> {
    /// One more than rows, or empty.
    pub(super) ptr: &'a [u32],
    /// Columns, of these rows only.
    pub(super) cols: &'a [u32],
    /// Values, one a column.
    pub(super) values: &'a [T],
}

impl<'a, T> Rows<'a, T> {
    /// Rows of compressed arrays.
    pub(super) fn of(ptr: &'a [u32], cols: &'a [u32], values: &'a [T], rows: Range<usize>) -> Rows<'a, T> {
        let ptr = &ptr[rows.start..=rows.end];
        let entries = ptr[0] as usize..ptr[ptr.len() - 1] as usize;
        Rows { ptr, cols: &cols[entries.clone()], values: &values[entries] }
    }

    /// Number of rows.
    pub(super) fn count(&self) -> usize {
        self.ptr.len().saturating_sub(1)
    }

    /// The same rows with other values.
    pub(super) fn with<'b, U>(&self, values: &'b [U]) -> Rows<'b, U>
    where
        'a: 'b,
    {
        Rows { ptr: self.ptr, cols: self.cols, values }
    }
}

/// Consecutive blocks of `br` rows: block `b` has tiles `ptr[b] - ptr[0]..ptr[b + 1] - ptr[0]`, columns ascending, each with
/// `br` values.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockTiles<'a, T> {
    /// Rows that the matrix has of these blocks.
    pub(super) rows: usize,
    /// Rows of a block.
    pub(super) br: usize,
    /// One more than blocks.
    pub(super) ptr: &'a [u32],
    /// Column of each tile, of these blocks only.
    pub(super) cols: &'a [u32],
    /// `br` values a tile.
    pub(super) values: &'a [T],
}

/// Buffers of one worker.
#[derive(Debug)]
pub(super) struct Buffers<T> {
    /// Offsets of decoded rows.
    pub(super) ptr: Vec<u32>,
    /// Columns of decoded rows.
    pub(super) cols: Vec<u32>,
    /// Values of decoded rows, as stored.
    pub(super) values: Vec<T>,
}

impl<T> Default for Buffers<T> {
    fn default() -> Self {
        Buffers { ptr: Vec::new(), cols: Vec::new(), values: Vec::new() }
    }
}

impl<T> Buffers<T> {
    /// Without rows.
    pub(super) fn clear(&mut self) {
        self.ptr.clear();
        self.cols.clear();
        self.values.clear();
        self.ptr.push(0);
    }

    /// What was appended since the last call is a row.
    #[inline(always)]
    pub(super) fn end_row(&mut self) {
        self.ptr.push(self.cols.len() as u32);
    }

    /// The decoded rows.
    pub(super) fn rows(&self) -> Rows<'_, T> {
        Rows { ptr: &self.ptr, cols: &self.cols, values: &self.values }
    }
}

/// A matrix that gives its rows in units of one or more.
pub(super) trait RowUnits<T>: Sync {
    /// Number of units.
    fn units(&self) -> usize;
    /// First row of a unit; for the number of units, the number of rows. Ascends.
    fn first_row(&self, unit: usize) -> usize;
    /// Entries stored before a unit, roughly. Ascends; only the balance of threads depends on it.
    fn before(&self, unit: usize) -> usize;
    /// The rows of some units.
    fn read<'s>(&'s self, units: Range<usize>, buffers: &'s mut Buffers<T>) -> Rows<'s, T>;
}

/// A boxed [`RowUnits`], or why there is none.
pub(super) type Boxed<'a, T> = Result<Box<dyn RowUnits<T> + 'a>, Refusal>;
