//! Intel MKL's inspector-executor products of CSR matrices, where the library is: SpMM by rows and SpGEMM.
//!
//! Its documentation promises no order of summation, so each contract's weakest arithmetic is what it declares.

use crate::number::{Number, csr};
use sparse_conformance_core::backend::{Backend, Failure, Prepared, Support};
use sparse_conformance_core::case::Params;
use sparse_mkl::{Csr, MklError, Product};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams, Layout};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, DenseMut, Inputs, RawSparse};
use std::path::Path;

/// Milliseconds that idle threads of MKL spin.
const IDLE_MS: u32 = 1;
/// How many products `mkl_sparse_optimize` is told to expect.
const CALLS: usize = 1000;

/// The library, loaded.
#[derive(Debug)]
pub struct Mkl {
    library: sparse_mkl::Mkl,
    threads: usize,
}

impl Mkl {
    /// Loads `libmkl_rt` from a path, or from where it usually is.
    ///
    /// # Errors
    /// No such library.
    pub fn open(path: Option<&Path>, threads: usize) -> Result<Mkl, MklError> {
        let library = sparse_mkl::Mkl::open(&sparse_mkl::find(path)?)?;
        let mkl = Mkl { library, threads };
        mkl.settle();
        Ok(mkl)
    }

    /// Sets its number of threads on this thread: MKL keeps its settings by thread.
    pub fn settle(&self) {
        self.library.use_threads(self.threads, IDLE_MS);
    }

    /// The library itself.
    #[must_use]
    pub fn library(&self) -> &sparse_mkl::Mkl {
        &self.library
    }
}

impl Backend for Mkl {
    fn name(&self) -> &'static str {
        "mkl"
    }

    fn version(&self) -> String {
        self.library.version()
    }

    fn description(&self) -> &'static str {
        "Intel MKL, inspector-executor products of CSR matrices"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let excluded = |reason: &'static str| Support::Excluded { reason: reason.into() };
        if !matches!(contract.types.a, Precision::F32 | Precision::F64) {
            return excluded("its numbers are f32 and f64 here");
        }
        if contract.format != FormatKind::Csr || !matches!(contract.op, Op::Spmm | Op::Spgemm) {
            return excluded("only its spmm and spgemm of CSR are asked for");
        }
        let by_rows = params.layout_b == Layout::RowMajor && params.layout_c == Layout::RowMajor;
        let plain = (params.alpha, params.beta) == (1.0, 0.0) && !params.transpose_a && !params.transpose_b;
        if !plain || !by_rows || params.pad_b + params.pad_c > 0 || params.fault.is_some() {
            return excluded("only C = AB by rows without padding is asked for");
        }
        Support::Supported { arithmetic: contract.weakest(), profile: Profile::default() }
    }

    /// The command line cannot select it: it is loaded for a benchmark.
    fn selection(&self) -> String {
        String::new()
    }

    fn prepare<'a>(
        &'a self,
        contract: &'a Contract,
        inputs: Inputs<'a>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        match contract.types.a {
            Precision::F64 => Ok(Box::new(MklInputs::<f64>::new(&self.library, inputs)?)),
            Precision::F32 => Ok(Box::new(MklInputs::<f32>::new(&self.library, inputs)?)),
            other => Err(format!("no {other} here").into()),
        }
    }
}

/// Inputs with their handles made. Products stand before the matrices that they came from, and are dropped first.
struct MklInputs<'a, T: Number> {
    result: Option<Product<'a, T>>,
    a: Csr<'a, T>,
    b_sparse: Option<Csr<'a, T>>,
    inputs: Inputs<'a>,
}

impl<'a, T: Number> MklInputs<'a, T> {
    fn new(library: &'a sparse_mkl::Mkl, inputs: Inputs<'a>) -> Result<MklInputs<'a, T>, Failure> {
        let own = |m: &AnySparse| -> Result<Csr<'a, T>, String> {
            let m = csr::<T>(m)?;
            Csr::new(library, (m.rows, m.cols), &m.row_ptr, &m.col_idx, &m.values).map_err(|e| e.to_string())
        };
        let (mut a, b_sparse) = (own(inputs.a)?, inputs.b_sparse.map(own).transpose()?);
        if let Some(b) = &inputs.b {
            a.optimize(b.cols, CALLS).map_err(|e| e.to_string())?;
        }
        Ok(MklInputs { result: None, a, b_sparse, inputs })
    }
}

impl<T: Number> Prepared for MklInputs<'_, T> {
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        self.result = None;
        match (output, &self.inputs.b, &self.b_sparse) {
            (Some(c), Some(b), _) => {
                let values = T::unwrap_slice(b.data).ok_or("B has another element type")?;
                let to = T::unwrap_slice_mut(c.data).ok_or("C has another element type")?;
                self.a.mm(values, b.cols, to).map_err(|e| e.to_string())?;
            }
            (None, _, Some(b)) => self.result = Some(self.a.multiply(b).map_err(|e| e.to_string())?),
            _ => return Err(format!("no {}", self.inputs.op.name()).into()),
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.result = None;
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let Some(product) = &mut self.result else {
            return Ok(Answer::Written);
        };
        let sorted = product.sorted().map_err(|e| e.to_string())?;
        Ok(Answer::Sparse(RawSparse {
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
