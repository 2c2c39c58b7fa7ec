//! Rounding of one exact number into narrow types, where neither the machine nor `half` does it in one step.

/// f64 to f32 by rounding to odd: exact values stay, any other gets the neighbour whose last bit is set.
///
/// A later rounding to a type at least two bits narrower is then correct, as if the f64 had been rounded directly.
/// Beyond the range the largest finite f32 stands in; infinities and NaN stay.
pub(crate) fn to_odd_f32(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let bits = near.to_bits();
    if bits & 1 == 1 {
        return near;
    }
    // The nearest is even, so the odd neighbour lies on the other side of x.
    let outward = f64::from(near).abs() < x.abs();
    f32::from_bits(if outward { bits + 1 } else { bits - 1 })
}

/// The 8-bit float nearest to `x`, ties to the even code, as a code without the sign bit.
///
/// `value` gives the number of each code; codes `0..=largest` ascend and are finite. Past the middle between the largest
/// and where the next would be, the result is `largest + 1`: infinity in E5M2, NaN in E4M3.
pub(crate) fn nearest_code(x: f64, largest: u8, value: impl Fn(u8) -> f64) -> u8 {
    let magnitude = x.abs();
    let mut low = 0;
    while low < largest && value(low + 1) <= magnitude {
        low += 1;
    }
    let next = if low == largest { 2.0 * value(largest) - value(largest - 1) } else { value(low + 1) };
    // Two numbers of at most four bits, one step apart: their middle is exact.
    let middle = 0.5 * (value(low) + next);
    let up = magnitude > middle || magnitude == middle && low % 2 == 1;
    low + u8::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_types::{E4m3, E5m2, Scalar};

    #[test]
    fn odd_rounding_never_lands_on_an_even_neighbour() {
        let one = 1.0f64;
        assert_eq!(to_odd_f32(one), 1.0);
        assert_eq!(to_odd_f32(one + f64::EPSILON), f32::from_bits(1.0f32.to_bits() + 1));
        assert_eq!(to_odd_f32(one - f64::EPSILON), f32::from_bits(1.0f32.to_bits() - 1));
        assert_eq!(to_odd_f32(-one - f64::EPSILON), -f32::from_bits(1.0f32.to_bits() + 1));
        assert_eq!(to_odd_f32(1e300), f32::MAX);
        assert_eq!(to_odd_f32(1e-300), f32::from_bits(1));
        assert_eq!(to_odd_f32(f64::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(to_odd_f32(f64::NAN).is_nan());
    }

    #[test]
    fn eight_bit_ties_and_overflow() {
        let e4m3 = |x: f64| nearest_code(x, 0x7e, |code| E4m3(code).to_f64());
        let e5m2 = |x: f64| nearest_code(x, 0x7b, |code| E5m2(code).to_f64());
        assert_eq!((e4m3(448.0), e4m3(464.0), e4m3(464.1), e4m3(1e9)), (0x7e, 0x7e, 0x7f, 0x7f));
        assert_eq!((e5m2(57344.0), e5m2(61439.9), e5m2(61440.0), e5m2(1e9)), (0x7b, 0x7b, 0x7c, 0x7c));
        // Half the smallest subnormal is a tie and goes to zero.
        assert_eq!((e4m3(2f64.powi(-10)), e4m3(1.5 * 2f64.powi(-10)), e4m3(3.0 * 2f64.powi(-10))), (0, 1, 2));
    }
}
