//! Kernels that are closures: one function for each operation, which says what the closure is given.
//!
//! ```text
//! spmv(|a: &Csr<f32>, x, y| ..)     format and element types of the closure -> contract spmv.csr.f32_f32_f32_f32
//! ```
//!
//! Of the parameters of a contract a closure is asked for the plain ones: no transposes, dense operands by rows without padding,
//! alpha = 1 and beta = 0 (the `_update` functions take both), legal requests. [`backend`] takes everything.

use crate::check::{Check, Chosen};
use crate::closure::{Closure, Run};
use sparse_conformance_core::backend::Backend;
use sparse_oracle::contract::{Contract, Op, Types, all_contracts};
use sparse_oracle::format::{FormatKind, FormatParams, SparseFormat};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, Precision, Scalar};
use sparse_oracle::task::{Answer, Task};

/// The check of a closure: its contract is the first with this operation, formats and element types.
fn check(
    (op, format, to): (Op, FormatKind, Option<FormatKind>),
    (input, output): (Precision, Precision),
    updates: bool,
    run: Run,
) -> Check {
    let fits = |c: &&Contract| {
        let Types { a, b, out, .. } = c.types;
        (c.op, c.format, c.to, a, b, out) == (op, format, to, input, input, output)
    };
    let names = || format!("{}.{} of {} to {}", op.name(), format.name(), input.name(), output.name());
    match all_contracts().iter().find(fits) {
        Some(contract) => {
            let arithmetic = contract.weakest();
            Check::new(Chosen::Closure(Closure { contract: *contract, arithmetic, updates, run }))
        }
        None => Check::new(Chosen::Nothing { asked: names() }),
    }
}

fn read<T: Element>(slice: AnySlice<'_>) -> Option<&[T]> {
    T::unwrap_slice(slice)
}

fn write<T: Element>(slice: AnySliceMut<'_>) -> Option<&mut [T]> {
    T::unwrap_slice_mut(slice)
}

/// `y = A x`. The closure is given A (m x k), x (k elements) and y (m elements, to be written).
pub fn spmv<M: SparseFormat, Y: Element>(
    kernel: impl Fn(&M, &[M::Value], &mut [Y]) + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Spmv { a, x, y, .. } = task else { return None };
        kernel(M::of(a)?, read(x)?, write(y)?);
        Some(Answer::Written)
    };
    let types = (<M::Value as Scalar>::PRECISION, Y::PRECISION);
    check((Op::Spmv, M::KIND, None), types, false, Box::new(run))
}

/// `y = alpha A x + beta y`. The closure is given alpha, A (m x k), x (k elements), beta and y (m elements, read where beta is not 0, and
/// written). What a factor of 0 belongs to must have no influence: not even a NaN there.
pub fn spmv_update<M: SparseFormat, Y: Element>(
    kernel: impl Fn(f64, &M, &[M::Value], f64, &mut [Y]) + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Spmv { a, x, alpha, beta, y, .. } = task else { return None };
        kernel(alpha, M::of(a)?, read(x)?, beta, write(y)?);
        Some(Answer::Written)
    };
    let types = (<M::Value as Scalar>::PRECISION, Y::PRECISION);
    check((Op::Spmv, M::KIND, None), types, true, Box::new(run))
}

/// `C = A B`. The closure is given A (m x k), B (k x n, by rows), n and C (m x n, by rows, to be written).
pub fn spmm<M: SparseFormat, C: Element>(
    kernel: impl Fn(&M, &[M::Value], usize, &mut [C]) + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Spmm { a, b, c, .. } = task else { return None };
        kernel(M::of(a)?, read(b.data)?, b.cols, write(c.data)?);
        Some(Answer::Written)
    };
    let types = (<M::Value as Scalar>::PRECISION, C::PRECISION);
    check((Op::Spmm, M::KIND, None), types, false, Box::new(run))
}

/// `C = alpha A B + beta C`. The closure is given alpha, A (m x k), B (k x n, by rows), n, beta and C (m x n, by rows, read where beta is
/// not 0, and written). What a factor of 0 belongs to must have no influence: not even a NaN there.
pub fn spmm_update<M: SparseFormat, C: Element>(
    kernel: impl Fn(f64, &M, &[M::Value], usize, f64, &mut [C]) + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Spmm { a, b, alpha, beta, c, .. } = task else { return None };
        kernel(alpha, M::of(a)?, read(b.data)?, b.cols, beta, write(c.data)?);
        Some(Answer::Written)
    };
    let types = (<M::Value as Scalar>::PRECISION, C::PRECISION);
    check((Op::Spmm, M::KIND, None), types, true, Box::new(run))
}

/// Dot products of rows of X and Y at the stored positions of S: `out[p] = X[i] . Y[j]`. The closure is given S (m x n; its values are not
/// used), X (m x k, by rows), Y (n x k, by rows), k and out (one element for each stored position, in the order of S, to be written).
///
/// S has the element type of the output, as the contract says; X and Y have type `X`.
pub fn sddmm<M: SparseFormat, X: Element>(
    kernel: impl Fn(&M, &[X], &[X], usize, &mut [M::Value]) + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Sddmm { s, x, y, out, .. } = task else { return None };
        kernel(M::of(s)?, read(x.data)?, read(y.data)?, x.cols, write(out)?);
        Some(Answer::Written)
    };
    let types = (X::PRECISION, <M::Value as Scalar>::PRECISION);
    check((Op::Sddmm, M::KIND, None), types, false, Box::new(run))
}

/// `C = A B`, all sparse, of one format. The closure is given A (m x k) and B (k x n) and returns the arrays of C: every position to which
/// a product contributes is stored, in ascending order, also where the sum is zero.
pub fn spgemm<M: SparseFormat>(kernel: impl Fn(&M, &M) -> M::Parts + Send + Sync + 'static) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Spgemm { a, b } = task else { return None };
        Answer::from_parts(M::parts(kernel(M::of(a)?, M::of(b)?))).ok()
    };
    let precision = <M::Value as Scalar>::PRECISION;
    check((Op::Spgemm, M::KIND, None), (precision, precision), false, Box::new(run))
}

/// `A^T` in the format of A. The closure is given A and returns the arrays of its transpose.
pub fn transpose<M: SparseFormat>(kernel: impl Fn(&M) -> M::Parts + Send + Sync + 'static) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Transpose { a } = task else { return None };
        Answer::from_parts(M::parts(kernel(M::of(a)?))).ok()
    };
    let precision = <M::Value as Scalar>::PRECISION;
    check((Op::Transpose, M::KIND, None), (precision, precision), false, Box::new(run))
}

/// The same matrix in another format: `convert::<Coo<f32>, Csr<f32>>(|a, _| ..)`. The closure is given the matrix and the parameters of the
/// target format (sides of blocks and the like; formats without any ignore them), and returns the arrays of the other format.
pub fn convert<From: SparseFormat, To: SparseFormat<Value = From::Value>>(
    kernel: impl Fn(&From, FormatParams) -> To::Parts + Send + Sync + 'static,
) -> Check {
    let run = move |task: Task<'_>| {
        let Task::Convert { a, params, .. } = task else { return None };
        Answer::from_parts(To::parts(kernel(From::of(a)?, params))).ok()
    };
    let precision = <From::Value as Scalar>::PRECISION;
    check((Op::Convert, From::KIND, Some(To::KIND)), (precision, precision), false, Box::new(run))
}

/// Anything that implements the suite's [`Backend`], on the contracts whose names match the pattern (`*` is any text).
pub fn backend(backend: impl Backend + 'static, contracts: &str) -> Check {
    Check::new(Chosen::Backend { backend: Box::new(backend), contracts: contracts.to_owned() })
}
