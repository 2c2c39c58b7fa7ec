//! NVIDIA GPUs through the driver API and NVRTC, both loaded at run time: builds and starts without CUDA.
//!
//! ```text
//! Task -> request (checked on the host) -> operand: B, C on the device -> prepared format -> launch -> download -> C
//!         found: which GPU     gpu: opened, modules, buffers     source: table of .cu files and their PTX
//! Device::open -> Kernel (NVRTC, sm_90a) -> Launch over checked buffers of u32 words          (probes of instructions)
//! ```
//!
//! Source: CUDA driver API and NVRTC 13.0, through `cudarc`. cudarc panics where a library is missing, so [`Gpu::get`] and
//! [`Device::open`] look for it first. Without the feature `cuda` only the sources of kernels are here.

#[cfg(feature = "cuda")]
mod baseline;
#[cfg(feature = "cuda")]
mod buffer;
#[cfg(feature = "cuda")]
mod csr_spmm;
#[cfg(feature = "cuda")]
mod device;
mod error;
#[cfg(feature = "cuda")]
mod found;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod layout;
#[cfg(feature = "cuda")]
mod libra_sddmm;
#[cfg(feature = "cuda")]
mod libra_spmm;
#[cfg(feature = "cuda")]
mod library;
#[cfg(feature = "cuda")]
mod listed;
#[cfg(feature = "cuda")]
mod measure;
#[cfg(feature = "cuda")]
mod meter;
#[cfg(feature = "cuda")]
mod nm;
#[cfg(feature = "cuda")]
mod operand;
#[cfg(feature = "cuda")]
mod preprocess;
pub mod probe;
#[cfg(feature = "cuda")]
mod rsh;
#[cfg(feature = "cuda")]
mod silicon;
#[cfg(feature = "cuda")]
pub mod source;
#[cfg(feature = "cuda")]
mod tiles;
#[cfg(feature = "cuda")]
mod two_four;

#[cfg(feature = "cuda")]
pub use baseline::{Baseline, baselines};
#[cfg(feature = "cuda")]
pub use device::{Device, Loaded, compile_text, nvrtc_version};
pub use error::CudaError;
#[cfg(feature = "cuda")]
pub use found::Found;
#[cfg(feature = "cuda")]
pub use gpu::{Gpu, GpuMachine};
#[cfg(feature = "cuda")]
pub use launch::{Argument, GpuCall, Grid};
#[cfg(feature = "cuda")]
pub use measure::{copy_bandwidth, peak_f32};
#[cfg(feature = "cuda")]
pub use meter::{LaunchPlan, Times, metered};
#[cfg(feature = "cuda")]
pub use preprocess::{ConversionTimes, conversion_times};

use crate::feature::Feature;
#[cfg(feature = "cuda")]
use crate::{
    engine::Engine,
    kernel::{Kernel, Run},
    name::KernelName,
};
#[cfg(feature = "cuda")]
use sparse_types::{
    arithmetic::{Architecture, Arithmetic},
    contract::Contract,
    refusal::{EngineError, Refusal},
    task::{Answer, Task},
};

/// The entry point of a kernel for a GPU: the given one, or the first of this machine, which is not looked for before the task is
/// found to be right.
#[cfg(feature = "cuda")]
type GpuRun = fn(Option<&Gpu>, Task<'_>) -> Result<Answer, Refusal>;

/// The same on the first GPU of this machine, beside it: see [`entry`].
#[cfg(feature = "cuda")]
type EntryPoint = (Run, GpuRun);

/// An entry point, also as the table of all kernels has it.
#[cfg(feature = "cuda")]
macro_rules! entry {
    ($run:expr) => {
        (|task| $run(None, task), $run)
    };
}
#[cfg(feature = "cuda")]
use entry;

/// A kernel that can be given its GPU.
#[cfg(feature = "cuda")]
#[derive(Clone, Debug)]
pub struct GpuKernel {
    /// Its row: name, contract, declared arithmetic.
    pub kernel: Kernel,
    run: GpuRun,
}

#[cfg(feature = "cuda")]
impl GpuKernel {
    /// Runs it on this GPU.
    ///
    /// # Errors
    /// As [`Kernel::run`]; where the GPU is played, also for whatever the kernel does that it must not.
    pub fn run_on(&self, gpu: &Gpu, task: Task<'_>) -> Result<Answer, Refusal> {
        (self.run)(Some(gpu), task)
    }
}

/// What a table of kernels is for: their declared arithmetic depends on the architecture.
#[cfg(feature = "cuda")]
#[derive(Clone, Copy, Debug)]
struct GpuTarget {
    engine: Engine,
    /// As models of matrix instructions know it; none without a GPU.
    architecture: Option<Architecture>,
}

#[cfg(feature = "cuda")]
impl GpuTarget {
    /// A row of the table.
    fn row(
        self,
        contract: Contract,
        tech: Option<&str>,
        arithmetic: Arithmetic,
        (run, run_on): EntryPoint,
    ) -> GpuKernel {
        let name = KernelName { tech: tech.map(str::to_owned), ..KernelName::plain(contract, self.engine) };
        let kernel = match self.engine {
            Engine::Ptx => Kernel::named(&name, arithmetic, |_| {
                Err(EngineError::Unavailable { feature: NOT_GIVEN }.into())
            }),
            _ => Kernel { needs: &[Feature::Sm80], ..Kernel::named(&name, arithmetic, run) },
        };
        GpuKernel { kernel, run: run_on }
    }

    /// Every kernel.
    fn kernels(self) -> Vec<GpuKernel> {
        let mut table = Vec::new();
        csr_spmm::rows(&mut table, self);
        rsh::rows(&mut table, self);
        libra_spmm::rows(&mut table, self);
        libra_sddmm::rows(&mut table, self);
        nm::rows(&mut table, self);
        two_four::rows(&mut table, self);
        preprocess::rows(&mut table, self);
        table
    }
}

/// What a row lacks that a machine plays, where it is called like any other.
#[cfg(feature = "cuda")]
const NOT_GIVEN: &str = "ptx (a played GPU, which GpuKernel::run_on is given)";

/// All kernels for GPUs, whether or not there is one.
#[cfg(feature = "cuda")]
pub(crate) fn kernels() -> impl Iterator<Item = Kernel> {
    let architecture = Found::first().ok().and_then(Found::architecture);
    GpuTarget { engine: Engine::Cuda, architecture }.kernels().into_iter().map(|row| row.kernel)
}

/// The kernels for GPUs as a machine of this architecture plays them; they are in no registry.
#[cfg(feature = "cuda")]
#[must_use]
pub fn played_kernels(architecture: Architecture) -> Vec<GpuKernel> {
    GpuTarget { engine: Engine::Ptx, architecture: Some(architecture) }.kernels()
}

/// Whether the GPU, if there is one, has this.
#[cfg(feature = "cuda")]
pub(crate) fn detected(feature: Feature) -> bool {
    let Ok(found) = Found::first() else {
        return false;
    };
    match feature {
        Feature::Sm80 => found.capability() >= (8, 0),
        Feature::Sm90 => found.capability() >= (9, 0),
        Feature::Cusparse => baseline::cusparse_is_here(),
        Feature::Cublas => baseline::cublas_is_here(),
        _ => false,
    }
}

/// Without the feature `cuda` there is no GPU.
#[cfg(not(feature = "cuda"))]
pub(crate) fn detected(_: Feature) -> bool {
    false
}
