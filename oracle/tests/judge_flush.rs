//! Declared flushes (clause 13.7): kernels that flush what they declared are never refused, whatever they flush, and those that flush
//! anything else are.

use crate::judge_support;

use judge_support::{Fpu, accepts, store};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Flush};
use sparse_oracle::bound::SubnormalThresholds;
use sparse_oracle::contract::{TYPES, Types};
use sparse_oracle::format::{Csr, Dense, Entries, Entry};
use sparse_oracle::judge::{ElementVerdict, Problem, Rule};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

/// Factors of A and B, term by term.
type Terms<'a> = &'a [(f64, f64)];

/// alpha and beta.
type Scalars = (f64, f64);

/// What a kernel flushes, and how often: always, or each time by a coin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Habit {
    inputs: bool,
    results: bool,
    always: bool,
}

const HABITS: [Habit; 7] = {
    const fn habit(inputs: bool, results: bool, always: bool) -> Habit {
        Habit { inputs, results, always }
    }
    [
        habit(false, false, true),
        habit(true, false, true),
        habit(true, false, false),
        habit(false, true, true),
        habit(false, true, false),
        habit(true, true, true),
        habit(true, true, false),
    ]
};

/// A multiply-and-add kernel that flushes by habit, and multiplies by alpha, beta = 1 as by any other number.
struct Kernel<'a> {
    fpu: Fpu,
    types: Types,
    habit: Habit,
    random: &'a mut Random,
}

impl Kernel<'_> {
    fn flush(&mut self, wanted: bool, v: f64, type_of: Precision) -> f64 {
        let tiny = v != 0.0 && v.abs() < 2.0f64.powi(type_of.spec().emin);
        if tiny && wanted && (self.habit.always || self.random.below(2) == 0) { 0.0 * v } else { v }
    }

    fn read(&mut self, v: f64, type_of: Precision) -> f64 {
        self.flush(self.habit.inputs, v, type_of)
    }

    fn result(&mut self, v: f64) -> f64 {
        self.flush(self.habit.results, v, self.fpu.0)
    }

    fn mul(&mut self, a: f64, b: f64) -> f64 {
        self.result(self.fpu.mul(a, b))
    }

    fn run(&mut self, epilogue: Epilogue, terms: &[(f64, f64)], (alpha, beta): (f64, f64), c: f64) -> u64 {
        let types = self.types;
        let (alpha, beta) = (self.read(alpha, types.acc), self.read(beta, types.acc));
        let c = self.read(c, types.out);
        let of_c = if beta == 0.0 { 0.0 } else { self.mul(beta, c) };
        let mut acc = if epilogue.folds_alpha() { of_c } else { 0.0 };
        for &(a, b) in terms {
            let (a, b) = (self.read(a, types.a), self.read(b, types.b));
            let (a, b) = epilogue.folded((a, b), |v| self.mul(alpha, v));
            let product = self.mul(a, b);
            acc = self.result(self.fpu.add(acc, product));
        }
        let y = if epilogue.folds_alpha() {
            acc
        } else {
            let scaled = self.mul(alpha, acc);
            self.result(self.fpu.add(scaled, of_c))
        };
        let stored = store(y, types.out);
        let flushed = self.flush(self.habit.results, decode(stored, types.out), types.out);
        encode(flushed, types.out, Rounding::NearestEven)
    }
}

fn declared(types: Types, epilogue: Epilogue, flush: Flush) -> Arithmetic {
    Arithmetic::any(types.acc, types.out).epilogue(epilogue).flushes(flush)
}

/// 2^exponent, subnormal in f64 too.
fn power(exponent: i32) -> f64 {
    let half = exponent / 2;
    2.0f64.powi(half) * 2.0f64.powi(exponent - half)
}

/// Numbers of the type, about as often subnormal as not, sometimes large.
fn number(random: &mut Random, precision: Precision) -> f64 {
    let spec = precision.spec();
    let exponent = match random.below(4) {
        0 => i64::from(spec.emin) - 2 + random.between(0, 4),
        1 => random.between(i64::from(spec.min_exponent()), i64::from(spec.emin)),
        2 => random.between(i64::from(spec.emin) / 2 - 2, 2),
        _ => random.between(0, i64::from(spec.emax) / 4),
    };
    let v = (1.0 + random.below(1 << 20) as f64 / f64::from(1 << 20)) * power(exponent as i32);
    let v = if random.below(2) == 0 { v } else { -v };
    decode(encode(v, precision, Rounding::NearestEven), precision)
}

/// The types that are computed in f32 or f16 by the machine, and by `half`, here.
fn types() -> impl Iterator<Item = Types> {
    let tf32 = |t: &Types| t.a != Precision::Tf32;
    TYPES.into_iter().filter(tf32)
}

fn flush_of(habit: Habit, stored: Precision) -> Flush {
    Flush { inputs: habit.inputs.then_some(stored), results: habit.results }
}

const EPILOGUES: [Epilogue; 3] = [Epilogue::MulThenAdd, Epilogue::AlphaIntoA, Epilogue::AlphaIntoB];

#[test]
fn whatever_a_kernel_declares_to_flush_it_may() {
    let mut random = Random::new(7, "honest flushes");
    let mut differs = 0;
    for types in types() {
        for habit in HABITS {
            for round in 0..400 {
                let epilogue = EPILOGUES[round % 3];
                let n = [0, 1, 1, 2, 5][round % 5];
                let terms: Vec<(f64, f64)> =
                    (0..n).map(|_| (number(&mut random, types.a), number(&mut random, types.b))).collect();
                let factor = |random: &mut Random| match random.below(5) {
                    0 => 1.0,
                    1 => -1.0,
                    2 => 0.0,
                    3 => number(random, types.acc),
                    _ => 0.75,
                };
                let scaling = (factor(&mut random), factor(&mut random));
                let c = number(&mut random, types.out);
                let scaling = if scaling.0 == 0.0 { (1.0, scaling.1) } else { scaling };
                let arithmetic = declared(types, epilogue, flush_of(habit, types.a));
                let mut kernel = Kernel { fpu: Fpu(types.acc), types, habit, random: &mut random };
                let bits = kernel.run(epilogue, &terms, scaling, c);
                let accepted = accepts(&arithmetic, &terms, scaling, c);
                let verdict = accepted.judge(bits);
                assert!(
                    !matches!(verdict, ElementVerdict::Wrong(..)),
                    "false alarm: {types} {habit:?} {epilogue:?} {terms:?} {scaling:?} c = {c:e}: found {:e}, {verdict:?}, {accepted:?}",
                    decode(bits, types.out)
                );
                let plain = accepts(&declared(types, epilogue, Flush::NONE), &terms, scaling, c);
                differs +=
                    u64::from(habit != HABITS[0] && matches!(plain.judge(bits), ElementVerdict::Wrong(..)));
            }
        }
    }
    assert!(differs > 500, "only {differs} flushes were seen at all");
}

/// DAZ alone reads subnormal intermediates as zero: both covers it.
#[test]
fn operands_that_are_read_as_zero_in_between_are_covered_by_both() {
    let types = TYPES[1];
    let mut random = Random::new(9, "daz alone");
    let fpu = Fpu(types.acc);
    let read = |v: f64| if v.abs() < 2.0f64.powi(-126) { 0.0 } else { v };
    for round in 0..3000 {
        let terms: Vec<(f64, f64)> = (0..1 + round % 4)
            .map(|_| (number(&mut random, types.a), number(&mut random, types.b)))
            .collect();
        let sum = terms.iter().fold(0.0, |acc, &(a, b)| fpu.add(read(acc), read(fpu.mul(read(a), read(b)))));
        let y = fpu.mul(1.0, read(sum));
        let both = declared(types, Epilogue::MulThenAdd, Flush::both(types.a));
        let verdict = accepts(&both, &terms, (1.0, 0.0), 0.0).judge(store(y, types.out));
        assert!(!matches!(verdict, ElementVerdict::Wrong(..)), "{terms:?}: {y:e} {verdict:?}");
    }
}

/// One number of each kind is flushed; only the declarations that name it allow that.
#[test]
fn a_flush_that_was_not_declared_is_refused() {
    let f32s = TYPES[1];
    let half = 2.0f64.powi(-64);
    let (tiny, large) = (2.0f64.powi(-130), 2.0f64.powi(100));
    let declarations = |types: Types| {
        [
            ("none", Flush::NONE),
            ("inputs", Flush::inputs(types.a)),
            ("results", Flush::results()),
            ("both", Flush::both(types.a)),
        ]
        .map(|(name, flush)| (name, declared(types, Epilogue::MulThenAdd, flush)))
    };
    // Types, terms, alpha and beta, c; what is right; who may answer 0.
    let f16 = TYPES[3];
    let f16_out = TYPES[4];
    let cases: [(Types, Terms<'_>, Scalars, f64, &[&str]); 8] = [
        (f32s, &[(tiny, large)], (1.0, 0.0), 0.0, &["inputs", "both"]),
        (f32s, &[(large, tiny)], (1.0, 0.0), 0.0, &["inputs", "both"]),
        (f32s, &[(half, half)], (1.0, 0.0), 0.0, &["results", "both"]),
        // Lost on the way, and made large afterwards.
        (f32s, &[(half, half)], (large, 0.0), 0.0, &["results", "both"]),
        (f32s, &[], (1.0, large), tiny, &["inputs", "both"]),
        (f32s, &[(large, 1.0)], (tiny, 0.0), 0.0, &["inputs", "both"]),
        // Subnormal as it is stored, normal in the accumulator.
        (f16, &[(2.0f64.powi(-20), 1024.0)], (1.0, 0.0), 0.0, &["inputs", "both"]),
        // Normal in the accumulator, subnormal in the result.
        (f16_out, &[(2.0f64.powi(-10), 2.0f64.powi(-10))], (1.0, 0.0), 0.0, &["results", "both"]),
    ];
    for (types, terms, scaling, c, may) in cases {
        for (name, arithmetic) in declarations(types) {
            let accepted = accepts(&arithmetic, terms, scaling, c);
            assert!(!accepted.exact.value.is_zero());
            let verdict = accepted.judge(0);
            if may.contains(&name) {
                assert!(
                    matches!(verdict, ElementVerdict::Within(_)),
                    "{types} {terms:?} {scaling:?} {name}: {verdict:?}"
                );
            } else {
                assert!(
                    matches!(verdict, ElementVerdict::Wrong(..)),
                    "{types} {terms:?} {scaling:?} {name}: {verdict:?}"
                );
            }
        }
    }
}

/// 0 * Inf: an infinity may become NaN exactly where something that meets it may be flushed.
#[test]
fn an_infinity_becomes_nan_only_beside_a_flushed_number() {
    let f32s = TYPES[1];
    let tiny = 2.0f64.powi(-130);
    let nan = u64::from(f32::NAN.to_bits());
    let inf = f64::INFINITY;
    let nan_is_right = |flush, epilogue, terms: &[(f64, f64)], scaling, c| {
        let accepted = accepts(&declared(f32s, epilogue, flush), terms, scaling, c);
        assert!(accepted.exact.value == sparse_oracle::exact::Value::Inf { negative: false });
        !matches!(accepted.judge(nan), ElementVerdict::Wrong(..))
    };
    let (end, into_a, into_b) = (Epilogue::MulThenAdd, Epilogue::AlphaIntoA, Epilogue::AlphaIntoB);
    let (inputs, results) = (Flush::inputs(Precision::F32), Flush::results());
    let cases: [(Flush, Epilogue, Terms<'_>, Scalars, f64, bool); 12] = [
        (inputs, end, &[(tiny, inf)], (1.0, 0.0), 0.0, true),
        (inputs, end, &[(inf, tiny)], (1.0, 0.0), 0.0, true),
        (results, end, &[(tiny, inf)], (1.0, 0.0), 0.0, false),
        (Flush::NONE, end, &[(tiny, inf)], (1.0, 0.0), 0.0, false),
        // Another operand is flushed; the infinity is none of its business.
        (inputs, end, &[(tiny, 1.0), (1.0, inf)], (1.0, 0.0), 0.0, false),
        (inputs, end, &[(1.0, inf)], (tiny, 0.0), 0.0, true),
        (results, end, &[(1.0, inf)], (tiny, 0.0), 0.0, false),
        (inputs, end, &[(1.0, 1.0)], (1.0, tiny), inf, true),
        (results, end, &[(1.0, 1.0)], (1.0, tiny), inf, false),
        (results, into_a, &[(tiny, inf)], (1.0, 0.0), 0.0, true),
        (results, into_b, &[(inf, tiny)], (2.0, 0.0), 0.0, true),
        (results, into_b, &[(tiny, inf)], (2.0, 0.0), 0.0, false),
    ];
    for (flush, epilogue, terms, scaling, c, right) in cases {
        let found = nan_is_right(flush, epilogue, terms, scaling, c);
        assert_eq!(found, right, "{flush:?} {epilogue:?} {terms:?} {scaling:?} {c}");
    }
}

/// Story: a plug-in in C, compiled with `-ffast-math`, declared `any,flush` and skipped the sum where `alpha == 0`. With DAZ that is true of a
/// subnormal alpha; beside an infinity in B it got a finding (the exact value is an infinity; only NaN was allowed besides).
#[test]
fn a_factor_that_is_read_as_zero_may_skip_what_it_multiplies() {
    let f32s = TYPES[1];
    let (tiny, least) = (2.0f64.powi(-130), 2.0f64.powi(-126));
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let (inputs, results) = (Flush::inputs(Precision::F32), Flush::results());
    // Flush, one product, alpha and beta, c, the result of a kernel that reads its subnormal factors as zero and skips, whether it is right.
    type Row = (Flush, (f64, f64), Scalars, f64, f64, bool);
    let cases: [Row; 11] = [
        (inputs, (1.0, inf), (tiny, 2.0), 3.0, 6.0, true),
        (inputs, (1.0, nan), (-tiny, 2.0), 3.0, 6.0, true),
        (inputs, (2.0, 5.0), (1.0, tiny), inf, 10.0, true),
        (inputs, (2.0, 5.0), (1.0, -tiny), nan, 10.0, true),
        (inputs, (1.0, nan), (tiny, tiny), nan, 0.0, true),
        // Another value than either reading gives; a factor that is normal; a declaration of other things.
        (inputs, (1.0, inf), (tiny, 2.0), 3.0, 7.0, false),
        (inputs, (1.0, inf), (least, 2.0), 3.0, 6.0, false),
        (inputs, (2.0, 5.0), (1.0, least), nan, 10.0, false),
        (results, (1.0, inf), (tiny, 2.0), 3.0, 6.0, false),
        (Flush::NONE, (1.0, inf), (tiny, 2.0), 3.0, 6.0, false),
        (Flush::NONE, (2.0, 5.0), (1.0, tiny), nan, 10.0, false),
    ];
    for (flush, term, scaling, c, y, right) in cases {
        let accepted = accepts(&declared(f32s, Epilogue::MulThenAdd, flush), &[term], scaling, c);
        let verdict = accepted.judge(store(y, f32s.out));
        let found = !matches!(verdict, ElementVerdict::Wrong(..));
        assert_eq!(found, right, "{flush:?} {term:?} {scaling:?} {c}: {y} {verdict:?}");
    }
}

/// Story: mutants that took a normal number for a subnormal one, at the border, survived.
#[test]
fn what_may_be_flushed_ends_below_the_least_normal_number() {
    let plain = Arithmetic::any(Precision::F32, Precision::F16);
    let of = |arithmetic: &Arithmetic| SubnormalThresholds::new(arithmetic, arithmetic.part());
    let none = of(&plain);
    assert!(!none.flushes() && none.is_idle());
    let both = of(&plain.flushes(Flush { results: true, ..Flush::inputs(Precision::F16) }));
    assert!(both.flushes() && !both.is_idle());
    let (f32, f16) = (2.0f64.powi(-126), 2.0f64.powi(-14));
    type Asks = fn(&SubnormalThresholds, f64) -> bool;
    // Operands are stored in f16, C is; factors and results of steps have the accumulator's type.
    let asks: [(&str, Asks, f64); 4] = [
        ("operand", SubnormalThresholds::may_flush, f16),
        ("factor", SubnormalThresholds::may_flush_factor, f32),
        ("element of C", SubnormalThresholds::may_flush_c, f16),
        ("result", SubnormalThresholds::may_flush_result, f32),
    ];
    for (what, may, least) in asks {
        for sign in [1.0, -1.0] {
            assert!(!may(&both, sign * least), "{what}: the least normal number");
            assert!(may(&both, sign * least * (1.0 - f64::EPSILON / 2.0)), "{what}: just below");
            assert!(!may(&both, sign * 0.0) && !may(&none, sign * least / 2.0), "{what}");
        }
    }
}

/// An element of A that is read as zero may be absent, so that the NaN that it faces is not met; one of B, which is dense, may not, whatever
/// else is absent in the same row.
#[test]
fn elements_of_a_dense_operand_are_never_absent() {
    let (tiny, nan) = (2.0f64.powi(-130), f64::NAN);
    let flushed = Arithmetic::any(Precision::F32, Precision::F32).flushes(Flush::inputs(Precision::F32));
    let absent = Profile::default().with(Choice::StoredZerosAbsent, "test");
    let verdict_by = |terms: &[(f64, f64)], (beta, c): (f64, f64), y: f64| {
        let list = (0..).zip(terms).map(|(col, term)| Entry { row: 0, col, value: term.0 }).collect();
        let a = Csr::from_entries(&Entries::try_new(1, terms.len(), list).expect("sorted")).expect("small");
        let b = Dense::from_fn(terms.len(), 1, |k, _| terms[k].1).into();
        let problem = Problem::Spmm { a: &a, pads: None, b: &b, slots: None };
        let mut rule = Rule::of(&problem, (&flushed, &absent), (1.0, beta));
        let mut found = None;
        let visited =
            problem.for_each(&mut |site| found = Some(rule.accepts(site, c).judge(store(y, Precision::F32))));
        visited.expect("the operands fit");
        !matches!(found.expect("one element"), ElementVerdict::Wrong(..))
    };
    let verdict = |terms: &[(f64, f64)], y: f64| verdict_by(terms, (0.0, 0.0), y);
    assert!(verdict(&[(tiny, nan), (2.0, 3.0)], 6.0) && verdict(&[(tiny, nan), (2.0, 3.0)], nan));
    assert!(!verdict(&[(nan, tiny), (2.0, 3.0)], 6.0));
    assert!(!verdict(&[(tiny, nan), (nan, tiny), (2.0, 3.0)], 6.0));
    assert!(verdict(&[(tiny, nan), (nan, tiny), (2.0, 3.0)], nan));
    // Nor beside a beta that is read as zero.
    assert!(!verdict_by(&[(tiny, nan), (nan, tiny), (2.0, 3.0)], (tiny, 1.0), 6.0));
    assert!(verdict_by(&[(tiny, nan), (2.0, 3.0)], (tiny, 1.0), 6.0));
    // What may be lost beside it need not be: a vector unit reads zeros, the loop behind it does not.
    let large = 2.0f64.powi(120);
    for y in [0.0, tiny * large] {
        assert!(verdict(&[(tiny, nan), (tiny, large)], y), "{y}");
    }
    assert!(!verdict(&[(tiny, nan), (tiny, large)], 3.0 * tiny * large));
}
