//! B of an SpMM in exact numbers: as it is stored where that is f32 or f64 in rows, else copied into f32 where its type fits into f32,
//! which is half as much to read, or into f64.

use crate::exact::Lane;
use crate::format::Dense;
use crate::op::{DenseRows, ReferenceSpmm};

/// A dense operand in rows, every element exact. Chains of f32 are only modelled by rows where it is narrow.
#[derive(Clone, Debug)]
pub enum ExactDense<'b> {
    /// Numbers of f32.
    Narrow(DenseRows<'b, f32>),
    /// Any numbers.
    Wide(DenseRows<'b, f64>),
}

/// Runs an expression with the matrix in its type.
macro_rules! each_width {
    ($value:expr, $m:ident => $body:expr) => {
        match $value {
            $crate::judge::ExactDense::Narrow($m) => $body,
            $crate::judge::ExactDense::Wide($m) => $body,
        }
    };
}

pub(super) use each_width;

impl From<Dense<f64>> for ExactDense<'_> {
    fn from(wide: Dense<f64>) -> Self {
        ExactDense::Wide(wide.into())
    }
}

impl From<Dense<f32>> for ExactDense<'_> {
    fn from(narrow: Dense<f32>) -> Self {
        ExactDense::Narrow(narrow.into())
    }
}

impl ExactDense<'_> {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        each_width!(self, b => b.rows())
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        each_width!(self, b => b.cols())
    }

    /// Element (i, j).
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        each_width!(self, b => b.at(i, j).widen())
    }

    /// The rows with these numbers, their elements through `f`, which gets the place of the row in the list and keeps what is f32 in f32.
    pub(super) fn rows_at(&self, numbers: &[u32], f: impl Fn(usize, f64) -> f64) -> ExactDense<'static> {
        let at = |i: usize, j: usize| f(i, self.at(numbers[i] as usize, j));
        match self {
            ExactDense::Narrow(b) => Dense::from_fn(numbers.len(), b.cols(), |i, j| at(i, j) as f32).into(),
            ExactDense::Wide(b) => Dense::from_fn(numbers.len(), b.cols(), at).into(),
        }
    }

    /// True if every element is finite.
    pub(super) fn is_finite(&self) -> bool {
        each_width!(self, b => b.elements().all(|v| v.widen().is_finite()))
    }

    /// Largest finite magnitude; 0 of nothing.
    pub(super) fn largest(&self) -> f64 {
        each_width!(self, b => largest(b.elements()))
    }

    /// Prepares its first columns for exact products.
    pub(super) fn product(&self, cols: usize) -> ReferenceSpmm<'_> {
        match self {
            ExactDense::Narrow(b) => ReferenceSpmm::narrow(b, cols),
            ExactDense::Wide(b) => ReferenceSpmm::wide(b, cols),
        }
    }
}

/// Largest finite magnitude; 0 of nothing.
pub(super) fn largest<L: Lane>(values: impl Iterator<Item = L>) -> f64 {
    let finite = values.map(|v| v.widen().abs()).filter(|v| v.is_finite());
    finite.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: a finite B that counts as infinite only has its pads multiplied, which change nothing.
    #[test]
    fn finite_is_what_has_no_infinity_and_no_nan() {
        let of = |x: f64| ExactDense::from(Dense::from_fn(1, 2, |_, j| [1.0, x][j]));
        assert!(of(2.0).is_finite() && of(f64::MAX).is_finite());
        assert!(!of(f64::INFINITY).is_finite() && !of(f64::NAN).is_finite());
    }
}
