//! SDDMM whose result is multiplied by S: the factor is always multiplied, zeros, NaN and infinities included.

use crate::judge_support;

use judge_support::{Way, simulate, store};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Flush, Init, Reduction};
use sparse_oracle::contract::TYPES;
use sparse_oracle::format::Dense;
use sparse_oracle::judge::{ElementVerdict, Problem, Rule};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::verdict::Criterion;

fn verdict(arithmetic: &Arithmetic, x: &[f64], y: &[f64], factor: Option<f64>, bits: u64) -> ElementVerdict {
    let row = |v: &[f64]| Dense::from_fn(1, v.len(), |_, k| v[k]);
    let (x, y) = (row(x), row(y));
    let factors: Vec<f64> = factor.into_iter().collect();
    let problem = Problem::Sddmm { positions: &[(0, 0)], x: &x, y: &y, factors: &factors };
    let profile = Profile::default();
    let mut rule = Rule::of(&problem, (arithmetic, &profile), (1.0, 0.0));
    let mut verdict = None;
    problem
        .for_each(&mut |site| verdict = Some(rule.accepts(site, 0.0).judge(bits)))
        .expect("the operands fit");
    verdict.expect("one position")
}

const F32: Arithmetic = Arithmetic::any(Precision::F32, Precision::F32);

/// Regression: NaN and the other infinity used to pass wherever the factor was infinite.
#[test]
fn a_stored_zero_or_infinity_multiplies_whatever_the_sum_is() {
    let inf = f64::INFINITY;
    let bits = |v: f64| store(v, Precision::F32);
    let cases = [
        ([1.0, 1.0], 0.0, 0.0, true),
        ([1.0, inf], 0.0, f64::NAN, true),
        ([1.0, inf], 0.0, 0.0, false),
        ([1.0, f64::NAN], 0.0, 0.0, false),
        ([1.0, 1.0], inf, inf, true),
        ([-1.0, -1.0], inf, -inf, true),
        ([1.0, 1.0], inf, f64::NAN, false),
        ([1.0, 1.0], inf, -inf, false),
        ([0.0, 0.0], inf, f64::NAN, true),
        ([0.0, 0.0], inf, 0.0, false),
        ([1.0, 1.0], f64::NAN, f64::NAN, true),
        ([1.0, 1.0], f64::NAN, 2.0, false),
        ([1.0, 1.0], -3.0, -6.0, true),
        ([1.0, 1.0], -3.0, 2.0, false),
    ];
    for (x, factor, result, right) in cases {
        let found = verdict(&F32, &x, &[1.0, 1.0], Some(factor), bits(result));
        assert_eq!(found == ElementVerdict::Exact, right, "{x:?} * {factor}: {result} is {found:?}");
    }
    assert!(matches!(
        verdict(&F32, &[1.0, 1.0], &[1.0, 1.0], None, bits(3.0)),
        ElementVerdict::Wrong(Criterion::T0, _)
    ));
}

/// Rounding decides the sign of a sum near zero, and with it which infinity, or NaN, comes out.
#[test]
fn a_sum_near_zero_times_an_infinity_may_be_any_of_three() {
    let (x, y) = ([1.0, 1.0 + 2.0f64.powi(-23)], [1.0 + 2.0f64.powi(-23), -1.0]);
    for result in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let found = verdict(&F32, &x, &y, Some(f64::INFINITY), store(result, Precision::F32));
        assert!(!matches!(found, ElementVerdict::Wrong(..)), "{result}: {found:?}");
    }
    let finite = verdict(&F32, &x, &y, Some(f64::INFINITY), store(1.0, Precision::F32));
    assert!(matches!(finite, ElementVerdict::Wrong(..)));
}

/// Regression: a sum that overflows before a stored zero multiplies it gives NaN in a correct kernel.
#[test]
fn a_sum_that_overflows_before_a_stored_zero_may_be_nan() {
    let chain = Arithmetic::chain(Reduction::FmaChain, Precision::F16, Precision::F16);
    for declared in [chain, Arithmetic::any(Precision::F16, Precision::F16)] {
        let found =
            verdict(&declared, &[60000.0, 60000.0], &[1.0, 1.0], Some(0.0), store(f64::NAN, Precision::F16));
        assert!(!matches!(found, ElementVerdict::Wrong(..)), "{declared:?}: {found:?}");
    }
}

#[test]
fn scaled_products_of_every_family_are_never_refused() {
    let mut random = Random::new(5, "judge_sddmm");
    for types in TYPES {
        for info in &VALUE_FAMILIES {
            for seed in 0..12 {
                let n = [1, 2, 7, 33][seed as usize % 4];
                let (x, y) = (info.family.fill(n, seed, types.a), info.family.fill(n, seed + 50, types.a));
                let factor = info.family.fill(1, seed + 90, types.out)[0];
                let factor = decode(encode(factor, types.acc, Rounding::NearestEven), types.acc);
                let terms: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
                for way in Way::ALL {
                    let declared = match way {
                        Way::Fused => Arithmetic::chain(Reduction::FmaChain, types.acc, types.out),
                        Way::Separate => Arithmetic::chain(Reduction::MulAddChain, types.acc, types.out),
                        _ => Arithmetic::any(types.acc, types.out),
                    };
                    // In the accumulator's type first, so that the factor multiplies an unrounded sum.
                    let in_acc = Arithmetic { out: types.acc, ..declared };
                    let sum = simulate(&in_acc, way, &terms, (1.0, 0.0), 0.0, &mut random);
                    let product = judge_support::Fpu(types.acc).mul(decode(sum, types.acc), factor);
                    let bits = store(product, types.out);
                    let found = verdict(&declared, &x, &y, Some(factor), bits);
                    assert!(
                        !matches!(found, ElementVerdict::Wrong(..)),
                        "{types} {} seed {seed} {way:?}: {terms:?} * {factor:e} = {:e}: {found:?}",
                        info.name,
                        decode(bits, types.out)
                    );
                }
            }
        }
    }
}

/// `arithmetic` with another use of alpha, from C or from zero.
fn with(arithmetic: Arithmetic, epilogue: Epilogue, init: Init) -> Arithmetic {
    let mut changed = Arithmetic { epilogue, ..arithmetic };
    changed.part_mut().init = init;
    changed
}

/// Story: a kernel that declared `fma,fold-alpha` (or `from-c`) and multiplied the finished sum by S, as 1.13 says, was wrong by T2, and one that
/// folded S into every element of X was right: the model took S for alpha.
#[test]
fn a_stored_factor_multiplies_the_finished_sum_wherever_alpha_goes() {
    let mut random = Random::new(11, "judge_sddmm folds");
    let mut draw = || 1.0 + random.below(1 << 23) as f64 / f64::from(1 << 23);
    let mut told_apart = 0;
    for _ in 0..200 {
        let (x, y, s) = ([draw(), draw()], [draw(), -draw()], draw() as f32);
        let [x0, x1, y0, y1] = [x[0], x[1], y[0], y[1]].map(|v| v as f32);
        let fused = |a: f32, b: f32| b.mul_add(y1, a * y0);
        let (end, folded) = (fused(x0, x1) * s, fused(x0 * s, x1 * s));
        for (epilogue, init) in [
            (Epilogue::AlphaIntoA, Init::Zero),
            (Epilogue::AlphaIntoB, Init::Zero),
            (Epilogue::None, Init::C),
            (Epilogue::MulThenAdd, Init::Zero),
        ] {
            let chain = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
            let declared = with(chain, epilogue, init);
            let judged = |v: f32| verdict(&declared, &x, &y, Some(s.into()), u64::from(v.to_bits()));
            assert!(!matches!(judged(end), ElementVerdict::Wrong(..)), "{epilogue:?} {x:?} {y:?} {s}");
            if end != folded {
                told_apart += 1;
                assert!(matches!(judged(folded), ElementVerdict::Wrong(..)), "{epilogue:?} {x:?} {y:?} {s}");
            }
        }
        // One product, and one more rounding by S, of which T1 knew nothing where the sum starts from C.
        let any = with(F32, Epilogue::None, Init::C);
        let once = verdict(&any, &x[..1], &y[..1], Some(s.into()), u64::from((x0 * y0 * s).to_bits()));
        assert!(!matches!(once, ElementVerdict::Wrong(..)), "{x:?} {y:?} {s}: {once:?}");
    }
    assert!(told_apart > 400, "{told_apart}");
}

/// Story: a kernel that folded S into X, which overflowed there, was forgiven its NaN where it declared to fold alpha.
#[test]
fn a_stored_factor_is_no_alpha_that_may_overflow_in_an_operand() {
    let nan = u64::from(f32::NAN.to_bits());
    let huge = 0.9 * f64::from(f32::MAX);
    for epilogue in [Epilogue::AlphaIntoA, Epilogue::MulThenAdd] {
        let declared = with(F32, epilogue, Init::Zero);
        assert!(matches!(verdict(&declared, &[huge], &[0.0], Some(-1.87), nan), ElementVerdict::Wrong(..)));
    }
    // An operand times an alpha of 1 is still a result, which may be flushed if that is declared: 0 x Inf.
    let (tiny, inf) = (2.0f64.powi(-130), f64::INFINITY);
    for (epilogue, right) in [(Epilogue::AlphaIntoA, true), (Epilogue::MulThenAdd, false)] {
        let declared = with(F32, epilogue, Init::Zero).flushes(Flush::results());
        let found = verdict(&declared, &[tiny], &[inf], Some(2.0), nan);
        assert_eq!(!matches!(found, ElementVerdict::Wrong(..)), right, "{epilogue:?}: {found:?}");
    }
}

/// Found by reading: the flush of an operand times 1 had been taken for one of every operand, of S too, and a zero passed where nothing of it may
/// be lost.
#[test]
fn an_alpha_of_one_flushes_the_operand_that_it_is_folded_into_and_no_other() {
    let tiny = 2.0f64.powi(-130);
    let large = 2.0f64.powi(100);
    let (into_a, into_b, end) = (Epilogue::AlphaIntoA, Epilogue::AlphaIntoB, Epilogue::MulThenAdd);
    // What is folded where, x, y, S, whether a result of zero is right.
    let cases = [
        (into_a, tiny, large, 2.0, true),
        (into_b, tiny, large, 2.0, false),
        (into_b, large, tiny, 2.0, true),
        (into_a, large, tiny, 2.0, false),
        (end, tiny, large, 2.0, false),
        (into_a, 1024.0, 1024.0, tiny, false),
        (into_b, 1024.0, 1024.0, tiny, false),
    ];
    for (epilogue, x, y, s, right) in cases {
        let declared = with(F32, epilogue, Init::Zero).flushes(Flush::results());
        let found = verdict(&declared, &[x], &[y], Some(s), 0);
        assert_eq!(!matches!(found, ElementVerdict::Wrong(..)), right, "{epilogue:?} {x} {y} {s}: {found:?}");
        let exact = store(x * y * s, Precision::F32);
        let found = verdict(&declared, &[x], &[y], Some(s), exact);
        assert!(!matches!(found, ElementVerdict::Wrong(..)), "{epilogue:?} {x} {y} {s}: {found:?}");
    }
}
