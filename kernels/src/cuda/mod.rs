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
pub use gpu::Gpu;
#[cfg(feature = "cuda")]
pub use measure::{copy_bandwidth, peak_f32};
#[cfg(feature = "cuda")]
pub use meter::{LaunchPlan, Times, metered};
#[cfg(feature = "cuda")]
pub use preprocess::{ConversionTimes, conversion_times};

use crate::feature::Feature;

/// All kernels for GPUs, whether or not there is one.
#[cfg(feature = "cuda")]
pub(crate) fn kernels() -> Vec<crate::kernel::Kernel> {
    let mut table = Vec::new();
    csr_spmm::rows(&mut table);
    rsh::rows(&mut table);
    libra_spmm::rows(&mut table);
    libra_sddmm::rows(&mut table);
    nm::rows(&mut table);
    two_four::rows(&mut table);
    preprocess::rows(&mut table);
    table
}

/// The GPU's architecture, as models of its matrix instructions know it; none without a GPU.
#[cfg(feature = "cuda")]
pub(crate) fn architecture() -> Option<sparse_types::arithmetic::Architecture> {
    Found::first().ok().and_then(Found::architecture)
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
