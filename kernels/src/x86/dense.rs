//! Dense operands as the inner loops take them: rows of elements of the accumulator's type.
//!
//! ```text
//! B row-major, of that type      used in place, or packed where lines are cut and rows are read often
//! B of another type or layout    packed once: widened, rows that start with a cache line
//! C row-major                    written in place, through a buffer of the accumulator's type where it is of another
//! C column-major                 worked on in a compact row-major copy, copied back
//! ```

use super::element::Enter;
use super::isa::Isa;
use crate::portable::dense::Strided;
use crate::portable::unit::Unit;
use crate::spread::each_piece;
use std::borrow::Cow;

/// A row-major matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense<'a, A> {
    /// Rows.
    pub(super) rows: usize,
    /// Columns.
    pub(super) cols: usize,
    /// Elements from one row to the next.
    pub(super) ld: usize,
    /// The elements.
    pub(super) data: &'a [A],
}

impl<'a, A> Dense<'a, A> {
    /// The elements of one row.
    #[inline]
    pub(super) fn row(&self, i: usize) -> &'a [A] {
        &self.data[i * self.ld..][..self.cols]
    }
}

impl<A> Dense<'_, A> {
    /// Asserts what the inner loops rely on, this matrix being B: every column of A is one of its rows, it holds its rows, and
    /// `rows` rows of C, `ldc` apart, lie within `len` elements.
    #[inline(always)]
    pub(super) fn assert_within(&self, cols: &[u32], rows: usize, len: usize, ldc: usize) {
        let largest = cols.iter().fold(0, |largest, &col| largest.max(col));
        assert!(cols.is_empty() || (largest as usize) < self.rows, "columns of A are rows of B");
        assert!(
            self.rows == 0 || (self.rows - 1) * self.ld + self.cols <= self.data.len(),
            "B holds its rows"
        );
        assert!(rows == 0 || (rows - 1) * ldc + self.cols <= len, "C holds its rows");
    }
}

/// Rows of C, `ld` elements apart.
#[derive(Debug)]
pub(super) struct Target<'c, A> {
    /// The elements.
    pub(super) data: &'c mut [A],
    /// Elements from one row to the next.
    pub(super) ld: usize,
    /// C is larger than the caches and nothing of it is read: it is written past them, see [`Target::streams`].
    pub(super) stream: bool,
}

/// Bytes of C from which it is written past the caches: more than half of what they hold.
const BEYOND: usize = 16 << 20;

impl<A> Target<'_, A> {
    /// True where stores past the caches pay, and the rows allow them: they take 16 bytes at a multiple of 16 bytes.
    pub(super) fn streams(c: &[A], ld: usize, reads: bool) -> bool {
        let fits = |bytes: usize| bytes.is_multiple_of(16);
        !reads && size_of_val(c) >= BEYOND && fits(c.as_ptr().addr()) && fits(ld * size_of::<A>())
    }
}

/// B, in place or packed.
#[derive(Debug)]
pub(super) struct Packed<'a, A: Clone> {
    rows: usize,
    cols: usize,
    ld: usize,
    /// Elements before the first row.
    skip: usize,
    data: Cow<'a, [A]>,
}

impl<A: Unit> Packed<'_, A> {
    /// As the loops take it.
    pub(super) fn view(&self) -> Dense<'_, A> {
        Dense { rows: self.rows, cols: self.cols, ld: self.ld, data: &self.data[self.skip..] }
    }
}

/// Elements that one task of a parallel copy moves at least.
const GRAIN: usize = 1 << 14;

/// Bytes of a cache line.
const LINE: usize = 64;

/// How often a row of B is read, on average, from which copying it to whole lines pays: the copy costs about two reads, and a
/// row that cuts lines a third more.
const OFTEN: usize = 12;

/// B in the accumulator's type. `reuse` is how often one of its rows is read, roughly.
pub(super) fn pack<'a, S: Isa, I: Enter<A>, A: Unit>(
    isa: S,
    b: &Strided<&'a [I]>,
    reuse: usize,
) -> Packed<'a, A> {
    let (rows, cols) = (b.rows, b.cols);
    let bytes = cols * size_of::<A>();
    if b.col_step == 1
        && let Some(data) = I::as_unit(b.data)
        && (reuse < OFTEN || bytes < LINE || lines(data.as_ptr(), b.row_step))
    {
        return Packed { rows, cols, ld: b.row_step, skip: 0, data: Cow::Borrowed(data) };
    }
    // Rows shorter than a line stay compact.
    let ld = if bytes < LINE { cols } else { bytes.next_multiple_of(LINE) / size_of::<A>() };
    let mut data = vec![A::ZERO; rows * ld + LINE / size_of::<A>()];
    let skip = data.as_ptr().align_offset(LINE).min(LINE / size_of::<A>());
    copy(isa, b, &mut data[skip..][..rows * ld], ld);
    Packed { rows, cols, ld, skip, data: Cow::Owned(data) }
}

/// True where every row starts with a cache line.
fn lines<A>(first: *const A, ld: usize) -> bool {
    first.addr().is_multiple_of(LINE) && (ld * size_of::<A>()).is_multiple_of(LINE)
}

/// Copies and widens B into rows `ld` elements apart.
fn copy<S: Isa, I: Enter<A>, A: Unit>(isa: S, b: &Strided<&[I]>, to: &mut [A], ld: usize) {
    let (cols, ld) = (b.cols, ld.max(1));
    let rows = (GRAIN / ld).max(1);
    each_piece(to, rows * ld, |chunk, to| {
        let mut line = Vec::new();
        for (i, to) in to.chunks_exact_mut(ld).enumerate() {
            let first = (chunk * rows + i) * b.row_step;
            let to = &mut to[..cols];
            if b.col_step == 1 {
                I::widen(isa, &b.data[first..first + cols], to);
            } else {
                line.clear();
                line.extend((0..cols).map(|j| b.data[first + j * b.col_step]));
                I::widen(isa, &line, to);
            }
        }
    });
}

/// Calls `work` with C as rows and the distance between them; rows that are not contiguous are copied there and back.
/// With `keep` unset nothing reads what C held.
pub(super) fn by_rows<O: Copy + Default, R>(
    c: &mut Strided<&mut [O]>,
    keep: bool,
    work: impl FnOnce(&mut [O], usize) -> R,
) -> R {
    // One row stored by columns has steps of 1 as well, and its "rows" would overlap.
    if c.col_step == 1 && c.row_step >= c.cols {
        return work(c.data, c.row_step);
    }
    let (rows, cols) = (c.rows, c.cols);
    let mut copy = vec![O::default(); rows * cols];
    let at = |i: usize, j: usize| i * c.row_step + j * c.col_step;
    if keep {
        for (i, row) in copy.chunks_exact_mut(cols).enumerate() {
            for (j, element) in row.iter_mut().enumerate() {
                *element = c.data[at(i, j)];
            }
        }
    }
    let result = work(&mut copy, cols);
    for (i, row) in copy.chunks_exact(cols).enumerate() {
        for (j, &element) in row.iter().enumerate() {
            c.data[i * c.row_step + j * c.col_step] = element;
        }
    }
    result
}
