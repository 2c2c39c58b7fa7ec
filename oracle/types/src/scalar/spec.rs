//! The table of element types: significand, exponent range, special values.

use super::power_of_two;

/// How a type spends its top exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// IEEE 754: top exponent is infinity (zero fraction) or NaN.
    Ieee,
    /// OCP E4M3: no infinity; the one NaN per sign has all exponent and fraction bits set.
    NanOnly,
}

/// The numeric shape of a type: `(-1)^s * 1.f * 2^e`, `p` significand bits, `emin <= e <= emax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatSpec {
    /// Bits of storage (32 for tf32, which lives in an f32).
    pub storage_bits: u32,
    /// Bits of the significand, the hidden one included.
    pub significand: u32,
    /// Exponent of the smallest normal number.
    pub emin: i32,
    /// Exponent of the largest finite number.
    pub emax: i32,
    /// Meaning of the top exponent.
    pub specials: Specials,
}

/// Hands the rows of the table of element types to a macro, a dollar sign first, for macros that make macros.
macro_rules! precisions {
    ($d:tt $then:ident) => {
        $then! { $d
            // Kind, type, name    storage and significand bits, emin, emax, specials
            F64  f64  "f64"  (64, 53, -1022, 1023, Ieee) "IEEE binary64.";
            F32  f32  "f32"  (32, 24, -126, 127, Ieee) "IEEE binary32.";
            Tf32 Tf32 "tf32" (32, 11, -126, 127, Ieee) "NVIDIA tf32: f32 storage, 11 significand bits after the declared input rounding.";
            F16  F16  "f16"  (16, 11, -14, 15, Ieee) "IEEE binary16.";
            Bf16 Bf16 "bf16" (16, 8, -126, 127, Ieee) "bfloat16: f32's exponent range, 8 significand bits.";
            E4m3 E4m3 "e4m3" (8, 4, -6, 8, NanOnly) "OCP 8-bit float, 4 exponent bits, NaN but no infinity.";
            E5m2 E5m2 "e5m2" (8, 3, -14, 15, Ieee) "OCP 8-bit float, 5 exponent bits, IEEE-like.";
        }
    };
}
pub(crate) use precisions;

macro_rules! kinds {
    ($d:tt $($Kind:ident $Type:ident $name:literal ($storage:literal, $significand:literal, $emin:literal, $emax:literal, $specials:ident) $doc:literal;)*) => {
        /// An element type by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Precision { $(#[doc = $doc] $Kind),* }

        impl Precision {
            /// All types, widest first.
            pub const ALL: [Precision; [$($name),*].len()] = [$(Precision::$Kind),*];

            /// The numeric shape.
            #[must_use]
            #[inline(always)]
            pub const fn spec(self) -> FloatSpec {
                let (storage_bits, significand, emin, emax, specials) = match self {
                    $(Precision::$Kind => ($storage, $significand, $emin, $emax, Specials::$specials)),*
                };
                FloatSpec { storage_bits, significand, emin, emax, specials }
            }

            /// The name used in contracts, case lines and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Precision::$Kind => $name),* }
            }
        }
    };
}
precisions!($ kinds);

impl Precision {
    /// The type with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Precision> {
        Precision::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Bytes of storage of one element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.spec().storage_bits as usize / 8
    }
}

impl FloatSpec {
    /// Exponent of the smallest positive (subnormal) number, which is `2^min_exponent()`.
    #[must_use]
    pub const fn min_exponent(self) -> i32 {
        self.emin - (self.significand as i32 - 1)
    }

    /// True where every finite number of `other` is, by significand and exponents, one of this.
    #[must_use]
    pub const fn holds(self, other: FloatSpec) -> bool {
        self.significand >= other.significand
            && self.min_exponent() <= other.min_exponent()
            && self.emax >= other.emax
    }

    /// The largest finite number, exactly.
    #[must_use]
    #[inline]
    pub fn max_finite(self) -> f64 {
        // E4M3 gives its largest significand to NaN: 448 = 1.75 * 2^8 instead of 1.875 * 2^8.
        let missing = if self.specials == Specials::NanOnly { 2.0 } else { 1.0 };
        let scaled = power_of_two(self.significand as i32) - missing;
        scaled * power_of_two(self.emax - (self.significand as i32 - 1))
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
