//! Requests taken apart: the output of a task, the same task over the same output once more, other operands in the place
//! of its own.

use crate::backend::Failure;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, Layout};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, Precision, Scalar, Values};
use sparse_oracle::task::{DenseMut, DenseRef, Task};
use sparse_oracle::with_scalar;

/// The dense output, where the task has one.
pub(super) fn output_mut<'s, 't>(task: &'s mut Task<'t>) -> Option<&'s mut AnySliceMut<'t>> {
    match task {
        Task::Spmm { c, .. } => Some(&mut c.data),
        Task::Spmv { y: out, .. } | Task::Sddmm { out, .. } => Some(out),
        Task::Spgemm { .. } | Task::Transpose { .. } | Task::Convert { .. } => None,
    }
}

fn again<'s>(data: &'s mut AnySliceMut<'_>) -> AnySliceMut<'s> {
    each_precision!(AnySliceMut, data, s => Element::wrap_slice_mut(s))
}

/// The same task, its output lent for the time of a call.
pub(super) fn reborrow<'s>(task: &'s mut Task<'_>) -> Task<'s> {
    match task {
        Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c } => Task::Spmm {
            a,
            transpose_a: *transpose_a,
            b: *b,
            transpose_b: *transpose_b,
            alpha: *alpha,
            beta: *beta,
            c: DenseMut { rows: c.rows, cols: c.cols, ld: c.ld, layout: c.layout, data: again(&mut c.data) },
        },
        Task::Spmv { a, transpose_a, x, alpha, beta, y } => {
            Task::Spmv { a, transpose_a: *transpose_a, x: *x, alpha: *alpha, beta: *beta, y: again(y) }
        }
        Task::Sddmm { s, x, y, alpha, beta, mode, out } => {
            Task::Sddmm { s, x: *x, y: *y, alpha: *alpha, beta: *beta, mode: *mode, out: again(out) }
        }
        Task::Spgemm { a, b } => Task::Spgemm { a, b },
        Task::Transpose { a } => Task::Transpose { a },
        Task::Convert { a, to, params } => Task::Convert { a, to: *to, params: *params },
    }
}

/// The sparse operand (S of an SDDMM), and whether it is used transposed.
#[must_use]
pub(super) fn left_of<'t>(task: &Task<'t>) -> (&'t AnySparse, bool) {
    match task {
        Task::Spmm { a, transpose_a, .. } | Task::Spmv { a, transpose_a, .. } => (a, *transpose_a),
        Task::Sddmm { s: a, .. }
        | Task::Spgemm { a, .. }
        | Task::Transpose { a }
        | Task::Convert { a, .. } => (a, false),
    }
}

/// The same task with another matrix in the place of A.
pub(super) fn with_left<'t>(mut task: Task<'t>, other: &'t AnySparse) -> Task<'t> {
    match &mut task {
        Task::Spmm { a, .. }
        | Task::Spmv { a, .. }
        | Task::Sddmm { s: a, .. }
        | Task::Spgemm { a, .. }
        | Task::Transpose { a }
        | Task::Convert { a, .. } => *a = other,
    }
    task
}

/// B, x as one column, or X.
#[must_use]
pub(super) fn right_of<'t>(task: &Task<'t>) -> Option<DenseRef<'t>> {
    match task {
        Task::Spmm { b, .. } | Task::Sddmm { x: b, .. } => Some(*b),
        Task::Spmv { x, .. } => {
            Some(DenseRef { rows: x.len(), cols: 1, ld: 1, layout: Layout::RowMajor, data: *x })
        }
        Task::Spgemm { .. } | Task::Transpose { .. } | Task::Convert { .. } => None,
    }
}

/// The same task with other elements in the place of those of B, x or X.
///
/// # Errors
/// Where the task has no dense operand.
pub(super) fn with_right<'t>(mut task: Task<'t>, other: AnySlice<'t>) -> Result<Task<'t>, Failure> {
    match &mut task {
        Task::Spmm { b, .. } | Task::Sddmm { x: b, .. } => b.data = other,
        Task::Spmv { x, .. } => *x = other,
        Task::Spgemm { .. } | Task::Transpose { .. } | Task::Convert { .. } => {
            return Err("no dense operand to replace".into());
        }
    }
    Ok(task)
}

/// Bits as an array of a type.
#[must_use]
pub(super) fn values_of(precision: Precision, bits: &[u64]) -> Values {
    with_scalar!(precision, T => <T as Element>::wrap(bits.iter().map(|&b| T::from_bits64(b)).collect()))
}

/// An array as its bits.
#[must_use]
pub(super) fn bits_of(data: AnySlice<'_>) -> Vec<u64> {
    (0..data.len()).map(|i| data.bits(i)).collect()
}

/// Rewrites alpha and beta.
pub(super) fn factors(task: &mut Task<'_>, change: impl Fn(f64, f64) -> (f64, f64)) {
    if let Task::Spmm { alpha, beta, .. } | Task::Spmv { alpha, beta, .. } | Task::Sddmm { alpha, beta, .. } =
        task
    {
        (*alpha, *beta) = change(*alpha, *beta);
    }
}
