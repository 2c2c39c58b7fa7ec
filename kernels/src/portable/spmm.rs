//! SpMM: `C = alpha * op(A) * op(B) + beta * C`, A sparse in any format.
//!
//! Formats without pads round each product and then the sum; block formats use fused steps and multiply their pads.

use super::element::{Operand, Output};
use super::lanes::LaneFormat;
use super::unit::Unit;
use super::{product, request};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

/// The kernel for format `F` and element types `I` (both operands), `A` (accumulator), `O` (output).
pub(crate) fn run<F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    F: LaneFormat,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let request = request::spmm::<I, A, O>(task, F::KIND)?;
    product::run::<F, F::Spmm, I, A, O>(request)?;
    Ok(Answer::Written)
}
