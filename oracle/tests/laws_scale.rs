//! alpha and beta: `scale` is `alpha * S + beta * c` in exact numbers, drops what a zero factor multiplies, and
//! `times` multiplies always, by the rules of IEEE 754.

use proptest::prelude::*;
use quickcheck::quickcheck;
use sparse_oracle::exact::{Dyadic, Element, Value, dot_reference};
use sparse_oracle::op::{scale, times};

/// Any float, special ones often.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => any::<f64>(),
        2 => (-9i32..=9).prop_map(f64::from),
        4 => any::<f32>().prop_map(f64::from),
        // Products whose rests are next to the smallest float.
        1 => (1u64..1 << 53, -1100i32..-800).prop_map(|(digits, power)| scaled(digits, power / 2)),
        1 => prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, 5e-324]),
    ]
}

/// `digits * 2^power`, of either sign.
fn scaled(digits: u64, power: i32) -> f64 {
    let sign = if digits & 2 == 0 { 1.0 } else { -1.0 };
    sign * digits as f64 * 2f64.powi(power)
}

fn finite() -> impl Strategy<Value = f64> {
    number().prop_map(|v| if v.is_finite() { v } else { 0.5 })
}

fn sums() -> impl Strategy<Value = Element> {
    prop::collection::vec((number(), number()), 0..6).prop_map(|terms| {
        let (a, b): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
        dot_reference(&a, &b)
    })
}

fn finite_sums() -> impl Strategy<Value = Element> {
    prop::collection::vec((finite(), finite()), 0..6).prop_map(|terms| {
        let (a, b): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
        dot_reference(&a, &b)
    })
}

fn dyadic(v: f64) -> Dyadic {
    Dyadic::from_f64(v).expect("finite")
}

/// `factor * value` of a finite value.
fn multiple(value: &Value, factor: f64) -> Dyadic {
    &dyadic(factor) * &value.to_dyadic().expect("finite")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn finite_parts_are_combined_exactly(sum in finite_sums(), alpha in finite(), beta in finite(), c in finite()) {
        let found = scale(&sum, alpha, beta, c);
        let value = &multiple(&sum.value, alpha) + &(&dyadic(beta) * &dyadic(c));
        let gauge = &multiple(&sum.gauge, alpha.abs()) + &(&dyadic(beta) * &dyadic(c)).abs();
        prop_assert_eq!(found.value, Value::from_dyadic(value));
        prop_assert_eq!(found.gauge, Value::from_dyadic(gauge));
        prop_assert_eq!(found.terms, sum.terms);
    }

    #[test]
    fn one_and_zero_are_the_identity_and_hide_c(sum in sums(), c in number()) {
        prop_assert_eq!(scale(&sum, 1.0, 0.0, c), sum);
    }

    #[test]
    fn alpha_zero_hides_the_sum_and_beta_zero_hides_c(sum in sums(), c in number(), beta in finite()) {
        let nothing = dot_reference(&[], &[]);
        prop_assert_eq!(scale(&sum, 0.0, 0.0, c).value, Value::ZERO);
        prop_assert_eq!(scale(&sum, 0.0, beta, c).value, scale(&nothing, 1.0, beta, c).value);
    }

    #[test]
    fn beta_one_adds_c(sum in sums(), c in number()) {
        prop_assert_eq!(scale(&sum, 1.0, 1.0, c).value, &sum.value + &Value::from_f64(c));
    }

    #[test]
    fn opposite_factors_give_the_opposite(sum in sums(), alpha in finite(), beta in finite(), c in number()) {
        let (there, back) = (scale(&sum, alpha, beta, c), scale(&sum, -alpha, -beta, c));
        prop_assert_eq!(-&there.value, back.value);
        prop_assert_eq!(there.gauge, back.gauge);
    }

    #[test]
    fn infinities_and_nan_go_through_nonzero_factors(alpha in finite(), beta in finite(), c in finite()) {
        prop_assume!(alpha != 0.0);
        let infinite = dot_reference(&[1.0, 3.0], &[f64::INFINITY, 1.0]);
        prop_assert_eq!(scale(&infinite, alpha, beta, c).value, Value::Inf { negative: alpha < 0.0 });
        let nan = dot_reference(&[f64::NAN], &[1.0]);
        prop_assert_eq!(scale(&nan, alpha, beta, c).value, Value::Nan);
        // Infinities of both signs meet.
        let against = f64::INFINITY.copysign(-alpha);
        prop_assert_eq!(scale(&infinite, alpha, 1.0, against).value, Value::Nan);
        prop_assert_eq!(scale(&infinite, alpha, 1.0, -against).value, Value::Inf { negative: alpha < 0.0 });
    }

    /// What SDDMM does with S's value: 0, NaN and infinities are multiplied too.
    #[test]
    fn times_follows_ieee(sum in sums(), factor in number()) {
        let found = times(&sum, factor);
        let expected = if sum.value.is_finite() && factor.is_finite() {
            Value::from_dyadic(multiple(&sum.value, factor))
        } else {
            let sign = |v: &Value| match v {
                Value::Nan => f64::NAN,
                Value::Inf { negative } => if *negative { f64::NEG_INFINITY } else { f64::INFINITY },
                finite if finite.is_zero() => 0.0,
                finite if finite.to_dyadic().is_some_and(|d| d.is_negative()) => -1.0,
                _ => 1.0,
            };
            Value::from_f64(sign(&sum.value) * factor)
        };
        prop_assert_eq!(found.value, expected);
        prop_assert_eq!(found.terms, sum.terms);
    }
}

#[test]
fn a_stored_zero_multiplies_an_infinite_sum_to_nan() {
    let infinite = dot_reference(&[1.0], &[f64::INFINITY]);
    assert_eq!(times(&infinite, 0.0).value, Value::Nan);
    assert_eq!(times(&dot_reference(&[1.0], &[2.0]), 0.0).value, Value::ZERO);
    assert_eq!(times(&dot_reference(&[], &[]), f64::INFINITY).value, Value::Nan);
}

quickcheck! {
    fn integers_scale_as_integers(a: Vec<i16>, alpha: i16, beta: i16, c: i16) -> bool {
        let terms: Vec<f64> = a.iter().map(|&v| f64::from(v)).collect();
        let sum = dot_reference(&terms, &vec![1.0; terms.len()]);
        let found = scale(&sum, f64::from(alpha), f64::from(beta), f64::from(c));
        let total: i64 = a.iter().map(|&v| i64::from(v)).sum();
        let expected = i64::from(alpha) * total + i64::from(beta) * i64::from(c);
        found.value == Value::from_dyadic(Dyadic::from(expected))
    }

    fn powers_of_two_compose(a: Vec<i32>, first: i8, second: i8) -> bool {
        let terms: Vec<f64> = a.iter().map(|&v| f64::from(v)).collect();
        let sum = dot_reference(&terms, &vec![1.0; terms.len()]);
        let (p, q) = (2.0f64.powi(i32::from(first)), 2.0f64.powi(i32::from(second)));
        scale(&scale(&sum, p, 0.0, 0.0), q, 0.0, 0.0) == scale(&sum, p * q, 0.0, 0.0)
    }

    fn scaling_is_linear_in_c(a: Vec<i32>, alpha: i16, c: i32, d: i32) -> bool {
        let terms: Vec<f64> = a.iter().map(|&v| f64::from(v)).collect();
        let sum = dot_reference(&terms, &vec![1.0; terms.len()]);
        let (alpha, c, d) = (f64::from(alpha), f64::from(c), f64::from(d));
        let whole = scale(&sum, alpha, 1.0, c + d).value;
        &scale(&sum, alpha, 1.0, c).value + &Value::from_f64(d) == whole
    }
}
