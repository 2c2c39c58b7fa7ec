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
mod rows;
pub(crate) mod scaling;
pub(crate) mod sddmm;
pub(crate) mod spgemm;
mod spmm;
mod spmv;
mod transpose;
pub(crate) mod unit;

use crate::kernel::{Kernel, Run};
use half::{bf16, f16};
use lanes::{AsBcsr, AsBlockedEll, AsCoo, AsCsc, AsCsr, AsEll, LaneFormat};
pub(crate) use rows::move_row;
use rows::{move_rows, push_types, spmm_rows, spmv_rows};
use sparse_types::arithmetic::Pads;
use sparse_types::contract::Op;
use sparse_types::format::FormatKind;
use sparse_types::{Bf16, E4m3, E5m2, F16, Scalar, Tf32};

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
    let general: [fn(&mut Vec<Kernel>); 14] = [
        move_rows::<transpose::TransposeCoo>,
        move_rows::<transpose::TransposeCsr>,
        move_rows::<transpose::TransposeCsc>,
        move_rows::<convert::CooToCsr>,
        move_rows::<convert::CooToCsc>,
        move_rows::<convert::CsrToCoo>,
        move_rows::<convert::CsrToCsc>,
        move_rows::<convert::CsrToBcsr>,
        move_rows::<convert::CsrToEll>,
        move_rows::<convert::CsrToBlockedEll>,
        move_rows::<convert::CscToCsr>,
        move_rows::<convert::BcsrToCsr>,
        move_rows::<convert::EllToCsr>,
        move_rows::<convert::BlockedEllToCsr>,
    ];
    for push in general {
        push(&mut table);
    }
    for paper in convert::PAPERS {
        (paper.moves)(&mut table);
    }
    for paper in convert::PAPERS {
        (paper.spmm)(&mut table);
    }
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
