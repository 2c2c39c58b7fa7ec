//! `nalgebra-sparse`: `spmm_csr_dense` with B and C by columns, as its matrices are, and its sparse product. B is copied into
//! that layout beforehand.

use super::number::{Number, csr, csr_bytes, elements};
use super::{About, Absent, Contender, Given, Wrote};
use crate::backend::{Backend, NalgebraSparse, Support};
use crate::case::Params;
use ::nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use nalgebra_sparse::ops::Op as NaOp;
use nalgebra_sparse::ops::serial::spmm_csr_dense;
use num_traits::{One, Zero};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Layout, Sparse};
use sparse_oracle::interop::nalgebra as interop;
use sparse_oracle::judge::Place;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::RawSparse;
use std::time::Instant;

/// `nalgebra-sparse` with its matrices made.
pub(in super::super) struct NalgebraContender<T: Number> {
    about: About,
    op: Op,
    a: CsrMatrix<T>,
    b_sparse: Option<CsrMatrix<T>>,
    b: DMatrix<T>,
    c: DMatrix<T>,
    answer: Option<CsrMatrix<T>>,
}

impl NalgebraContender<f64> {
    /// Ready to run, or why not.
    pub(in super::super) fn boxed(given: Given<'_>) -> Result<Box<dyn Contender>, Absent> {
        match given.contract.types.a {
            Precision::F32 => Ok(Box::new(NalgebraContender::<f32>::new(given)?)),
            Precision::F64 => Ok(Box::new(NalgebraContender::<f64>::new(given)?)),
            _ => Err(Absent::Lacks("its numbers are f32 and f64 here")),
        }
    }
}

impl<T: Number> NalgebraContender<T> {
    fn new(given: Given<'_>) -> Result<NalgebraContender<T>, Absent> {
        let operands = given.operands;
        let by_columns = Params { layout_c: Layout::ColMajor, ..Params::default() };
        let Support::Supported { arithmetic, profile } = NalgebraSparse.support(given.contract, &by_columns)
        else {
            return Err(Absent::Lacks("it has no such operation"));
        };
        let start = Instant::now();
        let own = |m: &AnySparse| -> Result<CsrMatrix<T>, String> {
            interop::to_csr(csr::<T>(m)?).map_err(|refusal| refusal.to_string())
        };
        let a = own(&operands.a)?;
        let b_sparse = operands.b_sparse.as_ref().map(own).transpose()?;
        let b = match &operands.b {
            Some(b) => DMatrix::from_row_slice(b.rows, b.cols, elements::<T>(b.data.as_slice())?),
            None => DMatrix::zeros(0, 0),
        };
        let preparation = start.elapsed().as_secs_f64();
        let (rows, n) = if given.elements() == 0 { (0, 0) } else { operands.result };
        Ok(NalgebraContender {
            about: About {
                name: "nalgebra-sparse".to_owned(),
                peer: true,
                parameters: Vec::new(),
                preparation,
                sparse_bytes: csr_bytes(csr::<T>(&operands.a)?, 8, 8),
                arithmetic,
                profile,
                // Its results have columns; a case line for it says so.
                selection: None,
            },
            op: given.contract.op,
            a,
            b_sparse,
            b,
            c: DMatrix::zeros(rows, n),
            answer: None,
        })
    }
}

impl<T: Number> Contender for NalgebraContender<T>
where
    RawSparse: RawOf<Sparse<T>>,
{
    fn about(&self) -> &About {
        &self.about
    }

    /// It multiplies C by beta even where that is 0, and 0 * NaN is NaN.
    fn poison(&mut self) -> bool {
        self.c.fill(<T as Zero>::zero());
        false
    }

    fn clear(&mut self) {
        self.answer = None;
    }

    fn call(&mut self) -> Result<(), String> {
        if matches!(self.op, Op::Spmm | Op::Spmv) {
            let (a, b) = (NaOp::NoOp(&self.a), NaOp::NoOp(&self.b));
            spmm_csr_dense(<T as Zero>::zero(), &mut self.c, <T as One>::one(), a, b);
        } else if let Some(b) = self.b_sparse.as_ref().filter(|_| self.op == Op::Spgemm) {
            self.answer = Some(&self.a * b);
        } else {
            return Err(format!("{} is not timed", self.op.name()));
        }
        Ok(())
    }

    fn wrote(&mut self) -> Result<Wrote<'_>, String> {
        match &self.answer {
            None => Ok(Wrote::Dense(T::wrap_slice(self.c.as_slice()), Place::Strides(1, self.c.nrows()))),
            Some(product) => {
                let product = interop::csr(product).map_err(|refusal| refusal.to_string())?;
                Ok(Wrote::Sparse(RawSparse::of(Sparse::Csr(product))))
            }
        }
    }
}
