//! The allowance itself: counts of roundings against the documented table, its fraction against rationals derived
//! here, comparisons at and beside the bound, and the limit up to which every order of summation is exact.

use crate::judge_support;

use judge_support::{Way, simulate};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use sparse_oracle::bound::{OrderFree, roundings, tolerance};
use sparse_oracle::contract::TYPES;
use sparse_oracle::exact::{Dyadic, Value, dot_reference};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

fn rational(v: f64) -> BigRational {
    BigRational::from_float(v).expect("finite")
}

fn power(exponent: i32) -> BigRational {
    let one = BigRational::one();
    let scale = BigRational::from(BigInt::one() << exponent.unsigned_abs());
    if exponent < 0 { one / scale } else { scale }
}

/// The documented formula, from (p, smallest exponent) of the types, in rationals.
fn allowance(
    arithmetic: &Arithmetic,
    n: u64,
    alpha: f64,
    beta: f64,
    b_max: f64,
    gauge: &BigRational,
) -> BigRational {
    let count = roundings(arithmetic, n, alpha, beta);
    let (acc, out) = (arithmetic.part().acc.spec(), arithmetic.out.spec());
    let u = |p: u32| power(-(p as i32));
    let gamma = {
        let ru = BigRational::from(BigInt::from(count.depth)) * u(acc.significand);
        &ru / (BigRational::one() - &ru)
    };
    let mut whole = BigRational::one() + gamma;
    if count.output {
        whole *= BigRational::one() + u(out.significand);
    }
    let eta = |emin: i32, p: u32| power(emin - p as i32);
    let eta_acc = eta(acc.emin, acc.significand);
    let times = |n: u64| BigRational::from(BigInt::from(n)) * &eta_acc;
    let mut abs = times(count.inside) * rational(alpha.abs().max(1.0)) + times(count.epilogue);
    if arithmetic.epilogue.folds_alpha() && alpha.abs() != 1.0 {
        abs += times(n) * rational(b_max);
    }
    if count.output {
        abs += eta(out.emin, out.significand);
    }
    (&whole - BigRational::one()) * gauge + whole * abs
}

fn declarations() -> impl Strategy<Value = Arithmetic> {
    let reduction = prop::sample::select(vec![Reduction::FmaChain, Reduction::MulAddChain, Reduction::Any]);
    let epilogue = prop::sample::select(vec![
        Epilogue::MulThenAdd,
        Epilogue::MulThenFma,
        Epilogue::AlphaIntoA,
        Epilogue::AlphaIntoB,
        Epilogue::None,
    ]);
    (reduction, epilogue, prop::sample::select(TYPES.to_vec())).prop_map(|(reduction, epilogue, types)| {
        let mut declared = Arithmetic::chain(reduction, types.acc, types.out).epilogue(epilogue);
        if epilogue == Epilogue::None {
            declared.part_mut().init = Init::C;
        }
        declared
    })
}

/// Numbers of every magnitude, subnormal and near the top included; sometimes small.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-64i32..=64).prop_map(f64::from),
        (any::<bool>(), -1074i32..=1000, 1u64..1 << 53).prop_map(|(negative, e, m)| {
            let v = Dyadic::from_int(i128::from(m)).mul_pow2(e - 52).to_f64(Rounding::NearestEven);
            if negative { -v } else { v }
        }),
        Just(0.0),
        Just(f64::from_bits(1)),
        Just(1e-280),
        Just(1e300),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// The fast comparison, the exact one, and rationals agree; y lies at, beside or far from the bound.
    #[test]
    fn comparisons_agree_with_rationals(
        declared in declarations(),
        n in 0u64..300,
        alpha in prop::sample::select(vec![0.0, 1.0, -1.0, 0.5, 3.0, -1e-4, 1e6]),
        beta in prop::sample::select(vec![0.0, 1.0, -1.0, 0.75]),
        hi in number(),
        lo in number(),
        gauge in number(),
        nudge in -3i64..=3,
        far in prop::sample::select(vec![0.0, 0.5, 1.0, 1.0, 1.0, 2.0, 1e10]),
    ) {
        let Some(allowed) = tolerance(&declared, n, alpha, beta, 2.5) else { return Ok(()) };
        let x = Value::from_sum(hi, lo * 1e-20);
        let g = &Value::from_f64(gauge.abs()) + &x.abs();
        let exact = |v: &Value| match v {
            Value::Pair { hi, lo } => rational(*hi) + rational(*lo),
            other => panic!("{other:?}"),
        };
        prop_assume!(matches!((&x, &g), (Value::Pair { .. }, Value::Pair { .. })));
        let bound = allowance(&declared, n, alpha, beta, 2.5, &exact(&g));
        // The f64 nearest to x + far * bound, then a few steps to either side.
        let near = x.approx() + far * (allowed.relative() * g.approx() + allowed.absolute());
        prop_assume!(near.is_finite() && near != 0.0);
        // Below -0 there is no number: the pattern wraps to a NaN. (Adding to it as a signed number overflowed for the least subnormal one.)
        let y = f64::from_bits(near.to_bits().wrapping_add_signed(nudge));
        prop_assume!(y.is_finite());
        let within = (rational(y) - exact(&x)).abs() <= bound;
        prop_assert_eq!(allowed.distance_exact(y, &x, &g).within, within, "exact: y {:e}, {:?}, {:?}", y, x, g);
        prop_assert_eq!(allowed.distance(y, &x, &g).within, within, "fast: y {:e}, {:?}, {:?}", y, x, g);
    }

    /// Where operands are said to be exact in any order, every order gives the exact value, rounded once to the result's type.
    #[test]
    fn order_free_operands_are_exact_in_every_order(
        seed in any::<u64>(),
        n in 1usize..40,
        bits in 1u32..26,
        exponent in -20i32..6,
        types in prop::sample::select(TYPES.to_vec()),
    ) {
        let arithmetic = Arithmetic::any(types.acc, types.out);
        let mut random = Random::new(seed, "order free");
        // One factor carries the bits, the other a power of two, so that all terms share 2^lsb.
        let limit = (1i64 << bits) - 1;
        let carry = |v: f64, p: Precision| decode(encode(v, p, Rounding::TowardZero), p);
        let terms: Vec<(f64, f64)> = (0..n)
            .map(|_| {
                let integer = random.between(-limit, limit) as f64;
                (carry(integer, types.acc), 2.0f64.powi(exponent))
            })
            .collect();
        let (a, b): (Vec<f64>, Vec<f64>) = terms.iter().copied().unzip();
        let sum = dot_reference(&a, &b);
        let free = OrderFree::new(&arithmetic).holds(i64::from(exponent), sum.gauge.approx());
        if free {
            for way in Way::ALL {
                let found = simulate(&arithmetic, way, &terms, (1.0, 0.0), 0.0, &mut random);
                let nearest = decode(sum.value.round(types.out, Rounding::NearestEven), types.out);
                prop_assert_eq!(decode(found, types.out), nearest, "{} {:?} {:?}", types, way, terms);
            }
        }
    }
}

#[test]
fn a_result_exactly_at_its_bound_is_within_and_a_step_beyond_is_not() {
    // n = 1 fused in f32: bound = (g + 2^24 * 2^-150) / (2^24 - 1). With g = (2^24 - 1) * k - 2^-126 that is k.
    let fused = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let allowed = tolerance(&fused, 1, 1.0, 0.0, 0.0).expect("few terms");
    for k in [1.0, 0.375, 2.0f64.powi(-100), 2.0f64.powi(90)] {
        let exact = |v: f64| Dyadic::from_f64(v).expect("finite");
        let gauge = &(&exact(k) * &Dyadic::from_int((1 << 24) - 1)) - &exact(2.0f64.powi(-126));
        let gauge = Value::from_dyadic(gauge);
        for x in [0.0, 3.0 * k, -17.0 * k] {
            let x = Value::from_f64(x);
            for sign in [-1.0, 1.0] {
                let at = x.approx() + sign * k;
                let step = |bits: i64| f64::from_bits((at.to_bits() as i64 + bits) as u64);
                let (beyond, inside) =
                    if (at > x.approx()) == (at > 0.0) { (step(1), step(-1)) } else { (step(-1), step(1)) };
                for (y, within) in [(at, true), (inside, true), (beyond, false)] {
                    assert_eq!(allowed.distance(y, &x, &gauge).within, within, "{y:e} from {x:?}, k = {k:e}");
                    assert_eq!(allowed.distance_exact(y, &x, &gauge).within, within, "{y:e} from {x:?}");
                }
            }
        }
    }
}

#[test]
fn tiny_bounds_are_compared_exactly() {
    // Gauge 0: only the underflow allowance is left, half a subnormal per rounding.
    let fused = Arithmetic::chain(Reduction::FmaChain, Precision::F64, Precision::F64);
    let allowed = tolerance(&fused, 2, 1.0, 0.0, 0.0).expect("few terms");
    let (zero, least) = (Value::ZERO, f64::from_bits(1));
    // Two roundings, each half of the least subnormal, times 1 + gamma_2: just above the least subnormal itself.
    assert!(allowed.distance(least, &zero, &zero).within);
    assert!(!allowed.distance(2.0 * least, &zero, &zero).within);
    let half = Value::from_dyadic(Dyadic::from_int(1).mul_pow2(-1075));
    let one = tolerance(&fused, 1, 1.0, 0.0, 0.0).expect("few terms");
    assert!(one.distance(least, &half, &half).within && one.distance(0.0, &half, &half).within);
    assert!(!one.distance(-least, &half, &half).within);
}

#[test]
fn roundings_are_counted_as_documented() {
    let count = |reduction, epilogue, init, n, alpha, beta| {
        let mut declared = Arithmetic::chain(reduction, Precision::F32, Precision::F16).epilogue(epilogue);
        declared.part_mut().init = init;
        let c = roundings(&declared, n, alpha, beta);
        assert!(c.output, "f16 out of f32 rounds once more");
        (c.depth, c.inside, c.epilogue)
    };
    use Epilogue::{AlphaIntoA, AlphaIntoB, MulThenAdd, MulThenFma};
    use Reduction::{Any, FmaChain, MulAddChain};
    assert_eq!(count(FmaChain, MulThenAdd, Init::Zero, 7, 1.0, 0.0), (7, 7, 0));
    assert_eq!(count(MulAddChain, MulThenAdd, Init::Zero, 7, 1.0, 0.0), (7, 14, 0));
    assert_eq!(count(Any, MulThenAdd, Init::Zero, 7, -1.0, 1.0), (8, 14, 1));
    assert_eq!(count(Any, MulThenAdd, Init::Zero, 7, 0.3, 0.7), (9, 14, 3));
    assert_eq!(count(Any, MulThenFma, Init::Zero, 7, 0.3, 0.7), (9, 14, 2));
    assert_eq!(count(Any, AlphaIntoA, Init::C, 7, 0.3, 0.7), (10, 23, 0));
    assert_eq!(count(Any, AlphaIntoA, Init::C, 7, 1.0, 1.0), (8, 15, 0));
    assert_eq!(count(Any, AlphaIntoB, Init::C, 7, 0.3, 0.7), (10, 23, 0));
    assert_eq!(count(Any, Epilogue::None, Init::C, 7, 1.0, 0.7), (9, 16, 0));
    assert_eq!(count(Any, Epilogue::None, Init::Zero, 0, 1.0, 0.0), (0, 0, 0));
    assert!(!roundings(&Arithmetic::any(Precision::F32, Precision::F32), 7, 1.0, 0.0).output);
}

#[test]
fn an_error_made_before_alpha_is_scaled_by_it() {
    // The product underflows (error up to 2^-150), then alpha makes it large: max(1, |alpha|) must be in the bound.
    let (a, b, alpha) = (2.0f64.powi(-100), 1.25 * 2.0f64.powi(-50), 2.0f64.powi(60));
    let declared = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    let bits =
        simulate(&declared, Way::Separate, &[(a, b)], (alpha, 0.0), 0.0, &mut Random::new(0, "unused"));
    let y = decode(bits, Precision::F32);
    let x = Value::from_f64(a * b * alpha);
    let error = (y - x.approx()).abs();
    assert!(error > 2.0f64.powi(-93), "the error is {error:e}");
    assert!(tolerance(&declared, 1, alpha, 0.0, 0.0).expect("one").distance(y, &x, &x).within);
    assert!(!tolerance(&declared, 1, 1.0, 0.0, 0.0).expect("one").distance(y, &x, &x).within);
}

#[test]
fn nothing_is_promised_once_roundings_reach_the_significand() {
    let f16 = Arithmetic::any(Precision::F16, Precision::F16);
    assert!(tolerance(&f16, 2047, 1.0, 0.0, 0.0).is_some());
    assert!(tolerance(&f16, 2048, 1.0, 0.0, 0.0).is_none());
    assert!(tolerance(&f16, 2047, 0.5, 0.0, 0.0).is_none(), "alpha rounds too");
    assert!(
        tolerance(&Arithmetic::any(Precision::F32, Precision::F32), u64::from(u32::MAX), 1.0, 0.0, 0.0)
            .is_none()
    );
    assert!(
        tolerance(&Arithmetic::any(Precision::F64, Precision::F64), u64::from(u32::MAX), 1.0, 0.0, 0.0)
            .is_some()
    );
}

#[test]
fn order_freedom_ends_one_step_past_the_significand() {
    for (acc, out) in [
        (Precision::F64, Precision::F64),
        (Precision::F32, Precision::F32),
        (Precision::F16, Precision::F16),
        (Precision::F32, Precision::F16),
        (Precision::F32, Precision::Bf16),
    ] {
        let declared = Arithmetic::any(acc, out);
        // A narrower result rounds once, whatever the order.
        let p = acc.spec().significand as i32;
        for lsb in [-9i64, 0, 3] {
            let step = 2.0f64.powi(lsb as i32);
            let limit = 2.0f64.powi(p) * step;
            assert!(
                OrderFree::new(&declared).holds(lsb, limit) == (limit <= out.spec().max_finite()),
                "{acc} {out} {lsb}"
            );
            assert!(
                OrderFree::new(&declared).holds(lsb, limit / 2.0) == (limit / 2.0 <= out.spec().max_finite())
            );
            // 2^53 + 1 is no f64; the next one is.
            let past = limit + if p == 53 { 2.0 * step } else { step };
            assert!(!OrderFree::new(&declared).holds(lsb, past), "{acc} {out} {lsb}");
        }
        let floor = i64::from(acc.spec().min_exponent().max(out.spec().min_exponent()));
        let least = Dyadic::from_int(1).mul_pow2(floor as i32).to_f64(Rounding::NearestEven);
        assert!(
            OrderFree::new(&declared).holds(floor, 4.0 * least) || p + (floor as i32) < -1022,
            "{acc} {out}"
        );
        assert!(!OrderFree::new(&declared).holds(floor - 1, least), "{acc} {out}: below the least subnormal");
        assert!(
            !OrderFree::new(&declared).holds(900, f64::MAX) || acc == Precision::F64,
            "{acc} {out}: beyond the range"
        );
    }
    // Past the limit, orders do differ: 2^11 + 1 + 1 in f16.
    let f16 = Arithmetic::any(Precision::F16, Precision::F16);
    let forward = [(2048.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
    let backward = [(1.0, 1.0), (1.0, 1.0), (2048.0, 1.0)];
    let run =
        |t: &[(f64, f64)]| simulate(&f16, Way::Separate, t, (1.0, 0.0), 0.0, &mut Random::new(0, "unused"));
    assert_ne!(run(&forward), run(&backward));
    assert!(!OrderFree::new(&f16).holds(0, 2050.0));
}

/// Story: mutants of the limits as floats, which screens compare with, survived every test of the limits themselves.
#[test]
fn the_limits_of_order_freedom_as_floats_are_those_of_the_types() {
    let limits = |acc, out| OrderFree::new(&Arithmetic::any(acc, out)).as_floats();
    let power = |e: i32| 2.0f64.powi(e);
    assert_eq!(limits(Precision::F32, Precision::F32), (power(-149), power(24), f64::from(f32::MAX)));
    assert_eq!(limits(Precision::F32, Precision::F16), (power(-24), power(24), 65504.0));
    // Nothing below the normal numbers is asked of a float.
    assert_eq!(limits(Precision::F64, Precision::F64), (power(-1022), power(53), f64::MAX));
    let f64 = OrderFree::new(&Arithmetic::any(Precision::F64, Precision::F64));
    assert_eq!([969, 970, 971].map(|lsb| f64.largest_total(lsb)), [power(1022), power(1023), f64::MAX]);
    assert_eq!([-1075, -1076].map(|lsb| f64.largest_total(lsb)), [power(-1022), 0.0]);
}

/// Story: the bound that stands in a report where exact arithmetic decided could have been anything.
#[test]
fn the_bound_in_a_report_is_that_of_the_formula_on_both_paths() {
    let declared = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let allowed = tolerance(&declared, 5, 1.0, 0.0, 0.0).expect("few terms");
    for gauge in [1.0, 3.0, 2.0f64.powi(70)] {
        let value = Value::from_f64(gauge);
        let expected = allowed.relative() * gauge + allowed.absolute();
        assert_eq!(allowed.distance_exact(gauge, &value, &value).bound, expected);
        assert_eq!(allowed.distance(2.0 * gauge, &value, &value).bound, expected);
    }
}

#[test]
fn overflow_is_legal_exactly_where_an_intermediate_may_reach_the_largest_number() {
    let allowed = tolerance(&Arithmetic::any(Precision::F32, Precision::F16), 3, 1.0, 0.0, 0.0).expect("few");
    assert!(allowed.may_overflow(&Value::from_f64(65504.0)));
    assert!(allowed.may_overflow(&Value::from_f64(65490.0)), "65490 * (1 + rel) is past 65504");
    assert!(!allowed.may_overflow(&Value::from_f64(65400.0)));
    assert!(allowed.may_overflow(&Value::Inf { negative: false }));
    assert!(allowed.may_overflow(&Value::Nan));
    assert!(
        BigRational::zero()
            < allowance(
                &Arithmetic::any(Precision::F32, Precision::F16),
                3,
                1.0,
                0.0,
                0.0,
                &BigRational::zero()
            )
    );
}
