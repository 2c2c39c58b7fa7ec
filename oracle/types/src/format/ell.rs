//! ELL: the same number of slots for every row.
//!
//! ```text
//! . a . b      width 2    col_idx  1 3   P P   0 P      P = PAD = u32::MAX, only after the real ones
//! . . . .                 values   a b   0 0   c 0      a pad's value is +0.0, bit for bit
//! c . . .
//! ```
//!
//! Slots are row-major. Pads are known by their column, so explicit zeros are kept. Columns are strictly ascending
//! among the real slots of a row.

use super::PAD;
use super::check::{check_ascending, check_length, check_shape};
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of an ELL matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EllParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Slots per row; may exceed the longest row, and `cols`.
    pub width: usize,
    /// `rows * width` columns: slot `s` of row `i` is element `i * width + s`; [`PAD`] marks an unused slot.
    pub col_idx: Vec<u32>,
    /// `rows * width` values; +0.0 in an unused slot.
    pub values: Vec<T>,
}

super::fields::fields!(EllParts { rows: Extent, cols: Extent, width: Extent, col_idx: U32, values: Values });

/// A valid ELL matrix. Reads as its [`EllParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Ell<T>(EllParts<T>);

impl<T: Scalar> Ell<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found: a dimension, the width or the number of slots past u32, an array length, a column
    /// out of range, columns that are not strictly ascending, a column after a pad, a pad whose value is not +0.0.
    pub fn try_new(parts: EllParts<T>) -> Result<Self, Refusal> {
        let EllParts { rows, cols, width, col_idx, values } = &parts;
        check_shape(*rows, *cols)?;
        check_u32("width", *width as u128)?;
        let slots = *rows as u128 * *width as u128;
        check_u32("slots", slots)?;
        check_length("col_idx", slots, col_idx.len())?;
        check_length("values", slots, values.len())?;
        // No slots, nothing more to check (and `chunks` of 0 elements do not exist).
        for (row, lane) in col_idx.chunks(1.max(*width)).enumerate() {
            let start = row * width;
            let real = lane.iter().position(|&c| c == PAD).unwrap_or(*width);
            check_ascending("col_idx", row, start, &lane[..real], *cols)?;
            for at in start + real..start + width {
                let dirty = if col_idx[at] != PAD {
                    "col_idx"
                } else if !values[at].is_positive_zero() {
                    "values"
                } else {
                    continue;
                };
                return Err(EncodingError::DirtyPad { field: dirty, at, row }.into());
            }
        }
        Ok(Ell(parts))
    }

    /// The same pattern with other values; pads stay pads.
    pub fn map<U: Scalar>(&self, mut f: impl FnMut(&T) -> U) -> Ell<U> {
        let slots = self.0.col_idx.iter().zip(&self.0.values);
        let values = slots.map(|(&col, value)| if col == PAD { U::from_bits64(0) } else { f(value) });
        Ell(EllParts {
            rows: self.0.rows,
            cols: self.0.cols,
            width: self.0.width,
            col_idx: self.0.col_idx.clone(),
            values: values.collect(),
        })
    }
}

impl<T> Ell<T> {
    /// The arrays back.
    pub fn into_parts(self) -> EllParts<T> {
        self.0
    }

    /// Number of stored entries, explicit zeros included, pads not.
    pub fn nnz(&self) -> usize {
        self.0.col_idx.iter().filter(|&&c| c != PAD).count()
    }

    /// Number of slots, pads included.
    pub fn stored(&self) -> usize {
        self.0.values.len()
    }

    /// Columns and values of the `width` slots of row `i`, pads included.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = i * self.0.width..(i + 1) * self.0.width;
        (&self.0.col_idx[range.clone()], &self.0.values[range])
    }
}

impl<T> Deref for Ell<T> {
    type Target = EllParts<T>;

    fn deref(&self) -> &EllParts<T> {
        &self.0
    }
}
