//! B as the kernels of this folder read it: rows in one piece.
//!
//! ```text
//! padded   a row is a whole number of 16-byte registers, in the accumulator's type; zeros fill it up      NEON
//! raw      a row is `n` elements as stored; predicates end it                                             SME
//! ```
//!
//! B itself is used where it already is like that; else it is copied once.

use super::neon::NeonVector;
use crate::portable::dense::Strided;
use crate::portable::element::{Operand, Stored};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use std::borrow::Cow;

/// B, row after row.
#[derive(Debug)]
pub(crate) struct Panel<'a, T: Clone> {
    /// `rows * ld` elements.
    data: Cow<'a, [T]>,
    /// Elements from one row to the next.
    ld: usize,
    /// Rows.
    rows: usize,
    /// Elements of a row that may be read.
    pub(crate) padded: usize,
}

impl<'a, A: NeonVector> Panel<'a, A> {
    /// Rows of whole registers.
    pub(crate) fn padded<I: Operand<A>>(b: &Strided<&'a [I]>) -> Panel<'a, A> {
        let padded = b.cols.next_multiple_of(A::LANES);
        let stored = b.by_rows().filter(|_| padded == b.cols);
        let same = stored.and_then(|(data, ld)| Some((A::unwrap_slice(I::wrap_slice(data))?, ld)));
        same.map_or_else(
            || Panel::copied(b, padded, A::ZERO, I::load),
            |(data, ld)| Panel::borrowed(b, data, ld),
        )
    }
}

impl<'a, T: Stored> Panel<'a, T> {
    /// Rows as stored.
    pub(crate) fn raw(b: &Strided<&'a [T]>) -> Panel<'a, T> {
        b.by_rows().map_or_else(
            || Panel::copied(b, b.cols, T::from_bits64(0), |v| v),
            |(data, ld)| Panel::borrowed(b, data, ld),
        )
    }

    fn borrowed<I>(b: &Strided<&[I]>, data: &'a [T], ld: usize) -> Panel<'a, T> {
        Panel { data: Cow::Borrowed(data), ld, rows: b.rows, padded: b.cols }
    }

    fn copied<I: Stored>(b: &Strided<&[I]>, padded: usize, pad: T, load: fn(I) -> T) -> Panel<'a, T> {
        let mut data = vec![pad; b.rows * padded];
        data.par_chunks_mut(padded.max(1)).enumerate().for_each(|(i, row)| {
            for (j, to) in row[..b.cols].iter_mut().enumerate() {
                *to = load(b.at(i, j));
            }
        });
        Panel { data: Cow::Owned(data), ld: padded, rows: b.rows, padded }
    }
}

impl<T: Clone> Panel<'_, T> {
    /// No rows, for a product that reads none.
    pub(crate) fn empty() -> Self {
        Panel { data: Cow::Borrowed(&[]), ld: 0, rows: 0, padded: 0 }
    }

    /// The same rows, not copied.
    pub(crate) fn shared(&self) -> Panel<'_, T> {
        Panel { data: Cow::Borrowed(&self.data), ..*self }
    }

    /// Elements `at..at + len` of row `k`.
    #[inline(always)]
    pub(crate) fn piece(&self, k: usize, at: usize, len: usize) -> &[T] {
        &self.data[k * self.ld + at..][..len]
    }

    /// Every element, with the distance of two rows and their number: row k ends within at `k * ld + padded`.
    pub(crate) fn all(&self) -> (&[T], usize, usize) {
        (&self.data, self.ld, self.rows)
    }
}
