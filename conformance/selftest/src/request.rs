//! Requests taken apart: the same task over the same output once more, other operands in the place of its own.

use sparse_conformance_core::backend::Failure;
use sparse_oracle::format::AnySparse;
use sparse_oracle::scalar::{AnySlice, Element, Precision, Scalar, Values};
use sparse_oracle::task::{DenseMut, DenseRef, Inputs, Task};
use sparse_oracle::with_scalar;

/// The same task, its output lent for the time of a call.
///
/// # Errors
/// None for a task that was made of all its operands.
pub(super) fn reborrow<'s>(task: &'s mut Task<'_>) -> Result<Task<'s>, Failure> {
    made(task.inputs(), task.output_mut())
}

/// The sparse operand (S of an SDDMM), and whether it is used transposed.
#[must_use]
pub(super) fn left_of<'t>(task: &Task<'t>) -> (&'t AnySparse, bool) {
    let inputs = task.inputs();
    (inputs.a, inputs.transpose_a)
}

/// The same task with another matrix in the place of A.
///
/// # Errors
/// None for a task that was made of all its operands.
pub(super) fn with_left<'t>(task: Task<'t>, a: &'t AnySparse) -> Result<Task<'t>, Failure> {
    let (inputs, output) = task.into_parts();
    made(Inputs { a, ..inputs }, output)
}

/// B, x as one column, or X.
#[must_use]
pub(super) fn right_of<'t>(task: &Task<'t>) -> Option<DenseRef<'t>> {
    task.inputs().b
}

/// The same task with other elements in the place of those of B, x or X.
///
/// # Errors
/// Where the task has no dense operand.
pub(super) fn with_right<'t>(task: Task<'t>, data: AnySlice<'t>) -> Result<Task<'t>, Failure> {
    let (inputs, output) = task.into_parts();
    let b = inputs.b.ok_or("no dense operand to replace")?;
    made(Inputs { b: Some(DenseRef { data, ..b }), ..inputs }, output)
}

fn made<'t>(inputs: Inputs<'t>, output: Option<DenseMut<'t>>) -> Result<Task<'t>, Failure> {
    Task::new(inputs, output).map_err(|refusal| refusal.to_string().into())
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
