//! What a machine must have for a kernel to run, by name. Whether it has it: [`crate::machine`], and each engine for itself.

use sparse_types::refusal::EngineError;

/// One property of a CPU or GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// x86-64 AVX2.
    Avx2,
    /// x86-64 fused multiply-add.
    Fma,
    /// x86-64 conversions from and to f16.
    F16c,
    /// x86-64 AVX-512 foundation.
    Avx512f,
    /// x86-64 AVX-512 on bytes and words.
    Avx512bw,
    /// x86-64 AVX-512 on doublewords and quadwords.
    Avx512dq,
    /// x86-64 AVX-512 on shorter vectors.
    Avx512vl,
    /// x86-64 count of set bits.
    Popcnt,
    /// x86-64 first group of bit instructions (`tzcnt`).
    Bmi1,
    /// Arm Advanced SIMD.
    Neon,
    /// Arm half-precision arithmetic and conversions.
    Fp16,
    /// Arm SME.
    Sme,
    /// Arm SME outer products of f64.
    SmeF64F64,
    /// Arm SME outer products of f16 into f32.
    SmeF16F32,
    /// A driver and an NVIDIA GPU of compute capability 8.0: f16, bf16 and tf32 matrix instructions, `cp.async`.
    Sm80,
    /// Compute capability 9.0: vector reductions to memory, clusters.
    Sm90,
    /// NVIDIA's cuSPARSE, beside a driver and a GPU.
    Cusparse,
    /// NVIDIA's cuBLAS, beside a driver and a GPU.
    Cublas,
}

impl Feature {
    /// All.
    pub const ALL: [Feature; 18] = [
        Feature::Avx2,
        Feature::Fma,
        Feature::F16c,
        Feature::Avx512f,
        Feature::Avx512bw,
        Feature::Avx512dq,
        Feature::Avx512vl,
        Feature::Popcnt,
        Feature::Bmi1,
        Feature::Neon,
        Feature::Fp16,
        Feature::Sme,
        Feature::SmeF64F64,
        Feature::SmeF16F32,
        Feature::Sm80,
        Feature::Sm90,
        Feature::Cusparse,
        Feature::Cublas,
    ];

    /// The name that the system uses (`/proc/cpuinfo`, or the compiler's name of the architecture).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Avx2 => "avx2",
            Feature::Fma => "fma",
            Feature::F16c => "f16c",
            Feature::Avx512f => "avx512f",
            Feature::Avx512bw => "avx512bw",
            Feature::Avx512dq => "avx512dq",
            Feature::Avx512vl => "avx512vl",
            Feature::Popcnt => "popcnt",
            Feature::Bmi1 => "bmi1",
            Feature::Neon => "neon",
            Feature::Fp16 => "fp16",
            Feature::Sme => "sme",
            Feature::SmeF64F64 => "smef64f64",
            Feature::SmeF16F32 => "smef16f32",
            Feature::Sm80 => "sm_80",
            Feature::Sm90 => "sm_90",
            Feature::Cusparse => "cusparse",
            Feature::Cublas => "cublas",
        }
    }

    /// Refuses where `has` is false of one of these. An engine asks what it finds out for itself.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] names the first that is missing.
    pub(crate) fn require(needed: &[Feature], has: fn(Feature) -> bool) -> Result<(), EngineError> {
        match needed.iter().find(|&&feature| !has(feature)) {
            Some(feature) => Err(EngineError::Unavailable { feature: feature.name() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_missing_is_named() {
        let refused = Feature::require(&[Feature::Avx2, Feature::Fma, Feature::Bmi1], |f| f == Feature::Avx2);
        assert_eq!(refused, Err(EngineError::Unavailable { feature: "fma" }));
        assert_eq!(Feature::require(&[Feature::Sme], |_| true), Ok(()));
        assert_eq!(Feature::require(&[], |_| false), Ok(()));
    }
}
