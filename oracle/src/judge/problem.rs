//! A case's arithmetic as a stream of sites: output elements with their exact unscaled sums.
//!
//! Operands arrive decoded to f64 with the declared input rounding already applied, so that one problem serves every
//! backend that declared the same. Rows are visited in order and nothing is kept, so that a matrix with 10^7
//! outputs needs no more memory than its operands.

use super::exact_dense::{ExactDense, largest};
use super::moves::for_each_spgemm;
use super::rows::{Scratch, SpmmRows};
use crate::arithmetic::{Arithmetic, Epilogue, Slot};
use crate::exact::{Element, dot};
use crate::format::{Csr, Dense};
use crate::refusal::{Refusal, RequestError};
use std::borrow::Cow;

/// The operands of a product.
#[derive(Debug)]
pub enum Problem<'a> {
    /// SpMM (and SpMV with one column): op(A) as CSR, op(B) row-major.
    Spmm {
        /// m x k, every stored entry.
        a: &'a Csr<f64>,
        /// Slots of the padded layout that hold no entry and are multiplied as 0 * b, if the kernel does so.
        pads: Option<&'a Csr<()>>,
        /// k x n, in rows.
        b: &'a ExactDense<'a>,
        /// Where a tiled layout puts the terms along k: a slot for every stored entry and multiplied pad. Without it a row's terms
        /// follow one another.
        slots: Option<&'a Csr<Slot>>,
    },
    /// SDDMM at the given positions: X is m x k, Y is n x k, compact row-major.
    Sddmm {
        /// (row of X, row of Y) of each output, in output order.
        positions: &'a [(u32, u32)],
        /// Left operand.
        x: &'a Dense<f64>,
        /// Right operand.
        y: &'a Dense<f64>,
        /// S's value at each position where it multiplies the result, else empty.
        factors: &'a [f64],
    },
    /// SpGEMM: both operands as CSR; the sites are the structural positions.
    Spgemm {
        /// m x k.
        a: &'a Csr<f64>,
        /// k x n.
        b: &'a Csr<f64>,
    },
}

/// One output element.
#[derive(Debug)]
pub struct ElementInput<'a> {
    /// Row and column in the result.
    pub at: (usize, usize),
    /// Exact sum of products, gauge, number of terms; alpha, beta and C not applied.
    pub sum: &'a Element,
    /// Every product is a multiple of 2^lsb: a lower bound, for a whole row of an SpMM, which that of an element's own terms may
    /// exceed; `i64::MAX` when all are zero.
    pub lsb: i64,
    /// The terms, in ascending inner index.
    pub terms: Terms<'a>,
    /// The slot of each term, where a layout gives them; else term t has slot t.
    pub slots: Option<&'a [Slot]>,
    /// A value that multiplies the sum before alpha: S's, for an SDDMM that scales by it. May be 0, NaN or infinite,
    /// and is always multiplied.
    pub factor: Option<f64>,
    /// True when a multiplied pad faces a NaN or infinity here, so that NaN is legal.
    pub poisoned: bool,
}

/// The terms of one site, re-read from the operands on demand.
#[derive(Clone, Copy, Debug)]
pub enum Terms<'a> {
    /// A sparse row, multiplied pads (a = +0) included in column order, against one column of B.
    Row {
        /// Columns of the row.
        cols: &'a [u32],
        /// Values of the row.
        values: &'a [f64],
        /// The column of B at these columns of A.
        b: &'a [f64],
    },
    /// Two dense rows; `factor` multiplies nothing here (it enters with alpha).
    Rows {
        /// Left row.
        x: &'a [f64],
        /// Right row.
        y: &'a [f64],
    },
    /// An explicit list.
    List(&'a [(f64, f64)]),
}

impl ElementInput<'_> {
    /// True where something is computed for it: a row without entries has nothing to skip.
    #[must_use]
    pub fn has_entries(&self) -> bool {
        self.sum.terms > 0
    }
}

impl<'a> Terms<'a> {
    /// Number of terms, multiplied pads included.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Terms::Row { cols, .. } => cols.len(),
            Terms::Rows { x, .. } => x.len(),
            Terms::List(list) => list.len(),
        }
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The (a, b) pairs in order, multiplied pads included.
    pub fn iter(self) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (left, right, list): (&[f64], &[f64], &[(f64, f64)]) = match self {
            Terms::Row { values, b, .. } => (values, b, &[]),
            Terms::Rows { x, y } => (x, y, &[]),
            Terms::List(list) => (&[], &[], list),
        };
        let pairs = left.iter().copied().zip(right.iter().copied());
        pairs.chain(list.iter().copied())
    }

    /// Exponent of the largest power of two that divides every product, `i64::MAX` when all are zero; `None` as soon as it is
    /// known to be below `least`.
    pub(super) fn lsb(self, least: i64) -> Option<i64> {
        let mut lowest = i64::MAX;
        for (a, b) in self.iter() {
            lowest = lowest.min(lsb(a).saturating_add(lsb(b)));
            if lowest < least {
                return None;
            }
        }
        Some(lowest)
    }

    /// Gauge of the finite products only, in f64 (infinite when they overflow): may a correct kernel overflow here?
    #[must_use]
    pub fn finite_gauge(self) -> f64 {
        self.iter().map(|(a, b)| (a * b).abs()).filter(|p| !p.is_nan() && *p != f64::INFINITY).sum::<f64>()
            + self.iter().filter(|(a, b)| a.is_finite() && b.is_finite() && (a * b).is_infinite()).count()
                as f64
                * f64::MAX
    }
}

impl Problem<'_> {
    /// Rows and columns of the result; an SDDMM's result is one column of stored positions.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Problem::Spmm { a, b, .. } => (a.rows, b.cols()),
            Problem::Sddmm { positions, .. } => (positions.len(), 1),
            Problem::Spgemm { a, b } => (a.rows, b.cols),
        }
    }

    /// Largest finite |b|, for allowances that need it.
    #[must_use]
    pub fn b_max(&self) -> f64 {
        match self {
            Problem::Spmm { b, .. } => b.largest(),
            Problem::Sddmm { y, .. } => largest(y.data().iter().copied()),
            Problem::Spgemm { b, .. } => largest(b.values.iter().copied()),
        }
    }

    /// Largest finite magnitude of the operand that alpha is not folded into: |a| where it goes into B, else |b|.
    #[must_use]
    pub fn other_max(&self, epilogue: Epilogue) -> f64 {
        if epilogue != Epilogue::AlphaIntoB {
            return self.b_max();
        }
        let left = match self {
            Problem::Spmm { a, .. } | Problem::Spgemm { a, .. } => &a.values[..],
            Problem::Sddmm { x, .. } => x.data(),
        };
        largest(left.iter().copied())
    }

    /// The arithmetic by which its elements are computed.
    pub(super) fn computed_by<'a>(&self, declared: &'a Arithmetic) -> Cow<'a, Arithmetic> {
        match self {
            Problem::Sddmm { factors, .. } if !factors.is_empty() => with_factor(declared),
            _ => Cow::Borrowed(declared),
        }
    }

    /// Visits every output element, row by row.
    ///
    /// # Errors
    /// Operands that do not fit together; nothing is visited then.
    pub fn for_each(&self, visit: &mut dyn FnMut(&ElementInput<'_>)) -> Result<(), Refusal> {
        match self {
            Problem::Spmm { a, pads, b, slots } => {
                for_each_spmm(a, (*pads, *slots), b, visit)?;
            }
            Problem::Sddmm { positions, x, y, factors } => {
                same("columns of X", x.cols(), "columns of Y", y.cols())?;
                if let Some(&(i, j)) =
                    positions.iter().find(|p| p.0 as usize >= x.rows() || p.1 as usize >= y.rows())
                {
                    let (left, right) = (x.rows().min(y.rows()), i.max(j) as usize + 1);
                    let (left_name, right_name) = ("rows of X and Y", "rows that a position of S asks for");
                    return Err(RequestError::Shape { left_name, left, right_name, right }.into());
                }
                for_each_sddmm(positions, (x, y), factors, visit);
            }
            Problem::Spgemm { a, b } => {
                same("columns of A", a.cols, "rows of B", b.rows)?;
                for_each_product(a, b, visit);
            }
        }
        Ok(())
    }
}

/// A declared arithmetic where values of S multiply (clause 1.13). That is done to the finished sum; alpha, which is 1, is what a declaration
/// folds into an operand, or leaves out.
#[must_use]
pub fn with_factor(declared: &Arithmetic) -> Cow<'_, Arithmetic> {
    if matches!(declared.epilogue, Epilogue::MulThenFma | Epilogue::MulThenAdd) {
        return Cow::Borrowed(declared);
    }
    Cow::Owned(Arithmetic { epilogue: Epilogue::MulThenAdd, ..*declared })
}

pub(super) fn same(
    left_name: &'static str,
    left: usize,
    right_name: &'static str,
    right: usize,
) -> Result<(), Refusal> {
    if left == right {
        Ok(())
    } else {
        Err(RequestError::Shape { left_name, left, right_name, right }.into())
    }
}

fn for_each_spmm(
    a: &Csr<f64>,
    beside: (Option<&Csr<()>>, Option<&Csr<Slot>>),
    b: &ExactDense<'_>,
    visit: &mut dyn FnMut(&ElementInput<'_>),
) -> Result<(), Refusal> {
    let rows = SpmmRows::new(a, beside, b)?;
    let mut scratch = Scratch::default();
    rows.visit(0..a.rows, &mut |row| row.elements(&mut scratch, visit));
    Ok(())
}

fn for_each_sddmm(
    positions: &[(u32, u32)],
    (x, y): (&Dense<f64>, &Dense<f64>),
    factors: &[f64],
    visit: &mut dyn FnMut(&ElementInput<'_>),
) {
    let row = |m: &'_ Dense<f64>, i: u32| i as usize * m.ld()..i as usize * m.ld() + m.cols();
    for (index, &(i, j)) in positions.iter().enumerate() {
        let (left, right) = (&x.data()[row(x, i)], &y.data()[row(y, j)]);
        let sum = dot(left, right);
        let products = left.iter().zip(right).map(|(&a, &b)| lsb(a).saturating_add(lsb(b)));
        let lsb = products.min().unwrap_or(i64::MAX);
        let terms = Terms::Rows { x: left, y: right };
        let factor = factors.get(index).copied();
        visit(&ElementInput { at: (index, 0), sum: &sum, lsb, terms, slots: None, factor, poisoned: false });
    }
}

fn for_each_product(a: &Csr<f64>, b: &Csr<f64>, visit: &mut dyn FnMut(&ElementInput<'_>)) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for_each_spgemm(a, b, &mut |i, j, terms| {
        left.clear();
        right.clear();
        left.extend(terms.iter().map(|t| t.0));
        right.extend(terms.iter().map(|t| t.1));
        let sum = dot(&left, &right);
        let lsb = terms.iter().map(|t| lsb(t.0).saturating_add(lsb(t.1))).min().unwrap_or(i64::MAX);
        let terms = Terms::List(terms);
        visit(&ElementInput {
            at: (i, j as usize),
            sum: &sum,
            lsb,
            terms,
            slots: None,
            factor: None,
            poisoned: false,
        });
    });
}

/// Exponent of the lowest set bit; `i64::MAX / 4` for zeros and non-finite values, which bind nothing.
pub(super) fn lsb(v: f64) -> i64 {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    match (exponent, fraction) {
        (0, 0) | (0x7ff, _) => i64::MAX / 4,
        (0, f) => -1074 + i64::from(f.trailing_zeros()),
        (e, f) => e - 1075 + i64::from((f | 1 << 52).trailing_zeros()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: what finite terms come to beside an infinite one was never so much that it mattered.
    #[test]
    fn the_finite_gauge_counts_products_that_overflow() {
        let (infinite, large) = (f64::INFINITY, 1e200);
        let gauge = |terms: &[(f64, f64)]| Terms::List(terms).finite_gauge();
        assert_eq!(gauge(&[(2.0, 3.0), (-1.0, 4.0)]), 10.0);
        assert_eq!(gauge(&[(2.0, 3.0), (infinite, 4.0), (0.0, infinite), (f64::NAN, 1.0)]), 6.0);
        assert_eq!(gauge(&[(2.0, 3.0), (large, -large)]), f64::MAX);
        assert_eq!(gauge(&[(large, large), (large, -large)]), infinite);
    }

    /// Found by mutation: a position outside one operand only. Story: one that was just outside both was found, compared with the rows
    /// that there are, taken for equal, and then the call panicked.
    #[test]
    fn positions_lie_inside_both_operands() {
        let (x, y) = (Dense::from_fn(3, 2, |_, _| 1.0), Dense::from_fn(4, 2, |_, _| 1.0));
        let visits = |position| {
            let positions = [(0, 0), position];
            let problem = Problem::Sddmm { positions: &positions, x: &x, y: &y, factors: &[] };
            let mut visited = 0;
            problem.for_each(&mut |_| visited += 1).map(|()| visited)
        };
        assert!(matches!(visits((2, 3)), Ok(2)));
        assert!(visits((4, 3)).is_err() && visits((2, 4)).is_err());
        assert!(visits((3, 3)).is_err() && visits((3, 0)).is_err());
    }
}
