//! SpMV: `y = alpha * op(A) * x + beta * y`, in fused steps (f16 has none and rounds twice a term).

use super::element::{Operand, Output};
use super::lanes::LaneFormat;
use super::unit::{Fused, Unit};
use super::{product, request};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

/// How SpMV adds a term.
pub(crate) type SpmvSteps = Fused;

/// The kernel for format `F` and element types `I` (both operands), `A` (accumulator), `O` (output).
pub(crate) fn run<F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    F: LaneFormat,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let request = request::spmv::<I, A, O>(task, F::KIND)?;
    product::run::<F, SpmvSteps, I, A, O>(request)?;
    Ok(Answer::Written)
}
