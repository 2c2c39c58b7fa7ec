//! What a bit pattern means, one algorithm for every type in the table.

use super::{Precision, Specials};

/// The exact value of the low bits of `bits` read as `precision`.
#[must_use]
#[inline(always)]
pub fn decode(bits: u64, precision: Precision) -> f64 {
    match precision {
        Precision::F64 => return f64::from_bits(bits),
        Precision::F32 | Precision::Tf32 => return f64::from(f32::from_bits(bits as u32)),
        Precision::F16 | Precision::Bf16 | Precision::E4m3 | Precision::E5m2 => {}
    }
    let spec = precision.spec();
    let magnitude = bits & ((1 << (spec.storage_bits - 1)) - 1);
    let sign = (bits >> (spec.storage_bits - 1) & 1) << 63;
    // The same fraction and exponent field at the top of an f64 is the same number but for the bias, subnormals
    // included; multiplying by a power of two is exact.
    let rebased = f64::from_bits(magnitude << (53 - spec.significand)) * power_of_two(1022 + spec.emin);
    let is_infinity = spec.specials == Specials::Ieee && magnitude == infinity_bits(precision);
    let special = if is_infinity { f64::INFINITY } else { f64::NAN };
    let unsigned = if magnitude > max_finite_bits(precision) { special } else { rebased };
    f64::from_bits(sign | unsigned.to_bits())
}

/// Magnitude pattern of the largest finite number.
#[inline(always)]
#[must_use]
pub const fn max_finite_bits(precision: Precision) -> u64 {
    infinity_bits(precision) - 1
}

/// Magnitude pattern of infinity; of NaN in E4M3, where it stands in for it.
#[inline(always)]
#[must_use]
pub const fn infinity_bits(precision: Precision) -> u64 {
    let spec = precision.spec();
    let fields = (spec.emax - spec.emin + 2) as u64;
    match spec.specials {
        Specials::Ieee => fields << (spec.significand - 1),
        Specials::NanOnly => (fields << (spec.significand - 1)) - 1,
    }
}

/// 2^`exponent` for an exponent of normal f64 numbers.
#[inline(always)]
#[must_use]
pub const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
