//! Numbers for readers: short decimals, bits, and what differs between two patterns.

use sparse_oracle::exact::Dyadic;
use sparse_oracle::scalar::{Precision, Rounding, decimal};
use std::io::{Result, Write};

/// Columns of a line.
const WIDTH: usize = 100;

/// A label and text, wrapped between words.
pub(super) fn labelled(out: &mut dyn Write, label: &str, text: &str) -> Result<()> {
    let mut line = format!("  {label:10}");
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 13 {
            writeln!(out, "{line}")?;
            line = " ".repeat(12);
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

/// `1 step`, `2 steps`.
pub(super) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

/// A float, shortest text that tells it from its neighbours (of f32, where it is one).
pub(super) fn float(value: f64) -> String {
    let single = f64::from(value as f32) == value;
    decimal(value, if single { Precision::F32 } else { Precision::F64 })
}

/// An error: sign and four digits, or 0.
pub(super) fn signed(value: &Dyadic) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    format!("{:+.3e}", value.to_f64(Rounding::NearestEven))
}

/// A number in units of 2^`unit`, four digits.
pub(super) fn in_units(value: &Dyadic, unit: i32) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let units = value.mul_pow2(-unit).to_f64(Rounding::NearestEven);
    if units.abs() < 1e-3 { format!("{units:+.1e}") } else { format!("{units:+.3}") }
}

/// Bits with as many digits as the type has.
pub(super) fn hex(bits: u64, precision: Precision) -> String {
    format!("0x{bits:0width$x}", width = precision.bytes() * 2)
}

/// Sign, exponent and fraction, in binary.
pub(super) fn fields(bits: u64, precision: Precision) -> String {
    let spec = precision.spec();
    let (storage, unused) = (spec.storage_bits, if precision == Precision::Tf32 { 13 } else { 0 });
    let fraction = spec.significand - 1 + unused;
    let mut text = String::new();
    for place in (0..storage).rev() {
        text.push(if bits >> place & 1 == 1 { '1' } else { '0' });
        if place == storage - 1 || place == fraction {
            text.push(' ');
        }
    }
    text
}

/// A mark under each place of [`fields`] in which two patterns differ.
pub(super) fn marks(x: u64, y: u64, precision: Precision) -> String {
    let (x, y) = (fields(x, precision), fields(y, precision));
    let marks: String = x.chars().zip(y.chars()).map(|(x, y)| if x == y { ' ' } else { '^' }).collect();
    marks.trim_end().to_owned()
}

/// Unit in the last place of a result.
pub(super) fn ulp(value: f64, precision: Precision, significand: u32) -> Option<Dyadic> {
    let msb = Dyadic::from_f64(value)?.msb_exponent()?;
    let spec = precision.spec();
    let least = i64::from(spec.emin) - i64::from(significand) + 1;
    Some(Dyadic::from(1).mul_pow2((msb + 1 - i64::from(significand)).max(least) as i32))
}

/// error / unit, two digits.
pub(super) fn ratio(error: &Dyadic, unit: Option<&Dyadic>) -> String {
    let near = |v: &Dyadic| v.to_f64(Rounding::NearestEven);
    match unit {
        _ if error.is_zero() => "0".to_owned(),
        None => "-".to_owned(),
        Some(unit) => format!("{:+.2}", near(error) / near(unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_split_into_fields_and_differences_marked() {
        assert_eq!(fields(0xbc01, Precision::F16), "1 01111 0000000001");
        assert_eq!(marks(0xbc01, 0x3c03, Precision::F16), "^               ^");
        assert_eq!(marks(7, 7, Precision::F16), "");
        assert_eq!(fields(1, Precision::E4m3), "0 0000 001");
        assert_eq!(fields(0x3f80_2000, Precision::Tf32), "0 01111111 00000000010000000000000");
        assert_eq!(hex(1, Precision::Bf16), "0x0001");
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let mut out = Vec::new();
        labelled(&mut out, "label", &"word ".repeat(30)).expect("memory");
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(text.starts_with("  label      word word"), "{text}");
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 30);
    }

    #[test]
    fn numbers_are_short_and_tell_neighbours_apart() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (f64::from(0.1f32), "0.1"),
            (1.0 + 2f64.powi(-30), "1.0000000009313226"),
            (1e-9, "1e-9"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(value), text);
        }
        let number = |v: f64| Dyadic::from_f64(v).expect("finite");
        assert_eq!(in_units(&number(0.75), -3), "+6.000");
        assert_eq!(ratio(&number(-0.5), ulp(1.0, Precision::F16, 11).as_ref()), "-512.00");
        assert_eq!(ulp(2f64.powi(-20), Precision::F16, 11), Some(number(2f64.powi(-24))));
    }
}
