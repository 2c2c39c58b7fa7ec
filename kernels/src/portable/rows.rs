//! Rows of the table of kernels: one for each combination of element types that a loop or a conversion is compiled for.

use super::element::{Operand, Output, Stored, contract};
use super::lanes::{Decoded, LaneFormat};
use super::moves::{self, Move};
use super::unit::{Chain, Unit};
use super::{rows, spmm, spmv};
use crate::engine::Engine;
use crate::kernel::{Kernel, Run};
use half::{bf16, f16};
use sparse_types::arithmetic::{Arithmetic, Pads, Reduction};
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::FormatKind;
use sparse_types::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};

/// Pushes one row for every combination of element types that arithmetic contracts come in, and that the format is defined for.
macro_rules! push_types {
    ($table:ident, $op:expr, $module:ident, $format:ty, $steps:ty, $pads:expr) => {
        push_types!(@each $table, $op, $module, $format, $steps, $pads;
            f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16, F16 f16 F16,
            Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32, Bf16 bf16 Bf16)
    };
    (@each $table:ident, $op:expr, $module:ident, $format:ty, $steps:ty, $pads:expr;
        $($input:ident $acc:ident $out:ident),*) => {
        $(if rows::is_defined(<$format>::KIND, <$input as Scalar>::PRECISION) {
            $table.push(rows::arithmetic_row::<$steps, $input, $acc, $out>(
                $op, <$format>::KIND, $pads, $module::run::<$format, $input, $acc, $out>,
            ));
        })*
    };
}

pub(super) use push_types;

/// The rows of a paper's format: its conversions, and the product of what was decoded.
pub(super) struct PaperRows {
    /// From CSR, and back.
    pub(super) moves: fn(&mut Vec<Kernel>),
    /// SpMM.
    pub(super) spmm: fn(&mut Vec<Kernel>),
}

impl PaperRows {
    /// Those of two conversions.
    pub(super) const fn of<FromCsr: Move, ToCsr: Move>() -> PaperRows {
        PaperRows {
            moves: |table| {
                move_rows::<FromCsr>(table);
                move_rows::<ToCsr>(table);
            },
            spmm: spmm_rows::<Decoded<ToCsr>>,
        }
    }
}

/// A transpose or conversion of every element type that its formats are defined for.
pub(super) fn move_rows<M: Move>(table: &mut Vec<Kernel>) {
    let defined =
        |precision| is_defined(M::FROM, precision) && M::TO.is_none_or(|to| is_defined(to, precision));
    macro_rules! push {
        ($($Element:ident),*) => {
            $(if defined(<$Element as Scalar>::PRECISION) {
                table.push(move_row::<M, $Element>(Engine::Portable));
            })*
        };
    }
    push!(f64, f32, Tf32, F16, Bf16, E4m3, E5m2);
}

/// True where a format is defined for an element type.
pub(super) fn is_defined(format: FormatKind, precision: Precision) -> bool {
    format.precisions().contains(&precision)
}

/// SpMM in every combination of element types that the format is defined for.
pub(super) fn spmm_rows<F: LaneFormat>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmm, spmm, F, F::Spmm, F::PADS);
}

/// SpMV in the same.
pub(super) fn spmv_rows<F: LaneFormat>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmv, spmv, F, spmv::SpmvSteps, F::PADS);
}

/// A row of an operation that rounds.
pub(super) fn arithmetic_row<S, I, A, O>(op: Op, format: FormatKind, pads: Pads, run: Run) -> Kernel
where
    S: Chain,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let contract = contract::<I, A, O>(op, format);
    let chain = Arithmetic::chain(S::reduction::<A>(), A::PRECISION, O::PRECISION).input(I::INPUT);
    let arithmetic = match pads {
        Pads::Skipped => chain,
        Pads::Multiplied => chain.multiplies_pads(),
    };
    Kernel::new(contract, Engine::Portable, arithmetic, run)
}

/// Moves round nothing: the declaration is a chain of no terms.
pub(crate) fn move_row<M: Move, T: Stored>(engine: Engine) -> Kernel {
    let p = T::PRECISION;
    let contract =
        Contract { op: M::OP, format: M::FROM, to: M::TO, types: Types { a: p, b: p, acc: p, out: p } };
    let arithmetic = Arithmetic::chain(Reduction::MulAddChain, p, p);
    Kernel::new(contract, engine, arithmetic, moves::run::<M, T>)
}
