//! Intel MKL: `mkl_sparse_?_mm`, row-major, after `mkl_sparse_set_mm_hint` and `mkl_sparse_optimize`; and `mkl_sparse_spmm`.
//!
//! Its order of additions is its own affair: it is judged by the weakest arithmetic that the contract admits.

use super::number::{Number, csr, csr_bytes, elements};
use super::{About, Absent, Contender, Given, Wrote};
use crate::operands::Operands;
use crate::response::poison;
use sparse_mkl::{Csr, Mkl, Product};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams};
use sparse_oracle::judge::Place;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::RawSparse;
use std::sync::Arc;
use std::time::Instant;

/// Products that MKL is told to expect.
const CALLS: usize = 1000;

/// MKL with its handles made and optimised.
pub(in super::super) struct MklContender<'m, T: Number> {
    about: About,
    op: Op,
    // Products before the matrices that they came from.
    answer: Option<Product<'m, T>>,
    a: Csr<'m, T>,
    b_sparse: Option<Csr<'m, T>>,
    operands: Arc<Operands>,
    out: Vec<T>,
}

impl<'m> MklContender<'m, f64> {
    /// Ready to run, or why not.
    pub(in super::super) fn boxed(given: Given<'_>, mkl: &'m Mkl) -> Result<Box<dyn Contender + 'm>, Absent> {
        match given.contract.types.a {
            Precision::F32 => Ok(Box::new(MklContender::<f32>::new(given, mkl)?)),
            Precision::F64 => Ok(Box::new(MklContender::<f64>::new(given, mkl)?)),
            _ => Err(Absent::Lacks("its numbers are f32 and f64 here")),
        }
    }
}

impl<'m, T: Number> MklContender<'m, T> {
    fn new(given: Given<'_>, mkl: &'m Mkl) -> Result<MklContender<'m, T>, Absent> {
        let op = given.contract.op;
        if !matches!(op, Op::Spmm | Op::Spgemm) {
            return Err(Absent::Lacks("only its spmm and spgemm are compared with"));
        }
        let operands = Arc::clone(given.operands);
        let start = Instant::now();
        let own = |m: &AnySparse| -> Result<Csr<'m, T>, String> {
            let m = csr::<T>(m)?;
            Csr::new(mkl, (m.rows, m.cols), &m.row_ptr, &m.col_idx, &m.values).map_err(|e| e.to_string())
        };
        let mut a = own(&operands.a)?;
        let b_sparse = operands.b_sparse.as_ref().map(own).transpose()?;
        if op == Op::Spmm {
            a.optimize(operands.result.1, CALLS).map_err(|e| e.to_string())?;
        }
        let preparation = start.elapsed().as_secs_f64();
        Ok(MklContender {
            about: About {
                name: "mkl".to_owned(),
                peer: true,
                parameters: Vec::new(),
                preparation,
                sparse_bytes: csr_bytes(csr::<T>(&operands.a)?, 4, 4),
                arithmetic: given.contract.weakest(),
                profile: Profile::default(),
                selection: None,
            },
            op,
            answer: None,
            a,
            b_sparse,
            out: vec![T::from_bits64(poison(T::PRECISION)); given.elements()],
            operands,
        })
    }
}

impl<T: Number> Contender for MklContender<'_, T> {
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
        if let Some(b) = self.b_sparse.as_ref().filter(|_| self.op == Op::Spgemm) {
            self.answer = Some(self.a.multiply(b).map_err(|e| e.to_string())?);
            return Ok(());
        }
        let Some(b) = self.operands.b.as_ref().filter(|_| self.op == Op::Spmm) else {
            return Err(format!("{} is not timed", self.op.name()));
        };
        let values = elements::<T>(b.data.as_slice())?;
        self.a.mm(values, b.cols, &mut self.out).map_err(|e| e.to_string())
    }

    fn wrote(&mut self) -> Result<Wrote<'_>, String> {
        let Some(product) = &mut self.answer else {
            let place = Place::Strides(self.operands.result.1, 1);
            return Ok(Wrote::Dense(T::wrap_slice(&self.out), place));
        };
        let sorted = product.sorted().map_err(|e| e.to_string())?;
        Ok(Wrote::Sparse(RawSparse {
            kind: FormatKind::Csr,
            rows: sorted.shape.0,
            cols: sorted.shape.1,
            params: FormatParams::default(),
            width: 0,
            offsets: sorted.row_ptr,
            indices: sorted.col_idx,
            values: T::wrap(sorted.values),
        }))
    }
}
