//! A third opinion on exact arithmetic: `num-bigint` integers in units of 2^-2148, and rounding by binary search
//! among all patterns of the target type. Shares nothing with the crate but `decode`.

#![allow(dead_code, reason = "each test binary uses a part of it, some all")]

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use sparse_oracle::exact::{Dyadic, Element, Value};
use sparse_oracle::scalar::{Specials, decode};
use sparse_oracle::{Precision, Rounding};

/// All six modes.
pub(crate) const MODES: [Rounding; 6] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::TowardZero,
    Rounding::Up,
    Rounding::Down,
    Rounding::ToOdd,
];

/// Units per 1: every product of two f64 values is a multiple of 2^-2148.
const SCALE: u32 = 2148;

/// A finite float in units of 2^-2148.
pub(crate) fn units(value: f64) -> BigInt {
    let exact = BigRational::from_float(value).expect("finite") * BigRational::from(BigInt::from(1) << SCALE);
    assert!(exact.is_integer());
    exact.to_integer()
}

/// The same, for the product of two floats.
pub(crate) fn product_units(a: f64, b: f64) -> BigInt {
    let product = BigRational::from_float(a).expect("finite") * BigRational::from_float(b).expect("finite");
    (product * BigRational::from(BigInt::from(1) << SCALE)).to_integer()
}

/// A Dyadic in units of 2^-2148, read off through its public interface: Horner over its bits' exponents.
pub(crate) fn dyadic_units(value: &Dyadic) -> BigInt {
    let mut rest = value.abs();
    let mut total = BigInt::zero();
    while let Some(msb) = rest.msb_exponent() {
        total += BigInt::from(1) << u32::try_from(msb + i64::from(SCALE)).expect("within range");
        rest = &rest - &Dyadic::from_int(1).mul_pow2(msb as i32);
    }
    if value.is_negative() { -total } else { total }
}

/// What a Value holds, in units of 2^-2148; `None` unless finite.
pub(crate) fn value_units(value: &Value) -> Option<BigInt> {
    match value {
        Value::Pair { hi, lo } => Some(units(*hi) + units(*lo)),
        Value::Big(number) => Some(dyadic_units(number)),
        Value::Inf { .. } | Value::Nan => None,
    }
}

fn magnitude_units(pattern: u64, precision: Precision) -> BigInt {
    let shift = if precision == Precision::Tf32 { 13 } else { 0 };
    units(decode(pattern << shift, precision))
}

/// `number` (units of 2^-2148) rounded to `precision`, as a bit pattern.
pub(crate) fn round(number: &BigInt, precision: Precision, mode: Rounding) -> u64 {
    let spec = precision.spec();
    let (negative, magnitude) = (number.is_negative(), number.abs());
    let fields = (spec.emax - spec.emin + 2) as u64;
    let infinity = match spec.specials {
        Specials::Ieee => fields << (spec.significand - 1),
        Specials::NanOnly => (fields << (spec.significand - 1)) - 1,
    };
    let (mut low, mut high) = (0u64, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if magnitude_units(middle, precision) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    let below = magnitude_units(low, precision);
    let above = if high == infinity {
        // One more step of the last binade; an infinity stands for it.
        &below + (&below - magnitude_units(low - 1, precision))
    } else {
        magnitude_units(high, precision)
    };
    let exact = below == magnitude;
    let twice = &magnitude + &magnitude;
    let middle = &below + &above;
    let up = match mode {
        Rounding::NearestEven => twice > middle || (twice == middle && low % 2 == 1),
        Rounding::NearestAway => twice >= middle,
        Rounding::TowardZero => false,
        Rounding::Up => !exact && !negative,
        Rounding::Down => !exact && negative,
        Rounding::ToOdd => !exact && low % 2 == 0 && high != infinity,
    };
    let pattern = if up { high } else { low };
    let shift = if precision == Precision::Tf32 { 13 } else { 0 };
    u64::from(negative && !number.is_zero()) << (spec.storage_bits - 1) | pattern << shift
}

/// Judges an element: value, gauge and count by the exact integers (IEEE rules if a term is not finite).
pub(crate) fn check_element(element: &Element, a: &[f64], b: &[f64], context: &str) {
    assert_eq!(element.terms, a.len() as u64, "{context}: terms");
    let products: Vec<f64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
    let finite = a.iter().chain(b).all(|x| x.is_finite());
    if !finite {
        // Overflowed products of finite factors are not infinite terms.
        let special = a.iter().zip(b).zip(&products);
        let terms: Vec<f64> =
            special.map(|((x, y), p)| if x.is_finite() && y.is_finite() { 0.0 } else { *p }).collect();
        check_special(&element.value, terms.iter().copied(), a, b, context);
        check_special(&element.gauge, terms.iter().copied().map(f64::abs), a, b, context);
        return;
    }
    let exact: Vec<BigInt> = a.iter().zip(b).map(|(&x, &y)| product_units(x, y)).collect();
    let value: BigInt = exact.iter().sum();
    let gauge: BigInt = exact.iter().map(Signed::abs).sum();
    assert_eq!(value_units(&element.value), Some(value), "{context}: value {:?}", element.value);
    assert_eq!(value_units(&element.gauge), Some(gauge), "{context}: gauge {:?}", element.gauge);
    for part in [&element.value, &element.gauge] {
        check_canonical(part, context);
    }
}

/// A pair's head is the nearest float to the sum.
pub(crate) fn check_canonical(value: &Value, context: &str) {
    if let Value::Pair { hi, lo } = value {
        assert_eq!(hi + lo, *hi, "{context}: {hi:e} + {lo:e} is not canonical");
        let exact = units(*hi) + units(*lo);
        if !exact.is_zero() {
            let nearest = round(&exact, Precision::F64, Rounding::NearestEven);
            assert_eq!(nearest, hi.to_bits(), "{context}: head of {hi:e} + {lo:e}");
        }
        assert!(!hi.is_sign_negative() || *hi != 0.0, "{context}: -0 head");
    }
}

fn check_special(value: &Value, terms: impl Iterator<Item = f64>, a: &[f64], b: &[f64], context: &str) {
    let sum = terms.fold(0.0, |s, t| s + t);
    let expected = if sum.is_nan() {
        Value::Nan
    } else if sum.is_infinite() {
        Value::Inf { negative: sum < 0.0 }
    } else {
        panic!("{context}: no special term in {a:?} . {b:?}")
    };
    assert_eq!(*value, expected, "{context}");
}
