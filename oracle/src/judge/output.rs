//! An output array: its elements, where they are, and what it held before.

use crate::scalar::{AnySlice, decode};

/// A result to be judged, and what the output held before.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The elements as the backend left them.
    pub found: AnySlice<'a>,
    /// Where element (i, j) is.
    pub place: Place,
    /// The bits that no input carries: an element equal to them was not written.
    pub poison: Option<u64>,
    /// What C held before; read where beta is not 0 (or the profile says it is read).
    pub before: Option<AnySlice<'a>>,
    /// Where element (i, j) is in `before`.
    pub before_place: Place,
}

/// Where an element is in an output array.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At `i * .0 + j * .1`.
    Strides(usize, usize),
    /// At its number in the order of visiting (SDDMM, SpGEMM).
    Visited,
}

impl Output<'_> {
    /// What C held at element `at`, the `visited`-th one.
    pub(super) fn held(&self, at: (usize, usize), visited: usize) -> f64 {
        let offset = self.before_place.offset(at, visited);
        self.before.map_or(0.0, |before| decode(before.bits(offset), before.precision()))
    }

    /// True where a result of `cols` columns is, bit for bit, what C held, stored without gaps and row by row.
    pub(super) fn is_as_before(&self, cols: usize) -> bool {
        self.before.is_some_and(|before| {
            (0..before.len()).all(|number| {
                let at = (number / cols.max(1), number % cols.max(1));
                self.found.bits(self.place.offset(at, number)) == before.bits(number)
            })
        })
    }
}

impl Place {
    /// Elements from row to row and from column to column of a matrix of `cols` columns that is visited row by row.
    pub(super) fn strides(self, cols: usize) -> (usize, usize) {
        match self {
            Place::Strides(row, col) => (row, col),
            Place::Visited => (cols, 1),
        }
    }

    /// Offset of element `at`, the `visited`-th one.
    #[must_use]
    pub fn offset(self, at: (usize, usize), visited: usize) -> usize {
        match self {
            Place::Strides(row, col) => at.0 * row + at.1 * col,
            Place::Visited => visited,
        }
    }
}
