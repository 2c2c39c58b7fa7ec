//! `nalgebra-sparse`: CSR and CSC products with column-major dense matrices, sparse products, transposes, conversions.
//!
//! Read from its source (0.12, `ops/serial/cs.rs`): a CSR product (or a transposed CSC one) sums each element from
//! zero in ascending inner index, product and addition rounded apart, and ends with `beta * c + alpha * dot`. A CSC
//! product (or a transposed CSR one) first scales C, then adds `(alpha * a) * b` term by term. Both always multiply
//! by alpha and beta, so `0 * NaN` gets through.

use super::{Backend, Determinism, Failure, Support};
use crate::case::Params;
use ::nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, Dyn, Scalar as NaScalar};
use nalgebra_sparse::ops::Op as NaOp;
use nalgebra_sparse::ops::serial::{spmm_csc_dense, spmm_csr_dense};
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Reduction};
use sparse_oracle::contract::{Contract, Op, Returned};
use sparse_oracle::format::{AnySparse, Coo, Csc, Csr, FormatKind, Layout, Sparse};
use sparse_oracle::interop::nalgebra as interop;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{Element, Precision};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, RawSparse, Task};

/// What it computes on CSR and CSC, besides conversions.
const OPS: [Op; 4] = [Op::Spmm, Op::Spmv, Op::Spgemm, Op::Transpose];

/// The `nalgebra-sparse` crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct NalgebraSparse;

impl Backend for NalgebraSparse {
    fn name(&self) -> &'static str {
        "nalgebra-sparse"
    }

    fn version(&self) -> String {
        "0.12".to_owned()
    }

    fn description(&self) -> &'static str {
        "the nalgebra-sparse crate, serial kernels"
    }

    fn refuses_by_panic(&self) -> bool {
        true
    }

    fn determinism(&self) -> Determinism {
        Determinism::Threads
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let excluded = |reason: &'static str| Support::Excluded { reason: reason.into() };
        if !matches!(contract.types.a, Precision::F32 | Precision::F64) {
            return excluded("its numbers are f32 and f64 here");
        }
        let cs = matches!(contract.format, FormatKind::Csr | FormatKind::Csc);
        let supported = match contract.to {
            None => cs && OPS.contains(&contract.op),
            Some(to) => convertible(contract.format) && convertible(to),
        };
        if !supported {
            return excluded("the crate has no such operation on this format");
        }
        if contract.op.signature().returned == Returned::Matrix && params.layout_c == Layout::RowMajor {
            return excluded("its dense results are column-major");
        }
        if params.fault.is_some_and(|f| f != crate::case::Fault::InnerShape) {
            return excluded(
                "its views check lengths and layouts, and it has no rule against NaN or infinite factors",
            );
        }
        Support::Supported { arithmetic: arithmetic(contract, params), profile: profile(contract) }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        match contract.types.a {
            Precision::F64 => run::<f64>(task),
            Precision::F32 => run::<f32>(task),
            other => Err(format!("no {other} here").into()),
        }
    }
}

fn convertible(format: FormatKind) -> bool {
    matches!(format, FormatKind::Coo | FormatKind::Csr | FormatKind::Csc)
}

fn arithmetic(contract: &Contract, params: &Params) -> Arithmetic {
    let chain = Arithmetic::chain(Reduction::MulAddChain, contract.types.acc, contract.types.out);
    let scatters = (contract.format == FormatKind::Csc) != params.transpose_a;
    if contract.op.signature().returned != Returned::Product && scatters {
        chain.epilogue(Epilogue::AlphaIntoA)
    } else {
        chain
    }
}

fn profile(contract: &Contract) -> Profile {
    let reads = "multiplies by alpha and beta without looking at them";
    if contract.op.updates() {
        return Profile::default().with(Choice::Alpha0ReadsAb, reads).with(Choice::Beta0ReadsC, reads);
    }
    if contract.to.is_some() && contract.format == FormatKind::Coo {
        let sorts = "sorts each lane by column alone before it adds duplicates";
        return Profile::default().with(Choice::DuplicatesSumAnyOrder, sorts);
    }
    Profile::default()
}

/// Element types that both sides have.
trait Number: Element + NaScalar + ::nalgebra::RealField + Copy {
    fn of(value: f64) -> Self;
    fn sparse(a: &AnySparse) -> Result<&Sparse<Self>, String>;
}

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn sparse(a: &AnySparse) -> Result<&Sparse<f64>, String> {
        if let AnySparse::F64(m) = a { Ok(m) } else { Err("expected f64".to_owned()) }
    }
}

impl Number for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }

    fn sparse(a: &AnySparse) -> Result<&Sparse<f32>, String> {
        if let AnySparse::F32(m) = a { Ok(m) } else { Err("expected f32".to_owned()) }
    }
}

fn run<T: Number>(task: Task<'_>) -> Result<Answer, Failure>
where
    RawSparse: RawOf<Sparse<T>>,
{
    let (inputs, output) = task.into_parts();
    if inputs.to.is_none() && !OPS.contains(&inputs.op) {
        return Err(format!("no {}", inputs.op.name()).into());
    }
    match (output, inputs.b_sparse, T::sparse(inputs.a)?, inputs.to) {
        (Some(c), _, a, _) => {
            let b = inputs.b.ok_or("no dense operand")?;
            // A vector is a column.
            let (b, c) = if inputs.op == Op::Spmv {
                let layout = Layout::ColMajor;
                (DenseRef { ld: b.rows, layout, ..b }, DenseMut { ld: c.rows, layout, ..c })
            } else {
                (b, c)
            };
            let (no_b, mut no_c) = (stand_in::<T>(b.rows, b.cols), stand_in::<T>(c.rows, c.cols));
            let b = (view::<T>(&b, &no_b)?, inputs.transpose_b);
            product(a, inputs.transpose_a, b, (inputs.alpha, inputs.beta), view_mut::<T>(c, &mut no_c)?)?;
            Ok(Answer::Written)
        }
        (None, Some(b), a, _) => sparse_product(a, T::sparse(b)?),
        (None, None, a, Some(to)) => conversion(a, to),
        (None, None, Sparse::Csr(a), None) => Ok(answer_csr(&to_csr(a)?.transpose())?),
        (None, None, Sparse::Csc(a), None) => Ok(answer_csc(&to_csc(a)?.transpose())?),
        _ => Err("no such transpose".into()),
    }
}

/// A dense operand as a column-major view, transposed if it is stored by rows.
enum Oriented<'a, T: NaScalar> {
    Plain(DMatrixView<'a, T>),
    ByRows(DMatrixView<'a, T>),
}

/// An empty matrix of this shape, if it is one: nalgebra measures even an empty view of a slice against its data.
fn stand_in<T: Number>(rows: usize, cols: usize) -> DMatrix<T> {
    if rows == 0 || cols == 0 { DMatrix::zeros(rows, cols) } else { DMatrix::zeros(0, 0) }
}

fn view<'a, T: Number>(b: &DenseRef<'a>, empty: &'a DMatrix<T>) -> Result<Oriented<'a, T>, String> {
    if b.rows == 0 || b.cols == 0 {
        return Ok(Oriented::Plain(empty.as_view()));
    }
    let data = T::unwrap_slice(b.data).ok_or("B has another element type")?;
    let (unit, ld) = (::nalgebra::U1, Dyn(b.ld));
    Ok(if b.layout == Layout::ColMajor {
        Oriented::Plain(DMatrixView::from_slice_with_strides_generic(
            data,
            Dyn(b.rows),
            Dyn(b.cols),
            unit,
            ld,
        ))
    } else {
        Oriented::ByRows(DMatrixView::from_slice_with_strides_generic(
            data,
            Dyn(b.cols),
            Dyn(b.rows),
            unit,
            ld,
        ))
    })
}

fn view_mut<'a, T: Number>(
    c: DenseMut<'a>,
    empty: &'a mut DMatrix<T>,
) -> Result<DMatrixViewMut<'a, T>, String> {
    if c.layout != Layout::ColMajor {
        return Err("C must be column-major".to_owned());
    }
    if c.rows == 0 || c.cols == 0 {
        return Ok(empty.as_view_mut());
    }
    let data = T::unwrap_slice_mut(c.data).ok_or("C has another element type")?;
    let (unit, ld) = (::nalgebra::U1, Dyn(c.ld));
    Ok(DMatrixViewMut::from_slice_with_strides_generic(data, Dyn(c.rows), Dyn(c.cols), unit, ld))
}

fn product<T: Number>(
    a: &Sparse<T>,
    transpose_a: bool,
    (b, transpose_b): (Oriented<'_, T>, bool),
    (alpha, beta): (f64, f64),
    c: DMatrixViewMut<'_, T>,
) -> Result<(), String> {
    let b = match (b, transpose_b) {
        (Oriented::Plain(b), false) | (Oriented::ByRows(b), true) => NaOp::NoOp(b),
        (Oriented::Plain(b), true) | (Oriented::ByRows(b), false) => NaOp::Transpose(b),
    };
    let (alpha, beta) = (T::of(alpha), T::of(beta));
    match a {
        Sparse::Csr(a) => {
            let a = to_csr(a)?;
            spmm_csr_dense(beta, c, alpha, if transpose_a { NaOp::Transpose(&a) } else { NaOp::NoOp(&a) }, b);
        }
        Sparse::Csc(a) => {
            let a = to_csc(a)?;
            spmm_csc_dense(beta, c, alpha, if transpose_a { NaOp::Transpose(&a) } else { NaOp::NoOp(&a) }, b);
        }
        _ => return Err("A must be CSR or CSC".to_owned()),
    }
    Ok(())
}

fn sparse_product<T: Number>(a: &Sparse<T>, b: &Sparse<T>) -> Result<Answer, Failure>
where
    RawSparse: RawOf<Sparse<T>>,
{
    match (a, b) {
        (Sparse::Csr(a), Sparse::Csr(b)) => answer_csr(&(to_csr(a)? * to_csr(b)?)),
        (Sparse::Csc(a), Sparse::Csc(b)) => answer_csc(&(to_csc(a)? * to_csc(b)?)),
        _ => Err("both operands must be CSR, or both CSC".into()),
    }
}

fn conversion<T: Number>(a: &Sparse<T>, to: FormatKind) -> Result<Answer, Failure>
where
    RawSparse: RawOf<Sparse<T>>,
{
    let coo = |a: &Coo<T>| interop::to_coo(a).map_err(|e| e.to_string());
    match a {
        Sparse::Coo(a) if to == FormatKind::Csr => answer_csr(&CsrMatrix::from(&coo(a)?)),
        Sparse::Coo(a) if to == FormatKind::Csc => answer_csc(&CscMatrix::from(&coo(a)?)),
        Sparse::Csr(a) if to == FormatKind::Csc => answer_csc(&CscMatrix::from(&to_csr(a)?)),
        Sparse::Csc(a) if to == FormatKind::Csr => answer_csr(&CsrMatrix::from(&to_csc(a)?)),
        Sparse::Csr(a) if to == FormatKind::Coo => {
            let coo = interop::coo(&CooMatrix::from(&to_csr(a)?));
            Ok(Answer::Sparse(RawSparse::of(Sparse::Coo(coo.map_err(|e| e.to_string())?))))
        }
        _ => Err("no such conversion".into()),
    }
}

fn to_csr<T: Number>(a: &Csr<T>) -> Result<CsrMatrix<T>, String> {
    interop::to_csr(a).map_err(|e| e.to_string())
}

fn to_csc<T: Number>(a: &Csc<T>) -> Result<CscMatrix<T>, String> {
    interop::to_csc(a).map_err(|e| e.to_string())
}

fn answer_csr<T: Number>(m: &CsrMatrix<T>) -> Result<Answer, Failure>
where
    RawSparse: RawOf<Sparse<T>>,
{
    let m = interop::csr(m).map_err(|e| e.to_string())?;
    Ok(Answer::Sparse(RawSparse::of(Sparse::Csr(m))))
}

fn answer_csc<T: Number>(m: &CscMatrix<T>) -> Result<Answer, Failure>
where
    RawSparse: RawOf<Sparse<T>>,
{
    let m = interop::csc(m).map_err(|e| e.to_string())?;
    Ok(Answer::Sparse(RawSparse::of(Sparse::Csc(m))))
}
