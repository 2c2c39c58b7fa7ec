//! Names of the CPU instructions whose very bits are modelled: data only.
//!
//! ```text
//! acc (one element) = unit(acc, a[0..n], b[0..n])        n products an instruction
//!
//! fmopa.f32        n = 1        Arm SME, one fused multiply-add
//! fmopa.f32.f16    n = 2        Arm SME, widening: accumulator . input
//! tdpbf16ps        n = 2..32    Intel AMX: as many pairs as the tile has columns
//! ```
//!
//! Sources: Arm ARM (DDI 0487) C9.2, A1.5 and J1.3; Intel SDM volume 2 (TDPBF16PS, TDPFP16PS, VDPBF16PS, VFMADD*).

use crate::scalar::Precision;
use std::fmt;

/// An instruction of a CPU that multiplies and accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuUnit {
    /// Arm SME `FMOPA` on f64.
    FmopaF64,
    /// Arm SME `FMOPA` on f32.
    FmopaF32,
    /// Arm SME `FMOPA` on f16, not widening.
    FmopaF16,
    /// Arm SME `FMOPA`, two f16 products into f32.
    Fmopa2Way,
    /// Arm SME `BFMOPA`, two bf16 products into f32; also `BFDOT` and `BFMMLA`'s inner step.
    Bfmopa {
        /// `FPCR.EBF`: the fused form of `FEAT_EBF16`.
        ebf: bool,
    },
    /// Arm `FMLA` on f64.
    FmlaF64,
    /// Arm `FMLA` on f32.
    FmlaF32,
    /// Arm `FMLA` on f16.
    FmlaF16,
    /// Intel AMX, bf16 pairs into f32.
    Tdpbf16ps,
    /// Intel AMX, f16 pairs into f32.
    Tdpfp16ps,
    /// AVX512-BF16, a bf16 pair into f32.
    Vdpbf16ps,
    /// x86 FMA on f64.
    Vfmaddpd,
    /// x86 FMA on f32.
    Vfmaddps,
    /// AVX512-FP16 FMA on f16.
    Vfmaddph,
}

impl CpuUnit {
    /// All.
    pub const ALL: [CpuUnit; 15] = [
        CpuUnit::FmopaF64,
        CpuUnit::FmopaF32,
        CpuUnit::FmopaF16,
        CpuUnit::Fmopa2Way,
        CpuUnit::Bfmopa { ebf: false },
        CpuUnit::Bfmopa { ebf: true },
        CpuUnit::FmlaF64,
        CpuUnit::FmlaF32,
        CpuUnit::FmlaF16,
        CpuUnit::Tdpbf16ps,
        CpuUnit::Tdpfp16ps,
        CpuUnit::Vdpbf16ps,
        CpuUnit::Vfmaddpd,
        CpuUnit::Vfmaddps,
        CpuUnit::Vfmaddph,
    ];

    /// The name used in declarations and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CpuUnit::FmopaF64 => "fmopa.f64",
            CpuUnit::FmopaF32 => "fmopa.f32",
            CpuUnit::FmopaF16 => "fmopa.f16",
            CpuUnit::Fmopa2Way => "fmopa.f32.f16",
            CpuUnit::Bfmopa { ebf: false } => "bfmopa.f32.bf16",
            CpuUnit::Bfmopa { ebf: true } => "bfmopa.ebf.f32.bf16",
            CpuUnit::FmlaF64 => "fmla.f64",
            CpuUnit::FmlaF32 => "fmla.f32",
            CpuUnit::FmlaF16 => "fmla.f16",
            CpuUnit::Tdpbf16ps => "tdpbf16ps",
            CpuUnit::Tdpfp16ps => "tdpfp16ps",
            CpuUnit::Vdpbf16ps => "vdpbf16ps",
            CpuUnit::Vfmaddpd => "vfmaddpd",
            CpuUnit::Vfmaddps => "vfmaddps",
            CpuUnit::Vfmaddph => "vfmaddph",
        }
    }

    /// The unit with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<CpuUnit> {
        CpuUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Type of a and b.
    #[must_use]
    pub const fn input(self) -> Precision {
        match self {
            CpuUnit::FmopaF64 | CpuUnit::FmlaF64 | CpuUnit::Vfmaddpd => Precision::F64,
            CpuUnit::FmopaF32 | CpuUnit::FmlaF32 | CpuUnit::Vfmaddps => Precision::F32,
            CpuUnit::FmopaF16
            | CpuUnit::Fmopa2Way
            | CpuUnit::FmlaF16
            | CpuUnit::Tdpfp16ps
            | CpuUnit::Vfmaddph => Precision::F16,
            CpuUnit::Bfmopa { .. } | CpuUnit::Tdpbf16ps | CpuUnit::Vdpbf16ps => Precision::Bf16,
        }
    }

    /// Type of the accumulator, and of every rounding.
    #[must_use]
    pub const fn acc(self) -> Precision {
        match self {
            CpuUnit::Fmopa2Way
            | CpuUnit::Bfmopa { .. }
            | CpuUnit::Tdpbf16ps
            | CpuUnit::Tdpfp16ps
            | CpuUnit::Vdpbf16ps => Precision::F32,
            same => same.input(),
        }
    }

    /// The most products that one instruction adds to one element.
    #[must_use]
    pub const fn products(self) -> usize {
        match self {
            CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => 32,
            CpuUnit::Fmopa2Way | CpuUnit::Bfmopa { .. } | CpuUnit::Vdpbf16ps => 2,
            _ => 1,
        }
    }

    /// An instruction takes a multiple of this many products, up to [`products`](Self::products). The two are equal but
    /// for AMX, whose tiles may be narrower.
    #[must_use]
    pub const fn granule(self) -> usize {
        match self {
            CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => 2,
            other => other.products(),
        }
    }

    /// The most roundings that a product goes through, out of an instruction with `products` of them. (The accumulator
    /// that comes in goes through no more.)
    #[must_use]
    pub const fn roundings(self, products: usize) -> usize {
        match self {
            // Pair sum and accumulation.
            CpuUnit::Fmopa2Way | CpuUnit::Bfmopa { ebf: true } => 2,
            // Product, pair sum, accumulation.
            CpuUnit::Bfmopa { ebf: false } => 3,
            // A chain over each half of the pairs, the sum of both, and C.
            CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => products.div_ceil(2) + 2,
            CpuUnit::Vdpbf16ps => 2,
            _ => 1,
        }
    }

    /// True where every rounding is to nearest (by default): half a unit of error, else up to a whole one.
    #[must_use]
    pub const fn rounds_to_nearest(self) -> bool {
        !matches!(self, CpuUnit::Bfmopa { ebf: false })
    }

    /// True where subnormal f32 (hence bf16) operands and results become zero whatever the control register says.
    #[must_use]
    pub const fn always_flushes(self) -> bool {
        matches!(
            self,
            CpuUnit::Bfmopa { ebf: false } | CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps | CpuUnit::Vdpbf16ps
        )
    }
}

impl fmt::Display for CpuUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: no name of a unit could be read, and nothing here noticed.
    #[test]
    fn each_unit_is_found_by_its_name() {
        for unit in CpuUnit::ALL {
            assert_eq!(CpuUnit::from_name(unit.name()), Some(unit));
        }
        assert_eq!(CpuUnit::from_name("fmopa"), None);
    }
}
