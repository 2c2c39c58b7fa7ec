//! Types of up to 32 bits: bits as significand and exponent.

use sparse_oracle::scalar::Precision;

/// Exponent of a zero: below every alignment, also after two are added.
pub(super) const NONE: i32 = -4000;

/// How a type of up to 32 bits is laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Low bits that are not looked at.
    pub(super) skip: u32,
    /// The place of the sign, above those.
    pub(super) sign: u32,
    /// Bits of the fraction.
    pub(super) fraction: u32,
    /// Exponent of the least normal number.
    pub(super) emin: i32,
    /// Two elements a register.
    pub(super) pairs: bool,
}

impl Layout {
    pub(super) fn of(precision: Precision) -> Layout {
        let spec = precision.spec();
        let tf32 = precision == Precision::Tf32;
        Layout {
            skip: if tf32 { 13 } else { 0 },
            sign: if tf32 { 18 } else { spec.storage_bits - 1 },
            fraction: spec.significand - 1,
            emin: spec.emin,
            pairs: precision.bytes() == 2,
        }
    }

    /// The bits of the first element of a register.
    pub(super) const fn mask(self) -> u32 {
        if self.pairs { 0xffff } else { u32::MAX }
    }

    /// The bits of a register that are not 0 where an element is not.
    pub(super) const fn magnitude(self) -> u32 {
        let of_one = ((1 << self.sign) - 1) << self.skip;
        if self.pairs { of_one << 16 | of_one } else { of_one }
    }

    /// Significand and exponent; the exponent of NaN and infinity is beyond all others.
    #[inline(always)]
    pub(super) fn decode(self, bits: u32) -> (i32, i32) {
        let pattern = bits >> self.skip;
        let magnitude = pattern & ((1 << self.sign) - 1);
        let field = (magnitude >> self.fraction) as i32;
        let hidden = i32::from(field > 0) << self.fraction;
        let significand = hidden | (magnitude & ((1 << self.fraction) - 1)) as i32;
        let negative = -((pattern >> self.sign & 1) as i32);
        let exponent = if significand == 0 { NONE } else { self.emin + field.max(1) - 1 };
        ((significand ^ negative) - negative, exponent)
    }

    /// True for NaN and infinity.
    #[inline(always)]
    pub(super) fn special(self, bits: u32) -> bool {
        let top = (1 << (self.sign - self.fraction)) - 1;
        bits >> self.skip >> self.fraction & top == top
    }
}
