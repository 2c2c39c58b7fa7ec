//! `nalgebra-sparse`: CSR and CSC products with column-major dense matrices, sparse products, transposes, conversions.
//!
//! Read from its source (0.12, `ops/serial/cs.rs`): a CSR product (or a transposed CSC one) sums each element from
//! zero in ascending inner index, product and addition rounded apart, and ends with `beta * c + alpha * dot`. A CSC
//! product (or a transposed CSR one) first scales C, then adds `(alpha * a) * b` term by term. Both always multiply
//! by alpha and beta, so `0 * NaN` gets through.

use crate::number::{Number, sparse};
use ::nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, Dyn, Scalar as NaScalar};
use nalgebra_sparse::ops::Op as NaOp;
use nalgebra_sparse::ops::serial::{spmm_csc_dense, spmm_csr_dense};
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use sparse_conformance_core::backend::{Backend, Determinism, Failure, Prepared, Support};
use sparse_conformance_core::case::Params;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Reduction};
use sparse_oracle::contract::{Contract, Op, Returned};
use sparse_oracle::format::{AnySparse, FormatKind, Layout, Sparse};
use sparse_oracle::interop::nalgebra as interop;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Inputs, RawSparse};

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
        if params.fault.is_some_and(|f| f != sparse_conformance_core::case::Fault::InnerShape) {
            return excluded(
                "its views check lengths and layouts, and it has no rule against NaN or infinite factors",
            );
        }
        Support::Supported { arithmetic: arithmetic(contract, params), profile: profile(contract) }
    }

    fn prepare<'a>(
        &'a self,
        contract: &'a Contract,
        inputs: Inputs<'a>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        match contract.types.a {
            Precision::F64 => Ok(Box::new(NalgebraInputs::<f64>::new(inputs)?)),
            Precision::F32 => Ok(Box::new(NalgebraInputs::<f32>::new(inputs)?)),
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

/// A matrix as the crate has it.
enum NalgebraForm<T> {
    Coo(CooMatrix<T>),
    Csr(CsrMatrix<T>),
    Csc(CscMatrix<T>),
}

impl<T: Number> NalgebraForm<T> {
    fn of(a: &Sparse<T>) -> Result<NalgebraForm<T>, String> {
        let made = match a {
            Sparse::Coo(a) => interop::to_coo(a).map(NalgebraForm::Coo),
            Sparse::Csr(a) => interop::to_csr(a).map(NalgebraForm::Csr),
            Sparse::Csc(a) => interop::to_csc(a).map(NalgebraForm::Csc),
            _ => return Err("it has COO, CSR and CSC".to_owned()),
        };
        made.map_err(|e| e.to_string())
    }
}

/// Inputs with their matrices made.
struct NalgebraInputs<'a, T> {
    inputs: Inputs<'a>,
    a: NalgebraForm<T>,
    b_sparse: Option<NalgebraForm<T>>,
    result: Option<NalgebraForm<T>>,
}

impl<'a, T: Number> NalgebraInputs<'a, T> {
    fn new(inputs: Inputs<'a>) -> Result<NalgebraInputs<'a, T>, Failure> {
        if inputs.to.is_none() && !OPS.contains(&inputs.op) {
            return Err(format!("no {}", inputs.op.name()).into());
        }
        let own = |m: &AnySparse| NalgebraForm::of(sparse::<T>(m)?);
        let (a, b_sparse) = (own(inputs.a)?, inputs.b_sparse.map(own).transpose()?);
        Ok(NalgebraInputs { inputs, a, b_sparse, result: None })
    }

    fn dense_product(&self, c: DenseMut<'_>) -> Result<(), Failure> {
        let inputs = &self.inputs;
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
        let factors = (inputs.alpha, inputs.beta);
        Ok(product(&self.a, inputs.transpose_a, b, factors, view_mut::<T>(c, &mut no_c)?)?)
    }
}

impl<T: Number> Prepared for NalgebraInputs<'_, T>
where
    RawSparse: RawOf<Sparse<T>>,
{
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        self.result = None;
        if let Some(c) = output {
            return self.dense_product(c);
        }
        self.result = Some(match (&self.a, &self.b_sparse, self.inputs.to) {
            (NalgebraForm::Csr(a), Some(NalgebraForm::Csr(b)), _) => NalgebraForm::Csr(a * b),
            (NalgebraForm::Csc(a), Some(NalgebraForm::Csc(b)), _) => NalgebraForm::Csc(a * b),
            (_, Some(_), _) => return Err("both operands must be CSR, or both CSC".into()),
            (a, None, Some(to)) => conversion(a, to)?,
            (NalgebraForm::Csr(a), None, None) => NalgebraForm::Csr(a.transpose()),
            (NalgebraForm::Csc(a), None, None) => NalgebraForm::Csc(a.transpose()),
            (NalgebraForm::Coo(_), None, None) => return Err("no such transpose".into()),
        });
        Ok(())
    }

    fn clear(&mut self) {
        self.result = None;
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let sparse = match self.result.take() {
            None => return Ok(Answer::Written),
            Some(NalgebraForm::Coo(m)) => interop::coo(&m).map(Sparse::Coo),
            Some(NalgebraForm::Csr(m)) => interop::csr(&m).map(Sparse::Csr),
            Some(NalgebraForm::Csc(m)) => interop::csc(&m).map(Sparse::Csc),
        };
        Ok(Answer::Sparse(RawSparse::of(sparse.map_err(|e| e.to_string())?)))
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
    a: &NalgebraForm<T>,
    transpose_a: bool,
    (b, transpose_b): (Oriented<'_, T>, bool),
    (alpha, beta): (f64, f64),
    c: DMatrixViewMut<'_, T>,
) -> Result<(), String> {
    let b = match (b, transpose_b) {
        (Oriented::Plain(b), false) | (Oriented::ByRows(b), true) => NaOp::NoOp(b),
        (Oriented::Plain(b), true) | (Oriented::ByRows(b), false) => NaOp::Transpose(b),
    };
    let (alpha, beta) = (<T as Number>::of(alpha), <T as Number>::of(beta));
    match a {
        NalgebraForm::Csr(a) => {
            spmm_csr_dense(beta, c, alpha, if transpose_a { NaOp::Transpose(a) } else { NaOp::NoOp(a) }, b);
        }
        NalgebraForm::Csc(a) => {
            spmm_csc_dense(beta, c, alpha, if transpose_a { NaOp::Transpose(a) } else { NaOp::NoOp(a) }, b);
        }
        NalgebraForm::Coo(_) => return Err("A must be CSR or CSC".to_owned()),
    }
    Ok(())
}

fn conversion<T: Number>(a: &NalgebraForm<T>, to: FormatKind) -> Result<NalgebraForm<T>, Failure> {
    match a {
        NalgebraForm::Coo(a) if to == FormatKind::Csr => Ok(NalgebraForm::Csr(CsrMatrix::from(a))),
        NalgebraForm::Coo(a) if to == FormatKind::Csc => Ok(NalgebraForm::Csc(CscMatrix::from(a))),
        NalgebraForm::Csr(a) if to == FormatKind::Csc => Ok(NalgebraForm::Csc(CscMatrix::from(a))),
        NalgebraForm::Csc(a) if to == FormatKind::Csr => Ok(NalgebraForm::Csr(CsrMatrix::from(a))),
        NalgebraForm::Csr(a) if to == FormatKind::Coo => Ok(NalgebraForm::Coo(CooMatrix::from(a))),
        NalgebraForm::Coo(_) | NalgebraForm::Csr(_) | NalgebraForm::Csc(_) => {
            Err("no such conversion".into())
        }
    }
}
