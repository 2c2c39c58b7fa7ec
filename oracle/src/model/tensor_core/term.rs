//! Operands as exact integers, and the way back.
//!
//! ```text
//! bits -> NaN | infinity | (-1)^negative * significand * 2^(exponent - fraction)
//! ```
//!
//! A subnormal keeps the exponent of the least normal number and has no hidden bit: nothing is renormalised and nothing
//! flushed, because the hardware aligns by this exponent (numerical probes of MMA-Sim, arXiv 2511.10909, section 4).

use crate::scalar::{Precision, Specials};

/// What a bit pattern means to a multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Any NaN.
    Nan,
    /// An infinity; true if negative.
    Infinity(bool),
    /// A number, zero included.
    Finite(Term),
}

/// `(-1)^negative * significand * 2^(exponent - fraction)`, aligned by `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) negative: bool,
    pub(super) significand: u64,
    pub(super) exponent: i32,
    /// Bits of the significand behind the point.
    pub(super) fraction: i32,
}

impl Meaning {
    /// Reads `bits`; of a tf32 word the low 13 bits are not looked at.
    pub(super) fn decode(bits: u64, precision: Precision) -> Meaning {
        let spec = precision.spec();
        let fraction = spec.significand - 1;
        let pattern = if precision == Precision::Tf32 { (bits & 0xffff_ffff) >> 13 } else { bits };
        let sign_place = match precision {
            Precision::Tf32 => 18,
            _ => spec.storage_bits - 1,
        };
        let negative = pattern >> sign_place & 1 == 1;
        let magnitude = pattern & ((1 << sign_place) - 1);
        let field = (magnitude >> fraction) as i32;
        let low = magnitude & ((1 << fraction) - 1);
        let top = (1 << (sign_place - fraction)) - 1;
        match spec.specials {
            Specials::Ieee if field == top && low == 0 => return Meaning::Infinity(negative),
            Specials::Ieee if field == top => return Meaning::Nan,
            Specials::NanOnly if magnitude == (1 << sign_place) - 1 => return Meaning::Nan,
            _ => {}
        }
        let hidden = u64::from(field > 0) << fraction;
        Meaning::Finite(Term {
            negative,
            significand: hidden | low,
            exponent: spec.emin + field.max(1) - 1,
            fraction: fraction as i32,
        })
    }

    /// What becomes of an fp8 operand that is converted to f16: the subnormals of E4M3 are normal numbers there, and align as
    /// such.
    pub(super) fn in_half(self) -> Meaning {
        let Meaning::Finite(mut term) = self else {
            return self;
        };
        let least = Precision::F16.spec().emin;
        while term.significand != 0 && term.significand >> term.fraction == 0 && term.exponent > least {
            term.significand <<= 1;
            term.exponent -= 1;
        }
        Meaning::Finite(term)
    }

    /// The exact product. Infinity times zero is NaN.
    pub(super) fn times(self, other: Meaning) -> Meaning {
        use Meaning::{Finite, Infinity, Nan};
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity(s), Infinity(t)) => Infinity(s != t),
            (Infinity(s), Finite(x)) | (Finite(x), Infinity(s)) => match x.significand {
                0 => Nan,
                _ => Infinity(s != x.negative),
            },
            (Finite(x), Finite(y)) => Finite(Term {
                negative: x.negative != y.negative,
                significand: x.significand * y.significand,
                exponent: x.exponent + y.exponent,
                fraction: x.fraction + y.fraction,
            }),
        }
    }
}

impl Term {
    /// The magnitude in units of 2^`lsb`, what is below dropped; with its sign.
    pub(super) fn aligned(self, lsb: i32) -> i64 {
        let shift = self.exponent - self.fraction - lsb;
        let magnitude =
            if shift >= 0 { self.significand << shift } else { self.significand >> (-shift).min(63) } as i64;
        if self.negative { -magnitude } else { magnitude }
    }
}

/// How a fused sum becomes an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinalRounding {
    /// f32, toward zero.
    F32TowardZero,
    /// f32 with 14 significant bits, toward zero: the low 10 bits are 0.
    E8m13TowardZero,
    /// f16, nearest, ties to even.
    F16NearestEven,
}

impl FinalRounding {
    /// The type of the accumulator.
    #[must_use]
    pub const fn precision(self) -> Precision {
        match self {
            FinalRounding::F32TowardZero | FinalRounding::E8m13TowardZero => Precision::F32,
            FinalRounding::F16NearestEven => Precision::F16,
        }
    }

    /// Significant bits of a result.
    #[must_use]
    pub const fn significand(self) -> u32 {
        match self {
            FinalRounding::F32TowardZero => 24,
            FinalRounding::E8m13TowardZero => 14,
            FinalRounding::F16NearestEven => 11,
        }
    }

    /// The one NaN that these units return.
    pub(super) const fn nan(self) -> u64 {
        match self.precision() {
            Precision::F16 => 0x7fff,
            _ => 0x7fff_ffff,
        }
    }

    /// The infinity.
    pub(super) const fn infinity(self, negative: bool) -> u64 {
        let (sign, magnitude) = match self.precision() {
            Precision::F16 => (15, 0x7c00),
            _ => (31, 0x7f80_0000),
        };
        (negative as u64) << sign | magnitude
    }

    /// `sum * 2^lsb`, rounded once. Beyond the range it is infinity, toward zero as well; what is zero or rounds to it is +0.
    pub(super) fn round(self, sum: i64, lsb: i32) -> u64 {
        let magnitude = sum.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let spec = self.precision().spec();
        let kept = self.significand() as i32;
        let least = spec.emin - (kept - 1);
        let quantum = (lsb + magnitude.ilog2() as i32 - (kept - 1)).max(least);
        let quotient = self.divide(magnitude, quantum - lsb);
        // One more unit is one more pattern, carries included (see `scalar::round`).
        let pattern = ((quantum - least) as u64) << (kept - 1);
        let unused = spec.significand as i32 - kept;
        let bits = (pattern + quotient) << unused;
        if bits >= self.infinity(false) {
            return self.infinity(sum < 0);
        }
        let sign = u64::from(sum < 0 && bits != 0) << (spec.storage_bits - 1);
        sign | bits
    }

    /// `magnitude / 2^shift`, rounded to an integer.
    fn divide(self, magnitude: u64, shift: i32) -> u64 {
        if shift <= 0 {
            return magnitude << -shift;
        }
        let quotient = magnitude >> shift;
        if self != FinalRounding::F16NearestEven {
            return quotient;
        }
        let (rest, half) = (magnitude & ((1 << shift) - 1), 1 << (shift - 1));
        quotient + u64::from(rest > half || rest == half && quotient & 1 == 1)
    }
}
