//! Deliberately wrong arithmetic, each refused: by the bound alone (a device that is not known, so no bits are fixed), or by the
//! bits of the declared unit where the bound is too wide to notice.

use super::Case;
use super::inputs::{Family, near, terms};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Architecture, Arithmetic, CpuUnit, Input, Instruction, Order, Reduction};
use sparse_oracle::judge::ElementVerdict;
use sparse_oracle::model::reduction::element;
use sparse_oracle::op::input;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::verdict::Criterion;

use Precision::{Bf16, F16, F32};

type Terms = Vec<(f64, f64)>;

/// A wrong kernel: the bits it returns for the stored terms.
type Wrong = fn(&Arithmetic, &Terms) -> u64;

fn run(arithmetic: &Arithmetic, terms: &[(f64, f64)]) -> u64 {
    element(arithmetic, terms.iter().copied(), (1.0, 0.0), 0.0, false).expect("fixes its bits")
}

fn edited(arithmetic: &Arithmetic, terms: &Terms, edit: impl Fn(&mut Terms)) -> u64 {
    let mut changed = terms.clone();
    edit(&mut changed);
    run(arithmetic, &changed)
}

/// Terms in the accumulator `acc`, one rounding a step; the result in the declared output type.
fn accumulated_in(acc: Precision, arithmetic: &Arithmetic, terms: &Terms) -> u64 {
    let narrow = Arithmetic::chain(Reduction::FmaChain, acc, acc);
    encode(decode(run(&narrow, terms), acc), arithmetic.out, Rounding::NearestEven)
}

/// What is done wrong, and which tier must notice on inputs near one.
fn faults() -> Vec<(&'static str, Criterion, Wrong)> {
    vec![
        ("accumulates in f16", Criterion::T1, |a, t| accumulated_in(F16, a, t)),
        ("accumulates in bf16", Criterion::T1, |a, t| accumulated_in(Bf16, a, t)),
        ("drops the last block of k", Criterion::T1, |a, t| {
            edited(a, t, |t| {
                t.truncate((t.len() - 1) / a.part().block() * a.part().block());
            })
        }),
        ("drops the first block of k", Criterion::T1, |a, t| {
            edited(a, t, |t| drop(t.drain(..a.part().block())))
        }),
        ("loses the last term", Criterion::T1, |a, t| edited(a, t, |t| t.truncate(t.len() - 1))),
        ("adds a term twice", Criterion::T1, |a, t| edited(a, t, |t| t.push(t[t.len() / 2]))),
        ("scales by 2", Criterion::T1, |a, t| {
            encode(2.0 * decode(run(a, t), a.out), a.out, Rounding::NearestEven)
        }),
        ("scales by 1 + 2^-10", Criterion::T1, |a, t| {
            encode(decode(run(a, t), a.out) * (1.0 + 2.0f64.powi(-10)), a.out, Rounding::NearestEven)
        }),
        ("has the wrong sign of a product", Criterion::T1, |a, t| edited(a, t, |t| t[3].0 = -t[3].0)),
        ("reads the neighbour's b", Criterion::T1, |a, t| edited(a, t, |t| t[5].1 = t[6].1)),
        ("flushes the smaller half of each pair", Criterion::T1, |a, t| {
            edited(a, t, |t| t.iter_mut().skip(1).step_by(2).for_each(|t| t.0 = 0.0))
        }),
    ]
}

/// f32 accumulators on 100 terms near one.
fn declarations() -> Vec<(Arithmetic, Precision)> {
    let mut list = Vec::new();
    for (architecture, name) in [
        (Architecture::Sm80, "mma.m16n8k16.f32.f16"),
        (Architecture::Sm90, "mma.m16n8k16.f32.f16"),
        (Architecture::Sm90, "mma.m16n8k16.f32.bf16"),
        (Architecture::Sm90, "wgmma.m64n8k16.f32.f16"),
        (Architecture::Sm90, "mma.sp.m16n8k32.f32.f16"),
        (Architecture::Sm90, "mma.m16n8k32.f32.e4m3"),
    ] {
        let instruction: Instruction = name.parse().expect("an instruction");
        list.push((Arithmetic::mma(Some(architecture), instruction, F32), instruction.input));
    }
    for unit in [CpuUnit::Fmopa2Way, CpuUnit::Tdpfp16ps, CpuUnit::Bfmopa { ebf: false }, CpuUnit::Vdpbf16ps] {
        list.push((Arithmetic::cpu(unit, F32), unit.input()));
    }
    list
}

/// The same declaration with nothing that fixes bits: what T1 alone says.
fn without_bits(arithmetic: &Arithmetic) -> Arithmetic {
    let mut free = *arithmetic;
    free.part_mut().order = Order::Free;
    free
}

fn tier_of(arithmetic: &Arithmetic, case: &Case, bits: u64) -> Option<Criterion> {
    match case.accepts(arithmetic).judge(bits) {
        ElementVerdict::Wrong(tier, _) => Some(tier),
        _ => None,
    }
}

#[test]
fn each_wrong_arithmetic_violates_the_bound() {
    for (declared, operands) in declarations() {
        let mut random = Random::new(4, "wrong arithmetic");
        // Not order-free: near-one operands of 11 bits in sums of 100 terms are inexact.
        let case =
            Case::new(&terms(Family::Positive, &declared, operands, 100, &mut random), (1.0, 0.0), 0.0);
        assert!(tier_of(&declared, &case, run(&declared, &case.terms)).is_none(), "the right bits");
        for (name, tier, wrong) in faults() {
            let bits = wrong(&declared, &case.terms);
            let by_bound = tier_of(&without_bits(&declared), &case, bits);
            // Narrow operands make sums exact in any order; then T0 speaks first.
            assert!(
                by_bound == Some(tier) || by_bound == Some(Criterion::T0),
                "{name}: {by_bound:?} {declared:?}"
            );
            // The bits are others, too, but what is said is the strongest statement.
            assert_ne!(case.modelled(&declared), bits, "{name}: {declared:?}");
            assert_eq!(tier_of(&declared, &case, bits), by_bound, "{name}: {declared:?}");
            println!("{:?}: {name}: wrong by {}", declared.part().reduction, by_bound.expect("wrong"));
        }
    }
}

/// f32 operands cut to tf32 where rounding is declared, and the other way round.
#[test]
fn truncating_instead_of_rounding_tf32_violates_the_bound() {
    let instruction: Instruction = "mma.m16n8k8.f32.tf32".parse().expect("an instruction");
    // The low 13 bits are past half a unit of tf32: truncation always loses.
    let stored: Terms = (0..40u32)
        .map(|i| f64::from(i) / 64.0 + 2.0 * 2.0f64.powi(-10))
        .map(|x| (1.0 + x + 0.9 * 2.0f64.powi(-10), 1.0 + x + 2.0f64.powi(-10)))
        .collect();
    let f32s: Terms = stored.iter().map(|&(a, b)| (near(a, F32), b)).collect();
    for (declared, does) in [(Input::Tf32Rna, Input::Tf32Truncate), (Input::Tf32Truncate, Input::Tf32Rna)] {
        let as_input = |rounding| -> Terms {
            f32s.iter().map(|&(a, b)| (input(a, rounding), input(b, rounding))).collect()
        };
        for architecture in [None, Some(Architecture::Sm80), Some(Architecture::Sm90)] {
            let known =
                Arithmetic::mma(architecture.or(Some(Architecture::Sm90)), instruction, F32).input(declared);
            let bits = run(&known, &as_input(does));
            let judged = Arithmetic::mma(architecture, instruction, F32).input(declared);
            let case = Case::new(&as_input(declared), (1.0, 0.0), 0.0);
            if architecture.is_some() {
                assert_ne!(case.modelled(&judged), bits, "{declared:?} {architecture:?}");
            }
            assert_eq!(tier_of(&judged, &case, bits), Some(Criterion::T1), "{declared:?} {architecture:?}");
            assert_eq!(tier_of(&judged, &case, run(&known, &as_input(declared))), None);
        }
    }
}

/// The factor and C: applied twice, not at all, or to the wrong side.
#[test]
fn wrong_factors_violate_the_bound() {
    let instruction: Instruction = "mma.m16n8k16.f32.f16".parse().expect("an instruction");
    let declared = Arithmetic::mma(None, instruction, F32);
    let known = Arithmetic::mma(Some(Architecture::Sm90), instruction, F32);
    let mut random = Random::new(6, "wrong factors");
    let operands = terms(Family::Positive, &known, F16, 50, &mut random);
    let (alpha, beta, c) = (1.5, 0.75, 37.25);
    let case = Case::new(&operands, (alpha, beta), c);
    let with = |alpha, beta, c| {
        element(&known, operands.iter().copied(), (alpha, beta), c, false).expect("fixes its bits")
    };
    assert_eq!(tier_of(&declared, &case, with(alpha, beta, c)), None);
    for (name, bits) in [
        ("alpha twice", with(alpha * alpha, beta, c)),
        ("no alpha", with(1.0, beta, c)),
        ("beta twice", with(alpha, beta * beta, c)),
        ("no beta", with(alpha, 1.0, c)),
        ("no C", with(alpha, 0.0, c)),
        ("alpha on C too", with(alpha, beta * alpha, c)),
        ("alpha and beta swapped", with(beta, alpha, c)),
        ("stale C", with(alpha, beta, c + 1.0)),
    ] {
        assert_eq!(tier_of(&declared, &case, bits), Some(Criterion::T1), "{name}");
        println!("{name}: wrong by T1");
    }
}

/// A miss by the model's bits comes with error and bound where there are such numbers: between a number and an infinity there is no
/// distance. Found by mutation: nothing noticed when only one of the two had to be finite.
#[test]
fn a_miss_beside_an_infinity_has_no_figures() {
    let arithmetic = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    let finite = Case::new(&[(1.5, 2.0)], (1.0, 0.0), 0.0);
    let infinite = Case::new(&[(f64::INFINITY, 2.0)], (1.0, 0.0), 0.0);
    let found = |case: &Case, y: f64| {
        let bits = encode(y, F32, Rounding::NearestEven);
        case.accepts(&arithmetic).judge(bits)
    };
    let miss = found(&finite, 4.0);
    assert!(matches!(miss, ElementVerdict::Wrong(Criterion::T0, Some((1.0, _)))), "{miss:?}");
    assert_eq!(found(&finite, f64::INFINITY), ElementVerdict::Wrong(Criterion::T1, None));
    assert_eq!(found(&infinite, 4.0), ElementVerdict::Wrong(Criterion::T1, None));
    // The partial sums of another order overflow, so that T1 takes an infinity; the declared order gives 0.
    let huge = f64::from(f32::MAX);
    let apart = Case::new(&[(huge, 1.0), (-huge, 1.0), (huge, 1.0), (-huge, 1.0)], (1.0, 0.0), 0.0);
    assert_eq!(found(&apart, f64::INFINITY), ElementVerdict::Wrong(Criterion::T2, None));
    // Between 0 and the least subnormal there is a distance, and T1 takes it.
    let miss = found(&apart, 2f64.powi(-149));
    assert!(
        matches!(miss, ElementVerdict::Wrong(Criterion::T2, Some((error, bound))) if error < bound),
        "{miss:?}"
    );
}
