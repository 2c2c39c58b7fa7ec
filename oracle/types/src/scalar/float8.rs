//! The two OCP 8-bit floats as bit patterns.

use super::{Precision, Scalar, decode};

/// OCP E4M3, as its bits: no infinity, one NaN per sign. Equality is of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct E4m3(pub u8);

impl Scalar for E4m3 {
    const PRECISION: Precision = Precision::E4m3;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        E4m3(bits as u8)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        decode(u64::from(self.0), Precision::E4m3)
    }
}

impl std::fmt::Debug for E4m3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}_e4m3(0x{:x})", self.to_f64(), self.0)
    }
}

/// OCP E5M2, as its bits. Equality is of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct E5m2(pub u8);

impl Scalar for E5m2 {
    const PRECISION: Precision = Precision::E5m2;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        E5m2(bits as u8)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        decode(u64::from(self.0), Precision::E5m2)
    }
}

impl std::fmt::Debug for E5m2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}_e5m2(0x{:x})", self.to_f64(), self.0)
    }
}
