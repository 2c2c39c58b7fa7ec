//! CPU instructions that multiply and accumulate: which bits one of them returns for one element.
//!
//! ```text
//! flush, nan  ->  fused (one exact sum, one rounding)  ->  arm: FMLA  ->  fmopa, bfmopa
//!                                                      ->  x86: FMA   ->  vdpbf16, amx
//!                                                          all of them behind one door: CpuStep
//! ```
//!
//! Bits go in and bits come out, those of NaNs included. Flags and traps are not modelled. [`CpuStep`] has the shape of
//! [`TensorCore`](super::tensor_core::TensorCore), so that chains along k are composed of either alike.

pub mod amx;
pub mod arm;
pub mod bfmopa;
pub mod flush;
pub mod fmopa;
mod fused;
pub mod nan;
pub mod vdpbf16;
pub mod x86;

use super::ModelError;
use crate::arithmetic::CpuUnit;
use arm::Fpcr;
use x86::Mxcsr;

/// One instruction under one setting of the control registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CpuStep {
    unit: CpuUnit,
    fpcr: Fpcr,
    mxcsr: Mxcsr,
}

impl CpuStep {
    /// The unit under the settings that a process starts with.
    #[must_use]
    pub const fn new(unit: CpuUnit) -> CpuStep {
        CpuStep { unit, fpcr: Fpcr::DEFAULT, mxcsr: Mxcsr::DEFAULT }
    }

    /// With another FPCR, which only Arm's units read. Its EBF gives way to the unit's.
    #[must_use]
    pub const fn with_fpcr(mut self, fpcr: Fpcr) -> CpuStep {
        self.fpcr = fpcr;
        self
    }

    /// With another MXCSR, which only x86's FMA reads.
    #[must_use]
    pub const fn with_mxcsr(mut self, mxcsr: Mxcsr) -> CpuStep {
        self.mxcsr = mxcsr;
        self
    }

    /// The unit.
    #[must_use]
    pub const fn unit(&self) -> CpuUnit {
        self.unit
    }

    /// The most products of one instruction and element.
    #[must_use]
    pub const fn products(&self) -> usize {
        self.unit.products()
    }

    /// One element after one instruction: bits of a and b in the input type, of the accumulator and the result in the
    /// accumulator type. All elements are active.
    ///
    /// # Errors
    /// [`ModelError::UnitOperands`] unless a and b have one length, a multiple of [`CpuUnit::granule`] from there up to
    /// [`products`](Self::products).
    pub fn apply(&self, acc: u64, a: &[u64], b: &[u64]) -> Result<u64, ModelError> {
        let (granule, most) = (self.unit.granule(), self.products());
        let n = a.len();
        if n != b.len() || n == 0 || n > most || !n.is_multiple_of(granule) {
            return Err(ModelError::UnitOperands { unit: self.unit, granule, most, a: n, b: b.len() });
        }
        Ok(self.step(acc, a, b))
    }

    /// Lengths are right.
    fn step(&self, acc: u64, a: &[u64], b: &[u64]) -> u64 {
        let (fpcr, mxcsr, precision) = (self.fpcr, self.mxcsr, self.unit.input());
        let low = |side: &[u64]| side[0];
        let two = |side: &[u64]| [side[0], side[1]];
        let active = |side: &[u64]| [Some(side[0]), Some(side[1])];
        let pairs = a.iter().copied().zip(b.iter().copied());
        match self.unit {
            CpuUnit::FmopaF64 | CpuUnit::FmopaF32 | CpuUnit::FmopaF16 => {
                fmopa::fmopa(precision, acc, Some(low(a)), Some(low(b)), fpcr)
            }
            CpuUnit::Fmopa2Way => fmopa::fmopa_2way(acc, active(a), active(b), fpcr),
            CpuUnit::Bfmopa { ebf } => bfmopa::bfmopa(acc, active(a), active(b), Fpcr { ebf, ..fpcr }),
            CpuUnit::FmlaF64 | CpuUnit::FmlaF32 | CpuUnit::FmlaF16 => {
                arm::fmla(precision, acc, low(a), low(b), fpcr)
            }
            CpuUnit::Tdpbf16ps => amx::tdpbf16ps(acc, pairs),
            CpuUnit::Tdpfp16ps => amx::tdpfp16ps(acc, pairs),
            CpuUnit::Vdpbf16ps => vdpbf16::vdpbf16ps(acc, two(a), two(b)),
            CpuUnit::Vfmaddpd | CpuUnit::Vfmaddps | CpuUnit::Vfmaddph => {
                x86::fma(precision, low(a), low(b), acc, mxcsr)
            }
        }
    }
}
