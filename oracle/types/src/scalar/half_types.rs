//! f16 and bf16 as bit patterns.

use super::{Precision, Scalar, decode};

/// IEEE binary16, as its bits. Equality is of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

impl Scalar for F16 {
    const PRECISION: Precision = Precision::F16;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        F16(bits as u16)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        decode(u64::from(self.0), Precision::F16)
    }
}

impl std::fmt::Debug for F16 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}_f16(0x{:x})", self.to_f64(), self.0)
    }
}

/// bfloat16, as its bits. Equality is of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Scalar for Bf16 {
    const PRECISION: Precision = Precision::Bf16;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        Bf16(bits as u16)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        decode(u64::from(self.0), Precision::Bf16)
    }
}

impl std::fmt::Debug for Bf16 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}_bf16(0x{:x})", self.to_f64(), self.0)
    }
}
