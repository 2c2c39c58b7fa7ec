//! From a [`Task`] to a typed, checked request. Everything that a kernel refuses about dense products is refused here,
//! before anything is allocated or written.

use super::dense::{Names, Strided};
use super::element::{Operand, Output, Stored};
use super::scaling::Scaling;
use super::unit::Unit;
use sparse_types::contract::Op;
use sparse_types::format::{AnySparse, FormatKind, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::scalar::{AnySlice, AnySliceMut};
use sparse_types::task::{DenseMut, DenseRef, Task};

/// `C = alpha * op(A) * B + beta * C` with B and C as views that already undo layout and transposition.
#[derive(Debug)]
pub(crate) struct Product<'a, I, A, O> {
    /// As stored.
    pub(crate) a: &'a Sparse<I>,
    /// Use the transpose of A.
    pub(crate) transpose_a: bool,
    /// k x n.
    pub(crate) b: Strided<&'a [I]>,
    /// alpha and beta.
    pub(crate) scaling: Scaling<A>,
    /// m x n.
    pub(crate) c: Strided<&'a mut [O]>,
}

const B: Names = Names { rows: "rows of B", cols: "columns of B", ld: "ldb", data: "B" };
const C: Names = Names { rows: "rows of C", cols: "columns of C", ld: "ldc", data: "C" };

/// Checks an SpMM.
pub(crate) fn spmm<I: Operand<A>, A: Unit, O: Output<A>>(
    task: Task<'_>,
    kind: FormatKind,
) -> Result<Product<'_, I, A, O>, Refusal> {
    let Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c } = task else {
        return Err(wrong_task(Op::Spmm, &task));
    };
    let scaling = Scaling::try_new(alpha, beta)?;
    let a = sparse("A", a, kind)?;
    let b = dense(B, b)?;
    let b = if transpose_b { b.turned() } else { b };
    let request = Product { a, transpose_a, b, scaling, c: dense_mut(C, c)? };
    request.check_shapes(("columns of op(A)", "rows of op(B)"), ("rows of op(A)", "rows of C"))?;
    same(("columns of op(B)", request.b.cols), ("columns of C", request.c.cols))?;
    Ok(request)
}

/// Checks an SpMV; x and y become matrices of one column.
pub(crate) fn spmv<I: Operand<A>, A: Unit, O: Output<A>>(
    task: Task<'_>,
    kind: FormatKind,
) -> Result<Product<'_, I, A, O>, Refusal> {
    let Task::Spmv { a, transpose_a, x, alpha, beta, y } = task else {
        return Err(wrong_task(Op::Spmv, &task));
    };
    let scaling = Scaling::try_new(alpha, beta)?;
    let a = sparse("A", a, kind)?;
    let (x, y) = (slice::<I>("x", x)?, slice_mut::<O>("y", y)?);
    let request =
        Product { a, transpose_a, b: Strided::column(x.len(), x), scaling, c: Strided::column(y.len(), y) };
    request.check_shapes(("columns of op(A)", "elements of x"), ("rows of op(A)", "elements of y"))?;
    Ok(request)
}

impl<I, A, O> Product<'_, I, A, O> {
    fn check_shapes(
        &self,
        inner: (&'static str, &'static str),
        outer: (&'static str, &'static str),
    ) -> Result<(), Refusal> {
        let (rows, cols) = self.a.shape();
        let (m, k) = if self.transpose_a { (cols, rows) } else { (rows, cols) };
        same((inner.0, k), (inner.1, self.b.rows))?;
        same((outer.0, m), (outer.1, self.c.rows))
    }
}

/// Refuses two extents that should be equal and are not.
pub(crate) fn same(left: (&'static str, usize), right: (&'static str, usize)) -> Result<(), Refusal> {
    if left.1 == right.1 {
        return Ok(());
    }
    Err(RequestError::Shape { left_name: left.0, left: left.1, right_name: right.0, right: right.1 }.into())
}

/// The operand in the kernel's element type and format.
pub(crate) fn sparse<'a, T: Stored>(
    field: &'static str,
    matrix: &'a AnySparse,
    kind: FormatKind,
) -> Result<&'a Sparse<T>, Refusal> {
    let found = (matrix.kind(), matrix.precision());
    match T::open(matrix) {
        Some(typed) if found.0 == kind => Ok(typed),
        _ => Err(Refusal::Request(RequestError::Kind {
            field,
            expected: format!("{} of {}", kind.name(), T::PRECISION),
            found: format!("{} of {}", found.0.name(), found.1),
        })),
    }
}

/// A checked dense operand.
pub(crate) fn dense<T: Stored>(names: Names, operand: DenseRef<'_>) -> Result<Strided<&[T]>, Refusal> {
    let shape = (operand.rows, operand.cols, operand.ld, operand.layout);
    let data = slice(names.data, operand.data)?;
    Strided::try_new(names, shape, data.len(), data)
}

fn dense_mut<T: Stored>(names: Names, operand: DenseMut<'_>) -> Result<Strided<&mut [T]>, Refusal> {
    let shape = (operand.rows, operand.cols, operand.ld, operand.layout);
    let data = slice_mut(names.data, operand.data)?;
    Strided::try_new(names, shape, data.len(), data)
}

/// A typed vector.
pub(crate) fn slice<'a, T: Stored>(field: &'static str, data: AnySlice<'a>) -> Result<&'a [T], Refusal> {
    let found = data.precision();
    T::unwrap_slice(data).ok_or_else(|| {
        Refusal::Request(RequestError::Kind {
            field,
            expected: T::PRECISION.to_string(),
            found: found.to_string(),
        })
    })
}

/// A typed output.
pub(crate) fn slice_mut<'a, T: Stored>(
    field: &'static str,
    data: AnySliceMut<'a>,
) -> Result<&'a mut [T], Refusal> {
    let found = precision_of(&data);
    T::unwrap_slice_mut(data).ok_or_else(|| {
        Refusal::Request(RequestError::Kind {
            field,
            expected: T::PRECISION.to_string(),
            found: found.to_string(),
        })
    })
}

fn precision_of(data: &AnySliceMut<'_>) -> sparse_types::Precision {
    use sparse_types::Precision;
    match data {
        AnySliceMut::F64(_) => Precision::F64,
        AnySliceMut::F32(_) => Precision::F32,
        AnySliceMut::Tf32(_) => Precision::Tf32,
        AnySliceMut::F16(_) => Precision::F16,
        AnySliceMut::Bf16(_) => Precision::Bf16,
        AnySliceMut::E4m3(_) => Precision::E4m3,
        AnySliceMut::E5m2(_) => Precision::E5m2,
    }
}

/// The refusal of a task that asks for another operation.
pub(crate) fn wrong_task(expected: Op, task: &Task<'_>) -> Refusal {
    let found = task.op();
    Refusal::Request(RequestError::Kind {
        field: "task",
        expected: expected.name().to_owned(),
        found: found.name().to_owned(),
    })
}

/// The refusal of a matrix in a format that the kernel does not take.
pub(crate) fn wrong_format(field: &'static str, expected: FormatKind, found: FormatKind) -> Refusal {
    Refusal::Request(RequestError::Kind {
        field,
        expected: expected.name().to_owned(),
        found: found.name().to_owned(),
    })
}
