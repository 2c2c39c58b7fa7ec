//! Why a GPU did not do what was asked.

use sparse_types::refusal::{EngineError, Refusal};

/// What went wrong between here and the GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// No driver, no NVRTC or no device: nothing can run here.
    #[error("no usable NVIDIA GPU: {reason}")]
    Absent {
        /// What is missing, and where it was looked for.
        reason: String,
    },
    /// NVRTC refused a source.
    #[error("NVRTC does not compile {kernel} for {target}: {log}")]
    Compile {
        /// Which kernel.
        kernel: String,
        /// `sm_90a` and so on.
        target: String,
        /// The compiler's own words.
        log: String,
    },
    /// A call of the driver failed.
    #[error("the CUDA driver refused to {what}: {reason}")]
    Driver {
        /// What was tried.
        what: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// A buffer of another length than the kernel reads or writes.
    #[error("{kernel} uses {expected} words of {operand} for {groups} groups, {actual} were given")]
    Length {
        /// Which kernel.
        kernel: String,
        /// Which buffer.
        operand: &'static str,
        /// Groups (warps or warpgroups) asked for.
        groups: usize,
        /// Words that the kernel uses.
        expected: usize,
        /// Words given.
        actual: usize,
    },
    /// More groups than one launch can number.
    #[error("{groups} groups are more than one launch of {kernel} takes ({limit}); split the batch")]
    TooMany {
        /// Which kernel.
        kernel: String,
        /// Groups asked for.
        groups: usize,
        /// Most that fit.
        limit: usize,
    },
    /// What plays the GPU saw a kernel do what it must not.
    #[error("{kernel} was played, and {findings} things are wrong, first of all {first}")]
    Played {
        /// Which kernel.
        kernel: String,
        /// How many things are wrong.
        findings: usize,
        /// The first of them, with its place.
        first: String,
    },
    /// Device memory is short.
    #[error("the device has no {bytes} bytes of memory left; use a smaller matrix or fewer columns")]
    Memory {
        /// Bytes of the buffer asked for.
        bytes: usize,
    },
    /// The GPU lacks instructions of a kernel.
    #[error(
        "{kernel} needs compute capability {}.{}, the GPU has {}.{}",
        needed.0, needed.1, found.0, found.1
    )]
    TooOld {
        /// Which source.
        kernel: &'static str,
        /// Oldest that does.
        needed: (i32, i32),
        /// Of the GPU.
        found: (i32, i32),
    },
    /// The driver does not take the committed PTX of a kernel, and nothing compiles another.
    #[error(
        "{kernel}: the driver does not take the precompiled PTX ({reason}), and {nvrtc}; or update the driver"
    )]
    NoPtx {
        /// Which source.
        kernel: &'static str,
        /// The driver's words.
        reason: String,
        /// Why NVRTC does not help.
        nvrtc: String,
    },
    /// A call of one of NVIDIA's libraries failed.
    #[error("{library} refused to {what}: {reason}")]
    Library {
        /// cuSPARSE or cuBLAS.
        library: &'static str,
        /// What was tried.
        what: &'static str,
        /// Its status.
        reason: String,
    },
}

impl From<CudaError> for EngineError {
    fn from(error: CudaError) -> EngineError {
        match error {
            CudaError::Absent { .. } => EngineError::Unavailable { feature: "cuda" },
            other => EngineError::Device { device: "CUDA", reason: other.to_string() },
        }
    }
}

impl From<CudaError> for Refusal {
    fn from(error: CudaError) -> Refusal {
        EngineError::from(error).into()
    }
}
