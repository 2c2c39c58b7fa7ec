//! x86-64: SpMM of every format, SpMV and SDDMM, for AVX-512 and AVX2.
//!
//! ```text
//! task -> request (checked) -> formats: rows or tiles -> workers: jobs on disjoint rows of C
//!                                 B packed (dense)   \-> rows, tiles: inner loops over simd vectors -> C
//! ```
//!
//! Declared arithmetic: each element of C is one chain of fused steps in ascending column from +0, then `MulThenAdd`. Vectors
//! run over columns of B, never along a chain: neither their length nor threads, tails or blocking reach a result. Narrow
//! operands are widened to f32 first, exactly; tf32 is rounded as `rna`.

mod dense;
mod detect;
mod element;
mod formats;
mod isa;
mod lanes;
mod loops;
mod rows;
mod sddmm;
mod simd;
mod spmm;
mod tiles;

pub(crate) use detect::detected;

use crate::kernel::{Kernel, Run};
use crate::portable::convert::{CpCsrToCsr, RpCscToCsr};
use crate::portable::element::contract;
use crate::portable::unit::Unit;
use element::{Enter, Leave};
use formats::{
    BcsrRows, BitTcfRows, BlockedEllRows, CooRows, CscRows, CsrRows, DecodedRows, EllRows, LibraSddmmRows,
    LibraSpmmRows, MeTcfRows, NmRows, RowSource, RsTileRows, SrBcrsRows, TcfRows, TwoFourRows, VnmRows,
};
use isa::{Avx2, Avx512, Core, Isa};
use sparse_types::arithmetic::{Arithmetic, Pads, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::FormatKind;
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};

/// Pushes one row for every combination of element types with an accumulator of f32 or f64, or for those given.
macro_rules! push_types {
    ($table:ident, $op:expr, $run:ident, $isa:ty, $format:ty) => {
        push_types!(@each $table, $op, $run, $isa, $format;
            f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16,
            Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32)
    };
    (@each $table:ident, $op:expr, $run:ident, $isa:ty, $format:ty; $($input:ident $acc:ident $out:ident),*) => {
        $($table.push(row::<$isa, $input, $acc, $out>(
            ($op, <$format>::KIND, <$format>::PADS),
            spmm::$run::<$isa, $format, $input, $acc, $out>,
        ));)*
    };
    (@loops $table:ident, $isa:ty; $($input:ident $acc:ident $out:ident),*) => {
        $($table.push(Kernel {
            run_split: Some(loops::run_split::<$isa, $input, $acc, $out>),
            ..row::<$isa, $input, $acc, $out>(
                (Op::Spmm, FormatKind::Loops, Pads::Multiplied),
                loops::run::<$isa, $input, $acc, $out>,
            )
        });)*
    };
}

/// All kernels of this architecture.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut table = Vec::new();
    engine::<Avx512>(&mut table);
    engine::<Avx2>(&mut table);
    sddmm::rows(&mut table);
    table
}

fn engine<S: Core<f32> + Core<f64>>(table: &mut Vec<Kernel>) {
    push_types!(@loops table, S;
        f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16,
        Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32);
    let by_format: [fn(&mut Vec<Kernel>); 17] = [
        spmm_rows::<S, CooRows>,
        spmm_rows::<S, CsrRows>,
        spmm_rows::<S, CscRows>,
        spmm_rows::<S, BcsrRows>,
        spmm_rows::<S, EllRows>,
        spmm_rows::<S, BlockedEllRows>,
        spmm_rows::<S, RsTileRows>,
        spmm_rows::<S, LibraSpmmRows>,
        spmm_rows::<S, LibraSddmmRows>,
        spmm_rows::<S, DecodedRows<RpCscToCsr>>,
        spmm_rows::<S, DecodedRows<CpCsrToCsr>>,
        spmm_rows::<S, NmRows>,
        spmm_rows::<S, VnmRows>,
        spmm_rows::<S, TcfRows>,
        spmm_rows::<S, MeTcfRows>,
        spmm_rows::<S, BitTcfRows>,
        spmm_rows::<S, SrBcrsRows>,
    ];
    for push in by_format {
        push(table);
    }
    // 2:4 is defined for 16-bit types and tf32 only.
    push_types!(@each table, Op::Spmm, run, S, TwoFourRows;
        Tf32 f32 f32, F16 f32 f32, F16 f32 F16, Bf16 f32 f32, Bf16 f32 Bf16);
    spmv_rows::<S, CsrRows>(table);
    spmv_rows::<S, CooRows>(table);
    spmv_rows::<S, CscRows>(table);
    spmv_rows::<S, BcsrRows>(table);
    spmv_rows::<S, EllRows>(table);
    spmv_rows::<S, BlockedEllRows>(table);
}

fn spmm_rows<S: Core<f32> + Core<f64>, F: RowSource>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmm, run, S, F);
}

fn spmv_rows<S: Core<f32> + Core<f64>, F: RowSource>(table: &mut Vec<Kernel>) {
    push_types!(table, Op::Spmv, run_vector, S, F);
}

fn row<S: Isa, I: Enter<A>, A: Unit, O: Leave<A>>(
    (op, format, pads): (Op, FormatKind, Pads),
    run: Run,
) -> Kernel {
    let contract = contract::<I, A, O>(op, format);
    let chain = Arithmetic::chain(Reduction::FmaChain, A::PRECISION, O::PRECISION).input(I::INPUT);
    let arithmetic = match pads {
        Pads::Skipped => chain,
        Pads::Multiplied => chain.multiplies_pads(),
    };
    Kernel { needs: S::NEEDS, ..Kernel::new(contract, S::ENGINE, arithmetic, run) }
}
