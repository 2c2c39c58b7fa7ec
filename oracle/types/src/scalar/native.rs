//! f64 and f32, whose arithmetic the machine already has.

use super::{Precision, Scalar};

impl Scalar for f64 {
    const PRECISION: Precision = Precision::F64;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    const PRECISION: Precision = Precision::F32;

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }

    #[inline(always)]
    fn bits64(self) -> u64 {
        u64::from(self.to_bits())
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}
