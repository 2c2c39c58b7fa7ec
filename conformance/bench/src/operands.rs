//! The operands of one comparison: drawn once, as a case line says, and shared by all who are timed on them.

use sparse_conformance_core::case::{Case, Filling, Params};
use sparse_conformance_core::operands::{DenseOperand, OperandError, Operands, build};
use sparse_conformance_core::origin::{Loaded, Origin};
use sparse_oracle::contract::{Contract, Op, Types};
use sparse_oracle::each_precision;
use sparse_oracle::format::{FormatKind, Layout};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::source::values::ValueFamily;
use std::sync::Arc;

/// Finite values without a special one among them: what bits a product has decides nothing about its speed but subnormals.
const FAMILY: ValueFamily = ValueFamily::NearOne;
const SEED: u64 = 1;
/// Most columns of the sparse B of an SpGEMM; what a case line may ask for.
const WIDEST: usize = 1 << 16;

/// Operands in CSR, with the case that makes them.
pub(super) struct Shared {
    /// Replays them.
    pub(super) case: Case,
    /// The arrays.
    pub(super) operands: Arc<Operands>,
    /// Stored entries of A.
    pub(super) nnz: usize,
}

impl Shared {
    /// Draws them. B of an SpGEMM is thin (up to three entries a row) with as many columns as A, at most 65536.
    ///
    /// # Errors
    /// Too large a case.
    pub(super) fn new(
        origin: &Origin,
        loaded: &Loaded,
        (op, types): (Op, Types),
        n: usize,
    ) -> Result<Shared, OperandError> {
        let n = if op.signature().sparse.len() == 2 { loaded.coo.cols.min(WIDEST) } else { n };
        let case = Case {
            contract: Contract { op, format: FormatKind::Csr, to: None, types },
            origin: origin.clone(),
            filling: Filling::Drawn(FAMILY, SEED),
            params: Params { n, ..Params::default() },
        };
        let operands = build(&case, loaded)?;
        let nnz = sparse_oracle::each_sparse!(&operands.a, m => m.nnz());
        Ok(Shared { case, operands: Arc::new(operands), nnz })
    }

    /// The same operands with B by columns, without padding.
    pub(super) fn by_columns(&self) -> Operands {
        let mut operands = Operands::clone(&self.operands);
        operands.b = operands.b.map(|b| {
            let DenseOperand { rows, cols, ld, ref data, .. } = b;
            let data = each_precision!(AnySlice, data.as_slice(), v => {
                Element::wrap((0..cols).flat_map(|j| (0..rows).map(move |i| v[i * ld + j])).collect())
            });
            DenseOperand { rows, cols, ld: rows, layout: Layout::ColMajor, data: data.into() }
        });
        operands
    }

    /// Multiplications and additions of one product.
    pub(super) fn operations(&self) -> u64 {
        let n = self.case.params.n as u64;
        match &self.operands.b_sparse {
            Some(b) => 2 * products(&self.operands.a, b),
            None if self.case.contract.op.signature().has_n() => 2 * self.nnz as u64 * n,
            None => 2 * self.nnz as u64,
        }
    }

    /// Bytes of the dense operands and the result, each once; of an SpGEMM nothing, its result is not known before.
    pub(super) fn dense_bytes(&self) -> u64 {
        let operand = |o: &Option<sparse_conformance_core::operands::DenseOperand>| {
            o.as_ref().map_or(0, |o| o.data.len() as u64 * size(o.data.precision()))
        };
        let (rows, cols) = self.operands.result;
        let known = self.case.contract.op.is_dense();
        let out = if known { (rows * cols) as u64 * size(self.case.contract.types.out) } else { 0 };
        operand(&self.operands.b) + operand(&self.operands.y) + out
    }
}

fn size(precision: sparse_oracle::Precision) -> u64 {
    sparse_oracle::with_scalar!(precision, T => size_of::<T>() as u64)
}

/// Products a * b of a sparse times a sparse matrix.
fn products(a: &sparse_oracle::format::AnySparse, b: &sparse_oracle::format::AnySparse) -> u64 {
    let lengths: Vec<u64> = sparse_oracle::each_sparse!(b, m => {
        let mut lengths = vec![0; m.shape().0];
        m.entries().list.iter().for_each(|e| lengths[e.row as usize] += 1);
        lengths
    });
    sparse_oracle::each_sparse!(a, m => m.entries().list.iter().map(|e| lengths[e.col as usize]).sum())
}
