//! A task as a `run` message (the judge's side), and the name of what is to be written.

use super::arrays::Payload;
use super::frame::{FrameError, message};
use super::header::{Ask, DenseHead, Run, SparseHead, TypeNames};
use crate::manifest::{LayoutName, ModeName};
use sparse_oracle::contract::Contract;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, Layout, PARAMETERS};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element};
use sparse_oracle::task::{DenseRef, Task};
use std::collections::BTreeMap;

/// Borrows a writable slice to read it.
pub(super) fn as_shared<'a>(slice: &'a AnySliceMut<'_>) -> AnySlice<'a> {
    each_precision!(AnySliceMut, slice, v => Element::wrap_slice(v))
}

struct Writer {
    payload: Payload,
    sparse: BTreeMap<String, SparseHead>,
    dense: BTreeMap<String, DenseHead>,
}

impl Writer {
    fn sparse(&mut self, name: &str, matrix: &AnySparse) {
        let head = self.payload.sparse(&format!("{name}."), matrix);
        self.sparse.insert(name.to_owned(), head);
    }

    fn dense(&mut self, name: &str, dense: DenseRef<'_>) {
        let DenseRef { rows, cols, ld, .. } = dense;
        let layout = LayoutName::from(dense.layout);
        self.dense.insert(name.to_owned(), DenseHead { rows, cols, ld, layout });
        self.payload.values(name.to_owned(), dense.data);
    }

    fn vector(&mut self, name: &str, data: AnySlice<'_>) {
        self.dense(name, DenseRef { rows: data.len(), cols: 1, ld: 1, layout: Layout::RowMajor, data });
    }
}

/// The message for a task.
///
/// # Errors
/// A header that is too long; not for any task of the suite.
pub fn encode(id: u64, contract: &Contract, task: &Task<'_>) -> Result<Vec<u8>, FrameError> {
    let mut w = Writer { payload: Payload::default(), sparse: BTreeMap::new(), dense: BTreeMap::new() };
    let types = contract.types;
    let mut run = Run {
        kind: Ask::Run,
        id,
        contract: contract.to_string(),
        op: contract.op.name().to_owned(),
        types: TypeNames {
            a: types.a.name().to_owned(),
            b: types.b.name().to_owned(),
            acc: types.acc.name().to_owned(),
            out: types.out.name().to_owned(),
        },
        alpha: None,
        beta: None,
        transpose_a: false,
        transpose_b: false,
        mode: None,
        to: None,
        params: BTreeMap::new(),
        sparse: BTreeMap::new(),
        dense: BTreeMap::new(),
        output: None,
        arrays: Vec::new(),
    };
    match task {
        Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c } => {
            w.sparse("a", a);
            w.dense("b", *b);
            let shape =
                DenseRef { rows: c.rows, cols: c.cols, ld: c.ld, layout: c.layout, data: as_shared(&c.data) };
            w.dense("c", shape);
            (run.transpose_a, run.transpose_b) = (*transpose_a, *transpose_b);
            (run.alpha, run.beta) = (Some((*alpha).into()), Some((*beta).into()));
        }
        Task::Spmv { a, transpose_a, x, alpha, beta, y } => {
            w.sparse("a", a);
            w.vector("x", *x);
            w.vector("y", as_shared(y));
            run.transpose_a = *transpose_a;
            (run.alpha, run.beta) = (Some((*alpha).into()), Some((*beta).into()));
        }
        Task::Sddmm { s, x, y, alpha, beta, mode, out } => {
            w.sparse("s", s);
            w.dense("x", *x);
            w.dense("y", *y);
            w.vector("out", as_shared(out));
            run.mode = Some(ModeName::from(*mode));
            (run.alpha, run.beta) = (Some((*alpha).into()), Some((*beta).into()));
        }
        Task::Spgemm { a, b } => {
            w.sparse("a", a);
            w.sparse("b", b);
        }
        Task::Transpose { a } => w.sparse("a", a),
        Task::Convert { a, to, params } => {
            w.sparse("a", a);
            run.to = Some(to.name().to_owned());
            let read = PARAMETERS.iter().filter(|p| contract.reads(p));
            let given = read.filter_map(|p| Some((p.name.to_owned(), (p.get)(params)?)));
            run.params = given.collect();
        }
    }
    run.output = output(task).map(str::to_owned);
    (run.sparse, run.dense, run.arrays) = (w.sparse, w.dense, w.payload.heads);
    message(&run, &w.payload.bytes)
}

/// The dense operand that a task writes.
#[must_use]
pub(super) fn output(task: &Task<'_>) -> Option<&'static str> {
    match task {
        Task::Spmm { .. } => Some("c"),
        Task::Spmv { .. } => Some("y"),
        Task::Sddmm { .. } => Some("out"),
        Task::Spgemm { .. } | Task::Transpose { .. } | Task::Convert { .. } => None,
    }
}
