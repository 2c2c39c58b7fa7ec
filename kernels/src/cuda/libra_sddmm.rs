//! Libra SDDMM: `kernels/cuda/libra_sddmm.cu` and its host side.
//!
//! ```text
//! CSR --distribution (`eta`)--> 8 x 16 blocks | single entries -> Prepared   once
//!     -> launch: segments of blocks by tensor cores, single entries by FP32 cores; both write out[position]
//! ```
//!
//! Two rows of the table for each element type. `libra` is the hybrid: blocks from 24 entries on (the paper's 0.1875) go to
//! tensor cores. `mma` gives every entry to them. Declared arithmetic: in blocks a chain of `mma` in ascending k, single
//! entries one fused chain; both round tf32 operands as `rna`, and no output has terms in both. Nothing is atomic: every
//! output has one writer.
//!
//! Source: Libra, sections 4.2 to 4.4. Different from it: both parts are one launch, where section 4.4.1 has two kernels; and single entries
//! are rounded to tf32, where the paper keeps them in FP32. Patterns of blocks only have kernels of their own for some k; the hybrid has
//! not, so `libra` beside `mma` does not compare the two distributions alone.

mod prepared;

use super::gpu::Gpu;
use super::meter;
use super::operand::DeviceDense;
use super::tiles::declared::fused_architecture;
use super::{EntryPoint, GpuKernel, GpuTarget, entry};
use crate::portable::convert::libra_sddmm::CsrToLibraSddmm;
use crate::portable::element::contract;
use crate::portable::lanes::AsCsr;
use crate::portable::moves::Move;
use crate::portable::request::wrong_format;
use crate::portable::sddmm::{self, Sampled};
pub(super) use prepared::SYMBOLS;
use prepared::{PreparedPattern, SddmmElement};
use sparse_types::arithmetic::{Arithmetic, Combine, Instruction, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::{AnyParts, FormatKind, FormatParams, LibraSddmmParts, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{F16, Precision, Tf32};

/// Where an entry goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distribution {
    /// Blocks from the paper's density on to tensor cores.
    Hybrid,
    /// Everything to tensor cores.
    Blocks,
}

impl Distribution {
    const fn params(self) -> FormatParams {
        FormatParams {
            eta: match self {
                Distribution::Hybrid => None,
                Distribution::Blocks => Some(1),
            },
            ..FormatParams::DEFAULT
        }
    }

    const fn tech(self) -> &'static str {
        match self {
            Distribution::Hybrid => "libra",
            Distribution::Blocks => "mma",
        }
    }
}

/// The rows of the table.
pub(super) fn rows(table: &mut Vec<GpuKernel>, target: GpuTarget) {
    table.push(row::<Tf32>(target, Distribution::Hybrid, entry!(hybrid::<Tf32>)));
    table.push(row::<F16>(target, Distribution::Hybrid, entry!(hybrid::<F16>)));
    table.push(row::<Tf32>(target, Distribution::Blocks, entry!(blocks::<Tf32>)));
    table.push(row::<F16>(target, Distribution::Blocks, entry!(blocks::<F16>)));
}

fn row<I: SddmmElement>(target: GpuTarget, distribution: Distribution, run: EntryPoint) -> GpuKernel {
    let contract = contract::<I, f32, f32>(Op::Sddmm, FormatKind::Csr);
    let instruction = Instruction::mma((16, 8, I::PRODUCTS), Precision::F32, I::PRECISION);
    let chain = |reduction| Arithmetic::chain(reduction, Precision::F32, Precision::F32).input(I::INPUT);
    let blocks = chain(Reduction::Mma { architecture: fused_architecture(target, instruction), instruction });
    let arithmetic = match distribution {
        Distribution::Blocks => blocks,
        Distribution::Hybrid => {
            Arithmetic::hybrid(blocks, *chain(Reduction::FmaChain).part(), Combine::Disjoint)
        }
    };
    target.row(contract, Some(distribution.tech()), arithmetic, run)
}

fn hybrid<I: SddmmElement>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    run::<I>(gpu, task, Distribution::Hybrid)
}

fn blocks<I: SddmmElement>(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    run::<I>(gpu, task, Distribution::Blocks)
}

fn run<I: SddmmElement>(
    gpu: Option<&Gpu>,
    task: Task<'_>,
    distribution: Distribution,
) -> Result<Answer, Refusal> {
    let Sampled { s, x, y, scaling, mode, out } = sddmm::open::<AsCsr, I, f32, f32>(task)?;
    let gpu = Gpu::or_first(gpu)?;
    if out.is_empty() {
        return Ok(Answer::Written);
    }
    let (prepared, seconds) =
        meter::prepared(gpu, || PreparedPattern::new(gpu, &distributed(s, distribution)?))?;
    let (x, y) = (DeviceDense::upload(gpu, &x)?, DeviceDense::upload(gpu, &y)?);
    let mut results = gpu.upload(out)?;
    meter::queue(gpu, seconds, || {
        prepared.launch::<I>(gpu, (&x, &y), &mut results, mode, scaling.factors())
    })?;
    gpu.download(&results, out)?;
    Ok(Answer::Written)
}

/// A CSR pattern distributed over both parts.
pub(crate) fn distributed(
    s: &Sparse<f32>,
    distribution: Distribution,
) -> Result<LibraSddmmParts<f32>, Refusal> {
    match CsrToLibraSddmm::perform(s, distribution.params())? {
        Answer::Parts(AnyParts::F32(Parts::LibraSddmm(parts))) => Ok(parts),
        _ => Err(wrong_format("S", FormatKind::LibraSddmm, s.kind())),
    }
}
