//! A kernel on operands as a case line lays them out.

use super::super::contender::{About, Contender, Wrote, bytes};
use crate::case::Case;
use crate::execute::poison;
use crate::operands::Operands;
use sparse_kernels::registry::Kernel;
use sparse_oracle::contract::Op;
use sparse_oracle::format::Layout;
use sparse_oracle::judge::Place;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Values;
use sparse_oracle::task::{Answer, DenseMut, SddmmMode, Task};
use std::sync::Arc;

/// A kernel that is ready to run.
pub(super) struct DeviceContender {
    about: About,
    kernel: Kernel,
    operands: Arc<Operands>,
    transpose_a: bool,
    layout: Layout,
    out: Values,
}

impl DeviceContender {
    /// Takes operands in the kernel's format.
    pub(super) fn new(kernel: &Kernel, operands: &Arc<Operands>, case: &Case) -> DeviceContender {
        let (rows, cols) = operands.result;
        let out = kernel.contract.types.out;
        DeviceContender {
            about: About {
                name: kernel.name.clone(),
                peer: false,
                parameters: Vec::new(),
                preparation: 0.0,
                sparse_bytes: bytes(&operands.a),
                arithmetic: kernel.arithmetic,
                profile: Profile::default(),
                selection: None,
            },
            kernel: kernel.clone(),
            operands: Arc::clone(operands),
            transpose_a: case.params.transpose_a,
            layout: case.params.layout_c,
            out: Values::filled(out, rows * cols, poison(out)),
        }
    }
}

impl Contender for DeviceContender {
    fn about(&self) -> &About {
        &self.about
    }

    fn poison(&mut self) -> bool {
        let out = self.out.precision();
        self.out = Values::filled(out, self.out.len(), poison(out));
        true
    }

    fn call(&mut self) -> Result<(), String> {
        let Operands { a, b, y, result, .. } = self.operands.as_ref();
        let (rows, cols) = *result;
        let data = self.out.as_mut_slice();
        let task = match (self.kernel.contract.op, b, y) {
            (Op::Spmm, Some(b), _) => Task::Spmm {
                a,
                transpose_a: self.transpose_a,
                b: b.as_ref(),
                transpose_b: false,
                alpha: 1.0,
                beta: 0.0,
                c: DenseMut {
                    rows,
                    cols,
                    ld: if self.layout == Layout::RowMajor {
                        cols
                    } else {
                        rows
                    },
                    layout: self.layout,
                    data,
                },
            },
            (Op::Sddmm, Some(x), Some(y)) => Task::Sddmm {
                s: a,
                x: x.as_ref(),
                y: y.as_ref(),
                alpha: 1.0,
                beta: 0.0,
                mode: SddmmMode::Pattern,
                out: data,
            },
            (op, ..) => return Err(format!("{} is not timed on the device", op.name())),
        };
        match (self.kernel.run)(task).map_err(|refusal| refusal.to_string())? {
            Answer::Written => Ok(()),
            _ => Err("answered with another kind of result than asked for".to_owned()),
        }
    }

    fn wrote(&mut self) -> Result<Wrote<'_>, String> {
        let (rows, cols) = self.operands.result;
        let place = match (self.kernel.contract.op, self.layout) {
            (Op::Sddmm, _) => Place::Visited,
            (_, Layout::RowMajor) => Place::Strides(cols, 1),
            (_, Layout::ColMajor) => Place::Strides(1, rows),
        };
        Ok(Wrote::Dense(self.out.as_slice(), place))
    }
}
