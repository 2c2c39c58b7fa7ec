//! What kernels run on.

/// What a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Engine {
    /// Plain Rust, any CPU.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512.
    Avx512,
    /// Arm Advanced SIMD.
    Neon,
    /// Arm Scalable Matrix Extension.
    Sme,
    /// NVIDIA GPU.
    Cuda,
    /// A machine that plays an NVIDIA GPU: whoever implements `cuda::GpuMachine`.
    Ptx,
    /// A model of the IOPS accelerator.
    Iops,
}

impl Engine {
    /// All engines that a name may hold, whether or not a kernel is registered for them.
    pub const ALL: [Engine; 8] = [
        Engine::Portable,
        Engine::Avx2,
        Engine::Avx512,
        Engine::Neon,
        Engine::Sme,
        Engine::Cuda,
        Engine::Ptx,
        Engine::Iops,
    ];

    /// The word in a kernel's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Portable => "portable",
            Engine::Avx2 => "avx2",
            Engine::Avx512 => "avx512",
            Engine::Neon => "neon",
            Engine::Sme => "sme",
            Engine::Cuda => "cuda",
            Engine::Ptx => "ptx",
            Engine::Iops => "iops",
        }
    }

    /// In words.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Engine::Portable => "plain Rust on any CPU",
            Engine::Avx2 => "x86-64 with AVX2 and FMA",
            Engine::Avx512 => "x86-64 with AVX-512",
            Engine::Neon => "Arm Advanced SIMD",
            Engine::Sme => "Arm SME",
            Engine::Cuda => "an NVIDIA GPU",
            Engine::Ptx => "PTX of an NVIDIA GPU's kernels, played on a CPU",
            Engine::Iops => "a model of the IOPS accelerator",
        }
    }

    /// The engine with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Engine> {
        Engine::ALL.into_iter().find(|engine| engine.name() == name)
    }
}
