//! What one element may be, as an interval of bit patterns, so that a program without the oracle can judge it exactly.
//!
//! ```text
//! bits  0x8001  0x8000  0x0000  0x0001 ...        order  -2  -1  0  1 ...      lowest <= order(found) <= highest
//!        -tiny    -0      +0     +tiny
//! ```
//! Every rule of the judge but those about NaN and infinities accepts an interval of finite values; its ends are found by
//! bisection over the bit patterns, asking the judge itself.

use sparse_oracle::exact::Value;
use sparse_oracle::judge::{Accepted, ElementVerdict};
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};

/// One element of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Want {
    pub row: usize,
    pub col: usize,
    /// Where it is in the result's array.
    pub offset: usize,
    /// The exact value, as text.
    pub exact: String,
    /// The bits that it should have.
    pub bits: u64,
    /// The same in decimal.
    pub value: f64,
    /// Orders of the lowest and highest finite value accepted; empty (lowest above highest) where none is.
    pub finite: (i64, i64),
    /// NaN, infinity, minus infinity.
    pub others: [bool; 3],
    /// Largest distance from the exact value.
    pub bound: Option<f64>,
    /// What was found.
    pub found: Option<u64>,
    /// True unless what was found is wrong.
    pub right: bool,
    out: Precision,
}

impl Want {
    /// Notes what was found.
    pub(super) fn find(&mut self, bits: u64) {
        self.found = Some(bits);
        let value = decode(bits, self.out);
        let order = order(bits, self.out);
        self.right = match value {
            v if v.is_nan() => self.others[0],
            f64::INFINITY => self.others[1],
            f64::NEG_INFINITY => self.others[2],
            _ => (self.finite.0..=self.finite.1).contains(&order),
        };
    }
}

/// Asks the judge what an element may be.
pub(super) fn want(accepted: &Accepted, out: Precision, (row, col): (usize, usize), offset: usize) -> Want {
    let takes = |bits: u64| !matches!(accepted.judge(bits), ElementVerdict::Wrong(..));
    let special = |value: f64| takes(encode(value, out, Rounding::NearestEven));
    let bits = accepted.expected_bits();
    Want {
        row,
        col,
        offset,
        exact: text(&accepted.exact.value),
        bits,
        value: decode(bits, out),
        finite: interval(order(bits, out), out, |order| takes(bits_at(order, out))),
        others: [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(special),
        bound: accepted.bound(),
        found: None,
        right: true,
        out,
    }
}

/// The place of a bit pattern among all of its type: minus zero is just below zero.
pub(super) fn order(bits: u64, precision: Precision) -> i64 {
    let sign = 1u64 << (8 * precision.bytes() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -1 - magnitude }
}

/// The bit pattern at a place.
pub(super) fn bits_at(order: i64, precision: Precision) -> u64 {
    let sign = 1u64 << (8 * precision.bytes() - 1);
    if order < 0 { sign | (-1 - order) as u64 } else { order as u64 }
}

/// The ends of the accepted finite values around `centre`.
fn interval(centre: i64, out: Precision, takes: impl Fn(i64) -> bool) -> (i64, i64) {
    let largest = order(encode(out.spec().max_finite(), out, Rounding::NearestEven), out);
    let smallest = -1 - largest;
    if !(smallest..=largest).contains(&centre) || !takes(centre) {
        return (0, -1);
    }
    let end = |mut inside: i64, limit: i64| {
        if takes(limit) {
            return limit;
        }
        let mut outside = limit;
        while inside.abs_diff(outside) > 1 {
            // Both ends may be far from zero on either side of it: no sum of them.
            let middle = (inside >> 1) + (outside >> 1) + (inside & outside & 1);
            if takes(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    };
    (end(centre, smallest), end(centre, largest))
}

/// A decimal that reads back as the number where one double holds it, else the sum of two.
fn text(value: &Value) -> String {
    match value {
        Value::Pair { hi, lo } if *lo == 0.0 => format!("{hi:?}"),
        Value::Pair { hi, lo } => format!("{hi:?} + {lo:?}"),
        other => match other.to_dyadic().as_ref().and_then(sparse_oracle::exact::Dyadic::lsb_exponent) {
            Some(lsb) => format!("about {:e}, a multiple of 2^{lsb}", other.approx()),
            None => format!("{:?}", other.approx()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_rise_with_the_numbers_and_lead_back_to_the_bits() {
        for precision in [Precision::F64, Precision::F32, Precision::F16, Precision::Bf16] {
            let numbers = [-2.0, -1.0, -0.0, 0.0, 1.0, 1.5];
            let orders = numbers.map(|v| order(encode(v, precision, Rounding::NearestEven), precision));
            assert!(orders.is_sorted_by(|a, b| a < b), "{precision}: {orders:?}");
            for (order, number) in orders.into_iter().zip(numbers) {
                let back = decode(bits_at(order, precision), precision);
                assert_eq!(back.to_bits(), f64::to_bits(number));
            }
        }
    }

    #[test]
    fn bisection_finds_both_ends_to_the_last_place() {
        for (low, high) in [(-5, 900), (0, 0), (-70, -60), (-30_000, 31_743)] {
            let centre = low + (high - low) / 3;
            let found = interval(centre, Precision::F16, |o| (low..=high).contains(&o));
            assert_eq!(found, (low, high));
        }
        assert_eq!(interval(3, Precision::F16, |_| false), (0, -1));
        let all = interval(0, Precision::F64, |_| true);
        assert_eq!(decode(bits_at(all.1, Precision::F64), Precision::F64), f64::MAX);
        assert_eq!(decode(bits_at(all.0, Precision::F64), Precision::F64), f64::MIN);
    }
}
