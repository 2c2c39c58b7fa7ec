//! Formats whose rows can be found one by one: each is decoded when its turn comes, into the buffers of its worker.

use crate::feature::Feature;
use crate::x86::lanes::{Buffers, RowUnits, Rows};
use sparse_types::refusal::Refusal;
use std::ops::Range;

/// A matrix that can be decoded row by row.
pub(super) trait ByRow<T>: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Entries or slots stored before a row, roughly. Ascends.
    fn before(&self, row: usize) -> usize;

    /// Appends the entries of a row, columns ascending.
    fn row(&self, row: usize, out: Out<'_, T>);
}

/// Where decoded entries go.
#[derive(Debug)]
pub(super) struct Out<'b, T> {
    /// Columns.
    pub(super) cols: &'b mut Vec<u32>,
    /// Values.
    pub(super) values: &'b mut Vec<T>,
}

impl<T> Out<'_, T> {
    /// One entry.
    #[inline(always)]
    pub(super) fn push(&mut self, col: u32, value: T) {
        self.cols.push(col);
        self.values.push(value);
    }
}

/// Lanes of such a matrix, decoded with `popcnt` and `tzcnt`.
#[derive(Debug)]
pub(super) struct Rowwise<M> {
    matrix: M,
}

/// What [`decode`] is compiled for.
const NEEDS: &[Feature] = &[Feature::Popcnt, Feature::Bmi1];

impl<M> Rowwise<M> {
    /// # Errors
    /// [`EngineError::Unavailable`](sparse_types::refusal::EngineError::Unavailable) where the machine lacks the bit instructions.
    pub(super) fn try_new(matrix: M) -> Result<Rowwise<M>, Refusal> {
        Feature::require(NEEDS, crate::x86::detected)?;
        Ok(Rowwise { matrix })
    }
}

impl<T: Send + Sync, M: ByRow<T>> RowUnits<T> for Rowwise<M> {
    fn units(&self) -> usize {
        self.matrix.rows()
    }

    fn first_row(&self, unit: usize) -> usize {
        unit
    }

    fn before(&self, unit: usize) -> usize {
        self.matrix.before(unit)
    }

    #[expect(unsafe_code, reason = "compiled for bit instructions that the constructor found")]
    fn read<'s>(&'s self, units: Range<usize>, buffers: &'s mut Buffers<T>) -> Rows<'s, T> {
        // SAFETY: `try_new`, the only constructor, found the features.
        unsafe { decode(&self.matrix, units, buffers) };
        buffers.rows()
    }
}

/// Decodes some rows.
#[target_feature(enable = "popcnt,bmi1")]
fn decode<T, M: ByRow<T>>(matrix: &M, rows: Range<usize>, buffers: &mut Buffers<T>) {
    buffers.clear();
    for row in rows {
        let out = Out { cols: &mut buffers.cols, values: &mut buffers.values };
        matrix.row(row, out);
        buffers.end_row();
    }
}
