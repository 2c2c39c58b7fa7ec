//! A task as a `run` message (the judge's side).

use super::arrays::Payload;
use super::frame::{FrameError, message};
use super::header::{Ask, DenseHead, Run, SparseHead, TypeNames};
use crate::manifest::{LayoutName, ModeName};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, PARAMETERS};
use sparse_oracle::task::{DenseRef, Task};
use std::collections::BTreeMap;

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
}

/// The message for a task.
///
/// # Errors
/// A header that is too long; not for any task of the suite.
pub fn encode(id: u64, contract: &Contract, task: &Task<'_>) -> Result<Vec<u8>, FrameError> {
    let mut w = Writer { payload: Payload::default(), sparse: BTreeMap::new(), dense: BTreeMap::new() };
    let (types, inputs) = (contract.types, task.inputs());
    let signature = inputs.op.signature();
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
        alpha: signature.output.map(|_| inputs.alpha.into()),
        beta: signature.output.map(|_| inputs.beta.into()),
        transpose_a: inputs.transpose_a,
        transpose_b: inputs.transpose_b,
        mode: signature.has_mode.then(|| ModeName::from(inputs.mode)),
        to: inputs.to.map(|to| to.name().to_owned()),
        params: BTreeMap::new(),
        sparse: BTreeMap::new(),
        dense: BTreeMap::new(),
        output: signature.output.map(str::to_owned),
        arrays: Vec::new(),
    };
    inputs.sparse().for_each(|(operand, matrix)| w.sparse(operand.name, matrix));
    inputs.dense().for_each(|(operand, matrix)| w.dense(operand.name, matrix));
    if let (Some(name), Some(output)) = (signature.output, task.output()) {
        w.dense(name, output);
    }
    if signature.has_params {
        let read = PARAMETERS.iter().filter(|p| contract.reads(p));
        run.params = read.filter_map(|p| Some((p.name.to_owned(), (p.get)(&inputs.params)?))).collect();
    }
    (run.sparse, run.dense, run.arrays) = (w.sparse, w.dense, w.payload.heads);
    message(&run, &w.payload.bytes)
}
