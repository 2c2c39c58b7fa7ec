//! Why a GPU did not do what was asked.

/// What went wrong between here and the GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
}
