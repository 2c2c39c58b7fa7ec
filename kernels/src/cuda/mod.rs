//! NVIDIA GPUs through the driver API and NVRTC, both loaded at run time: builds and starts without CUDA.
//!
//! ```text
//! Device::open -> Kernel (NVRTC, sm_90a) -> Launch over checked buffers of u32 words
//! ```
//!
//! Source: CUDA driver API and NVRTC 13.0, through `cudarc`. cudarc panics where a library is missing, so [`Device::open`]
//! looks for both first. Without the feature `cuda` only the sources of kernels are here.

#[cfg(feature = "cuda")]
mod device;
mod error;
pub mod probe;

#[cfg(feature = "cuda")]
pub use device::{Device, Loaded, compile_text, nvrtc_version};
pub use error::CudaError;
