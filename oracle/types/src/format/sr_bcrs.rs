//! SR-BCRS: `v` x 1 vectors, each window padded to a multiple of `stride` vectors.
//!
//! ```text
//! a . b c     v 2, stride 2: windows of 2 rows, groups of 2 vectors
//! d . . .       window_ptr  0 4 6               (offsets in vectors, pads included)
//! -------       vector_col  0 2  3 P  1 P       P = PAD = u32::MAX, only after the real ones
//! . e . .       values      a b  c 0  e 0       row 0 of each group,
//! _ _ _ _                   d 0  0 0  0 0       then its row 1: v rows of `stride` values per group
//! ```
//!
//! A window is `v` rows at a multiple of `v`; it has one vector for each column in which it stores an entry, ascending.
//! Groups are laid out row by row, so that a kernel loads `stride` columns of one row at once. A slot without an
//! entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 6): encoding one creates its vector,
//! decoding drops it. Vectors of pads are marked by their column, all +0.0, and may fill whole groups; encoding writes
//! fewer than `stride` of them per window. Slots below the last row are +0.0; a real vector may hold pads only.
//!
//! Source: the format of Magicube (Li, Osawa and Hoefler, SC 2022), which LOOPS is compared with.

use super::check::{check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use super::{BLOCK_AREA_LIMIT, PAD};
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of an SR-BCRS matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SrBcrsParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Rows of a vector.
    pub v: usize,
    /// Vectors per group; `v * stride` is at most [`BLOCK_AREA_LIMIT`].
    pub stride: usize,
    /// `ceil(rows / v) + 1` offsets, in vectors, pads included: multiples of `stride`.
    pub window_ptr: Vec<u32>,
    /// Column of each vector, [`PAD`] for padding vectors.
    pub vector_col: Vec<u32>,
    /// `v * stride` values per group, row-major inside it.
    pub values: Vec<T>,
}

fields!(SrBcrsParts {
    rows: Extent,
    cols: Extent,
    v: Extent,
    stride: Extent,
    window_ptr: U32,
    vector_col: U32,
    values: Values
});

/// A valid SR-BCRS matrix. Reads as its [`SrBcrsParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct SrBcrs<T>(SrBcrsParts<T>);

impl<T: Scalar> SrBcrs<T> {
    /// Checks the arrays. Rows of refusals about `vector_col` count windows; those of pads in `values` are rows of the
    /// matrix.
    ///
    /// # Errors
    /// The first defect found: a dimension or the number of slots past u32, `v` or `stride` 0, their product past
    /// [`BLOCK_AREA_LIMIT`], an array length, offsets that do not start at 0, decrease, end elsewhere or cut a group,
    /// columns out of range or not strictly ascending, a column after a pad, a slot of a pad or below the last row
    /// that is not +0.0.
    pub fn try_new(parts: SrBcrsParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_shape(p.rows, p.cols)?;
        check_group(p.v, p.stride)?;
        let (windows, vectors) = (p.rows.div_ceil(p.v), p.vector_col.len());
        let slots = vectors as u128 * p.v as u128;
        check_u32("slots", slots)?;
        check_offsets("window_ptr", &p.window_ptr, windows, vectors)?;
        check_length("values", slots, p.values.len())?;
        for window in 0..windows {
            check_window(p, window)?;
        }
        Ok(SrBcrs(parts))
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }
}

impl<T> SrBcrsParts<T> {
    /// Offset in `values` of row `r` of a vector.
    pub fn slot(&self, vector: usize, r: usize) -> usize {
        (vector / self.stride * self.v + r) * self.stride + vector % self.stride
    }
}

/// Checks the shape of a group.
pub fn check_group(v: usize, stride: usize) -> Result<(), RequestError> {
    for (field, extent) in [("v", v), ("stride", stride)] {
        if extent == 0 {
            return Err(RequestError::Zero { field });
        }
    }
    let found = v as u128 * stride as u128;
    if found > u128::from(BLOCK_AREA_LIMIT) {
        return Err(RequestError::TooLarge { field: "v * stride", found, limit: BLOCK_AREA_LIMIT });
    }
    Ok(())
}

/// Checks where a window ends, its columns, and that every slot without a position is +0.0.
fn check_window<T: Scalar>(p: &SrBcrsParts<T>, window: usize) -> Result<(), EncodingError> {
    let (start, end) = (p.window_ptr[window], p.window_ptr[window + 1]);
    let whole = u64::from(end).next_multiple_of(p.stride as u64);
    if u64::from(end) != whole {
        return Err(EncodingError::Unequal {
            field: "window_ptr",
            at: window + 1,
            expected: whole,
            found: u64::from(end),
        });
    }
    let (start, end) = (start as usize, end as usize);
    let columns = &p.vector_col[start..end];
    let real = columns.iter().position(|&c| c == PAD).unwrap_or(columns.len());
    check_ascending("vector_col", window, start, &columns[..real], p.cols)?;
    if let Some(i) = columns[real..].iter().position(|&c| c != PAD) {
        return Err(EncodingError::DirtyPad { field: "vector_col", at: start + real + i, row: window });
    }
    let first_row = window * p.v;
    for vector in start..end {
        let inside = if vector < start + real { p.rows - first_row } else { 0 };
        for r in inside..p.v {
            let at = p.slot(vector, r);
            if !p.values[at].is_positive_zero() {
                return Err(EncodingError::DirtyPad { field: "values", at, row: first_row + r });
            }
        }
    }
    Ok(())
}

impl<T> SrBcrs<T> {
    /// The arrays back.
    pub fn into_parts(self) -> SrBcrsParts<T> {
        self.0
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.0.window_ptr.len() - 1
    }

    /// The `v * stride` slots of a group, row by row.
    pub fn group(&self, group: usize) -> &[T] {
        let area = self.0.v * self.0.stride;
        &self.0.values[group * area..(group + 1) * area]
    }
}

impl<T> Deref for SrBcrs<T> {
    type Target = SrBcrsParts<T>;

    fn deref(&self) -> &SrBcrsParts<T> {
        &self.0
    }
}
