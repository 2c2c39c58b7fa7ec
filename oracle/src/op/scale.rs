//! `x = alpha * S + beta * c`, exactly, and the declared rounding of operands before they are multiplied.

use crate::arithmetic::Input;
use crate::exact::{Dyadic, Element, Value, two_sum};
use crate::prelude::*;
use crate::scalar::{Scalar, Tf32, power_of_two};

/// An operand as the declared arithmetic sees it: tf32 rounding applied.
#[must_use]
pub fn input(value: f64, rounding: Input) -> f64 {
    match rounding {
        Input::AsStored => value,
        Input::Tf32Rna => Tf32::from_f64(value).round_rna().to_f64(),
        Input::Tf32Rne => Tf32::from_f64(value).round_rne().to_f64(),
        Input::Tf32Truncate => Tf32::from_f64(value).round_rz().to_f64(),
    }
}

/// Scales a sum and adds C. alpha = 0 drops the sum, beta = 0 drops C, NaN and infinities in them included. The gauge
/// becomes `|alpha| * gauge + |beta * c|`.
#[must_use]
pub fn scale(sum: &Element, alpha: f64, beta: f64, c: f64) -> Element {
    let absolute = |v: f64| v.abs();
    let value = combine(alpha, &sum.value, beta, c);
    let gauge = combine(absolute(alpha), &sum.gauge, absolute(beta), absolute(c));
    Element { value, gauge, terms: sum.terms }
}

/// The sum multiplied by a stored value, by the rules of IEEE 754: 0 x Inf is NaN, a NaN stays.
#[must_use]
pub fn times(sum: &Element, factor: f64) -> Element {
    let value = product(&sum.value, factor);
    let gauge = product(&sum.gauge, factor.abs());
    Element { value, gauge, terms: sum.terms }
}

fn product(sum: &Value, factor: f64) -> Value {
    match (sum.to_dyadic(), Dyadic::from_f64(factor)) {
        (Some(_), Some(_)) if factor == 1.0 => sum.clone(),
        (Some(sum), Some(factor)) => Value::from_dyadic(&sum * &factor),
        // The sign and zeroness of the finite side are all that matters.
        (Some(finite), None) => {
            let sign = match (finite.is_zero(), finite.is_negative()) {
                (true, _) => 0.0,
                (_, true) => -1.0,
                _ => 1.0,
            };
            Value::from_f64(sign * factor)
        }
        (None, _) => Value::from_f64(sum.approx() * factor),
    }
}

fn combine(alpha: f64, sum: &Value, beta: f64, c: f64) -> Value {
    if alpha == 1.0 && beta == 0.0 {
        return sum.clone();
    }
    if let Some(quick) = combine_pairs(alpha, sum, beta, c) {
        return quick;
    }
    let product = if alpha == 0.0 { Some(Dyadic::zero()) } else { scaled(sum, alpha) };
    let addend =
        if beta == 0.0 { Some(Dyadic::zero()) } else { Dyadic::from_f64(c).map(|c| &number(beta) * &c) };
    match (product, addend) {
        (Some(product), Some(addend)) => Value::from_dyadic(&product + &addend),
        // Not finite: f64 arithmetic on stand-ins decides between NaN and an infinity.
        _ => {
            let stand_in = if sum.is_finite() { 0.0 } else { sum.approx() };
            let left = if alpha == 0.0 || stand_in == 0.0 { 0.0 } else { alpha * stand_in };
            let right = if beta == 0.0 || c.is_finite() { 0.0 } else { beta * c };
            Value::from_f64(left + right)
        }
    }
}

/// The common case without big numbers: every product as a float and its exact rest, added up by exact sums of two until no more than
/// two floats are left.
fn combine_pairs(alpha: f64, sum: &Value, beta: f64, c: f64) -> Option<Value> {
    let Value::Pair { hi, lo } = sum else { return None };
    let times = |factor: f64, v: f64| {
        if factor == 0.0 { Some((0.0, 0.0)) } else { exact_product(factor, v) }
    };
    let (high, low, addend) = (times(alpha, *hi)?, times(alpha, *lo)?, times(beta, c)?);
    let mut parts = [low.1, addend.1, low.0, high.1, addend.0, high.0];
    for _ in 0..3 {
        // The sum so far moves on, its rest stays behind.
        for i in 1..parts.len() {
            (parts[i], parts[i - 1]) = two_sum(parts[i - 1], parts[i]);
        }
    }
    let [rest @ .., lo, hi] = parts;
    let whole = rest.iter().all(|&part| part == 0.0) && hi.is_finite();
    // The last sum of two leaves the nearest float first. Zero is +0.
    whole.then_some(Value::Pair { hi: hi + 0.0, lo: lo + 0.0 })
}

/// The product and its exact rest (Dekker); none where the rest may be too small for a float, and at an overflow.
fn exact_product(x: f64, y: f64) -> Option<(f64, f64)> {
    // 2^-969: the rest is a multiple of 2^-105 times the product's power of two, and the smallest float is 2^-1074.
    const LEAST: f64 = power_of_two(-969);
    let product = x * y;
    let fits = product.abs() >= LEAST || x == 0.0 || y == 0.0;
    (fits && product.is_finite()).then(|| (product, x.mul_add(y, -product)))
}

fn scaled(sum: &Value, alpha: f64) -> Option<Dyadic> {
    sum.to_dyadic().map(|sum| &number(alpha) * &sum)
}

fn number(finite: f64) -> Dyadic {
    Dyadic::from_f64(finite).unwrap_or_else(Dyadic::zero)
}
