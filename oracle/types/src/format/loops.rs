//! LOOPS: the first rows as CSR, the others as tiles of `br` x 1.
//!
//! ```text
//! a . b .     boundary 1, br 2            the CSR part: rows 0..boundary
//! -------       row_ptr     0 2
//! . c . d       col_idx     0 2             csr_values  a b
//! . e . .     the tile part: blocks of br rows, counted from boundary
//! -------       block_ptr   0 2 3           (offsets in tiles)
//! f . . .       block_col   1    3    0
//! _ _ _ _       values      c e  d 0  f 0   (br per tile; slot r is row boundary + block * br + r)
//! ```
//!
//! A block has one tile for each column in which it stores an entry, ascending. A slot without an entry is +0.0, so in
//! the tile part an explicit +0.0 cannot be told from a pad (SEMANTICS section 6): encoding one creates its tile,
//! decoding drops it. The CSR part keeps it. Slots below the last row are +0.0; a tile may hold pads only.
//!
//! Source: section 3.2 and Algorithm 1 of the paper, which divides absolute rows by `br`. Where `boundary` is no multiple of
//! `br`, its first block would hold rows of both parts, so blocks are counted from `boundary` here.

use super::BLOCK_AREA_LIMIT;
use super::check::{check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a LOOPS matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopsParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of the CSR part, at most `rows`; the tile part starts here.
    pub boundary: usize,
    /// Rows of a tile, 1 to [`BLOCK_AREA_LIMIT`].
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

/// A valid LOOPS matrix. Reads as its [`LoopsParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Loops<T>(LoopsParts<T>);

impl<T: Scalar> Loops<T> {
    /// Checks the arrays. Rows of refusals about `block_col` count blocks; those of pads are rows of the matrix.
    ///
    /// # Errors
    /// The first defect found: a dimension or the number of slots past u32, `br` 0 or past [`BLOCK_AREA_LIMIT`], a
    /// boundary past the last row, an array length, offsets that do not start at 0, decrease or end elsewhere, columns
    /// out of range or not strictly ascending, a slot below the last row that is not +0.0.
    pub fn try_new(parts: LoopsParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_shape(p.rows, p.cols)?;
        let blocks = check_cut(p.rows, p.boundary, p.br)?;
        let (stored, tiles) = (p.col_idx.len(), p.block_col.len());
        let slots = tiles as u128 * p.br as u128;
        check_u32("slots", stored as u128 + slots)?;
        check_offsets("row_ptr", &p.row_ptr, p.boundary, stored)?;
        check_length("csr_values", stored as u128, p.csr_values.len())?;
        check_offsets("block_ptr", &p.block_ptr, blocks, tiles)?;
        check_length("values", slots, p.values.len())?;
        for row in 0..p.boundary {
            let (start, end) = (p.row_ptr[row] as usize, p.row_ptr[row + 1] as usize);
            check_ascending("col_idx", row, start, &p.col_idx[start..end], p.cols)?;
        }
        for block in 0..blocks {
            let (start, end) = (p.block_ptr[block] as usize, p.block_ptr[block + 1] as usize);
            check_ascending("block_col", block, start, &p.block_col[start..end], p.cols)?;
        }
        check_below(p, blocks)?;
        Ok(Loops(parts))
    }

    /// Number of entries: all of the CSR part, and slots of the tile part that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.csr_values.len() + self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }
}

/// Checks where the matrix is cut, and returns the number of blocks of the tile part.
pub fn check_cut(rows: usize, boundary: usize, br: usize) -> Result<usize, RequestError> {
    if br == 0 {
        return Err(RequestError::Zero { field: "br" });
    }
    for (field, found, limit) in [("br", br, BLOCK_AREA_LIMIT), ("boundary", boundary, rows as u64)] {
        if found as u64 > limit {
            let found = found as u128;
            return Err(RequestError::TooLarge { field, found, limit });
        }
    }
    Ok((rows - boundary).div_ceil(br))
}

/// Checks that the slots of the last block that lie below the last row are +0.0.
fn check_below<T: Scalar>(p: &LoopsParts<T>, blocks: usize) -> Result<(), EncodingError> {
    let Some(last) = blocks.checked_sub(1) else {
        return Ok(());
    };
    let first_row = p.boundary + last * p.br;
    for tile in p.block_ptr[last] as usize..p.block_ptr[blocks] as usize {
        for r in p.rows - first_row..p.br {
            let at = tile * p.br + r;
            if !p.values[at].is_positive_zero() {
                return Err(EncodingError::DirtyPad { field: "values", at, row: first_row + r });
            }
        }
    }
    Ok(())
}

impl<T> Loops<T> {
    /// The arrays back.
    pub fn into_parts(self) -> LoopsParts<T> {
        self.0
    }

    /// Number of blocks of the tile part.
    pub fn blocks(&self) -> usize {
        self.0.block_ptr.len() - 1
    }

    /// The `br` slots of a tile, top to bottom.
    pub fn tile(&self, tile: usize) -> &[T] {
        &self.0.values[tile * self.0.br..(tile + 1) * self.0.br]
    }
}

impl<T> Deref for Loops<T> {
    type Target = LoopsParts<T>;

    fn deref(&self) -> &LoopsParts<T> {
        &self.0
    }
}
