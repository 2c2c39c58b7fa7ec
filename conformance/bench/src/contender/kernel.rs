//! One of our kernels on operands in its format.

use super::super::operands::Shared;
use super::{About, Contender, Wrote};
#[cfg(feature = "cuda")]
use sparse_conformance_core::case::Params;
use sparse_conformance_core::operands::Operands;
use sparse_conformance_core::response::poison;
use sparse_conformance_peers::Ours;
use sparse_kernels::registry::{Kernel, all_kernels, kernels_here};
use sparse_oracle::contract::{Contract, Op, Returned, Types};
use sparse_oracle::format::{
    AnyParts, AnySparse, Entries, Fields, FormatKind, FormatParams, Layout, PARAMETERS,
};
use sparse_oracle::judge::Place;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Precision, Scalar, Values};
use sparse_oracle::task::{Answer, DenseMut, Inputs, RawSparse, Task};
use sparse_oracle::{each_parts, each_sparse};
use std::sync::Arc;
use std::time::Instant;

/// A kernel that is ready to run.
pub(in super::super) struct KernelContender {
    about: About,
    kernel: Kernel,
    operands: Arc<Operands>,
    transpose_a: bool,
    /// Of C.
    layout: Layout,
    out: Values,
    answer: Option<Answer>,
}

impl KernelContender {
    /// Takes operands in the kernel's format; `preparation` seconds went into encoding them.
    pub(in super::super) fn new(
        kernel: &Kernel,
        operands: &Arc<Operands>,
        params: FormatParams,
        preparation: f64,
    ) -> KernelContender {
        let (rows, cols) = operands.result;
        let elements = if kernel.contract.op.is_dense() { rows * cols } else { 0 };
        let out = kernel.contract.types.out;
        let sparse = [Some(&operands.a), operands.b_sparse.as_ref()];
        KernelContender {
            about: About {
                name: kernel.name.clone(),
                peer: false,
                parameters: parameters(kernel.contract.format, &params),
                preparation,
                sparse_bytes: sparse.into_iter().flatten().map(bytes).sum(),
                arithmetic: kernel.arithmetic,
                profile: Profile::default(),
                selection: Ours::running(kernel).map(|backend| format!("--backend {backend}")),
            },
            kernel: kernel.clone(),
            operands: Arc::clone(operands),
            transpose_a: false,
            layout: Layout::RowMajor,
            out: Values::filled(out, elements, poison(out)),
            answer: None,
        }
    }

    /// With A transposed and C laid out as the case has them.
    #[cfg(feature = "cuda")]
    pub(in super::super) fn laid_out(mut self, params: &Params) -> KernelContender {
        self.transpose_a = params.transpose_a;
        self.layout = params.layout_c;
        self
    }
}

impl Contender for KernelContender {
    fn about(&self) -> &About {
        &self.about
    }

    fn poison(&mut self) -> bool {
        let out = self.out.precision();
        self.out = Values::filled(out, self.out.len(), poison(out));
        true
    }

    fn clear(&mut self) {
        self.answer = None;
    }

    fn call(&mut self) -> Result<(), String> {
        let (rows, cols) = self.operands.result;
        let data = self.out.as_mut_slice();
        let op = self.kernel.contract.op;
        if op.is_exact() {
            return Err(format!("{} is not timed", op.name()));
        }
        let inputs = Inputs { transpose_a: self.transpose_a, ..self.operands.plain(op) };
        let layout = self.layout;
        let ld = if layout == Layout::RowMajor { cols } else { rows };
        let task = Task::new(inputs, Some(DenseMut { rows, cols, ld, layout, data }));
        let task = task.map_err(|refusal| refusal.to_string())?;
        let answer = (self.kernel.run)(task).map_err(|refusal| refusal.to_string())?;
        self.answer = Some(answer);
        Ok(())
    }

    fn wrote(&mut self) -> Result<Wrote<'_>, String> {
        match (self.kernel.contract.op.signature().returned, &self.answer) {
            (Returned::Product, Some(Answer::Sparse(raw))) => Ok(Wrote::Sparse(RawSparse::clone(raw))),
            (Returned::Matrix | Returned::Vector, Some(Answer::Written)) => {
                let (rows, cols) = self.operands.result;
                let place = match self.layout {
                    Layout::RowMajor => Place::Strides(cols, 1),
                    Layout::ColMajor => Place::Strides(1, rows),
                };
                Ok(Wrote::Dense(self.out.as_slice(), place))
            }
            (Returned::Sampled, Some(Answer::Written)) => {
                Ok(Wrote::Dense(self.out.as_slice(), Place::Visited))
            }
            _ => Err("answered with another kind of result than asked for".to_owned()),
        }
    }
}

/// The format's parameters that are not the default, by name.
fn parameters(format: FormatKind, params: &FormatParams) -> Vec<(String, u64)> {
    let default = FormatParams::default();
    let read = PARAMETERS.iter().filter(|p| p.formats.contains(&format));
    read.filter(|p| (p.get)(params) != (p.get)(&default))
        .filter_map(|p| Some((p.name.to_owned(), u64::from((p.get)(params)?))))
        .collect()
}

/// Bytes of all arrays of a matrix.
fn bytes(matrix: &AnySparse) -> u64 {
    each_parts!(AnyParts::from(matrix.clone()), parts => parts.index_bytes() + parts.value_bytes())
}

/// Our fastest conversion from CSR that is registered for a kind of elements: later rows of the registry are for faster engines.
fn conversion(
    kernels: impl Iterator<Item = &'static Kernel>,
    format: FormatKind,
    precision: Precision,
) -> Option<&'static Kernel> {
    let types = Types { a: precision, b: precision, acc: precision, out: precision };
    let contract = Contract { op: Op::Convert, format: FormatKind::Csr, to: Some(format), types };
    // What the GPU does is timed by itself.
    let on_cpu = |kernel: &&Kernel| kernel.contract == contract && kernel.engine != "cuda";
    kernels.filter(on_cpu).last()
}

/// True if operands of a kernel can be made from CSR.
pub(in super::super) fn can_be_encoded(kernel: &Kernel) -> bool {
    let Contract { format, types, .. } = kernel.contract;
    format == FormatKind::Csr || conversion(all_kernels().iter(), format, types.a).is_some()
}

/// The CSR operands in another format, by our fastest conversion that runs here, checked against the CSR matrices; with the
/// seconds that the conversions took.
///
/// # Errors
/// No such conversion, its refusal, or a result that is another matrix.
pub(in super::super) fn encoded(
    shared: &Shared,
    format: FormatKind,
    params: FormatParams,
) -> Result<(Arc<Operands>, f64), String> {
    let csr = &shared.operands;
    let (a, mut seconds) = converted(&csr.a, format, params)?;
    let b_sparse = csr.b_sparse.as_ref().map(|b| converted(b, format, params)).transpose()?;
    let b_sparse = b_sparse.map(|(b, took)| {
        seconds += took;
        b
    });
    let operands = Operands { a, b_sparse, ..Operands::clone(csr) };
    Ok((Arc::new(operands), seconds))
}

/// A CSR matrix in another format.
fn converted(csr: &AnySparse, format: FormatKind, params: FormatParams) -> Result<(AnySparse, f64), String> {
    let convert = conversion(kernels_here(), format, csr.precision());
    let convert = convert.ok_or_else(|| format!("no kernel here converts CSR to {}", format.name()))?;
    let start = Instant::now();
    let task = Task::Convert { a: csr, to: format, params };
    let answer = (convert.run)(task).map_err(|refusal| refusal.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let a = match answer {
        Answer::Sparse(raw) => raw.check(),
        Answer::Parts(parts) => parts.check(),
        Answer::Written => return Err(format!("{} returned no matrix", convert.name)),
    };
    let a = a.map_err(|refusal| format!("{} returned no valid matrix: {refusal}", convert.name))?;
    if entries(&a) != entries(csr) {
        return Err(format!("{} returned another matrix", convert.name));
    }
    Ok((a, seconds))
}

fn entries(matrix: &AnySparse) -> Entries<f64> {
    each_sparse!(matrix, m => m.entries().map(|v| v.to_f64()))
}
