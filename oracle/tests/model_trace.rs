//! Traces of elements: they end in the model's bits, list every term once, and their errors add up to the whole error.

use proptest::prelude::*;
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Init, Instruction, Part, Reduction, Slot,
};
use sparse_oracle::exact::Dyadic;
use sparse_oracle::exact::encode_dyadic;
use sparse_oracle::model::reduction::Model;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::trace::{Kind, Question, Source, Spoiler, Step, Trace, TraceError};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};

use Precision::{F16, F32, F64};

/// Every instruction of the tensor-core table on each of its architectures, then every CPU unit, then chains.
fn units() -> Vec<(Arithmetic, Precision)> {
    let cores = ROWS.iter().flat_map(|row| {
        row.architectures.iter().flat_map(move |&architecture| {
            row.instructions().map(move |instruction| {
                let arithmetic = Arithmetic::mma(Some(architecture), instruction, instruction.acc);
                (arithmetic, instruction.input)
            })
        })
    });
    let cpus = CpuUnit::ALL.into_iter().map(|unit| (Arithmetic::cpu(unit, unit.acc()), unit.input()));
    let chains = [
        (Reduction::FmaChain, F64, F64, F64),
        (Reduction::FmaChain, F32, F32, F32),
        (Reduction::FmaChain, F16, F16, F16),
        (Reduction::FmaChain, F16, F32, F16),
        (Reduction::MulAddChain, F32, F32, F32),
        (Reduction::MulAddChain, F16, F16, F16),
        (Reduction::MulAddChain, Precision::Bf16, F32, Precision::Bf16),
    ];
    let chains = chains.map(|(reduction, input, acc, out)| (Arithmetic::chain(reduction, acc, out), input));
    cores.chain(cpus).chain(chains).collect()
}

/// A pattern of the type: any at all, near one, within a few binades, subnormal or zero.
fn operand(precision: Precision, (kind, bits): (u8, u64)) -> f64 {
    let spec = precision.spec();
    let any = decode(bits & (u64::MAX >> (64 - spec.storage_bits)), precision);
    let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
    let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
    let wanted = match kind {
        0 => any,
        1..=5 => sign * (1.0 + unit),
        6 | 7 => sign * (1.0 + unit) * 2f64.powi((bits >> 1 & 15) as i32 - 9),
        8 => sign * unit * 2f64.powi(spec.emin.max(-1022)),
        _ => 0.0,
    };
    let rounded = decode(encode(wanted, precision, Rounding::NearestEven), precision);
    if precision == Precision::Tf32 {
        return sparse_oracle::op::input(rounded, sparse_oracle::arithmetic::Input::Tf32Truncate);
    }
    rounded
}

type Raw = (u8, u64);

fn raw(special: bool) -> impl Strategy<Value = Raw> {
    (if special { 0..10u8 } else { 1..10u8 }, any::<u64>())
}

fn exact(terms: &[(f64, f64)], (alpha, beta): (f64, f64), c: f64) -> Option<Dyadic> {
    let number = Dyadic::from_f64;
    let mut sum = Dyadic::zero();
    for &(a, b) in terms {
        sum = &sum + &(&number(a)? * &number(b)?);
    }
    let addend = if beta == 0.0 { Dyadic::zero() } else { &number(beta)? * &number(c)? };
    Some(&(&number(alpha)? * &sum) + &addend)
}

/// The listed rounding of what is kept gives the listed bits.
fn follows(step: &Step) -> bool {
    let Some(sum) = step.sum() else {
        return !step.result().is_finite();
    };
    if let Some(frame) = step.frame {
        let in_units = Dyadic::from(frame.total).mul_pow2(frame.unit);
        let each = |addend: &sparse_oracle::model::trace::Addend| {
            let (cut, exact) = (addend.cut().expect("finite"), addend.exact().expect("finite"));
            let less_than_a_unit = cut.abs() < Dyadic::from(1).mul_pow2(frame.unit);
            // Toward zero.
            less_than_a_unit && (cut.is_zero() || cut.is_negative() != exact.is_negative())
        };
        if in_units != sum || !step.addends.iter().all(each) {
            return false;
        }
    }
    let result = step.result();
    let dropped = step.to.spec().significand - step.significand;
    let bits = encode_dyadic(&sum, step.to, step.rounding) >> dropped << dropped;
    let rounded = decode(bits, step.to);
    let is_largest = rounded.abs() >= step.to.spec().max_finite() / 1.001;
    let overflows = is_largest && result.is_infinite() && (result < 0.0) == sum.is_negative();
    let flushed = step.flushes && result == 0.0 && sum.abs() < Dyadic::from(1).mul_pow2(step.to.spec().emin);
    rounded == result || overflows || flushed
}

/// Checks everything that a trace promises; gives the trace where the result is finite.
fn check(arithmetic: &Arithmetic, q: &Question<'_>) -> Result<Option<Trace>, TestCaseError> {
    let trace = match Trace::new(arithmetic, q) {
        Ok(trace) => trace,
        // Rows without terms from C, and ranges of tiles.
        Err(TraceError::NotFixed) => {
            let cut = arithmetic.parts.iter().any(|part| part.along != Along::Chain);
            prop_assert!(cut || q.terms.is_empty() || q.slots.is_some(), "{:?} {:?}", arithmetic, q);
            return Ok(None);
        }
        Err(e) => return Err(TestCaseError::fail(format!("{e}: {arithmetic:?}"))),
    };
    let mut model = Model::new(arithmetic).expect("deterministic");
    let (terms, scaling) = (q.terms.iter().copied(), (q.alpha, q.beta));
    let modelled = model.element(terms, q.slots, scaling, q.c, q.computes_zero);
    prop_assert_eq!(modelled, Some(trace.bits));
    for step in &trace.steps {
        prop_assert!(follows(step), "{:?} of {:?}", step, arithmetic);
    }
    if q.alpha != 0.0 || q.computes_zero {
        let mut seen = vec![0; q.terms.len()];
        for addend in trace.steps.iter().filter(|s| s.kind != Kind::FoldAlpha).flat_map(|s| &s.addends) {
            if let Source::Term(term) = addend.source {
                seen[term] += 1;
            }
        }
        prop_assert!(seen.iter().all(|&n| n == 1), "{:?}", seen);
    }
    let last = trace.steps.last().map_or(0.0, Step::result);
    if !trace.steps.is_empty() {
        prop_assert!(last == trace.result() || last.is_nan() && trace.result().is_nan());
    }
    if !trace.result().is_finite() {
        prop_assert!(trace.causes().is_none());
        prop_assert!(trace.spoiler().is_some() || trace.steps.is_empty());
        return Ok(None);
    }
    prop_assert_eq!(trace.spoiler(), None);
    // Multiplied by 0, terms are not read: they may be anything.
    let read = if q.alpha == 0.0 && !q.computes_zero { &[] } else { q.terms };
    let exact = exact(read, scaling, q.c).expect("a finite result has finite operands");
    let total = &Dyadic::from_f64(trace.result()).expect("finite") - &exact;
    let causes = trace.causes().expect("finite");
    prop_assert_eq!(causes.total(), total, "{:?} of {:?}", causes, trace);
    Ok(Some(trace))
}

fn along(choice: u8) -> Along {
    match choice {
        0 | 1 => Along::Chain,
        2 => Along::SplitK { parts: 3 },
        3 => Along::SplitK { parts: 9 },
        4 => Along::TwoPass { blocks: 1 },
        5 => Along::TwoPass { blocks: 2 },
        6 => Along::ThreePass { blocks: 1, segments: 2 },
        _ => Along::ThreePass { blocks: 2, segments: 3 },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_unit_ends_in_the_models_bits_and_its_errors_add_up(
        raw in prop::collection::vec((raw(false), raw(false)), 0..70),
        odd in (raw(true), 0..70usize),
        spoil in prop::bool::weighted(0.2),
        from_c in any::<bool>(),
        c in raw(false),
        (split, alpha, beta) in (0..8u8, prop::sample::select(vec![1.0, -1.5, 0.3]), prop::sample::select(vec![0.0, 1.0, 0.7])),
    ) {
        for (base, input) in units() {
            let mut terms: Vec<(f64, f64)> = raw.iter().map(|&(a, b)| (operand(input, a), operand(input, b))).collect();
            if let Some(term) = terms.get_mut(odd.1).filter(|_| spoil) {
                term.0 = operand(input, odd.0);
            }
            let mut arithmetic = base.along(along(split));
            let acc = arithmetic.part().acc;
            let near = |v: f64| decode(encode(v, acc, Rounding::NearestEven), acc);
            let (mut alpha, beta, c) = (near(alpha), near(beta), near(operand(arithmetic.out, c)));
            if from_c {
                arithmetic = arithmetic.from_c();
                alpha = 1.0;
            }
            let q = Question { terms: &terms, slots: None, alpha, beta, c, computes_zero: false };
            check(&arithmetic, &q)?;
        }
    }

    #[test]
    fn tiles_hybrids_and_epilogues_add_up(
        raw in prop::collection::vec((raw(true), raw(false), 1..9u32, any::<bool>()), 0..40),
        c in raw(false),
        (first, second) in (0..4usize, 0..3usize),
        ((split, other), epilogue) in ((0..8u8, 0..8u8), 0..4u8),
        alpha in prop::sample::select(vec![1.0, 0.0, -2.0, 0.3f32.into()]),
        beta in prop::sample::select(vec![0.0, 1.0, 0.7f32.into()]),
        computes_zero in any::<bool>(),
    ) {
        let mma = |name: &str| {
            let instruction: Instruction = name.parse().expect("an instruction");
            Arithmetic::mma(Some(Architecture::Sm90), instruction, F32)
        };
        let tiles = [
            mma("mma.m16n8k16.f32.f16"),
            mma("mma.m16n8k8.f32.f16"),
            Arithmetic::cpu(CpuUnit::Fmopa2Way, F32),
            Arithmetic::chain(Reduction::MulAddChain, F32, F16),
        ][first].along(along(split));
        let rest = [
            Arithmetic::chain(Reduction::FmaChain, F32, F32),
            Arithmetic::chain(Reduction::MulAddChain, F32, F32),
            mma("mma.m16n8k8.f32.f16"),
        ][second].along(along(other));
        let mut at = [0u32; 2];
        let slots: Vec<Slot> = raw.iter().map(|&(_, _, gap, in_tile)| {
            let next = &mut at[usize::from(in_tile)];
            *next += gap;
            Slot { in_tile, at: *next - 1 }
        }).collect();
        let terms: Vec<(f64, f64)> = raw.iter().map(|&(a, b, _, _)| (operand(F16, a), operand(F16, b))).collect();
        let rest: Part = *rest.part();
        let mut hybrid = Arithmetic::hybrid(tiles, rest, Combine::Ordered);
        let folds = first == 3 && second < 2 && epilogue == 2;
        hybrid.epilogue = match epilogue {
            0 => Epilogue::MulThenAdd,
            _ if folds => Epilogue::AlphaIntoA,
            _ => Epilogue::MulThenFma,
        };
        if folds {
            hybrid.part_mut().init = Init::C;
        }
        let c = operand(F16, c);
        let q = Question { terms: &terms, slots: Some(&slots), alpha, beta, c, computes_zero };
        check(&hybrid, &q)?;
        // One part by slots: gaps are pads, a part of a hybrid alone.
        let distinct: Vec<Slot> = slots.iter().enumerate().map(|(i, s)| Slot { in_tile: true, at: s.at * 40 + i as u32 }).collect();
        check(&tiles, &Question { slots: Some(&distinct), ..q })?;
        let disjoint = Arithmetic { combine: Combine::Disjoint, ..hybrid };
        let all_in = |in_tile| -> Vec<Slot> { distinct.iter().map(|s| Slot { in_tile, ..*s }).collect() };
        // Disjoint parts both start from C, or neither does.
        let both = [true, false].into_iter().filter(|_| disjoint.contradiction(alpha, beta).is_none());
        for in_tile in both {
            check(&disjoint, &Question { slots: Some(&all_in(in_tile)), ..q })?;
        }
    }
}

fn sm80_f16() -> Arithmetic {
    let instruction = Instruction::mma((16, 8, 16), F32, F16);
    Arithmetic::mma(Some(Architecture::Sm80), instruction, F32)
}

fn plain(terms: &[(f64, f64)]) -> Question<'_> {
    Question { terms, slots: None, alpha: 1.0, beta: 0.0, c: 0.0, computes_zero: false }
}

/// 1 + 2^-24 + 3 * 2^-25, aligned to 2^-24 on Ampere: the last one keeps one unit of one and a half; then the sum, 2^24 + 2
/// units, fits 25 bits and loses nothing toward zero.
#[test]
fn alignment_of_a_known_sum_is_listed() {
    let terms = [(1.0, 1.0), (2f64.powi(-12), 2f64.powi(-12)), (3.0, 2f64.powi(-25))];
    // 2^-25 is no f16: split over both factors.
    let terms = [terms[0], terms[1], (3.0 * 2f64.powi(-12), 2f64.powi(-13))];
    let trace = Trace::new(&sm80_f16(), &plain(&terms)).expect("a trace");
    let step = &trace.steps[0];
    let frame = step.frame.expect("a fused sum");
    assert_eq!((frame.exponent, frame.unit, frame.total), (0, -24, (1 << 24) + 2));
    let integers: Vec<i64> = step.addends.iter().map(|a| a.aligned.expect("finite").0).collect();
    assert_eq!(integers[..3], [1 << 24, 1, 1]);
    let cut = step.addends[2].cut().expect("finite");
    assert_eq!(cut, -Dyadic::from(1).mul_pow2(-25));
    assert_eq!(trace.result(), 1.0 + 2f64.powi(-23));
    let causes = trace.causes().expect("finite");
    assert_eq!((causes.alignment, causes.rounding), (cut, Dyadic::zero()));
}

#[test]
fn errors_before_alpha_count_alpha_times() {
    let mut fma = Arithmetic::chain(Reduction::FmaChain, F16, F16);
    fma.epilogue = Epilogue::MulThenAdd;
    let terms = [(1.0, 1.0), (2f64.powi(-6), 2f64.powi(-6))];
    let q = Question { alpha: 4.0, ..plain(&terms) };
    let trace = Trace::new(&fma, &q).expect("a trace");
    let weights: Vec<_> =
        trace.steps.iter().map(|s| s.weight.clone().expect("finite").to_f64(Rounding::NearestEven)).collect();
    assert_eq!(weights, [4.0, 4.0, 1.0]);
    assert_eq!(trace.causes().expect("finite").rounding, -Dyadic::from(1).mul_pow2(-10));
}

#[test]
fn what_spoils_a_sum_is_named() {
    let named = |terms: &[(f64, f64)]| {
        let trace = Trace::new(&sm80_f16(), &plain(terms)).expect("a trace");
        trace.spoiler()
    };
    let infinity = f64::INFINITY;
    assert_eq!(named(&[(1.0, 1.0), (infinity, 2.0)]), Some(Spoiler::Operand { step: 0, addend: 1 }));
    let torn = [(infinity, 1.0), (1.0, 1.0), (0.0, infinity)];
    assert_eq!(
        named(&torn),
        Some(Spoiler::Operand { step: 0, addend: 2 }),
        "0 * Inf is NaN, not the infinity before it"
    );
    let mut late = vec![(1.0, 1.0); 9];
    late.push((0.0, f64::NAN));
    assert_eq!(named(&late), Some(Spoiler::Operand { step: 1, addend: 1 }));
    let fma = Arithmetic::chain(Reduction::FmaChain, F16, F16);
    let trace = Trace::new(&fma, &plain(&[(1.0, 1.0), (300.0, 300.0)])).expect("a trace");
    assert_eq!(trace.spoiler(), Some(Spoiler::Overflow { step: 1 }));
    assert_eq!(named(&[(1.0, 1.0)]), None);
}

#[test]
fn what_cannot_be_traced_is_refused() {
    let terms = [(0.1, 1.0)];
    let refused = |arithmetic: &Arithmetic, q: &Question<'_>| Trace::new(arithmetic, q).expect_err("refused");
    assert_eq!(refused(&Arithmetic::any(F32, F32), &plain(&terms)), TraceError::NotDeterministic);
    assert!(
        matches!(refused(&sm80_f16(), &plain(&terms)), TraceError::Operand { value, .. } if value == 0.1)
    );
    let slot = |at| Slot { in_tile: true, at };
    let ones = [(1.0, 1.0); 2];
    for slots in [&[slot(0)][..], &[slot(3), slot(3)]] {
        let q = Question { slots: Some(slots), ..plain(&ones) };
        assert!(matches!(refused(&sm80_f16(), &q), TraceError::Slots(_)));
    }
    let rest = *Arithmetic::chain(Reduction::FmaChain, F32, F32).part();
    let hybrid = Arithmetic::hybrid(sm80_f16(), rest, Combine::Ordered);
    assert!(matches!(refused(&hybrid, &plain(&ones)), TraceError::Slots(_)));
}
