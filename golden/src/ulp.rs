//! Units in the last place of a type, by the size of a number.
//!
//! ```text
//! 2^e <= |v| < 2^(e + 1):   ulp = 2^(e - p + 1),  p significand bits; never below that of the smallest normal number
//! ```
//!
//! Errors are measured in ulp of the gauge `g = sum |a||b|`: an error of rounding scales with that. Where terms cancel, an ulp of the
//! result says how much they cancelled, and nothing about the arithmetic; so that is given for |result| >= g / 8 only.

use sparse_oracle::exact::Value;
use sparse_oracle::scalar::Precision;

/// The units of one type.
#[derive(Clone, Copy, Debug)]
pub struct Ulp {
    significand: i32,
    emin: i32,
}

impl Ulp {
    /// Those of `precision`.
    #[must_use]
    pub const fn of(precision: Precision) -> Ulp {
        let spec = precision.spec();
        Ulp { significand: spec.significand as i32, emin: spec.emin }
    }

    /// The unit of numbers as large as `v`, which is finite.
    #[must_use]
    pub fn at(self, v: f64) -> f64 {
        power_of_two(exponent(v).max(self.emin) - self.significand + 1)
    }

    /// The unit of a result, where it is at least an eighth of its gauge.
    #[must_use]
    pub fn of_result(self, result: &Value, gauge: f64) -> Option<f64> {
        let size = result.approx().abs();
        (size >= gauge / 8.0).then(|| self.at(size))
    }
}

/// floor(log2 |v|); that of the smallest normal f64 at least.
const fn exponent(v: f64) -> i32 {
    let field = (v.to_bits() >> 52 & 0x7ff) as i32;
    if field == 0 { -1022 } else { field - 1023 }
}

/// 2^e, for the exponents of units of any type here.
const fn power_of_two(e: i32) -> f64 {
    let e = if e < -1022 { -1022 } else { e };
    f64::from_bits(((e + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_the_distance_to_the_next_number() {
        let f32s = Ulp::of(Precision::F32);
        for v in [1.0f32, 1.5, 3.0, 1e30, 1e-30, 8.0, 0.1] {
            let next = f32::from_bits(v.to_bits() + 1);
            assert_eq!(f32s.at(f64::from(v)), f64::from(next) - f64::from(v), "{v}");
        }
        assert_eq!(f32s.at(0.0), f64::from(f32::from_bits(1)));
        assert_eq!(Ulp::of(Precision::F16).at(1.0), 2.0_f64.powi(-10));
        assert_eq!(Ulp::of(Precision::F16).at(1e-9), 2.0_f64.powi(-24));
        assert_eq!(Ulp::of(Precision::F64).at(1.0), f64::EPSILON);
    }

    #[test]
    fn a_cancelled_result_has_no_unit() {
        let f32s = Ulp::of(Precision::F32);
        assert_eq!(f32s.of_result(&Value::from_f64(-1.0), 8.0), Some(2.0_f64.powi(-23)));
        assert_eq!(f32s.of_result(&Value::from_f64(0.999), 8.0), None);
    }
}
