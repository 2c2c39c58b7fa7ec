//! A request as a [`Task`], which says by its variant what is asked for, and as its operands: what is read as [`Inputs`], what is
//! written as one dense matrix.
//!
//! ```text
//! Inputs + output --Task::new--> Task --inputs, output, into_parts--> Inputs + output
//! ```
//!
//! Who sends, copies, guards or replaces operands of whatever operation does so here; who computes matches the variant. A vector
//! counts as a matrix of one column.

use super::{DenseMut, DenseRef};
use crate::contract::{Op, Operand};
use crate::format::{AnySparse, FormatKind, FormatParams, Layout};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::{AnySlice, AnySliceMut};

/// What SDDMM does with the values of S beyond their pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SddmmMode {
    /// `out = alpha * (X . Y)` on the pattern.
    #[default]
    Pattern,
    /// `out = alpha * (X . Y) * S`.
    Scale,
    /// `out = alpha * (X . Y) + beta * S`.
    AddS,
}

impl SddmmMode {
    /// All modes; the place of each is its number in the C ABI.
    pub const ALL: [SddmmMode; 3] = [SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS];

    /// The name in case lines and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SddmmMode::Pattern => "pattern",
            SddmmMode::Scale => "scale",
            SddmmMode::AddS => "add-s",
        }
    }

    /// The mode with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<SddmmMode> {
        SddmmMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// One operation on given operands; [`Task::inputs`] gives them without a match.
#[derive(Debug)]
pub enum Task<'a> {
    /// `C = alpha * op(A) * op(B) + beta * C`.
    Spmm {
        /// Sparse operand as stored (m x k, or k x m when transposed).
        a: &'a AnySparse,
        /// Use `A^T`.
        transpose_a: bool,
        /// Dense operand as stored (k x n, or n x k when transposed).
        b: DenseRef<'a>,
        /// Use `B^T`.
        transpose_b: bool,
        /// Factor of the product; finite, exact in the accumulator type.
        alpha: f64,
        /// Factor of C; finite, exact in the accumulator type.
        beta: f64,
        /// In: C when beta is not 0. Out: the result.
        c: DenseMut<'a>,
    },
    /// `y = alpha * op(A) * x + beta * y`.
    Spmv {
        /// Sparse operand as stored.
        a: &'a AnySparse,
        /// Use `A^T`.
        transpose_a: bool,
        /// k elements.
        x: AnySlice<'a>,
        /// Factor of the product.
        alpha: f64,
        /// Factor of y.
        beta: f64,
        /// m elements; in: y when beta is not 0; out: the result.
        y: AnySliceMut<'a>,
    },
    /// `out = alpha * (X_i . Y_j)` at every stored position of S, in S's storage order.
    Sddmm {
        /// Pattern (m x n); its values are of the output type and used by [`SddmmMode`] only.
        s: &'a AnySparse,
        /// m x k.
        x: DenseRef<'a>,
        /// n x k.
        y: DenseRef<'a>,
        /// Factor of the dot product.
        alpha: f64,
        /// Factor of S, for [`SddmmMode::AddS`].
        beta: f64,
        /// What to do with the values of S.
        mode: SddmmMode,
        /// One element per stored position of S.
        out: AnySliceMut<'a>,
    },
    /// `A * B`, both sparse, of one format; the answer is sparse of that format.
    Spgemm {
        /// m x k.
        a: &'a AnySparse,
        /// k x n.
        b: &'a AnySparse,
    },
    /// `A^T` in the same format; the answer is sparse.
    Transpose {
        /// The matrix.
        a: &'a AnySparse,
    },
    /// The same matrix in another format; the answer is sparse.
    Convert {
        /// The matrix.
        a: &'a AnySparse,
        /// Target format.
        to: FormatKind,
        /// Its parameters.
        params: FormatParams,
    },
}

/// All that a task reads; what its operation does not have is as in [`Inputs::plain`].
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Operation.
    pub op: Op,
    /// The sparse operand (S of an SDDMM), as stored.
    pub a: &'a AnySparse,
    /// The second sparse operand.
    pub b_sparse: Option<&'a AnySparse>,
    /// The first dense operand, as stored.
    pub b: Option<DenseRef<'a>>,
    /// The second one.
    pub y: Option<DenseRef<'a>>,
    /// Use `A^T`.
    pub transpose_a: bool,
    /// Use `B^T`.
    pub transpose_b: bool,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of what is added to it.
    pub beta: f64,
    /// Use of the values of S.
    pub mode: SddmmMode,
    /// Target format.
    pub to: Option<FormatKind>,
    /// Its parameters.
    pub params: FormatParams,
}

impl<'a> Inputs<'a> {
    /// A request on a matrix alone.
    #[must_use]
    pub fn plain(op: Op, a: &'a AnySparse) -> Inputs<'a> {
        Inputs {
            op,
            a,
            b_sparse: None,
            b: None,
            y: None,
            transpose_a: false,
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            mode: SddmmMode::Pattern,
            to: None,
            params: FormatParams::default(),
        }
    }

    /// The sparse operands of the signature.
    pub fn sparse(&self) -> impl Iterator<Item = (&'static Operand, &'a AnySparse)> {
        self.op.signature().sparse.iter().zip([Some(self.a), self.b_sparse].into_iter().flatten())
    }

    /// The dense operands of the signature.
    pub fn dense(&self) -> impl Iterator<Item = (&'static Operand, DenseRef<'a>)> {
        self.op.signature().dense.iter().zip([self.b, self.y].into_iter().flatten())
    }
}

impl<'a> DenseRef<'a> {
    /// A vector.
    #[must_use]
    pub fn column(data: AnySlice<'a>) -> DenseRef<'a> {
        DenseRef { rows: data.len(), cols: 1, ld: 1, layout: Layout::RowMajor, data }
    }
}

impl<'a> DenseMut<'a> {
    /// A vector.
    #[must_use]
    pub fn column(data: AnySliceMut<'a>) -> DenseMut<'a> {
        DenseMut { rows: data.as_slice().len(), cols: 1, ld: 1, layout: Layout::RowMajor, data }
    }

    /// To be read.
    #[must_use]
    pub fn as_ref(&self) -> DenseRef<'_> {
        let DenseMut { rows, cols, ld, layout, ref data } = *self;
        DenseRef { rows, cols, ld, layout, data: data.as_slice() }
    }

    /// Lent.
    #[must_use]
    pub fn reborrow(&mut self) -> DenseMut<'_> {
        let DenseMut { rows, cols, ld, layout, ref mut data } = *self;
        DenseMut { rows, cols, ld, layout, data: data.reborrow() }
    }
}

/// The output of a task that is read, lent or taken: what becomes of a matrix, and what of a vector.
macro_rules! output_of {
    ($task:expr, $c:ident => $matrix:expr, $out:ident => $vector:expr) => {
        match $task {
            Task::Spmm { c: $c, .. } => Some($matrix),
            Task::Spmv { y: $out, .. } | Task::Sddmm { out: $out, .. } => Some($vector),
            Task::Spgemm { .. } | Task::Transpose { .. } | Task::Convert { .. } => None,
        }
    };
}

impl<'a> Task<'a> {
    /// The task of an operation on these operands; operands that it does not have are ignored.
    ///
    /// # Errors
    /// [`RequestError::Missing`] for one that it has and that is not there.
    pub fn new(inputs: Inputs<'a>, output: Option<DenseMut<'a>>) -> Result<Task<'a>, Refusal> {
        let Inputs { op, a, b_sparse, b, y, transpose_a, transpose_b, alpha, beta, mode, to, params } =
            inputs;
        let missing = |field| Refusal::Request(RequestError::Missing { field });
        let written = || output.ok_or(missing("the output"));
        Ok(match op {
            Op::Spmm => {
                let (b, c) = (b.ok_or(missing("b"))?, written()?);
                Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c }
            }
            Op::Spmv => {
                let (x, y) = (b.ok_or(missing("x"))?.data, written()?.data);
                Task::Spmv { a, transpose_a, x, alpha, beta, y }
            }
            Op::Sddmm => {
                let (x, y) = (b.ok_or(missing("x"))?, y.ok_or(missing("y"))?);
                Task::Sddmm { s: a, x, y, alpha, beta, mode, out: written()?.data }
            }
            Op::Spgemm => Task::Spgemm { a, b: b_sparse.ok_or(missing("b"))? },
            Op::Transpose => Task::Transpose { a },
            Op::Convert => Task::Convert { a, to: to.ok_or(missing("to"))?, params },
        })
    }

    /// The operands that are read.
    #[must_use]
    pub fn inputs(&self) -> Inputs<'a> {
        match *self {
            Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, .. } => {
                let b = Some(b);
                Inputs { b, transpose_a, transpose_b, alpha, beta, ..Inputs::plain(Op::Spmm, a) }
            }
            Task::Spmv { a, transpose_a, x, alpha, beta, .. } => {
                let b = Some(DenseRef::column(x));
                Inputs { b, transpose_a, alpha, beta, ..Inputs::plain(Op::Spmv, a) }
            }
            Task::Sddmm { s, x, y, alpha, beta, mode, .. } => {
                let (b, y) = (Some(x), Some(y));
                Inputs { b, y, alpha, beta, mode, ..Inputs::plain(Op::Sddmm, s) }
            }
            Task::Spgemm { a, b } => Inputs { b_sparse: Some(b), ..Inputs::plain(Op::Spgemm, a) },
            Task::Transpose { a } => Inputs::plain(Op::Transpose, a),
            Task::Convert { a, to, params } => {
                Inputs { to: Some(to), params, ..Inputs::plain(Op::Convert, a) }
            }
        }
    }

    /// What is asked for.
    #[must_use]
    pub fn op(&self) -> Op {
        self.inputs().op
    }

    /// What the operation writes, as it is.
    #[must_use]
    pub fn output(&self) -> Option<DenseRef<'_>> {
        output_of!(self, c => c.as_ref(), out => DenseRef::column(out.as_slice()))
    }

    /// What the operation writes, lent.
    #[must_use]
    pub fn output_mut(&mut self) -> Option<DenseMut<'_>> {
        output_of!(self, c => c.reborrow(), out => DenseMut::column(out.reborrow()))
    }

    /// The operands, taken.
    #[must_use]
    pub fn into_parts(self) -> (Inputs<'a>, Option<DenseMut<'a>>) {
        (self.inputs(), output_of!(self, c => c, out => DenseMut::column(out)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Csr, CsrParts, Sparse};

    /// Whatever is lost on the way would be missing in a message, a copy or a reproducer.
    #[test]
    fn a_task_comes_back_from_its_parts() {
        let parts = CsrParts { rows: 1, cols: 1, row_ptr: vec![0, 1], col_idx: vec![0], values: vec![2.0] };
        let a = AnySparse::F64(Sparse::Csr(Csr::try_new(parts).expect("a matrix")));
        let (x, mut y) = ([3.0], [0.0]);
        for op in Op::ALL {
            let dense = DenseRef::column(AnySlice::F64(&x));
            let given = Inputs {
                b_sparse: Some(&a),
                b: Some(dense),
                y: Some(dense),
                alpha: 5.0,
                to: Some(FormatKind::Csr),
                ..Inputs::plain(op, &a)
            };
            let output = |y| Some(DenseMut::column(AnySliceMut::F64(y)));
            let task = Task::new(given, output(&mut y)).expect("everything is there");
            let signature = op.signature();
            assert_eq!(task.op(), op);
            assert_eq!(task.output().is_some(), signature.output.is_some());
            let (inputs, written) = task.into_parts();
            assert_eq!(inputs.sparse().count(), signature.sparse.len());
            assert_eq!(inputs.dense().count(), signature.dense.len());
            assert_eq!(inputs.alpha, if op.is_dense() { 5.0 } else { 1.0 });
            let bare = Task::new(Inputs::plain(op, &a), None);
            let needs_none = signature.dense.is_empty() && signature.sparse.len() == 1 && inputs.to.is_none();
            assert_eq!(bare.is_ok(), needs_none && written.is_none(), "{}", op.name());
        }
    }
}
