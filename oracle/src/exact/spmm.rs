//! The exact product of a CSR matrix and a dense matrix, row by row.
//!
//! ```text
//! once:      B -> rows of f32 (narrow types) or f64, and the extent of each row
//! per row:   extents of a[i][t] and of b's rows -> certificate -> inner loop -> Panel -> caller
//! ```
//!
//! Memory beyond the inputs and the output: a row-major copy of B in f32 or f64 (none if B already is that), four
//! bytes per row of B, one panel.

use super::bins::Lane;
use super::certificate::{Certificate, Extent};
use super::panel::Panel;
use crate::format::{Csr, Dense, Layout};
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Precision, Rounding, Scalar};
use std::borrow::Cow;

/// A dense right-hand side, prepared for exact products.
#[derive(Clone, Debug)]
pub struct ReferenceSpmm<'b> {
    rows: usize,
    cols: usize,
    stored: Stored<'b>,
    extents: Vec<Extent>,
}

/// B in rows; `ld` elements from row to row.
#[derive(Clone, Debug)]
enum Stored<'b> {
    Narrow(Rows<'b, f32>),
    Wide(Rows<'b, f64>),
}

#[derive(Clone, Debug)]
struct Rows<'b, L: Lane> {
    data: Cow<'b, [L]>,
    ld: usize,
}

impl<L: Lane> Rows<'_, L> {
    #[inline(always)]
    fn row(&self, i: usize, cols: usize) -> &[L] {
        &self.data[i * self.ld..i * self.ld + cols]
    }
}

/// An exact product, rounded for judging: one value and one gauge per element, one number of terms per row.
#[derive(Clone, Debug)]
pub struct SpmmReference<O> {
    /// Values, each rounded once; row-major, compact.
    pub values: Dense<O>,
    /// The nearest f64 to each gauge `sum |a||b|`; row-major, compact.
    pub gauge: Dense<f64>,
    /// Whether the gauge is exactly that f64, in the same order.
    pub gauge_exact: Vec<bool>,
    /// Number of terms in each element of a row.
    pub terms: Vec<u32>,
    /// How many rows were summed on each path, in the order of [`super::Path::ALL`].
    pub paths: [u64; 5],
}

impl<'b> ReferenceSpmm<'b> {
    /// Prepares B (k x n). A row-major matrix of f64 or f32 is borrowed, everything else is copied.
    #[must_use]
    pub fn new<T: crate::scalar::Element>(b: &'b Dense<T>) -> ReferenceSpmm<'b> {
        let (rows, cols) = (b.rows(), b.cols());
        let stored = match (T::wrap_slice(b.data()), b.layout()) {
            (AnySlice::F64(data), Layout::RowMajor) => Stored::Wide(Rows {
                data: Cow::Borrowed(data),
                ld: b.ld(),
            }),
            (AnySlice::F32(data), Layout::RowMajor) => Stored::Narrow(Rows {
                data: Cow::Borrowed(data),
                ld: b.ld(),
            }),
            _ if T::PRECISION == Precision::F64 => Stored::Wide(copy_rows(b, Scalar::to_f64)),
            _ => Stored::Narrow(copy_rows(b, |x| x.to_f64() as f32)),
        };
        let arch = pulp::Arch::new();
        let extents = match &stored {
            Stored::Narrow(b) => arch.dispatch(Extents { b, rows, cols }),
            Stored::Wide(b) => arch.dispatch(Extents { b, rows, cols }),
        };
        ReferenceSpmm {
            rows,
            cols,
            stored,
            extents,
        }
    }

    /// Computes `A * B` exactly and shows each row in turn.
    ///
    /// # Errors
    /// [`Refusal::Shape`] if A does not have as many columns as B has rows.
    pub fn for_each_row<A: Scalar>(
        &self,
        a: &Csr<A>,
        mut visit: impl FnMut(usize, &Panel),
    ) -> Result<(), Refusal> {
        if a.cols != self.rows {
            return Err(Refusal::Shape {
                left_name: "columns of A",
                left: a.cols,
                right_name: "rows of B",
                right: self.rows,
            });
        }
        match &self.stored {
            Stored::Narrow(b) => self.visit_rows(a, b, &mut visit),
            Stored::Wide(b) => self.visit_rows(a, b, &mut visit),
        }
        Ok(())
    }

    /// Computes `A * B` with every value rounded once to `O`.
    ///
    /// # Errors
    /// As [`for_each_row`](Self::for_each_row).
    pub fn product<A: Scalar, O: Scalar>(
        &self,
        a: &Csr<A>,
        mode: Rounding,
    ) -> Result<SpmmReference<O>, Refusal> {
        let size = a.rows * self.cols;
        let mut values = Vec::with_capacity(size);
        let mut gauge = Vec::with_capacity(size);
        let mut gauge_exact = Vec::with_capacity(size);
        let mut terms = Vec::with_capacity(a.rows);
        let mut paths = [0; 5];
        let mut bits = vec![0u64; self.cols];
        let mut outcome = Ok(());
        self.for_each_row(a, |_, panel| {
            let rounded = panel.round_row(O::PRECISION, mode, &mut bits);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(rounded);
            values.extend(bits.iter().map(|&pattern| O::from_bits64(pattern)));
            gauge.extend_from_slice(panel.gauge_hi());
            gauge_exact.extend(panel.gauge_lo().iter().map(|&lo| lo == 0.0));
            terms.push(panel.terms() as u32);
            paths[panel.path() as usize] += 1;
        })?;
        outcome?;
        Ok(SpmmReference {
            values: Dense::try_new(a.rows, self.cols, self.cols, Layout::RowMajor, values)?,
            gauge: Dense::try_new(a.rows, self.cols, self.cols, Layout::RowMajor, gauge)?,
            gauge_exact,
            terms,
            paths,
        })
    }

    fn visit_rows<A: Scalar, L: Lane>(
        &self,
        a: &Csr<A>,
        b: &Rows<'_, L>,
        visit: &mut impl FnMut(usize, &Panel),
    ) {
        let mut panel = Panel::new(self.cols);
        let mut decoded = Vec::new();
        for i in 0..a.rows {
            let (columns, values) = a.row(i);
            decoded.clear();
            decoded.extend(values.iter().map(|x| x.to_f64()));
            let mut certificate = Certificate::new();
            for (&k, &value) in columns.iter().zip(&decoded) {
                certificate.add(Extent::of(value), self.extents[k as usize]);
            }
            let terms = columns.iter().zip(&decoded);
            let terms = terms.map(|(&k, &value)| (value, b.row(k as usize, self.cols)));
            panel.accumulate_certified(terms, self.cols, &certificate);
            visit(i, &panel);
        }
    }
}

/// Computes `A * B` exactly and shows each row in turn; see [`ReferenceSpmm`] to use B more than once.
///
/// # Errors
/// [`Refusal::Shape`] if A does not have as many columns as B has rows.
pub fn for_each_row<A: Scalar, B: crate::scalar::Element>(
    a: &Csr<A>,
    b: &Dense<B>,
    visit: impl FnMut(usize, &Panel),
) -> Result<(), Refusal> {
    ReferenceSpmm::new(b).for_each_row(a, visit)
}

/// B's elements, row-major and compact.
fn copy_rows<T: Scalar, L: Lane>(b: &Dense<T>, widen: impl Fn(T) -> L) -> Rows<'static, L> {
    let (rows, cols) = (b.rows(), b.cols());
    let mut data = Vec::with_capacity(rows * cols);
    for i in 0..rows {
        match b.layout() {
            Layout::RowMajor => data.extend(b.data()[i * b.ld()..][..cols].iter().map(|&x| widen(x))),
            Layout::ColMajor => data.extend((0..cols).map(|j| widen(b.at(i, j)))),
        }
    }
    Rows {
        data: Cow::Owned(data),
        ld: cols,
    }
}

/// The extent of every row, as a task for the vector unit.
struct Extents<'a, 'b, L: Lane> {
    b: &'a Rows<'b, L>,
    rows: usize,
    cols: usize,
}

impl<L: Lane> pulp::NullaryFnOnce for Extents<'_, '_, L> {
    type Output = Vec<Extent>;

    #[inline(always)]
    fn call(self) -> Vec<Extent> {
        (0..self.rows)
            .map(|i| Extent::of_slice(self.b.row(i, self.cols)))
            .collect()
    }
}
