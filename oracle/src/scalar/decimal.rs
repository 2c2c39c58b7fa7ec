//! Numbers as a person writes them: the shortest decimal that reads back as the same number of its type.

use super::{Precision, nearest_in};

/// Decimal exponents that are written out: from 0.00001 to below 10^16.
const PLAIN: std::ops::Range<i32> = -5..16;
/// Integers below this are written with all their digits.
const INTEGERS: f64 = 1e16;

/// `value`, a number of type `precision`, in as few digits as tell it from its neighbours there: `0.1`, `3`, `-0`, `1e-9`, `inf`,
/// `NaN`. Integers below 10^16 have all their digits. A value that is no number of the type is written as the f64 that it is.
#[must_use]
pub fn decimal(value: f64, precision: Precision) -> String {
    if !value.is_finite() || value == 0.0 || value.fract() == 0.0 && value.abs() < INTEGERS {
        return value.to_string();
    }
    plain(&shortest(value, precision))
}

/// `value` in at most four digits, for errors and bounds: `0.5`, `1.333e-7`, `inf`.
#[must_use]
pub fn brief(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return value.to_string();
    }
    plain(&format!("{value:.3e}"))
}

/// In Rust's exponent form.
fn shortest(value: f64, precision: Precision) -> String {
    let same = |text: &str| {
        let read = text.parse::<f64>().unwrap_or(f64::NAN);
        nearest_in(read, precision) == value
    };
    let found = match precision {
        Precision::F64 => None,
        Precision::F32 => Some(format!("{:e}", value as f32)).filter(|text| same(text)),
        // At most 11 significant bits: five digits tell them apart.
        _ => (0..8).map(|digits| format!("{value:.digits$e}")).find(|text| same(text)),
    };
    found.unwrap_or_else(|| format!("{value:e}"))
}

/// `d.ddde-x` without needless zeros, and without the exponent where it is small.
fn plain(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        significant => significant,
    };
    if !PLAIN.contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}e{exponent}");
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits:0<whole$}");
    }
    let (whole, fraction) = digits.split_at(whole);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;

    #[test]
    fn numbers_are_written_as_a_person_writes_them() {
        let tenth = |precision| nearest_in(0.1, precision);
        for precision in Precision::ALL {
            // With two bits after the first one, 0.09375 is the nearest to a tenth, and 0.09 the nearest number of one digit to that.
            let text = if precision == Precision::E5m2 { "0.09" } else { "0.1" };
            assert_eq!(decimal(tenth(precision), precision), text, "{precision}");
        }
        for (value, text) in [
            (3.0, "3"),
            (0.0, "0"),
            (-0.0, "-0"),
            (0.5, "0.5"),
            (-1234.5, "-1234.5"),
            (65504.0, "65504"),
            (1e-5, "0.00001"),
            (1.5e-6, "1.5e-6"),
            (123_456_789_012.25, "123456789012.25"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (1e16, "1e16"),
            (1.25e300, "1.25e300"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(decimal(value, Precision::F64), text);
        }
        // The f64 nearest to it has 17 digits; it once stood beside the bits of the f32.
        let single = f64::from(f32::from_bits(0xc004_4138));
        assert_eq!(decimal(single, Precision::F32), "-2.0664806");
        assert_eq!(decimal(single, Precision::F64), "-2.0664806365966797");
        // No number of the type: all its digits.
        assert_eq!(decimal(0.1, Precision::F16), "0.1");
        assert_eq!(decimal(1.0 + 2f64.powi(-30), Precision::F32), "1.0000000009313226");
    }

    #[test]
    fn every_number_of_a_narrow_type_reads_back() {
        for precision in [Precision::F16, Precision::Bf16, Precision::E4m3, Precision::E5m2] {
            for bits in 0..1u64 << precision.spec().storage_bits {
                let value = decode(bits, precision);
                let text = decimal(value, precision);
                let read: f64 = text.parse().expect("a number");
                let back = nearest_in(read, precision);
                assert!(back == value || back.is_nan() && value.is_nan(), "{precision} {bits:#x}: {text}");
            }
        }
    }

    #[test]
    fn errors_have_four_digits() {
        for (value, text) in [
            (2.0, "2"),
            (1.0 / 3.0, "0.3333"),
            (6.661e-16, "6.661e-16"),
            (12_345.6, "12350"),
            (1.5e300, "1.5e300"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(brief(value), text);
        }
    }
}
