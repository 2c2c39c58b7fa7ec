//! Where the wrong elements of a result are: a few hundred bytes, however many there are.
//!
//! ```text
//! a 256 x 96 result       cells of 8 x 3 elements           what the rows have in common
//! with a tile of 16 rows  ................................  first 48, last 63
//! left out at row 48      ................................  their numbers modulo 64: 48 to 63
//!                         ################################
//!                         ################################
//! ```

/// Cells of the grid along rows, and along columns, at most.
pub const CELLS: usize = 32;

/// The wrong elements of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongElements {
    /// Rows and columns of the result.
    pub shape: (usize, usize),
    /// How many are wrong.
    pub count: usize,
    /// The rows that they are in.
    pub rows: WrongLines,
    /// The columns that they are in.
    pub cols: WrongLines,
    /// Rows of cells from the top, bit j for the j-th cell from the left: whether an element in it is wrong. A result of at most 32 rows
    /// (columns) has a cell for each.
    cells: [u32; CELLS],
}

/// Rows, or columns, of wrong elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLines {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
    /// Bit r: one of them has a number that is r modulo 64.
    pub residues: u64,
}

impl WrongElements {
    /// One, in a result of this shape.
    #[must_use]
    pub fn one(shape: (usize, usize), at: (usize, usize)) -> WrongElements {
        let (rows, cols) = (WrongLines::one(at.0), WrongLines::one(at.1));
        let mut wrong = WrongElements { shape, count: 0, rows, cols, cells: [0; CELLS] };
        wrong.add(at);
        wrong
    }

    /// Those at these places; none where there is no place.
    pub fn of(
        shape: (usize, usize),
        places: impl IntoIterator<Item = (usize, usize)>,
    ) -> Option<WrongElements> {
        let mut places = places.into_iter();
        let mut wrong = WrongElements::one(shape, places.next()?);
        places.for_each(|at| wrong.add(at));
        Some(wrong)
    }

    /// With one more.
    pub fn add(&mut self, at: (usize, usize)) {
        self.count += 1;
        self.rows.join(WrongLines::one(at.0));
        self.cols.join(WrongLines::one(at.1));
        self.cells[cell(at.0, self.shape.0)] |= 1 << cell(at.1, self.shape.1);
    }

    /// With those of the same result in `other`.
    pub fn join(&mut self, other: &WrongElements) {
        self.count += other.count;
        self.rows.join(other.rows);
        self.cols.join(other.cols);
        self.cells.iter_mut().zip(other.cells).for_each(|(cells, others)| *cells |= others);
    }

    /// The rows of cells, and how many cells each has.
    #[must_use]
    pub fn grid(&self) -> (&[u32], usize) {
        (&self.cells[..self.shape.0.min(CELLS)], self.shape.1.min(CELLS))
    }
}

impl WrongLines {
    fn one(at: usize) -> WrongLines {
        WrongLines { first: at, last: at, residues: 1 << (at % 64) }
    }

    fn join(&mut self, other: WrongLines) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.residues |= other.residues;
    }
}

/// The cell of line `at` of so many.
fn cell(at: usize, lines: usize) -> usize {
    let scaled = at as u128 * CELLS as u128 / lines.max(1) as u128;
    if lines <= CELLS { at.min(CELLS - 1) } else { scaled.min(CELLS as u128 - 1) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_results_have_a_cell_for_each_element_and_large_ones_32_by_32() {
        let mut small = WrongElements::one((3, 5), (2, 4));
        small.join(&WrongElements::one((3, 5), (0, 0)));
        assert_eq!(small.grid(), (&[1, 0, 16][..], 5));
        assert_eq!((small.count, small.rows.first, small.rows.last, small.cols.residues), (2, 0, 2, 0b10001));

        let shape = (usize::MAX, 33);
        let mut large = WrongElements::one(shape, (usize::MAX - 1, 32));
        large.join(&WrongElements::one(shape, (0, 1)));
        let (cells, width) = large.grid();
        assert_eq!((cells.len(), width, cells[0], cells[31]), (32, 32, 1, 1 << 31));
    }

    /// A place outside the shape, which no result has, must not end the judge.
    #[test]
    fn a_place_outside_is_put_into_the_last_cell() {
        let outside = WrongElements::one((0, 40), (7, 99));
        assert_eq!(outside.grid(), (&[][..], 32));
        let outside = WrongElements::one((2, 40), (99, 99));
        assert_eq!(outside.grid().0.len(), 2);
    }
}
