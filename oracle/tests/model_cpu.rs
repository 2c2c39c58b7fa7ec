//! Models of CPU instructions against `rustc_apfloat` where they are IEEE operations, and against big integers where they
//! are not; against the exact sum on small integers; and examples in which a likely mistake shows.

use crate::cpu_support;
#[path = "cpu_support/reference.rs"]
mod reference;

use cpu_support::{DISTRIBUTIONS, Operands, draw};
use reference::{Number, Results};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::model::ModelError;
use sparse_oracle::model::cpu::CpuStep;
use sparse_oracle::model::cpu::arm::{self, Fpcr};
use sparse_oracle::model::cpu::nan;
use sparse_oracle::model::cpu::x86::{self, Mxcsr};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

const MODES: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::Up, Round::TowardPositive),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::TowardZero, Round::TowardZero),
];

fn fma_agrees<F: Float>(unit: CpuUnit, cases: u64) {
    let precision = unit.input();
    let mut random = Random::new(23, unit.name());
    let mut finite = 0;
    for i in 0..cases {
        let distribution = i as usize % DISTRIBUTIONS.len();
        let operands = draw(&mut random, unit, distribution, 1);
        let (a, b, c) = (operands.a[0].expect("active"), operands.b[0].expect("active"), operands.acc);
        let number = |bits: u64| F::from_bits(bits.into());
        for (rounding, round) in MODES {
            let expected = number(a).mul_add_r(number(b), number(c), round).value;
            let mxcsr = Mxcsr { rounding, ..Mxcsr::DEFAULT };
            let fpcr = Fpcr { rmode: rounding, ..Fpcr::DEFAULT };
            let found = [x86::fma(precision, a, b, c, mxcsr), arm::fmla(precision, c, a, b, fpcr)];
            for bits in found {
                let both_nan = expected.is_nan() && nan::is_nan(bits, precision);
                assert!(
                    both_nan || u128::from(bits) == expected.to_bits(),
                    "{operands} {rounding:?}: {bits:x}, apfloat {:x}",
                    expected.to_bits()
                );
            }
            finite += u64::from(expected.is_finite());
        }
    }
    assert!(finite > cases, "{unit}: only {finite} finite results");
}

#[test]
fn fused_multiply_adds_are_apfloats_in_every_mode() {
    fma_agrees::<Half>(CpuUnit::FmlaF16, 30_000);
    fma_agrees::<Single>(CpuUnit::FmlaF32, 30_000);
    fma_agrees::<Double>(CpuUnit::FmlaF64, 30_000);
}

/// A unit's operation out of exact numbers, from its definition. `None` is NaN.
fn defined(operands: &Operands) -> Option<u64> {
    let (fpcr, mxcsr) = (Fpcr::from_bits(operands.control), Mxcsr::from_bits(operands.control));
    let (input, acc) = (operands.unit.input(), operands.unit.acc());
    let f32 = Precision::F32;
    let arm_results = |f16: bool| match (if f16 { fpcr.fz16 } else { fpcr.fz }, fpcr.ah) {
        (false, _) => Results::Kept,
        (true, false) => Results::FlushedBefore,
        (true, true) => Results::FlushedAfter,
    };
    let fz_operands = fpcr.fiz || fpcr.fz && !fpcr.ah;
    let of = |list: &[Option<u64>], flush: bool| -> Vec<Number> {
        list.iter().map(|bits| Number::of(bits.unwrap_or(0), input, flush)).collect()
    };
    let down = |mode: Rounding| mode == Rounding::Down;
    match operands.unit {
        CpuUnit::FmopaF64
        | CpuUnit::FmopaF32
        | CpuUnit::FmopaF16
        | CpuUnit::FmlaF64
        | CpuUnit::FmlaF32
        | CpuUnit::FmlaF16 => {
            let f16 = input == Precision::F16;
            let flush = if f16 { fpcr.fz16 } else { fz_operands };
            let (a, b) = (of(&operands.a, flush), of(&operands.b, flush));
            let c = Number::of(operands.acc, acc, flush);
            a[0].times(&b[0]).plus(&c, down(fpcr.rmode)).round(acc, fpcr.rmode, arm_results(f16))
        }
        CpuUnit::Fmopa2Way | CpuUnit::Bfmopa { ebf: true } => {
            let flush = if input == Precision::F16 { fpcr.fz16 } else { fz_operands };
            let (a, b) = (of(&operands.a, flush), of(&operands.b, flush));
            let pair = a[0].times(&b[0]).plus(&a[1].times(&b[1]), down(fpcr.rmode));
            let pair = pair.round(f32, fpcr.rmode, arm_results(false))?;
            let sum = Number::of(operands.acc, f32, fz_operands)
                .plus(&Number::of(pair, f32, fz_operands), down(fpcr.rmode));
            sum.round(f32, fpcr.rmode, arm_results(false))
        }
        CpuUnit::Bfmopa { ebf: false } => {
            let (a, b) = (of(&operands.a, true), of(&operands.b, true));
            let odd = |number: Number| {
                let bits = number.round(f32, Rounding::ToOdd, Results::FlushedBefore)?;
                Some(Number::of(bits, f32, true))
            };
            let (first, second) = (odd(a[0].times(&b[0]))?, odd(a[1].times(&b[1]))?);
            let sum = odd(first.plus(&second, false))?.plus(&Number::of(operands.acc, f32, true), false);
            sum.round(f32, Rounding::ToOdd, Results::FlushedBefore)
        }
        CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => {
            let round = |number: Number| {
                let bits = number.round(f32, Rounding::NearestEven, Results::FlushedAfter)?;
                Some(Number::of(bits, f32, true))
            };
            // f16 subnormals are normal in f32.
            let flush = input == Precision::Bf16;
            let (a, b) = (of(&operands.a, flush), of(&operands.b, flush));
            let chain = |from: usize| {
                let start = Number::of(0, f32, true);
                let steps = (from..a.len()).step_by(2);
                steps.into_iter().try_fold(start, |sum, k| round(a[k].times(&b[k]).plus(&sum, false)))
            };
            let (even, odd) = (chain(0)?, chain(1)?);
            let sum = Number::of(operands.acc, f32, true).plus(&round(even.plus(&odd, false))?, false);
            sum.round(f32, Rounding::NearestEven, Results::FlushedAfter)
        }
        CpuUnit::Vdpbf16ps => {
            let (a, b) = (of(&operands.a, true), of(&operands.b, true));
            let acc = Number::of(operands.acc, f32, true);
            let high = a[1].times(&b[1]).plus(&acc, false).round(
                f32,
                Rounding::NearestEven,
                Results::FlushedAfter,
            )?;
            let low = a[0].times(&b[0]).plus(&Number::of(high, f32, true), false);
            low.round(f32, Rounding::NearestEven, Results::FlushedAfter)
        }
        CpuUnit::Vfmaddpd | CpuUnit::Vfmaddps | CpuUnit::Vfmaddph => {
            let counts = input != Precision::F16;
            let flush = mxcsr.daz && counts;
            let (a, b) = (of(&operands.a, flush), of(&operands.b, flush));
            let results = if mxcsr.ftz && counts { Results::FlushedAfter } else { Results::Kept };
            let sum = a[0].times(&b[0]).plus(&Number::of(operands.acc, acc, flush), down(mxcsr.rounding));
            sum.round(acc, mxcsr.rounding, results)
        }
    }
}

/// FPCR's fields, or MXCSR's, at random.
fn control(random: &mut Random, unit: CpuUnit) -> u32 {
    let fields: &[u32] =
        if cpu_support::is_arm(unit) { &[0, 1, 19, 22, 23, 24, 25] } else { &[6, 13, 14, 15] };
    fields.iter().fold(0, |word, &bit| word | (random.below(2) as u32) << bit)
}

#[test]
fn every_unit_is_its_definition_in_big_integers() {
    assert_eq!(
        reference::one().round(Precision::F32, Rounding::NearestEven, Results::Kept),
        Some(0x3f80_0000)
    );
    for unit in CpuUnit::ALL {
        let mut random = Random::new(29, unit.name());
        let (mut finite, mut tiny, mut nans) = (0, 0, 0);
        for i in 0..12_000 {
            let products = cpu_support::products(&mut random, unit);
            let mut operands = draw(&mut random, unit, i % DISTRIBUTIONS.len(), products);
            operands.control = control(&mut random, unit);
            let found = operands.predicted();
            match defined(&operands) {
                Some(expected) => {
                    assert_eq!(found, expected, "{operands}: {found:x}, by definition {expected:x}");
                }
                None => assert!(nan::is_nan(found, unit.acc()), "{operands}: {found:x}, by definition NaN"),
            }
            let value = decode(found, unit.acc());
            finite += usize::from(value.is_finite());
            tiny += usize::from(value.abs() < 2f64.powi(unit.acc().spec().emin + 1));
            nans += usize::from(value.is_nan());
        }
        println!("{unit}: {finite} finite, {tiny} about the least normal or zero, {nans} NaN");
        assert!(finite > 6_000 && tiny > 50 && nans > 300, "{unit}: a weak sample");
    }
}

#[test]
fn small_integers_give_the_exact_sum_in_every_unit() {
    let mut random = Random::new(31, "cpu small integers");
    for unit in CpuUnit::ALL {
        for _ in 0..300 {
            let products = cpu_support::products(&mut random, unit);
            let mut small = |n: usize| -> Vec<i64> { (0..n).map(|_| random.between(-4, 4)).collect() };
            let (a, b, c) = (small(products), small(products), small(1)[0]);
            let bits = |x: &i64| encode(*x as f64, unit.input(), Rounding::TowardZero);
            let exact = c + a.iter().zip(&b).map(|(x, y)| x * y).sum::<i64>();
            let (left, right): (Vec<u64>, Vec<u64>) =
                (a.iter().map(bits).collect(), b.iter().map(bits).collect());
            let found =
                CpuStep::new(unit).apply(encode(c as f64, unit.acc(), Rounding::TowardZero), &left, &right);
            let value = decode(found.expect("lengths fit"), unit.acc());
            assert_eq!(value, exact as f64, "{unit}: {c} + {a:?} * {b:?}");
        }
    }
}

#[test]
fn operands_of_a_wrong_length_are_refused() {
    for unit in CpuUnit::ALL {
        let step = CpuStep::new(unit);
        let zeros = [0; 40];
        for (n, m) in
            [(0, 0), (unit.products() + 1, unit.products() + 1), (unit.products(), unit.products() - 1)]
        {
            let refused = step.apply(0, &zeros[..n], &zeros[..m]);
            assert!(
                matches!(refused, Err(ModelError::UnitOperands { a, b, .. }) if (a, b) == (n, m)),
                "{unit} {n} {m}"
            );
        }
        let legal = (1..=unit.products()).filter(|&n| step.apply(0, &zeros[..n], &zeros[..n]).is_ok());
        assert_eq!(legal.count(), unit.products() / unit.granule(), "{unit}");
        let message = step.apply(0, &zeros[..40], &zeros[..40]).expect_err("too many").to_string();
        assert!(message.contains(unit.name()) && message.contains("40"), "{message}");
    }
}

#[test]
fn units_have_names_that_parse_back() {
    for unit in CpuUnit::ALL {
        assert_eq!(CpuUnit::from_name(unit.name()), Some(unit));
        assert_eq!(unit.to_string(), unit.name());
        assert!(unit.products() % unit.granule() == 0 && unit.roundings(unit.products()) > 0);
    }
    assert_eq!(CpuUnit::from_name("fmopa"), None);
}
