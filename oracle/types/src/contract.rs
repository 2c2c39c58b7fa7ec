//! What must be computed: operation x format x element types, in one table, [`all_contracts`].
//!
//! A contract prints as `spmm.csr.f16_f16_f32_f32` (operands, accumulator, output) or `convert.csr.bcsr.f32`, and
//! is parsed back from that. Cases, kernels, reports and coverage tests iterate the table; nothing else lists
//! contracts.

mod signature;

pub use self::signature::{Extent, Operand, Returned, Signature, TypeSlot};

use crate::arithmetic::{Arithmetic, Input};
use crate::format::{FormatKind, Parameter};
use crate::scalar::Precision;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// An operation. Shapes: A is m x k sparse, B is k x n dense unless said, C is m x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// `C = alpha * op(A) * op(B) + beta * C`, A sparse, B and C dense.
    Spmm,
    /// `y = alpha * op(A) * x + beta * y`.
    Spmv,
    /// `out_ij = alpha * (X_i . Y_j)` on the pattern of a sparse S (m x n); X is m x k, Y is n x k, both dense.
    Sddmm,
    /// `C = A * B`, all sparse; structural pattern.
    Spgemm,
    /// `A^T`, same format, values untouched.
    Transpose,
    /// The same matrix in another format, values untouched.
    Convert,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 6] = [Op::Spmm, Op::Spmv, Op::Sddmm, Op::Spgemm, Op::Transpose, Op::Convert];

    /// The name used in contracts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.signature().name
    }

    /// The operation with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// True for operations that move values and never round them.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self.signature().returned, Returned::Moved)
    }

    /// True where the result is dense, scaled by alpha, and written into an array of the caller's. Others return a sparse matrix.
    #[must_use]
    pub const fn is_dense(self) -> bool {
        self.signature().output.is_some()
    }

    /// True where the result has one element per stored position of the sparse operand, which gives the pattern alone.
    #[must_use]
    pub const fn is_sampled(self) -> bool {
        matches!(self.signature().returned, Returned::Sampled)
    }

    /// True where a request may ask for the transpose of A.
    #[must_use]
    pub const fn transposes_a(self) -> bool {
        self.signature().transposes_a
    }

    /// True where the caller's array holds C before the call, and the result is `alpha * A * B + beta * C`.
    #[must_use]
    pub const fn updates(self) -> bool {
        self.signature().updates
    }
}

/// Element types of both operands, the accumulator and the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as in the contract's name")]
pub struct Types {
    pub a: Precision,
    pub b: Precision,
    pub acc: Precision,
    pub out: Precision,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Contract {
    /// Operation.
    pub op: Op,
    /// Format of the sparse operand(s).
    pub format: FormatKind,
    /// Target format of a conversion.
    pub to: Option<FormatKind>,
    /// Element types (all equal for conversions and transposes).
    pub types: Types,
}

/// The combinations of element types that arithmetic contracts come in.
pub const TYPES: [Types; 11] = {
    use Precision::{Bf16, E4m3, E5m2, F16, F32, F64, Tf32};
    const fn types(input: Precision, acc: Precision, out: Precision) -> Types {
        Types { a: input, b: input, acc, out }
    }
    [
        types(F64, F64, F64),
        types(F32, F32, F32),
        types(Tf32, F32, F32),
        types(F16, F32, F32),
        types(F16, F32, F16),
        types(F16, F16, F16),
        types(Bf16, F32, F32),
        types(Bf16, F32, Bf16),
        types(E4m3, F32, F32),
        types(E5m2, F32, F32),
        types(Bf16, Bf16, Bf16),
    ]
};

/// The first of [`TYPES`], and the first formats: the table has the contracts of later ones at its end, so that the places of the
/// others, which plans draw their cases by, stay.
const FIRST_TYPES: usize = 10;
const FIRST_FORMATS: usize = 19;

/// The conversions between the first general formats: every format to and from CSR, and COO to CSC. All other formats are converted to
/// and from CSR.
const GENERAL_CONVERSIONS: [(FormatKind, FormatKind); 11] = {
    use FormatKind::{Bcsr, BlockedEll, Coo, Csc, Csr, Ell};
    [
        (Coo, Csr),
        (Coo, Csc),
        (Csr, Coo),
        (Csr, Csc),
        (Csr, Bcsr),
        (Csr, Ell),
        (Csr, BlockedEll),
        (Csc, Csr),
        (Bcsr, Csr),
        (Ell, Csr),
        (BlockedEll, Csr),
    ]
};

/// Conversions from CSR to some formats, and back.
fn with_csr(formats: &[FormatKind]) -> impl Iterator<Item = (FormatKind, FormatKind)> {
    formats.iter().flat_map(|&format| [(FormatKind::Csr, format), (format, FormatKind::Csr)])
}

static TABLE: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    let of_types = |op: Op, formats: &[FormatKind], types: &[Types]| -> Vec<Contract> {
        let row = |format| types.iter().map(move |&types| Contract { op, format, to: None, types });
        let defined = |c: &Contract| c.format.precisions().contains(&c.types.a);
        formats.iter().flat_map(|&format| row(format)).filter(defined).collect()
    };
    let (first, later) = TYPES.split_at(FIRST_TYPES);
    let arithmetic = |op, formats: &[FormatKind]| of_types(op, formats, first);
    let moves = |op: Op, format: FormatKind, to: Option<FormatKind>| {
        let defined = |p: &&Precision| {
            format.precisions().contains(p) && to.is_none_or(|to| to.precisions().contains(p))
        };
        let row =
            move |p: &Precision| Contract { op, format, to, types: Types { a: *p, b: *p, acc: *p, out: *p } };
        Precision::ALL.iter().filter(defined).map(row).collect::<Vec<_>>()
    };
    let (general, later_general) = split(&FormatKind::GENERAL);
    let (papers, later_papers) = split(&FormatKind::PAPERS);
    let mut table = arithmetic(Op::Spmm, general);
    table.extend(arithmetic(Op::Spmv, general));
    table.extend(arithmetic(Op::Sddmm, &[FormatKind::Csr, FormatKind::Coo]));
    table.extend(arithmetic(Op::Spgemm, &[FormatKind::Csr, FormatKind::Csc]));
    for format in [FormatKind::Coo, FormatKind::Csr, FormatKind::Csc] {
        table.extend(moves(Op::Transpose, format, None));
    }
    for (from, to) in GENERAL_CONVERSIONS.into_iter().chain(with_csr(papers)) {
        table.extend(moves(Op::Convert, from, Some(to)));
    }
    // What came later is last: kernels that take the arrays of a paper's format, element types, formats.
    table.extend(arithmetic(Op::Spmm, papers));
    table.extend(of_types(Op::Spmm, general, later));
    table.extend(of_types(Op::Spmv, general, later));
    table.extend(of_types(Op::Sddmm, &[FormatKind::Csr, FormatKind::Coo], later));
    table.extend(of_types(Op::Spgemm, &[FormatKind::Csr, FormatKind::Csc], later));
    table.extend(of_types(Op::Spmm, papers, later));
    for (from, to) in with_csr(later_general).chain(with_csr(later_papers)) {
        table.extend(moves(Op::Convert, from, Some(to)));
    }
    table.extend(of_types(Op::Spmm, later_general, &TYPES));
    table.extend(of_types(Op::Spmm, later_papers, &TYPES));
    table.extend(of_types(Op::Spmv, later_general, &TYPES));
    table
});

/// Those of some formats that were there first, and the later ones.
fn split(formats: &[FormatKind]) -> (&[FormatKind], &[FormatKind]) {
    formats.split_at(formats.partition_point(|&format| (format as usize) < FIRST_FORMATS))
}

/// Every contract of the suite, in a fixed order.
#[must_use]
pub fn all_contracts() -> &'static [Contract] {
    &TABLE
}

impl Contract {
    /// The contract with this name, if the table has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Contract> {
        static BY_NAME: LazyLock<HashMap<String, Contract>> =
            LazyLock::new(|| all_contracts().iter().map(|c| (c.to_string(), *c)).collect());
        BY_NAME.get(name).copied()
    }

    /// True when one of its formats reads the parameter.
    #[must_use]
    pub fn reads(&self, parameter: &Parameter) -> bool {
        let of = |format: FormatKind| parameter.formats.contains(&format);
        of(self.format) || self.to.is_some_and(of)
    }

    /// True when a request says its value and not a matrix that holds it.
    #[must_use]
    pub fn says(&self, parameter: &Parameter) -> bool {
        let of_target = self.to.is_none_or(|to| parameter.formats.contains(&to));
        self.op.signature().has_params && self.reads(parameter) && of_target
    }

    /// The weakest arithmetic a backend may declare for this contract: any order of additions in the accumulator
    /// type, inputs rounded to tf32 only where the contract says tf32, pads multiplied only where the format has some,
    /// nothing flushed.
    #[must_use]
    pub fn weakest(&self) -> Arithmetic {
        let mut any = Arithmetic::any(self.types.acc, self.types.out);
        if self.format.has_pads() {
            any = any.multiplies_pads();
        }
        if self.types.a == Precision::Tf32 { any.input(Input::Tf32Truncate) } else { any }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}_{}", self.a, self.b, self.acc, self.out)
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.", self.op.name(), self.format.name())?;
        if let Some(to) = self.to {
            write!(f, "{}.", to.name())?;
        }
        if self.op.is_exact() { write!(f, "{}", self.types.a) } else { write!(f, "{}", self.types) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asks what there is loops over this list.
    #[test]
    fn the_list_of_operations_has_every_one_of_the_table_and_each_has_contracts() {
        for contract in all_contracts() {
            assert!(Op::ALL.contains(&contract.op), "Op::ALL lacks {:?}", contract.op);
        }
        for op in Op::ALL {
            assert!(all_contracts().iter().any(|c| c.op == op), "the table has no contract of {op:?}");
        }
    }

    #[test]
    fn every_name_is_unique_and_parses_back() {
        let names: std::collections::BTreeSet<String> =
            all_contracts().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all_contracts().len());
        for contract in all_contracts() {
            assert_eq!(Contract::from_name(&contract.to_string()), Some(*contract));
        }
    }
}
