//! How far T0 reaches (clause 4.1): to the last bit of the significand, by each element's own products, and with alpha folded in; and
//! that infinities are no matter of accuracy (clause 4.8).

use crate::judge_support;

use judge_support::{Way, accepts, simulate, store};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Reduction};
use sparse_oracle::contract::TYPES;
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::judge::{ElementVerdict, Problem, Rule};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::verdict::Criterion;

const F32: Precision = Precision::F32;

fn any() -> Arithmetic {
    Arithmetic::any(F32, F32)
}

fn is_free(arithmetic: &Arithmetic, terms: &[(f64, f64)], scaling: (f64, f64), c: f64) -> bool {
    accepts(arithmetic, terms, scaling, c).order_free
}

#[test]
fn exactness_reaches_to_the_last_bit_of_the_sum() {
    let top = 2.0f64.powi(24);
    assert!(is_free(&any(), &[(top - 3.0, 1.0), (-3.0, 1.0)], (1.0, 0.0), 0.0));
    assert!(!is_free(&any(), &[(top - 3.0, 1.0), (-3.0, 1.0), (1.0, 1.0)], (1.0, 0.0), 0.0));
    // 2^53 + 1 is no f64, and so no sum of its magnitude is sure to be one.
    let f64s = Arithmetic::any(Precision::F64, Precision::F64);
    let wide = 2.0f64.powi(53);
    assert!(is_free(&f64s, &[(wide - 1.0, 1.0), (1.0, 1.0)], (1.0, 0.0), 0.0));
    assert!(!is_free(&f64s, &[(wide, 1.0), (1.0, 1.0)], (1.0, 0.0), 0.0));
    assert!(!is_free(&f64s, &[(1.0, 1.0)], (1.0, 1.0), wide));
    // With C, which is one addend more, and scaled: products and scaled terms are summed apart from one another.
    assert!(is_free(&any(), &[(top - 4.0, 1.0)], (-1.0, 1.0), 4.0));
    assert!(!is_free(&any(), &[(top - 4.0, 1.0)], (-1.0, 1.0), 5.0));
    assert!(is_free(&any(), &[(top / 4.0, 1.0)], (3.0, 2.0), top / 8.0));
    assert!(!is_free(&any(), &[(top / 4.0, 1.0)], (3.0, 2.0), top / 8.0 + 0.5));
    // C is multiplied before it is added: that it is odd does not matter if beta * c is not.
    assert!(is_free(&any(), &[(4.0, 1.0)], (1.0, 4.0), 1.0 - top));
}

/// Columns of B that are finer than others do not make those inexact. Before, the finest product of a whole row of C decided for all.
#[test]
fn each_element_is_exact_by_its_own_products() {
    let a = Csr::try_new(CsrParts {
        rows: 1,
        cols: 2,
        row_ptr: vec![0, 2],
        col_idx: vec![0, 1],
        values: vec![4096.0, 1.0],
    })
    .expect("valid");
    let fine = 2.0f64.powi(-30);
    let b = Dense::from_fn(2, 3, |k, j| [[4095.0, 4096.0, 1.0], [-1.0, fine, fine]][k][j]);
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
    let (arithmetic, profile) = (any(), Profile::default());
    let mut rule = Rule::new(&arithmetic, &profile, 1.0, 0.0, problem.b_max());
    let mut free = Vec::new();
    problem
        .for_each(&mut |site| {
            let accepted = rule.accepts(site, 0.0);
            if site.at.1 == 0 {
                // One unit of the last place: 16773119 is right.
                let off = accepted.judge(u64::from(16_773_118.0f32.to_bits()));
                assert!(matches!(off, ElementVerdict::Wrong(Criterion::T0, _)), "{off:?}");
            }
            free.push(accepted.order_free);
        })
        .expect("fits");
    assert_eq!(free, [true, false, false]);
}

/// Ties of a bf16 or f16 result rounded away from zero, and the last of 191 terms left out, were within the bound, and the exact value is
/// none of the result's type.
#[test]
fn what_the_accumulator_holds_exactly_is_rounded_once_and_to_nearest() {
    let judged = |out: Precision, terms: &[(f64, f64)], (alpha, beta): (f64, f64), y: f64| {
        let arithmetic = Arithmetic::any(Precision::F32, out);
        accepts(&arithmetic, terms, (alpha, beta), 1.0).judge(encode(y, out, Rounding::NearestEven))
    };
    let right =
        |verdict: ElementVerdict| matches!(verdict, ElementVerdict::Within(_) | ElementVerdict::Exact);
    let wrong = |verdict: ElementVerdict| matches!(verdict, ElementVerdict::Wrong(Criterion::T0, _));
    // 257 lies between 256 and 258 of bf16; 2 * 4098 + 1 between 8192 and 8200 of f16.
    let tie = [(1.0, 257.0)];
    assert!(right(judged(Precision::Bf16, &tie, (1.0, 0.0), 256.0)));
    assert!(wrong(judged(Precision::Bf16, &tie, (1.0, 0.0), 258.0)));
    let scaled = [(1.0, 4000.0), (1.0, 98.0)];
    assert!(right(judged(Precision::F16, &scaled, (2.0, 1.0), 8200.0)));
    assert!(wrong(judged(Precision::F16, &scaled, (2.0, 1.0), 8192.0)));
    // Terms lost: half an ulp more than one of them.
    let ones = vec![(1.0, 1.0); 1000];
    assert!(right(judged(Precision::Bf16, &ones, (1.0, 0.0), 1000.0)));
    assert!(wrong(judged(Precision::Bf16, &ones, (1.0, 0.0), 996.0)));
    // What the accumulator rounds is judged by its bound.
    assert!(!is_free(&any(), &[(1.0, 1.0), (2.0f64.powi(-30), 1.0)], (1.0, 0.0), 0.0));
}

/// alpha folded into an operand rounds nothing that fits, unless it leaves the range.
#[test]
fn a_folded_alpha_is_exact_where_its_terms_are() {
    let mut random = Random::new(21, "folded");
    let mut exact = 0;
    for types in TYPES {
        if types.a == Precision::Tf32 {
            continue;
        }
        for epilogue in [Epilogue::AlphaIntoA, Epilogue::AlphaIntoB] {
            let arithmetic = Arithmetic::any(types.acc, types.out).epilogue(epilogue);
            for round in 0..600u64 {
                let bits = 1 + round as i64 % 12;
                let typed = |v: f64, p: Precision| decode(encode(v, p, Rounding::TowardZero), p);
                let small = |random: &mut Random| random.between(-(1 << bits), 1 << bits) as f64;
                let shift = 2.0f64.powi(random.between(-8, 4) as i32);
                let terms: Vec<(f64, f64)> = (0..1 + round % 4)
                    .map(|_| {
                        (
                            typed(small(&mut random), types.a),
                            typed(random.between(-3, 3) as f64 * shift, types.b),
                        )
                    })
                    .collect();
                let alpha = [2.0, 3.0, -0.5, 7.0, 0.375, 1024.0][round as usize % 6];
                let c = typed(random.between(-9, 9) as f64, types.out);
                if !is_free(&arithmetic, &terms, (alpha, 1.0), c) {
                    continue;
                }
                exact += 1;
                for way in Way::ALL {
                    let bits = simulate(&arithmetic, way, &terms, (alpha, 1.0), c, &mut random);
                    let accepted = accepts(&arithmetic, &terms, (alpha, 1.0), c);
                    assert!(
                        !matches!(accepted.judge(bits), ElementVerdict::Wrong(..)),
                        "{types} {epilogue:?} {way:?} {alpha} {terms:?} {c}"
                    );
                    let nearest = decode(accepted.nearest_bits(), types.out);
                    assert_eq!(decode(bits, types.out), nearest, "{types} {epilogue:?} {way:?}");
                }
            }
        }
    }
    assert!(exact > 1000, "{exact}");
    // alpha * a is below every subnormal, though alpha * a * b is 1.
    let into_a = any().epilogue(Epilogue::AlphaIntoA);
    let into_b = any().epilogue(Epilogue::AlphaIntoB);
    let far = [(2.0f64.powi(-100), 2.0f64.powi(110))];
    let alpha = 2.0f64.powi(-60);
    assert!(!is_free(&into_a, &far, (alpha, 0.0), 0.0), "2^-160 is no f32");
    assert!(is_free(&into_b, &far, (alpha, 0.0), 0.0), "2^50 and 2^-50 are");
    assert!(!is_free(&into_a, &[(2.0f64.powi(100), 0.0), (1.0, 1.0)], (2.0f64.powi(40), 0.0), 0.0));
}

/// Where alpha goes decides what may be lost: an allowance for one is none for the other.
#[test]
fn alpha_in_b_is_not_alpha_in_a() {
    let (a, b, alpha) = (2.0f64.powi(100), 1.5 * 2.0f64.powi(-110), 2.0f64.powi(-39));
    let chain = Arithmetic::chain(Reduction::MulAddChain, F32, F32);
    let mut random = Random::new(1, "alpha");
    for (declared, runs, right) in [
        (Epilogue::AlphaIntoB, Epilogue::AlphaIntoB, true),
        (Epilogue::AlphaIntoA, Epilogue::AlphaIntoB, false),
        (Epilogue::MulThenAdd, Epilogue::AlphaIntoB, false),
    ] {
        let run = |e| chain.epilogue(e);
        // 1.5 * 2^-149 becomes 2^-148, which a makes a third too large.
        let bits = simulate(&run(runs), Way::Separate, &[(a, b)], (alpha, 0.0), 0.0, &mut random);
        let free = any().epilogue(declared);
        for arithmetic in [run(declared), free] {
            let verdict = accepts(&arithmetic, &[(a, b)], (alpha, 0.0), 0.0).judge(bits);
            assert_eq!(!matches!(verdict, ElementVerdict::Wrong(..)), right, "{declared:?}: {verdict:?}");
        }
    }
    // And the bits, where nothing underflows: (3 * a) * b is not a * (3 * b).
    let third = f64::from(1.0f32 / 3.0);
    let of = |e, terms: &[(f64, f64)]| {
        simulate(&chain.epilogue(e), Way::Separate, terms, (third, 0.0), 0.0, &mut Random::new(1, ""))
    };
    let differ = |t: &[(f64, f64); 1]| of(Epilogue::AlphaIntoA, t) != of(Epilogue::AlphaIntoB, t);
    let mut pairs = (1u8..100).map(|i| [(f64::from(0.1f32), f64::from(f32::from(i) * 0.7))]);
    let terms = pairs.find(differ).expect("a pair that tells them apart");
    let verdict = accepts(&chain.epilogue(Epilogue::AlphaIntoB), &terms, (third, 0.0), 0.0);
    assert!(matches!(
        verdict.judge(of(Epilogue::AlphaIntoA, &terms)),
        ElementVerdict::Wrong(Criterion::T2, _)
    ));
    assert!(!matches!(verdict.judge(of(Epilogue::AlphaIntoB, &terms)), ElementVerdict::Wrong(..)));
}

/// Neumaier's compensated sum of f32 products.
fn compensated(terms: &[(f64, f64)]) -> f32 {
    let (mut sum, mut lost) = (0.0f32, 0.0f32);
    for &(a, b) in terms {
        let x = (a * b) as f32;
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// A compensated sum subtracts an infinity from itself. It is accurate where numbers are finite, and no excuse where they are not.
#[test]
fn a_compensated_sum_that_turns_an_infinity_into_nan_is_wrong() {
    let finite = [(1.0, 1.0), (1e-8, 1.0), (-1.0, 1.0), (3.0, 0.1)]
        .map(|(a, b)| (f64::from(a as f32), f64::from(b as f32)));
    let judged = |terms: &[(f64, f64)]| {
        let found = compensated(terms);
        (found, accepts(&any(), terms, (1.0, 0.0), 0.0).judge(store(f64::from(found), F32)))
    };
    assert!(!matches!(judged(&finite).1, ElementVerdict::Wrong(..)));
    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
        let mut terms = finite.to_vec();
        terms.insert(2, (infinity, 2.0));
        let (found, verdict) = judged(&terms);
        assert!(found.is_nan(), "the compensation is Inf - Inf");
        assert!(matches!(verdict, ElementVerdict::Wrong(Criterion::T1, None)), "{verdict:?}");
        let plain = terms.iter().fold(0.0f64, |sum, &(a, b)| sum + a * b);
        let verdict = accepts(&any(), &terms, (1.0, 0.0), 0.0).judge(store(plain, F32));
        assert_eq!(verdict, ElementVerdict::Exact, "a plain sum keeps it");
    }
}
