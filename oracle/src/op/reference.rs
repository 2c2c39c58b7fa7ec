//! The exact product of a CSR matrix and a dense matrix, row by row.
//!
//! ```text
//! once:      B -> rows of f32 (narrow types) or f64, and the extent of each row
//! per row:   extents of a[i][t] and of b's rows -> certificate -> inner loop -> Panel -> caller
//! ```
//!
//! Memory beyond the inputs and the output: a row-major copy of B in f32 or f64 (none if B already is that), four
//! bytes per row of B, one panel.

use super::dense_rows::DenseRows;
use crate::exact::{Certificate, Extent, Lane, Panel};
use crate::format::{Csr, Dense, Layout};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::{AnySlice, Precision, Rounding, Scalar};
use rayon::prelude::*;

/// Rows of B whose extents one thread finds in one go.
const PIECE: usize = 1024;

/// A dense right-hand side, prepared for exact products.
#[derive(Clone, Debug)]
pub struct ReferenceSpmm<'b> {
    rows: usize,
    cols: usize,
    stored: Stored<'b>,
    extents: Vec<Extent>,
}

/// B in rows.
#[derive(Clone, Debug)]
enum Stored<'b> {
    Narrow(DenseRows<'b, f32>),
    Wide(DenseRows<'b, f64>),
}

/// An exact product, rounded for judging: one value and one gauge per element, one number of terms per row. All
/// arrays are row-major and compact.
#[derive(Clone, Debug, Default)]
pub struct SpmmReference<O> {
    /// Rows of A.
    pub rows: usize,
    /// Columns of B.
    pub cols: usize,
    /// Values, each rounded once; `rows * cols`.
    pub values: Vec<O>,
    /// The nearest f64 to each gauge `sum |a||b|`; `rows * cols`.
    pub gauge: Vec<f64>,
    /// Whether the gauge is exactly that f64; `rows * cols`.
    pub gauge_exact: Vec<bool>,
    /// Number of terms in each element of a row; `rows`.
    pub terms: Vec<u32>,
    /// How many rows were summed on each path, in the order of [`crate::exact::Path::ALL`].
    pub paths: [u64; 5],
}

impl<'b> ReferenceSpmm<'b> {
    /// Prepares B (k x n). A row-major matrix of f64 or f32 is borrowed, everything else is copied.
    #[must_use]
    pub fn new<T: crate::scalar::Element>(b: &'b Dense<T>) -> ReferenceSpmm<'b> {
        let arch = pulp::Arch::new();
        let extents = (b.rows(), b.cols(), b.ld());
        let stored = match (T::wrap_slice(b.data()), b.layout()) {
            (AnySlice::F64(data), Layout::RowMajor) => DenseRows::borrowed(extents, data).map(Stored::Wide),
            (AnySlice::F32(data), Layout::RowMajor) => DenseRows::borrowed(extents, data).map(Stored::Narrow),
            _ => None,
        };
        let stored = stored.unwrap_or_else(|| match T::PRECISION {
            Precision::F64 => Stored::Wide(arch.dispatch(CopyRows { b, widen: T::to_f64 })),
            _ => Stored::Narrow(arch.dispatch(CopyRows { b, widen: |x: T| x.to_f64() as f32 })),
        });
        ReferenceSpmm::of_stored(stored, b.rows(), b.cols())
    }

    /// Prepares the first `cols` columns of B as it lies.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn narrow(b: &'b DenseRows<'_, f32>, cols: usize) -> ReferenceSpmm<'b> {
        ReferenceSpmm::of_stored(Stored::Narrow(b.by_reference()), b.rows(), cols)
    }

    /// As [`narrow`](Self::narrow).
    pub(crate) fn wide(b: &'b DenseRows<'_, f64>, cols: usize) -> ReferenceSpmm<'b> {
        ReferenceSpmm::of_stored(Stored::Wide(b.by_reference()), b.rows(), cols)
    }

    fn of_stored(stored: Stored<'b>, rows: usize, cols: usize) -> ReferenceSpmm<'b> {
        let arch = pulp::Arch::new();
        let of_piece = |first: usize| {
            let rows = first..rows.min(first + PIECE);
            match &stored {
                Stored::Narrow(b) => arch.dispatch(Extents { b, rows, cols }),
                Stored::Wide(b) => arch.dispatch(Extents { b, rows, cols }),
            }
        };
        let pieces: Vec<Vec<Extent>> = (0..rows).into_par_iter().step_by(PIECE).map(of_piece).collect();
        let extents = pieces.concat();
        ReferenceSpmm { rows, cols, stored, extents }
    }

    /// Computes `A * B` exactly and shows each row in turn.
    ///
    /// # Errors
    /// [`RequestError::Shape`] if A does not have as many columns as B has rows.
    pub fn for_each_row<A: Scalar>(
        &self,
        a: &Csr<A>,
        mut visit: impl FnMut(usize, &Panel),
    ) -> Result<(), Refusal> {
        self.check_shape(a)?;
        self.for_some_rows(a, 0..a.rows, &mut visit);
        Ok(())
    }

    /// As [`for_each_row`](Self::for_each_row), for some rows of an A whose shape fits.
    pub(crate) fn for_some_rows<A: Scalar>(
        &self,
        a: &Csr<A>,
        rows: std::ops::Range<usize>,
        visit: &mut dyn FnMut(usize, &Panel),
    ) {
        match &self.stored {
            Stored::Narrow(b) => self.visit_rows(a, rows, b, visit),
            Stored::Wide(b) => self.visit_rows(a, rows, b, visit),
        }
    }

    /// The extent of row `k` of B.
    pub(crate) fn extent(&self, k: usize) -> Extent {
        self.extents[k]
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
        let mut out = SpmmReference::default();
        self.product_into(a, mode, &mut out)?;
        Ok(out)
    }

    /// [`product`](Self::product) into the memory of an earlier result, whatever its shape was.
    ///
    /// # Errors
    /// As [`for_each_row`](Self::for_each_row); `out` is then empty or as before.
    pub fn product_into<A: Scalar, O: Scalar>(
        &self,
        a: &Csr<A>,
        mode: Rounding,
        out: &mut SpmmReference<O>,
    ) -> Result<(), Refusal> {
        self.check_shape(a)?;
        let n = self.cols;
        let SpmmReference { values, gauge, gauge_exact, terms, paths, .. } = out;
        (out.rows, out.cols) = (a.rows, n);
        values.resize(a.rows * n, O::default());
        gauge.resize(a.rows * n, 0.0);
        gauge_exact.resize(a.rows * n, false);
        terms.resize(a.rows, 0);
        *paths = [0; 5];
        let mut bits = vec![0u64; n];
        let mut outcome = Ok(());
        self.for_each_row(a, |i, panel| {
            let row = i * n..(i + 1) * n;
            if let Err(refusal) = panel.round_row(O::PRECISION, mode, &mut bits) {
                outcome = Err(refusal);
            }
            for (to, &pattern) in values[row.clone()].iter_mut().zip(&bits) {
                *to = O::from_bits64(pattern);
            }
            gauge[row.clone()].copy_from_slice(panel.gauge_hi());
            for (to, &lo) in gauge_exact[row].iter_mut().zip(panel.gauge_lo()) {
                *to = lo == 0.0;
            }
            terms[i] = panel.terms() as u32;
            paths[panel.path() as usize] += 1;
        })?;
        outcome
    }

    fn check_shape<A>(&self, a: &Csr<A>) -> Result<(), Refusal> {
        if a.cols == self.rows {
            return Ok(());
        }
        Err(Refusal::Request(RequestError::Shape {
            left_name: "columns of A",
            left: a.cols,
            right_name: "rows of B",
            right: self.rows,
        }))
    }

    fn visit_rows<A: Scalar, L: Lane>(
        &self,
        a: &Csr<A>,
        rows: std::ops::Range<usize>,
        b: &DenseRows<'_, L>,
        visit: &mut dyn FnMut(usize, &Panel),
    ) {
        let mut panel = Panel::new(self.cols);
        let mut decoded = Vec::new();
        for i in rows {
            let (columns, values) = a.row(i);
            decoded.clear();
            decoded.extend(values.iter().map(|x| x.to_f64()));
            self.sum_row(&mut panel, (columns, &decoded), b);
            visit(i, &panel);
        }
    }

    /// One row of A times B. The loops of a panel are compiled for each type of terms that it is given; this one is the same
    /// whatever A's values are and whoever looks at the rows.
    fn sum_row<L: Lane>(&self, panel: &mut Panel, (columns, values): (&[u32], &[f64]), b: &DenseRows<'_, L>) {
        let mut certificate = Certificate::new();
        for (&k, &value) in columns.iter().zip(values) {
            certificate.add(Extent::of(value), self.extents[k as usize]);
        }
        let terms = columns.iter().zip(values);
        let terms = terms.map(|(&k, &value)| (value, &b.row(k as usize)[..self.cols]));
        panel.accumulate_certified(terms, self.cols, &certificate);
    }
}

/// Computes `A * B` exactly and shows each row in turn; see [`ReferenceSpmm`] to use B more than once.
///
/// # Errors
/// [`RequestError::Shape`] if A does not have as many columns as B has rows.
pub fn for_each_row<A: Scalar, B: crate::scalar::Element>(
    a: &Csr<A>,
    b: &Dense<B>,
    visit: impl FnMut(usize, &Panel),
) -> Result<(), Refusal> {
    ReferenceSpmm::new(b).for_each_row(a, visit)
}

/// Copies B's elements into compact rows, as a task for the vector unit.
struct CopyRows<'a, T, F> {
    b: &'a Dense<T>,
    widen: F,
}

impl<T: Scalar, L: Lane, F: Fn(T) -> L> pulp::NullaryFnOnce for CopyRows<'_, T, F> {
    type Output = DenseRows<'static, L>;

    #[inline(always)]
    fn call(self) -> DenseRows<'static, L> {
        let (b, widen) = (self.b, self.widen);
        let (rows, cols) = (b.rows(), b.cols());
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            match b.layout() {
                Layout::RowMajor => data.extend(b.data()[i * b.ld()..][..cols].iter().map(|&x| widen(x))),
                Layout::ColMajor => data.extend((0..cols).map(|j| widen(b.at(i, j)))),
            }
        }
        DenseRows::compact(rows, cols, data)
    }
}

/// The extent of some rows, as a task for the vector unit.
struct Extents<'a, 'b, L: Lane> {
    b: &'a DenseRows<'b, L>,
    rows: std::ops::Range<usize>,
    cols: usize,
}

impl<L: Lane> pulp::NullaryFnOnce for Extents<'_, '_, L> {
    type Output = Vec<Extent>;

    #[inline(always)]
    fn call(self) -> Vec<Extent> {
        self.rows.map(|i| Extent::of_slice(&self.b.row(i)[..self.cols])).collect()
    }
}
