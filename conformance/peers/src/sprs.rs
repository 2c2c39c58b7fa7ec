//! `sprs`: CSR and CSC products with dense matrices of either layout, sparse products, transposes, conversions.
//!
//! Read from its source (0.11, `sparse/prod.rs`, `sparse/smmp.rs`): dense products accumulate into C in ascending
//! inner index, product and addition rounded apart; there is no alpha or beta, so C is zeroed first (beta = 0) or
//! kept (beta = 1). Sparse products sum each element the same way from zero.

use crate::number::{Number, sparse};
use ::sprs::prod;
use ::sprs::{CsMatI, CsMatViewI};
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};
use num_traits::Zero;
use sparse_conformance_core::backend::{Backend, Determinism, Failure, Prepared, Support};
use sparse_conformance_core::case::{Fault, Params};
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{FormatKind, Layout, Sparse};
use sparse_oracle::interop::sprs as interop;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Inputs, RawSparse};

/// What it computes on CSR and CSC, besides conversions.
const OPS: [Op; 4] = [Op::Spmm, Op::Spmv, Op::Spgemm, Op::Transpose];

/// The `sprs` crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sprs;

impl Backend for Sprs {
    fn name(&self) -> &'static str {
        "sprs"
    }

    fn version(&self) -> String {
        "0.11".to_owned()
    }

    fn description(&self) -> &'static str {
        "the sprs crate, one thread"
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
        let is_cs = |format| matches!(format, FormatKind::Csr | FormatKind::Csc);
        let cs = is_cs(contract.format);
        let supported = match contract.to {
            None => cs && OPS.contains(&contract.op),
            Some(to) => is_cs(to) && (cs || contract.format == FormatKind::Coo),
        };
        if !supported {
            return excluded("the crate has no such operation on this format");
        }
        if params.alpha != 1.0 || !(params.beta == 0.0 || params.beta == 1.0) {
            return excluded("it has no alpha or beta: only C = AB and C += AB");
        }
        if params.fault.is_some_and(|f| f != Fault::InnerShape) {
            return excluded("it has no such parameter to refuse");
        }
        let mut arithmetic =
            Arithmetic::chain(Reduction::MulAddChain, contract.types.acc, contract.types.out);
        arithmetic.epilogue = Epilogue::None;
        arithmetic.part_mut().init = Init::C;
        Support::Supported { arithmetic, profile: profile(contract) }
    }

    fn prepare<'a>(
        &'a self,
        contract: &'a Contract,
        inputs: Inputs<'a>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        match contract.types.a {
            Precision::F64 => Ok(Box::new(SprsInputs::<f64>::new(inputs)?)),
            Precision::F32 => Ok(Box::new(SprsInputs::<f32>::new(inputs)?)),
            other => Err(format!("no {other} here").into()),
        }
    }
}

fn profile(contract: &Contract) -> Profile {
    if contract.to.is_some() && contract.format == FormatKind::Coo {
        let reason = "sorts triplets with an unstable sort before it adds duplicates";
        return Profile::default().with(Choice::DuplicatesSumAnyOrder, reason);
    }
    Profile::default()
}

/// sprs matrices with 32-bit indices.
type SprsMatrix<T> = CsMatI<T, u32, u32>;
type View<'a, T> = CsMatViewI<'a, T, u32, u32>;

/// The left operand, as the crate has it.
enum Left<T> {
    Compressed(SprsMatrix<T>),
    Triplets(::sprs::TriMatI<T, u32>),
}

/// Inputs with their matrices made.
struct SprsInputs<'a, T> {
    inputs: Inputs<'a>,
    a: Left<T>,
    b_sparse: Option<SprsMatrix<T>>,
    result: Option<SprsMatrix<T>>,
}

impl<'a, T: Number> SprsInputs<'a, T> {
    fn new(inputs: Inputs<'a>) -> Result<SprsInputs<'a, T>, Failure> {
        if inputs.to.is_none() && !OPS.contains(&inputs.op) {
            return Err(format!("no {}", inputs.op.name()).into());
        }
        let a = match sparse::<T>(inputs.a)? {
            Sparse::Coo(a) if inputs.to.is_some() => Left::Triplets(triplets(a)?),
            a => Left::Compressed(matrix(a)?),
        };
        let b_sparse = inputs.b_sparse.map(|b| matrix(sparse::<T>(b)?)).transpose()?;
        Ok(SprsInputs { inputs, a, b_sparse, result: None })
    }
}

impl<T: Number> Prepared for SprsInputs<'_, T>
where
    RawSparse: RawOf<Sparse<T>>,
{
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        self.result = None;
        match (output, &self.a, &self.b_sparse, self.inputs.to) {
            (Some(c), Left::Compressed(a), ..) => return dense_product::<T>(a, &self.inputs, c),
            (None, Left::Compressed(a), Some(b), _) => self.result = Some(sparse_product(a, b)),
            // The transposed view of a CSR matrix is a CSC matrix; storing it the other way is the transpose as CSR.
            (None, Left::Compressed(a), None, None) => {
                self.result = Some(a.transpose_view().to_other_storage());
            }
            (None, a, None, Some(to)) => self.result = Some(converted(a, to)?),
            (_, Left::Triplets(_), ..) => return Err("triplets are only converted".into()),
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.result = None;
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let Some(m) = self.result.take() else {
            return Ok(Answer::Written);
        };
        let sparse = if m.is_csr() {
            interop::csr(&m.view()).map(Sparse::Csr)
        } else {
            interop::csc(&m.view()).map(Sparse::Csc)
        };
        Ok(Answer::Sparse(RawSparse::of(sparse.map_err(|e| e.to_string())?)))
    }
}

/// To CSR and CSC, the formats that it has.
fn converted<T: Number>(a: &Left<T>, to: FormatKind) -> Result<SprsMatrix<T>, Failure> {
    let by_rows = to == FormatKind::Csr;
    if !by_rows && to != FormatKind::Csc {
        return Err("no such conversion".into());
    }
    Ok(match a {
        Left::Triplets(a) if by_rows => a.to_csr::<u32>(),
        Left::Triplets(a) => a.to_csc::<u32>(),
        Left::Compressed(a) if by_rows => a.to_csr(),
        Left::Compressed(a) => a.to_csc(),
    })
}

/// SpMM and SpMV.
fn dense_product<T: Number>(a: &SprsMatrix<T>, inputs: &Inputs<'_>, c: DenseMut<'_>) -> Result<(), Failure> {
    let view = if inputs.transpose_a { a.transpose_view() } else { a.view() };
    let b = inputs.b.ok_or("no dense operand")?;
    if inputs.op == Op::Spmv {
        let x = T::unwrap_slice(b.data).ok_or("x has another element type")?;
        let y = T::unwrap_slice_mut(c.data).ok_or("y has another element type")?;
        if inputs.beta == 0.0 {
            y.fill(<T as Zero>::zero());
        }
        if view.is_csr() {
            prod::mul_acc_mat_vec_csr(view, x, y);
        } else {
            prod::mul_acc_mat_vec_csc(view, x, y);
        }
        return Ok(());
    }
    let b = array::<T>(&b)?;
    let b = if inputs.transpose_b { b.reversed_axes() } else { b };
    let by_rows = c.layout == Layout::RowMajor;
    let mut c = array_mut::<T>(c)?;
    if inputs.beta == 0.0 {
        c.fill(<T as Zero>::zero());
    }
    product(view, &b, c, by_rows);
    Ok(())
}

fn product<T: Number>(a: View<'_, T>, b: &ArrayView2<'_, T>, c: ArrayViewMut2<'_, T>, by_rows: bool) {
    match (a.is_csr(), by_rows) {
        (true, true) => prod::csr_mulacc_dense_rowmaj(a, b.view(), c),
        (true, false) => prod::csr_mulacc_dense_colmaj(a, b.view(), c),
        (false, true) => prod::csc_mulacc_dense_rowmaj(a, b.view(), c),
        (false, false) => prod::csc_mulacc_dense_colmaj(a, b.view(), c),
    }
}

/// `A * B` for two CSR or two CSC matrices: `B^T * A^T` is the CSC case read as CSR.
fn sparse_product<T: Number>(a: &SprsMatrix<T>, b: &SprsMatrix<T>) -> SprsMatrix<T> {
    if a.is_csr() {
        ::sprs::smmp::mul_csr_csr(a.view(), b.view())
    } else {
        let product: SprsMatrix<T> = ::sprs::smmp::mul_csr_csr(b.transpose_view(), a.transpose_view());
        product.transpose_into()
    }
}

fn array<'a, T: Number>(b: &DenseRef<'a>) -> Result<ArrayView2<'a, T>, String> {
    let data = T::unwrap_slice(b.data).ok_or("B has another element type")?;
    let strides = strides((b.rows, b.cols), b.layout, b.ld);
    ArrayView2::from_shape((b.rows, b.cols).strides(strides), data).map_err(|e| e.to_string())
}

fn array_mut<T: Number>(c: DenseMut<'_>) -> Result<ArrayViewMut2<'_, T>, String> {
    let data = T::unwrap_slice_mut(c.data).ok_or("C has another element type")?;
    let strides = strides((c.rows, c.cols), c.layout, c.ld);
    ArrayViewMut2::from_shape((c.rows, c.cols).strides(strides), data).map_err(|e| e.to_string())
}

/// Strides for ndarray, which measures even an empty view against its data.
fn strides((rows, cols): (usize, usize), layout: Layout, ld: usize) -> (usize, usize) {
    if rows == 0 || cols == 0 {
        (0, 0)
    } else if layout == Layout::RowMajor {
        (ld, 1)
    } else {
        (1, ld)
    }
}

fn matrix<T: Number>(a: &Sparse<T>) -> Result<SprsMatrix<T>, String> {
    match a {
        Sparse::Csr(a) => interop::to_csr(a).map_err(|e| e.to_string()),
        Sparse::Csc(a) => interop::to_csc(a).map_err(|e| e.to_string()),
        _ => Err("A must be CSR or CSC".to_owned()),
    }
}

fn triplets<T: Number>(a: &sparse_oracle::format::Coo<T>) -> Result<::sprs::TriMatI<T, u32>, String> {
    interop::to_trimat(a).map_err(|e| e.to_string())
}
