//! The portable engine: a plain implementation of every contract, in safe Rust, for any CPU.
//!
//! ```text
//! request (task -> typed, checked)      element, unit, rounding, exact_sum, scaling: arithmetic
//! lanes (format -> rows or columns)     dense: layouts        product, sddmm, spgemm, transpose, convert: loops
//! ```
//!
//! Declared arithmetic: chains in ascending order from +0, `MulThenAdd` epilogue, nothing flushed; the chain is fused
//! for SpMV, SDDMM and block formats, separate products and sums for the rest; tf32 operands are rounded as `rna`.

pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod element;
mod exact_sum;
pub(crate) mod lanes;
pub(crate) mod moves;
mod product;
pub(crate) mod request;
mod rounding;
pub(crate) mod scaling;
pub(crate) mod sddmm;
pub(crate) mod spgemm;
mod spmm;
mod spmv;
mod transpose;
pub(crate) mod unit;

use crate::engine::Engine;
use crate::kernel::{Kernel, Run};
use element::{Operand, Output, Stored, contract};
use half::{bf16, f16};
use lanes::{AsBcsr, AsBlockedEll, AsCoo, AsCsc, AsCsr, AsEll, Decoded, LaneFormat};
use moves::Move;
use sparse_types::arithmetic::{Arithmetic, Pads, Reduction};
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::FormatKind;
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};
use unit::{Chain, Unit};

/// Pushes one row for every combination of element types that arithmetic contracts come in.
macro_rules! push_types {
    ($table:ident, $op:expr, $module:ident, $format:ty, $steps:ty, $pads:expr) => {
        push_types!(@each $table, $op, $module, $format, $steps, $pads;
            f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16, F16 f16 F16,
            Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32, Bf16 bf16 Bf16)
    };
    (@each $table:ident, $op:expr, $module:ident, $format:ty, $steps:ty, $pads:expr;
        $($input:ident $acc:ident $out:ident),*) => {
        $($table.push(arithmetic_row::<$steps, $input, $acc, $out>(
            $op, <$format>::KIND, $pads, $module::run::<$format, $input, $acc, $out>,
        ));)*
    };
}

/// Pushes one row for every element type.
macro_rules! push_moves {
    ($table:ident, $($move:ty),*) => {
        $(push_moves!(@each $table, $move; f64, f32, Tf32, F16, Bf16, E4m3, E5m2);)*
    };
    (@each $table:ident, $move:ty; $($element:ident),*) => {
        $($table.push(move_row::<$move, $element>(Engine::Portable));)*
    };
}

/// All portable kernels.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut table = Vec::new();
    let by_format: [fn(&mut Vec<Kernel>); 12] = [
        spmm_rows::<AsCoo>,
        spmm_rows::<AsCsr>,
        spmm_rows::<AsCsc>,
        spmm_rows::<AsBcsr>,
        spmm_rows::<AsEll>,
        spmm_rows::<AsBlockedEll>,
        spmv_rows::<AsCoo>,
        spmv_rows::<AsCsr>,
        spmv_rows::<AsCsc>,
        spmv_rows::<AsBcsr>,
        spmv_rows::<AsEll>,
        spmv_rows::<AsBlockedEll>,
    ];
    for push in by_format {
        push(&mut table);
    }
    push_types!(table, Op::Sddmm, sddmm, AsCsr, sddmm::SddmmSteps, Pads::Skipped);
    push_types!(table, Op::Sddmm, sddmm, AsCoo, sddmm::SddmmSteps, Pads::Skipped);
    push_types!(table, Op::Spgemm, spgemm, AsCsr, spgemm::SpgemmSteps, Pads::Skipped);
    push_types!(table, Op::Spgemm, spgemm, AsCsc, spgemm::SpgemmSteps, Pads::Skipped);
    push_moves!(table, transpose::TransposeCoo, transpose::TransposeCsr, transpose::TransposeCsc);
    push_moves!(table, convert::CooToCsr, convert::CooToCsc);
    push_moves!(table, convert::CsrToCoo, convert::CsrToCsc, convert::CsrToBcsr);
    push_moves!(table, convert::CsrToEll, convert::CsrToBlockedEll);
    push_moves!(table, convert::CscToCsr, convert::BcsrToCsr);
    push_moves!(table, convert::EllToCsr, convert::BlockedEllToCsr);
    push_moves!(table, convert::CsrToLoops, convert::LoopsToCsr);
    push_moves!(table, convert::CsrToRsTile, convert::RsTileToCsr);
    push_moves!(table, convert::CsrToLibraSpmm, convert::LibraSpmmToCsr);
    push_moves!(table, convert::CsrToLibraSddmm, convert::LibraSddmmToCsr);
    push_moves!(table, convert::CsrToRpCsc, convert::RpCscToCsr);
    push_moves!(table, convert::CsrToCpCsr, convert::CpCsrToCsr);
    push_moves!(table, convert::CsrToNm, convert::NmToCsr);
    push_moves!(@each table, convert::CsrToTwoFour; Tf32, F16, Bf16);
    push_moves!(@each table, convert::TwoFourToCsr; Tf32, F16, Bf16);
    push_moves!(table, convert::CsrToVnm, convert::VnmToCsr);
    push_moves!(table, convert::CsrToTcf, convert::TcfToCsr);
    push_moves!(table, convert::CsrToMeTcf, convert::MeTcfToCsr);
    push_moves!(table, convert::CsrToBitTcf, convert::BitTcfToCsr);
    push_moves!(table, convert::CsrToSrBcrs, convert::SrBcrsToCsr);
    let papers: [fn(&mut Vec<Kernel>); 12] = [
        spmm_rows::<Decoded<convert::LoopsToCsr>>,
        spmm_rows::<Decoded<convert::RsTileToCsr>>,
        spmm_rows::<Decoded<convert::LibraSpmmToCsr>>,
        spmm_rows::<Decoded<convert::LibraSddmmToCsr>>,
        spmm_rows::<Decoded<convert::RpCscToCsr>>,
        spmm_rows::<Decoded<convert::CpCsrToCsr>>,
        spmm_rows::<Decoded<convert::NmToCsr>>,
        spmm_rows::<Decoded<convert::VnmToCsr>>,
        spmm_rows::<Decoded<convert::TcfToCsr>>,
        spmm_rows::<Decoded<convert::MeTcfToCsr>>,
        spmm_rows::<Decoded<convert::BitTcfToCsr>>,
        spmm_rows::<Decoded<convert::SrBcrsToCsr>>,
    ];
    for push in papers {
        push(&mut table);
    }
    two_four_rows::<Decoded<convert::TwoFourToCsr>>(&mut table);
    table
}

/// See [`crate::registry::bitmap_decoders`].
pub(crate) fn bitmap_decoders() -> [(FormatKind, Run); 4] {
    [
        (FormatKind::RsTile, moves::run::<convert::RsTileToCsr, F16>),
        (FormatKind::BitTcf, moves::run::<convert::BitTcfToCsr, F16>),
        (FormatKind::LibraSpmm, moves::run::<convert::LibraSpmmToCsr, F16>),
        (FormatKind::LibraSddmm, moves::run::<convert::LibraSddmmToCsr, F16>),
    ]
}

fn spmm_rows<F: LaneFormat>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmm, spmm, F, F::Spmm, F::PADS);
}

/// 2:4 is defined for 16-bit types and tf32 only.
fn two_four_rows<F: LaneFormat>(table: &mut Vec<Kernel>) {
    push_types!(@each table, Op::Spmm, spmm, F, F::Spmm, F::PADS;
        Tf32 f32 f32, F16 f32 f32, F16 f32 F16, F16 f16 F16, Bf16 f32 f32, Bf16 f32 Bf16, Bf16 bf16 Bf16);
}

fn spmv_rows<F: LaneFormat>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmv, spmv, F, spmv::SpmvSteps, F::PADS);
}

fn arithmetic_row<S, I, A, O>(op: Op, format: FormatKind, pads: Pads, run: Run) -> Kernel
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
