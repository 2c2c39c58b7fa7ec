//! Which table of this bench times a transpose or conversion, and the table of those between general formats.

use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnyParts, AnySparse, Entries, FormatKind, FormatParams};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};

/// The table that times kernels of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// CSR to a format of a paper, and back.
    Papers,
    /// Transposes, and conversions between general formats.
    Moves,
}

/// The table of a contract; none for what only computes, and for a conversion that neither table has.
pub(crate) fn table(contract: &Contract) -> Option<Table> {
    let general = |kind: FormatKind| FormatKind::GENERAL.contains(&kind);
    let paper = |kind: FormatKind| FormatKind::PAPERS.contains(&kind);
    match (contract.op, contract.format, contract.to) {
        (Op::Transpose, from, None) if general(from) => Some(Table::Moves),
        (Op::Convert, from, Some(to)) if general(from) && general(to) => Some(Table::Moves),
        (Op::Convert, FormatKind::Csr, Some(to)) if paper(to) => Some(Table::Papers),
        (Op::Convert, from, Some(FormatKind::Csr)) if paper(from) => Some(Table::Papers),
        _ => None,
    }
}

/// The kernels of the second table for these element types; none means all.
pub(crate) fn moves(types: &[Precision]) -> impl Iterator<Item = &'static Kernel> {
    kernels_here().filter(move |kernel| {
        let chosen = types.is_empty() || types.contains(&kernel.contract.types.a);
        table(&kernel.contract) == Some(Table::Moves) && chosen
    })
}

/// Entries of the kernel's answer for this matrix (as bits), which must be what it was asked for; or why they are not.
pub(crate) fn moved(kernel: &Kernel, a: &AnySparse) -> Result<Entries<u64>, String> {
    let answer = (kernel.run)(task(kernel, a)).map_err(|refusal| format!("refused: {refusal}"))?;
    let result = match answer {
        Answer::Sparse(raw) => raw.check(),
        Answer::Parts(parts) => AnyParts::check(parts),
        Answer::Written => return Err("WRONG: no matrix".to_owned()),
    };
    let result = result.map_err(|refusal| format!("WRONG: {refusal}"))?;
    let found = bits(&result);
    let wanted = match kernel.contract.op {
        Op::Transpose => bits(a).transpose(),
        _ => bits(a),
    };
    if found == wanted { Ok(found) } else { Err("WRONG: another matrix".to_owned()) }
}

/// What the kernel is asked for.
pub(crate) fn task<'a>(kernel: &Kernel, a: &'a AnySparse) -> Task<'a> {
    match kernel.contract.to {
        Some(to) => Task::Convert { a, to, params: FormatParams::default() },
        None => Task::Transpose { a },
    }
}

/// The same matrix in the format that the kernel reads.
pub(crate) fn operand(kernel: &Kernel, entries: &Entries<u64>) -> Result<AnySparse, String> {
    let (types, format) = (kernel.contract.types, kernel.contract.format);
    AnySparse::from_bits(types.a, format, FormatParams::default(), entries)
        .map_err(|refusal| refusal.to_string())
}

fn bits(matrix: &AnySparse) -> Entries<u64> {
    use sparse_oracle::Scalar;
    each_sparse!(matrix, m => m.entries().map(|v| v.bits64()))
}
