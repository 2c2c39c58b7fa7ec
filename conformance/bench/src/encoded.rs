//! Operands in the format of a contender, made from CSR by our own conversions and checked against it.

use super::operands::Shared;
use sparse_conformance_core::operands::Operands;
use sparse_kernels::registry::{Kernel, all_kernels, kernels_here};
use sparse_oracle::contract::{Contract, Op, Types};
use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnySparse, Entries, FormatKind, FormatParams};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::task::{Answer, Task};
use std::sync::Arc;
use std::time::Instant;

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

/// True if operands of these elements can be made in a format.
pub(super) fn can_be_encoded(format: FormatKind, precision: Precision) -> bool {
    format == FormatKind::Csr || conversion(all_kernels().iter(), format, precision).is_some()
}

/// The CSR operands in another format, by our fastest conversion that runs here, checked against the CSR matrices; with the
/// seconds that the conversions took.
///
/// # Errors
/// No such conversion, its refusal, or a result that is another matrix.
pub(super) fn encoded(
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
