//! B of an SpMM in exact numbers: f32 where its type fits into f32, which is half as much to read, else f64.

use crate::exact::Lane;
use crate::format::{Dense, Layout};
use crate::op::ReferenceSpmm;

/// A dense operand, row-major, every element exact. Chains of f32 are only modelled by rows where it is narrow.
#[derive(Clone, Debug)]
pub enum ExactDense {
    /// Numbers of f32.
    Narrow(Dense<f32>),
    /// Any numbers.
    Wide(Dense<f64>),
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

impl From<Dense<f64>> for ExactDense {
    fn from(wide: Dense<f64>) -> ExactDense {
        match wide.layout() {
            Layout::RowMajor => ExactDense::Wide(wide),
            Layout::ColMajor => {
                ExactDense::Wide(Dense::from_fn(wide.rows(), wide.cols(), |i, j| wide.at(i, j)))
            }
        }
    }
}

impl ExactDense {
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

    /// The rows with these numbers.
    pub(super) fn rows_at(&self, numbers: &[u32]) -> ExactDense {
        match self {
            ExactDense::Narrow(b) => ExactDense::Narrow(rows_at(b, numbers)),
            ExactDense::Wide(b) => ExactDense::Wide(rows_at(b, numbers)),
        }
    }

    /// True if every element is finite.
    pub(super) fn is_finite(&self) -> bool {
        each_width!(self, b => b.data().iter().all(|v| v.is_finite()))
    }

    /// Largest finite magnitude; 0 of nothing.
    pub(super) fn largest(&self) -> f64 {
        each_width!(self, b => largest(b.data()))
    }

    /// Prepares its first columns for exact products.
    pub(super) fn product(&self, cols: usize) -> ReferenceSpmm<'_> {
        each_width!(self, b => ReferenceSpmm::of_columns(b, cols))
    }
}

/// Largest finite magnitude; 0 of nothing.
pub(super) fn largest<L: Lane>(values: &[L]) -> f64 {
    let finite = values.iter().map(|v| v.widen().abs()).filter(|v| v.is_finite());
    finite.fold(0.0, f64::max)
}

fn rows_at<L: Copy>(b: &Dense<L>, numbers: &[u32]) -> Dense<L> {
    Dense::from_fn(numbers.len(), b.cols(), |i, j| b.at(numbers[i] as usize, j))
}

/// Row `k` of a row-major matrix.
#[inline(always)]
pub(super) fn row<L>(b: &Dense<L>, k: u32) -> &[L] {
    &b.data()[k as usize * b.ld()..][..b.cols()]
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
