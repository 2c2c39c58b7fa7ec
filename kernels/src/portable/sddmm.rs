//! SDDMM: `out_p = alpha * (X_i . Y_j)` for every stored position p = (i, j) of S, in S's storage order.
//!
//! ```text
//! S . s .      X 2 x k      out = [ alpha * X_0 . Y_1,  alpha * X_1 . Y_0 ]      one element per stored position
//!   t . .      Y 3 x k
//! ```
//!
//! Fused steps in ascending k (f16 rounds twice a term). `Scale` multiplies the scaled sum by S's value, explicit zeros
//! included; `AddS` adds beta times it. A position that COO stores twice has two outputs.

use super::dense::{Names, Strided};
use super::element::{Operand, Output};
use super::scaling::Scaling;
use super::unit::{Chain, Fused, Unit};
use super::{lanes, request};
use lanes::{AsCoo, AsCsr, LaneFormat};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, SddmmMode, Task};

/// How SDDMM adds a term.
pub(crate) type SddmmSteps = Fused;

/// A format whose stored positions can be listed in order.
pub(crate) trait Positions: LaneFormat {
    /// Visits (row, column, value) in storage order.
    fn for_each<T: Copy>(matrix: &Sparse<T>, visit: impl FnMut(u32, u32, T)) -> Result<(), Refusal>;

    /// Number of stored positions.
    fn count<T>(matrix: &Sparse<T>) -> Option<usize>;
}

impl Positions for AsCsr {
    fn for_each<T: Copy>(matrix: &Sparse<T>, mut visit: impl FnMut(u32, u32, T)) -> Result<(), Refusal> {
        let Sparse::Csr(csr) = matrix else {
            return Err(request::wrong_format("S", FormatKind::Csr, matrix.kind()));
        };
        for i in 0..csr.rows {
            let (cols, values) = csr.row(i);
            for (&j, &value) in cols.iter().zip(values) {
                visit(i as u32, j, value);
            }
        }
        Ok(())
    }

    fn count<T>(matrix: &Sparse<T>) -> Option<usize> {
        if let Sparse::Csr(csr) = matrix { Some(csr.nnz()) } else { None }
    }
}

impl Positions for AsCoo {
    fn for_each<T: Copy>(matrix: &Sparse<T>, mut visit: impl FnMut(u32, u32, T)) -> Result<(), Refusal> {
        let Sparse::Coo(coo) = matrix else {
            return Err(request::wrong_format("S", FormatKind::Coo, matrix.kind()));
        };
        for (at, &value) in coo.values.iter().enumerate() {
            visit(coo.row_idx[at], coo.col_idx[at], value);
        }
        Ok(())
    }

    fn count<T>(matrix: &Sparse<T>) -> Option<usize> {
        if let Sparse::Coo(coo) = matrix { Some(coo.nnz()) } else { None }
    }
}

const X: Names = Names { rows: "rows of X", cols: "columns of X", ld: "ldx", data: "X" };
const Y: Names = Names { rows: "rows of Y", cols: "columns of Y", ld: "ldy", data: "Y" };

/// A checked SDDMM; `S` has the values' type of the output.
#[derive(Debug)]
pub(crate) struct Sampled<'a, I, A, O> {
    /// The pattern, m x n.
    pub(crate) s: &'a Sparse<O>,
    /// m x k.
    pub(crate) x: Strided<&'a [I]>,
    /// n x k.
    pub(crate) y: Strided<&'a [I]>,
    /// alpha and beta.
    pub(crate) scaling: Scaling<A>,
    /// What to do with the values of S.
    pub(crate) mode: SddmmMode,
    /// One element per stored position.
    pub(crate) out: &'a mut [O],
}

/// Checks an SDDMM.
pub(crate) fn open<F, I, A, O>(task: Task<'_>) -> Result<Sampled<'_, I, A, O>, Refusal>
where
    F: Positions,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let Task::Sddmm { s, x, y, alpha, beta, mode, out } = task else {
        return Err(request::wrong_task(Op::Sddmm, &task));
    };
    let scaling = Scaling::<A>::try_new(alpha, beta)?;
    // Nothing says which of alpha and S would multiply first (clause 1.13); with alpha = 0 neither does.
    if mode == SddmmMode::Scale && alpha != 1.0 && scaling.reads_product() {
        return Err(Refusal::Request(RequestError::Kind {
            field: "alpha",
            expected: "1, since S multiplies the product in this mode".to_owned(),
            found: alpha.to_string(),
        }));
    }
    let s = request::sparse::<O>("S", s, F::KIND)?;
    let (x, y) = (request::dense::<I>(X, x)?, request::dense::<I>(Y, y)?);
    let out = request::slice_mut::<O>("out", out)?;
    let (rows, cols) = s.shape();
    request::same(("rows of S", rows), (X.rows, x.rows))?;
    request::same(("columns of S", cols), (Y.rows, y.rows))?;
    request::same((X.cols, x.cols), (Y.cols, y.cols))?;
    let stored = F::count(s).unwrap_or(0);
    if out.len() != stored {
        return Err(RequestError::Length { field: "out", expected: stored, found: out.len() }.into());
    }
    Ok(Sampled { s, x, y, scaling, mode, out })
}

/// The kernel for format `F` and element types `I` (both operands), `A` (accumulator), `O` (output and S).
pub(crate) fn run<F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    F: Positions,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let Sampled { s, x, y, scaling, mode, out } = open::<F, I, A, O>(task)?;
    let k = x.cols;
    let (left, right): (Vec<A>, Vec<A>) = if scaling.reads_product() && !out.is_empty() {
        (x.pack(), y.pack())
    } else {
        (Vec::new(), Vec::new())
    };
    let mut next = out.iter_mut();
    F::for_each(s, |i, j, value: O| {
        let product = if scaling.reads_product() {
            let (i, j) = (i as usize * k, j as usize * k);
            Some(dot(&left[i..i + k], &right[j..j + k]))
        } else {
            None
        };
        if let Some(out) = next.next() {
            *out = O::store(epilogue(mode, scaling, product, value.widen()));
        }
    })?;
    Ok(Answer::Written)
}

fn dot<A: Unit>(x: &[A], y: &[A]) -> A {
    x.iter().zip(y).fold(A::ZERO, |acc, (&x, &y)| SddmmSteps::step(acc, x, y))
}

/// The result of one position; `product` is absent when alpha = 0.
#[inline]
pub(crate) fn epilogue<A: Unit>(mode: SddmmMode, scaling: Scaling<A>, product: Option<A>, s: A) -> A {
    match (mode, product) {
        (SddmmMode::AddS, Some(acc)) => scaling.finish(acc, || s),
        (SddmmMode::AddS, None) => scaling.without_product(|| s),
        (_, None) => A::ZERO,
        (SddmmMode::Pattern, Some(acc)) => scaling.scaled(acc),
        (SddmmMode::Scale, Some(acc)) => scaling.scaled(acc).mul(s),
    }
}
