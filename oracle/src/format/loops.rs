//! LOOPS (seeds/000): the first rows as CSR, the others as tiles of `br` x 1.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a Loops matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopsParts<T> {
    /// Number of rows, in elements.
    pub rows: usize,
    /// Number of columns, in elements.
    pub cols: usize,
    /// Rows of the CSR part; the tile part starts here.
    pub boundary: usize,
    /// Rows of a tile.
    pub br: usize,
    /// `boundary + 1` offsets into `col_idx`.
    pub row_ptr: Vec<u32>,
    /// Column of each entry of the CSR part.
    pub col_idx: Vec<u32>,
    /// One value per entry of the CSR part.
    pub csr_values: Vec<T>,
    /// `ceil((rows - boundary) / br) + 1` offsets, in tiles.
    pub block_ptr: Vec<u32>,
    /// Column of each tile.
    pub block_col: Vec<u32>,
    /// `br` values per tile, top to bottom.
    pub values: Vec<T>,
}

fields!(LoopsParts {
    rows: Extent,
    cols: Extent,
    boundary: Extent,
    br: Extent,
    row_ptr: U32,
    col_idx: U32,
    csr_values: Values,
    block_ptr: U32,
    block_col: U32,
    values: Values
});

/// A valid Loops matrix. Reads as its [`LoopsParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Loops<T>(LoopsParts<T>);

impl<T: Scalar> Loops<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: LoopsParts<T>) -> Result<Self, Refusal> {
        let _ = &parts;
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; parameters out of range.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        let _ = (entries, params);
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Decodes.
    pub fn entries(&self) -> Entries<T> {
        Entries {
            rows: self.0.rows,
            cols: self.0.cols,
            list: Vec::new(),
        }
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        0
    }

    /// The parameters that the matrix was encoded with.
    pub fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}

impl<T> Loops<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LoopsParts<T> {
        self.0
    }
}

impl<T> Deref for Loops<T> {
    type Target = LoopsParts<T>;

    fn deref(&self) -> &LoopsParts<T> {
        &self.0
    }
}
