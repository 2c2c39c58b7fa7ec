//! Arithmetic units: types that products and sums are rounded to, one IEEE rounding (nearest, ties to even) each.
//!
//! f16 has no unit in Rust, and `half::f16::from_f64` rounds twice (through f32 where the CPU has F16C, dropping 32 bits
//! where it has not), so f16 results are rounded here from an exact f64 through f32 *to odd*: an inexact f32 gets its
//! last bit set, so that the second rounding, by `half`, cannot mistake it for a tie.

use super::rounding::to_odd_f32;
use half::f16;
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Reduction;

/// A type in which a kernel multiplies and adds.
pub(crate) trait Unit: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Which type, as data.
    const PRECISION: Precision;
    /// +0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// What [`fused`](Self::fused) does.
    const FUSED: Reduction;

    /// `self * other`, rounded once.
    fn mul(self, other: Self) -> Self;
    /// `self + other`, rounded once.
    fn add(self, other: Self) -> Self;
    /// `acc + a * b`: rounded once where the type has a fused unit, else each of the two results.
    fn fused(acc: Self, a: Self, b: Self) -> Self;
    /// The value, if this type holds it exactly.
    fn exactly(value: f64) -> Option<Self>;
}

impl Unit for f64 {
    const PRECISION: Precision = Precision::F64;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const FUSED: Reduction = Reduction::FmaChain;

    fn mul(self, other: f64) -> f64 {
        self * other
    }

    fn add(self, other: f64) -> f64 {
        self + other
    }

    fn fused(acc: f64, a: f64, b: f64) -> f64 {
        a.mul_add(b, acc)
    }

    fn exactly(value: f64) -> Option<f64> {
        Some(value)
    }
}

impl Unit for f32 {
    const PRECISION: Precision = Precision::F32;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const FUSED: Reduction = Reduction::FmaChain;

    fn mul(self, other: f32) -> f32 {
        self * other
    }

    fn add(self, other: f32) -> f32 {
        self + other
    }

    fn fused(acc: f32, a: f32, b: f32) -> f32 {
        a.mul_add(b, acc)
    }

    fn exactly(value: f64) -> Option<f32> {
        let narrow = value as f32;
        (f64::from(narrow) == value).then_some(narrow)
    }
}

impl Unit for f16 {
    const PRECISION: Precision = Precision::F16;
    const ZERO: f16 = f16::ZERO;
    const ONE: f16 = f16::ONE;
    const FUSED: Reduction = Reduction::MulAddChain;

    /// 11 bits times 11 bits, exponents within 2^-48..2^32: exact in f32, one rounding.
    fn mul(self, other: f16) -> f16 {
        f16::from_f32(self.to_f32() * other.to_f32())
    }

    /// Multiples of 2^-24 below 2^17: exact in f64.
    fn add(self, other: f16) -> f16 {
        let exact = f64::from(self.to_f32()) + f64::from(other.to_f32());
        f16::from_f32(to_odd_f32(exact))
    }

    fn fused(acc: f16, a: f16, b: f16) -> f16 {
        acc.add(a.mul(b))
    }

    fn exactly(value: f64) -> Option<f16> {
        let narrow = f16::from_f32(f32::exactly(value)?);
        (f64::from(narrow.to_f32()) == value).then_some(narrow)
    }
}

/// How a term enters the accumulator.
pub(crate) trait Chain {
    /// As the declaration puts it.
    fn reduction<A: Unit>() -> Reduction;
    /// The accumulator after the term `a * b`.
    fn step<A: Unit>(acc: A, a: A, b: A) -> A;
}

/// The product is rounded, then the sum.
#[derive(Debug)]
pub(crate) struct Separate;

/// One rounding a term where the unit can.
#[derive(Debug)]
pub(crate) struct Fused;

impl Chain for Separate {
    fn reduction<A: Unit>() -> Reduction {
        Reduction::MulAddChain
    }

    #[inline]
    fn step<A: Unit>(acc: A, a: A, b: A) -> A {
        acc.add(a.mul(b))
    }
}

impl Chain for Fused {
    fn reduction<A: Unit>() -> Reduction {
        A::FUSED
    }

    #[inline]
    fn step<A: Unit>(acc: A, a: A, b: A) -> A {
        A::fused(acc, a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_f16_sum_above_a_tie_is_rounded_up() {
        // 2049 lies halfway between 2048 and 2050; the smallest subnormal decides, 35 bits further down.
        let tie = f16::from_f32(2048.0).add(f16::ONE);
        assert_eq!(tie.to_f32(), 2048.0);
        let above = f16::from_f32(2050.0).add(f16::from_bits(1));
        assert_eq!(above.to_f32(), 2050.0);
        let odd = f16::from_f32(2050.0).add(f16::ONE);
        assert_eq!(odd.to_f32(), 2052.0, "2051 is a tie and goes to the even 2052");
        let just_below = f16::from_f32(2052.0).add(f16::from_f32(-0.999_511_7));
        assert_eq!(just_below.to_f32(), 2052.0, "2051.0005 is above the tie");
    }

    #[test]
    fn exact_values_only() {
        assert_eq!(f32::exactly(0.1), None);
        assert_eq!(f32::exactly(0.5), Some(0.5));
        assert_eq!(f16::exactly(65536.0), None);
        assert_eq!(f16::exactly(2049.0), None);
        assert_eq!(f16::exactly(-2.0), Some(f16::from_f32(-2.0)));
        assert_eq!(f64::exactly(0.1), Some(0.1));
    }
}
