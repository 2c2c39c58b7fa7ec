//! Exact numbers for readers: hexadecimal floats of any length, as C's `%a` writes them.
//!
//! ```text
//! -0x1.8p-3  =  -(1 + 8/16) * 2^-3
//! ```

use super::Dyadic;
use std::fmt;

impl fmt::LowerHex for Dyadic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(msb), Some(lsb)) = (self.msb_exponent(), self.lsb_exponent()) else {
            return f.pad("0x0p+0");
        };
        let mut text = String::from(if self.negative { "-0x1" } else { "0x1" });
        if lsb < msb {
            text.push('.');
        }
        let mut next = msb - 1;
        while next >= lsb {
            let digit = (0..4).fold(0, |digit, i| digit << 1 | u32::from(self.has_bit(next - i)));
            text.extend(char::from_digit(digit, 16));
            next -= 4;
        }
        f.pad(&format!("{text}p{msb:+}"))
    }
}

impl Dyadic {
    /// True if the bit of weight 2^`exponent` of the magnitude is set.
    #[must_use]
    pub fn has_bit(&self, exponent: i64) -> bool {
        self.bit(exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_floats_are_exact_and_as_long_as_needed() {
        let number = |v: f64| Dyadic::from_f64(v).expect("finite");
        let third = number(1.0 / 3.0);
        for (value, text) in [
            (number(0.0), "0x0p+0"),
            (number(1.0), "0x1p+0"),
            (number(-0.1875), "-0x1.8p-3"),
            (number(1.0 / 3.0), "0x1.5555555555555p-2"),
            (number(f64::from_bits(3)), "0x1.8p-1073"),
            (&number(2f64.powi(200)) + &number(0.5), &format!("0x1.{}8p+200", "0".repeat(50))),
            (&third * &third, "0x1.c71c71c71c71b8e38e38e38e39p-4"),
        ] {
            assert_eq!(format!("{value:x}"), text);
        }
    }
}
