//! `Dyadic`, `Accumulator` and `Value` against big integers.

use crate::exact_support;

use exact_support::{
    MODES, check_canonical, check_element, dyadic_units, product_units, round, units, value_units,
};
use num_bigint::BigInt;
use proptest::prelude::*;
use sparse_oracle::exact::encode_dyadic;
use sparse_oracle::exact::{Accumulator, Dyadic, Value, dot_reference, sum};
use sparse_oracle::scalar::decode;
use sparse_oracle::{Precision, Rounding};

/// Finite floats of every kind, whole patterns included.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        (-1000i32..1000).prop_map(f64::from),
        Just(0.0),
        Just(-0.0),
        (0u64..64).prop_map(f64::from_bits),
        (0u64..64).prop_map(|d| -f64::from_bits(f64::MAX.to_bits() - d)),
        (-1074i32..1023).prop_map(|e| if e < -1022 {
            f64::from_bits(1 << (e + 1074))
        } else {
            2.0f64.powi(e)
        }),
    ]
}

fn dyadic(x: f64) -> Dyadic {
    Dyadic::from_f64(x).expect("finite")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn dyadic_operations_are_exact(x in finite(), y in finite(), k in -70i32..70) {
        let (p, q) = (dyadic(x), dyadic(y));
        prop_assert_eq!(dyadic_units(&p), units(x));
        prop_assert_eq!(dyadic_units(&(&p + &q)), units(x) + units(y));
        prop_assert_eq!(dyadic_units(&(&p - &q)), units(x) - units(y));
        prop_assert_eq!(dyadic_units(&(&p * &q)), product_units(x, y));
        prop_assert_eq!(dyadic_units(&-&p), -units(x));
        prop_assert_eq!(p.cmp(&q), units(x).cmp(&units(y)));
        prop_assert_eq!(p == q, x == y);
        prop_assert_eq!(&(&p + &q) - &q, p.clone());
        let shifted = p.mul_pow2(k);
        prop_assert_eq!(shifted.mul_pow2(-k), p.clone());
        prop_assert_eq!(shifted.msb_exponent(), p.msb_exponent().map(|e| e + i64::from(k)));
        prop_assert_eq!(shifted.lsb_exponent(), p.lsb_exponent().map(|e| e + i64::from(k)));
        prop_assert_eq!(p.to_f64(Rounding::NearestEven), x);
        prop_assert_eq!(p.is_negative(), x < 0.0);
    }

    #[test]
    fn dyadic_rounds_as_integers_do(x in finite(), y in finite()) {
        let (sum, exact) = (&dyadic(x) + &dyadic(y), units(x) + units(y));
        let (product, exact_product) = (&dyadic(x) * &dyadic(y), product_units(x, y));
        for precision in Precision::ALL {
            for mode in MODES {
                prop_assert_eq!(encode_dyadic(&sum, precision, mode), round(&exact, precision, mode),
                    "{:e} + {:e} to {} {:?}", x, y, precision, mode);
                prop_assert_eq!(encode_dyadic(&product, precision, mode), round(&exact_product, precision, mode),
                    "{:e} * {:e} to {} {:?}", x, y, precision, mode);
            }
        }
    }

    /// Pairs next to a rounding boundary of each type: the place where rounding twice goes wrong.
    #[test]
    fn pairs_round_once(pattern in any::<u32>(), offset in -2i32..3, tail in -2i32..3, depth in 54i32..120) {
        for precision in Precision::ALL {
            let spec = precision.spec();
            let unused = if precision == Precision::Tf32 { 13 } else { 0 };
            let magnitude = (u64::from(pattern) << 20) % (1 << (spec.storage_bits - 1 - unused));
            let low = decode(magnitude << unused, precision);
            let high = decode((magnitude + 1) << unused, precision);
            if !low.is_finite() || !high.is_finite() || low == 0.0 {
                continue;
            }
            let middle = low + (high - low) / 2.0 * f64::from(offset);
            let value = Value::from_sum(middle, middle * 2.0f64.powi(-depth) * f64::from(tail));
            check_canonical(&value, "pair");
            let exact = value_units(&value).expect("finite");
            for target in Precision::ALL {
                for mode in MODES {
                    let expected = round(&exact, target, mode);
                    prop_assert_eq!(value.round(target, mode), expected, "{:?} to {} {:?}", value, target, mode);
                }
            }
        }
    }

    #[test]
    fn value_operations_are_exact(x in finite(), y in finite(), z in finite()) {
        let xy = Value::from_sum(x, y);
        check_canonical(&xy, "sum");
        prop_assert_eq!(value_units(&xy), Some(units(x) + units(y)));
        let xyz = &xy + &Value::from_f64(z);
        prop_assert_eq!(value_units(&xyz), Some(units(x) + units(y) + units(z)));
        prop_assert_eq!(value_units(&(&xyz - &xy)), Some(units(z)));
        prop_assert_eq!(value_units(&-&xyz).map(|v| -v), value_units(&xyz));
        prop_assert_eq!(value_units(&xyz.abs()), value_units(&xyz).map(|v| if v < BigInt::from(0) { -v } else { v }));
        prop_assert_eq!(value_units(&Value::from_f64(x).scale(z)), Some(product_units(x, z)));
        prop_assert_eq!(xyz.is_zero(), value_units(&xyz) == Some(BigInt::from(0)));
    }

    #[test]
    fn accumulator_is_exact(terms in prop::collection::vec((finite(), finite()), 0..40)) {
        let (a, b): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
        check_element(&dot_reference(&a, &b), &a, &b, "dot_reference");
        let ones = vec![1.0; a.len()];
        check_element(&sum(&a), &a, &ones, "sum");
    }
}

#[test]
fn accumulator_carries_through_the_whole_register_and_back() {
    let mut register = Accumulator::new();
    let tiny = f64::from_bits(1);
    for _ in 0..5 {
        register.add_product(f64::MAX, f64::MAX);
        register.add_product(tiny, -tiny);
    }
    assert_eq!(register.to_dyadic().unwrap().msb_exponent(), Some(2050));
    assert_eq!(register.to_dyadic().unwrap().lsb_exponent(), Some(-2148));
    for _ in 0..5 {
        register.add_product(-f64::MAX, f64::MAX);
    }
    assert_eq!(
        register.to_dyadic(),
        Some(&Dyadic::from_int(-5).mul_pow2(-1074) * &Dyadic::from_int(1).mul_pow2(-1074))
    );
    for _ in 0..5 {
        register.add_product(tiny, tiny);
    }
    assert_eq!(register.to_dyadic(), Some(Dyadic::zero()));
    assert!(register.value().is_zero());
}

#[test]
fn special_terms_follow_ieee() {
    let inf = f64::INFINITY;
    let cases: [(&[f64], &[f64], Value); 7] = [
        (&[inf, 1.0], &[2.0, 3.0], Value::Inf { negative: false }),
        (&[inf, 1.0], &[-2.0, inf], Value::Nan),
        (&[-inf, 1.0], &[2.0, -inf], Value::Inf { negative: true }),
        (&[inf], &[0.0], Value::Nan),
        (&[-0.0], &[inf], Value::Nan),
        (&[f64::NAN, inf], &[0.0, 1.0], Value::Nan),
        // Finite factors whose product overflows f64 are finite terms.
        (&[f64::MAX, -f64::MAX], &[f64::MAX, f64::MAX], Value::ZERO),
    ];
    for (a, b, expected) in cases {
        assert_eq!(dot_reference(a, b).value, expected, "{a:?} . {b:?}");
    }
    assert_eq!(dot_reference(&[inf, -inf], &[1.0, 1.0]).gauge, Value::Inf { negative: false });
    assert_eq!(dot_reference(&[], &[]).value, Value::ZERO);
}

#[test]
fn value_specials() {
    let inf = Value::Inf { negative: false };
    assert!((&inf + &-&inf).is_nan());
    assert_eq!(&inf + &Value::from_f64(-1.0), inf);
    assert!(inf.scale(0.0).is_nan());
    assert_eq!(inf.scale(-2.0), -&inf);
    assert!(Value::ZERO.scale(f64::INFINITY).is_nan());
    assert_eq!(Value::from_f64(-3.0).scale(f64::INFINITY), -&inf);
    assert_eq!(inf.round(Precision::F16, Rounding::TowardZero), 0x7c00);
    assert_eq!(inf.abs(), inf);
    assert_eq!(Value::Nan.round(Precision::F32, Rounding::Up), 0x7fc0_0000);
    let huge = Value::from_f64(f64::MAX).mul_pow2(4);
    assert!(matches!(huge, Value::Big(_)) && huge.is_finite());
    assert_eq!(huge.approx(), f64::INFINITY);
    assert_eq!(huge.mul_pow2(-4), Value::from_f64(f64::MAX));
    assert_eq!(Value::from_f64(-0.0).round(Precision::F32, Rounding::NearestEven), 0, "exact zero is +0");
}

#[test]
fn not_finite_is_not_dyadic() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Dyadic::from_f64(x), None);
        assert_eq!(Value::from_f64(x).to_dyadic(), None);
    }
    assert_eq!(Dyadic::from_int(i128::MIN).msb_exponent(), Some(127));
    assert_eq!(Dyadic::zero().msb_exponent(), None);
}
