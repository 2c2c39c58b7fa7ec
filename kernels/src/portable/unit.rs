//! Arithmetic units: types that products and sums are rounded to, one IEEE rounding (nearest, ties to even) each.
//!
//! f16 has no unit in Rust; its operations go through f32 and one conversion by `half`. A product of two f16 is exact in
//! f32. A sum may be rounded by f32 first, harmlessly: with 24 >= 2 * 11 + 2 bits in between, two roundings of a sum
//! give what one gives (S. A. Figueroa, "When is double rounding innocuous?", 1995). `half::f16::from_f64` is not used:
//! where the CPU has no F16C it drops the low 32 bits, and with them what decides near a tie.
//!
//! bf16 goes through f32 in the same way. It has f32's range, so that products may fall below it; those of half the smallest bf16 and
//! more, 2^-134, are multiples of 2^-148 and exact in f32, and what is less becomes zero either way.

use half::{bf16, f16};
use sparse_types::Precision;
use sparse_types::arithmetic::Reduction;

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

    #[inline]
    fn mul(self, other: f64) -> f64 {
        self * other
    }

    #[inline]
    fn add(self, other: f64) -> f64 {
        self + other
    }

    #[inline]
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

    #[inline]
    fn mul(self, other: f32) -> f32 {
        self * other
    }

    #[inline]
    fn add(self, other: f32) -> f32 {
        self + other
    }

    #[inline]
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

    fn add(self, other: f16) -> f16 {
        f16::from_f32(self.to_f32() + other.to_f32())
    }

    fn fused(acc: f16, a: f16, b: f16) -> f16 {
        acc.add(a.mul(b))
    }

    fn exactly(value: f64) -> Option<f16> {
        let narrow = f16::from_f32(f32::exactly(value)?);
        (f64::from(narrow.to_f32()) == value).then_some(narrow)
    }
}

impl Unit for bf16 {
    const PRECISION: Precision = Precision::Bf16;
    const ZERO: bf16 = bf16::ZERO;
    const ONE: bf16 = bf16::ONE;
    const FUSED: Reduction = Reduction::MulAddChain;

    /// 8 bits times 8 bits: exact in f32 where the result is not zero.
    fn mul(self, other: bf16) -> bf16 {
        bf16::from_f32(self.to_f32() * other.to_f32())
    }

    fn add(self, other: bf16) -> bf16 {
        bf16::from_f32(self.to_f32() + other.to_f32())
    }

    fn fused(acc: bf16, a: bf16, b: bf16) -> bf16 {
        acc.add(a.mul(b))
    }

    fn exactly(value: f64) -> Option<bf16> {
        let narrow = bf16::from_f32(f32::exactly(value)?);
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
    use crate::portable::rounding::to_odd_f32;

    #[test]
    fn an_f16_sum_next_to_a_tie() {
        let sum = |a: f32, b: f32| f16::from_f32(a).add(f16::from_f32(b)).to_f32();
        // Between 2048 and 4096 the step is 2: odd numbers are ties.
        assert_eq!(sum(2048.0, 1.0), 2048.0);
        assert_eq!(sum(2050.0, 1.0), 2052.0);
        let below_one = 1.0 - 2f32.powi(-11);
        assert_eq!(sum(2050.0, -below_one), 2050.0, "2049.0005 is above the tie");
        assert_eq!(sum(2048.0, below_one), 2048.0, "2048.9995 is below the tie");
        assert_eq!(sum(65504.0, 16.0), f32::INFINITY, "half a step past the largest is a tie, and overflows");
    }

    #[test]
    fn f16_sums_are_rounded_once() {
        let mut state = 7u64;
        for _ in 0..400_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let a = f16::from_bits((state >> 48) as u16);
            // Exponents up to 15 apart: where sums of two f16 are inexact.
            let shift = ((state >> 40) as u16 % 15) << 10;
            let b = f16::from_bits(
                ((state >> 20) as u16 & 0x83ff) | (a.to_bits() & 0x7c00).saturating_sub(shift),
            );
            // Both are multiples of 2^-24 below 2^17: their sum is exact in f64, and rounding it to odd loses nothing.
            let exact = f64::from(a.to_f32()) + f64::from(b.to_f32());
            let once = f16::from_f32(to_odd_f32(exact));
            let sum = a.add(b);
            assert!(
                sum.to_bits() == once.to_bits() || sum.is_nan() && once.is_nan(),
                "{a:?} + {b:?}: {sum:?}, not {once:?}"
            );
        }
    }

    /// Against sums and products in f64, rounded to odd and then once.
    #[test]
    fn bf16_sums_and_products_are_rounded_once() {
        let mut state = 11u64;
        for turn in 0..400_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let a = bf16::from_bits((state >> 48) as u16);
            // Exponents up to 12 apart, where sums are inexact, and in every second turn those whose products are subnormal.
            let near = ((state >> 40) as u16 % 12) << 7;
            let other = if turn % 2 == 0 {
                (a.to_bits() & 0x7f80).saturating_sub(near)
            } else {
                0x3f80u16.saturating_sub(a.to_bits() & 0x7f80).saturating_sub(near)
            };
            let b = bf16::from_bits((state >> 20) as u16 & 0x807f | other);
            let (x, y) = (f64::from(a.to_f32()), f64::from(b.to_f32()));
            // Significands of 8 bits at most 12 exponents apart, or far apart in odd turns: of those f64 loses nothing that decides,
            // since 53 >= 2 * 24 + 2.
            for (found, exact) in [(a.add(b), x + y), (a.mul(b), x * y)] {
                let once = bf16::from_f32(to_odd_f32(exact));
                assert!(
                    found.to_bits() == once.to_bits() || found.is_nan() && once.is_nan(),
                    "{a:?}, {b:?}: {found:?}, not {once:?}"
                );
            }
        }
    }

    #[test]
    fn bf16_products_around_half_the_smallest() {
        // 1.0078125 * 2^-67 squared is a little more than 2^-134.
        let x = bf16::from_f32(1.0078125 * 2f32.powi(-67));
        assert_eq!(x.mul(x).to_bits(), 1);
        let half = bf16::from_f32(2f32.powi(-67));
        assert_eq!(half.mul(half).to_bits(), 0, "a tie goes to the even one");
    }

    #[test]
    fn exact_values_only() {
        assert_eq!(f32::exactly(0.1), None);
        assert_eq!(f32::exactly(0.5), Some(0.5));
        assert_eq!(f16::exactly(65536.0), None);
        assert_eq!(f16::exactly(2049.0), None);
        assert_eq!(bf16::exactly(257.0), None);
        assert_eq!(bf16::exactly(-2.5), Some(bf16::from_f32(-2.5)));
        assert_eq!(f16::exactly(-2.0), Some(f16::from_f32(-2.0)));
        assert_eq!(f64::exactly(0.1), Some(0.1));
    }
}
