//! Arm: CSR and LOOPS SpMM with Advanced SIMD (NEON) and with the Scalable Matrix Extension (SME).
//!
//! ```text
//! detect                        what the CPU has
//! panel, rows                   B and C as rows
//! neon -> csr                   rows: FMLA chains, vectorised over columns of B
//! neon | sme -> loops           tiles: outer products; with csr as its other part
//! ```
//!
//! Declared arithmetic: one fused step per stored term, ascending, from +0; `MulThenAdd` epilogue; nothing flushed. FMOPA of f64 and f32
//! rounds as FMLA does, so the hybrids of these types are one chain throughout, also where A is transposed and has no tiles. FMOPA
//! of f16 takes two tiles at a time, with two roundings: there the two parts of a hybrid differ.

mod csr;
mod detect;
mod loops;
mod neon;
mod panel;
mod rows;
mod sme;

pub(crate) use detect::detected;
pub(crate) use sme::vector_bits as streaming_vector_bits;

use crate::engine::Engine;
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::name::KernelName;
use crate::portable::element::{Operand, Output};
use crate::portable::unit::Unit;
use loops::{Neon, Sme, Tiles};
use neon::NeonVector;
use sparse_types::F16;
use sparse_types::arithmetic::{Arithmetic, Combine, CpuUnit, Reduction};
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::FormatKind;

/// All kernels for Arm.
pub(crate) fn kernels() -> Vec<Kernel> {
    vec![
        csr_row::<f64, f64, f64>(),
        csr_row::<f32, f32, f32>(),
        csr_row::<F16, f32, f32>(),
        csr_row::<F16, f32, F16>(),
        neon_row::<f64, f64, f64>(),
        neon_row::<f32, f32, f32>(),
        neon_row::<F16, f32, f32>(),
        neon_row::<F16, f32, F16>(),
        sme_row::<f64, f64, f64>(CpuUnit::FmopaF64),
        sme_row::<f32, f32, f32>(CpuUnit::FmopaF32),
        sme_row::<F16, f32, f32>(CpuUnit::Fmopa2Way),
        sme_row::<F16, f32, F16>(CpuUnit::Fmopa2Way),
    ]
}

fn types<I: Operand<A>, A: Unit, O: Output<A>>() -> Types {
    Types { a: I::PRECISION, b: I::PRECISION, acc: A::PRECISION, out: O::PRECISION }
}

fn csr_row<I: Operand<A>, A: NeonVector, O: Output<A>>() -> Kernel {
    let types = types::<I, A, O>();
    let chain = Arithmetic::chain(Reduction::FmaChain, types.acc, types.out);
    let how = (Engine::Neon, None, None);
    row(FormatKind::Csr, types, how, chain, &[Feature::Neon], csr::run::<I, A, O>)
}

fn neon_row<I: Operand<A>, A: NeonVector, O: Output<A>>() -> Kernel {
    let types = types::<I, A, O>();
    let chain = Arithmetic::chain(Reduction::FmaChain, types.acc, types.out).multiplies_pads();
    let how = (Engine::Neon, None, None);
    let needs = <Neon as Tiles<I, A>>::NEEDS;
    let kernel = row(FormatKind::Loops, types, how, chain, needs, loops::run::<Neon, I, A, O>);
    Kernel { run_split: Some(loops::run_split::<Neon, I, A, O>), ..kernel }
}

fn sme_row<I: Operand<A>, A: NeonVector, O: Output<A>>(unit: CpuUnit) -> Kernel
where
    Sme: Tiles<I, A>,
{
    let types = types::<I, A, O>();
    let tiles = Arithmetic::cpu(unit, types.out).multiplies_pads();
    let (tile, arithmetic) = match unit.products() {
        1 => (None, tiles),
        _ => {
            let rest = Arithmetic::chain(Reduction::FmaChain, types.acc, types.out).multiplies_pads();
            let both = Arithmetic::hybrid(tiles, *rest.part(), Combine::Disjoint);
            (Some("2way"), both)
        }
    };
    let how = (Engine::Sme, Some("fmopa"), tile);
    let needs = <Sme as Tiles<I, A>>::NEEDS;
    let kernel = row(FormatKind::Loops, types, how, arithmetic, needs, loops::run::<Sme, I, A, O>);
    Kernel { run_split: Some(loops::run_split::<Sme, I, A, O>), ..kernel }
}

/// An SpMM kernel; `how` is the engine, tech and tile of its name.
fn row(
    format: FormatKind,
    types: Types,
    how: (Engine, Option<&str>, Option<&str>),
    arithmetic: Arithmetic,
    needs: &'static [Feature],
    run: Run,
) -> Kernel {
    let contract = Contract { op: Op::Spmm, format, to: None, types };
    let (engine, tech, tile) = how;
    let name = KernelName { contract, engine, tech: tech.map(str::to_owned), tile: tile.map(str::to_owned) };
    Kernel { needs, ..Kernel::named(&name, arithmetic, run) }
}
