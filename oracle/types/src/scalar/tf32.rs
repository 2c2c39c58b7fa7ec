//! tf32: an f32 in memory, rounded to 11 significand bits where the declared arithmetic says so.

use super::{Precision, Scalar};

/// A tf32 operand as it is stored: the bits of an f32, low 13 bits not yet rounded away. Equality is of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Tf32(pub u32);

impl Tf32 {
    /// Rounds as `cvt.rna.tf32.f32` does: nearest, ties away from zero, on finite values only.
    #[must_use]
    pub fn round_rna(self) -> Tf32 {
        if f32::from_bits(self.0).is_finite() { Tf32((self.0 + 0x1000) & 0xffff_e000) } else { self }
    }

    /// Rounds as `cvt.rn.tf32.f32` does: nearest, ties to even, on finite values only. What rounds up past the largest number becomes
    /// infinite, as by IEEE 754.
    #[must_use]
    pub fn round_rne(self) -> Tf32 {
        if f32::from_bits(self.0).is_finite() {
            let odd = self.0 >> 13 & 1;
            Tf32((self.0 + 0xfff + odd) & 0xffff_e000)
        } else {
            self
        }
    }

    /// Drops the low 13 bits, as the tensor core does to raw f32 words. A NaN whose payload lies only there
    /// becomes an infinity (research: PTX ISA 9.1, wgmma; seen on an H200).
    #[must_use]
    pub fn round_rz(self) -> Tf32 {
        Tf32(self.0 & 0xffff_e000)
    }
}

impl Scalar for Tf32 {
    const PRECISION: Precision = Precision::Tf32;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        Tf32(bits as u32)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(f32::from_bits(self.0))
    }
}

impl std::fmt::Debug for Tf32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}_tf32(0x{:x})", f32::from_bits(self.0), self.0)
    }
}
