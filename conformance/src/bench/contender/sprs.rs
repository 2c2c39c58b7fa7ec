//! `sprs`: what its operator `*` calls for eight columns or more, CSR times row-major, without its allocation; and its
//! sparse product. It adds to C, so that C is zeroed within the call.

use super::number::{Number, csr, csr_bytes, elements};
use super::{About, Absent, Contender, Given, Wrote};
use crate::backend::{Backend, Sprs, Support};
use crate::case::Params;
use crate::operands::Operands;
use crate::response::poison;
use ::sprs::{CsMatI, prod, smmp};
use ndarray::{ArrayView2, ArrayViewMut2};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Sparse};
use sparse_oracle::interop::sprs as interop;
use sparse_oracle::judge::Place;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::task::RawSparse;
use std::sync::Arc;
use std::time::Instant;

type Matrix<T> = CsMatI<T, u32, u32>;

/// `sprs` with its matrices made.
pub(in super::super) struct SprsContender<T: Number> {
    about: About,
    op: Op,
    a: Matrix<T>,
    b_sparse: Option<Matrix<T>>,
    operands: Arc<Operands>,
    out: Vec<T>,
    answer: Option<Matrix<T>>,
}

impl SprsContender<f64> {
    /// Ready to run, or why not.
    pub(in super::super) fn boxed(given: Given<'_>) -> Result<Box<dyn Contender>, Absent> {
        match given.contract.types.a {
            Precision::F32 => Ok(Box::new(SprsContender::<f32>::new(given)?)),
            Precision::F64 => Ok(Box::new(SprsContender::<f64>::new(given)?)),
            _ => Err(Absent::Lacks("its numbers are f32 and f64 here")),
        }
    }
}

impl<T: Number> SprsContender<T>
where
    AnySparse: From<Sparse<T>>,
{
    fn new(given: Given<'_>) -> Result<SprsContender<T>, Absent> {
        let operands = Arc::clone(given.operands);
        let Support::Supported { arithmetic, profile } = Sprs.support(given.contract, &Params::default())
        else {
            return Err(Absent::Lacks("it has no such operation"));
        };
        let start = Instant::now();
        let own = |m: &AnySparse| -> Result<Matrix<T>, String> {
            interop::to_csr(csr::<T>(m)?).map_err(|refusal| refusal.to_string())
        };
        let a = own(&operands.a)?;
        let b_sparse = operands.b_sparse.as_ref().map(own).transpose()?;
        let preparation = start.elapsed().as_secs_f64();
        Ok(SprsContender {
            about: About {
                name: "sprs".to_owned(),
                peer: true,
                parameters: Vec::new(),
                preparation,
                sparse_bytes: csr_bytes(csr::<T>(&operands.a)?, 4, 4),
                arithmetic,
                profile,
                selection: Some("--backend sprs".to_owned()),
            },
            op: given.contract.op,
            a,
            b_sparse,
            out: vec![T::from_bits64(poison(T::PRECISION)); given.elements()],
            operands,
            answer: None,
        })
    }
}

impl<T: Number> Contender for SprsContender<T>
where
    RawSparse: RawOf<Sparse<T>>,
{
    fn about(&self) -> &About {
        &self.about
    }

    fn poison(&mut self) -> bool {
        self.out.fill(T::from_bits64(poison(T::PRECISION)));
        true
    }

    fn clear(&mut self) {
        self.answer = None;
    }

    fn call(&mut self) -> Result<(), String> {
        let (rows, n) = self.operands.result;
        let (dense, sparse) = (self.operands.b.as_ref(), self.b_sparse.as_ref());
        if let Some(b) = dense.filter(|_| self.op == Op::Spmm) {
            let view = ArrayView2::from_shape((b.rows, b.cols), elements::<T>(b.data.as_slice())?);
            self.out.fill(<T as Scalar>::from_bits64(0));
            let c = ArrayViewMut2::from_shape((rows, n), &mut self.out).map_err(|e| e.to_string())?;
            prod::csr_mulacc_dense_rowmaj(self.a.view(), view.map_err(|e| e.to_string())?, c);
        } else if let Some(x) = dense.filter(|_| self.op == Op::Spmv) {
            self.out.fill(<T as Scalar>::from_bits64(0));
            let x = elements::<T>(x.data.as_slice())?;
            prod::mul_acc_mat_vec_csr(self.a.view(), x, &mut self.out[..]);
        } else if let Some(b) = sparse.filter(|_| self.op == Op::Spgemm) {
            self.answer = Some(smmp::mul_csr_csr(self.a.view(), b.view()));
        } else {
            return Err(format!("{} is not timed", self.op.name()));
        }
        Ok(())
    }

    fn wrote(&mut self) -> Result<Wrote<'_>, String> {
        match &self.answer {
            None => {
                let place = Place::Strides(self.operands.result.1, 1);
                Ok(Wrote::Dense(T::wrap_slice(&self.out), place))
            }
            Some(product) => {
                let product = interop::csr(&product.view()).map_err(|refusal| refusal.to_string())?;
                Ok(Wrote::Sparse(RawSparse::of(Sparse::Csr(product))))
            }
        }
    }
}
