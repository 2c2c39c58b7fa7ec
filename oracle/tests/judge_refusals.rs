//! No false pass: kernels that are wrong in one particular way are refused, on operands that such an error can be seen
//! on, in every combination of element types, and the verdict names the tier that decided.

use crate::judge_support;
use sparse_oracle::prelude::*;

use judge_support::{Fpu, Way, simulate, store};
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Input, Reduction};
use sparse_oracle::contract::{Contract, Op, TYPES, Types};
use sparse_oracle::format::{Csr, CsrParts, Dense, FormatKind};
use sparse_oracle::judge::{Judged, Output, Place, Problem, judge_problem};
use sparse_oracle::op::input;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{Element, Values, decode};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::verdict::{Criterion, Defect, Mismatch, Verdict};
use sparse_oracle::{Precision, with_scalar};

/// One row of A against one column of B, judged under a declaration.
struct Dot {
    terms: Vec<(f64, f64)>,
    arithmetic: Arithmetic,
    profile: Profile,
    scaling: (f64, f64),
    c: f64,
    poison: Option<u64>,
}

fn dot(arithmetic: Arithmetic, terms: &[(f64, f64)]) -> Dot {
    let terms = terms.to_vec();
    Dot { terms, arithmetic, profile: Profile::default(), scaling: (1.0, 0.0), c: 0.0, poison: None }
}

impl Dot {
    fn scaled(mut self, alpha: f64, beta: f64, c: f64) -> Dot {
        (self.scaling, self.c) = ((alpha, beta), c);
        self
    }

    fn judged(&self, bits: u64) -> Judged {
        let n = self.terms.len();
        let (row, column): (Vec<f64>, Vec<f64>) = self.terms.iter().copied().unzip();
        let (row_ptr, col_idx) = (vec![0, n as u32], (0..n as u32).collect());
        let a = Csr::try_new(CsrParts { rows: 1, cols: n, row_ptr, col_idx, values: row }).expect("valid");
        let b = Dense::from_fn(n, 1, |i, _| column[i]);
        let out = self.arithmetic.out;
        let found = with_scalar!(out, T => T::wrap(vec![<T as sparse_oracle::Scalar>::from_bits64(bits)]));
        let before = Values::from_f64(out, &[self.c]);
        let place = Place::Strides(1, 1);
        let output = Output {
            found: found.as_slice(),
            place,
            poison: self.poison,
            before: Some(before.as_slice()),
            before_place: place,
        };
        let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
        judge_problem(&problem, &self.arithmetic, &self.profile, self.scaling, &output)
    }

    /// The verdict on a value of the accumulator's type, rounded to the output's.
    fn value(&self, y: f64) -> Verdict {
        self.judged(store(y, self.arithmetic.out)).verdict
    }
}

#[track_caller]
fn refused(verdict: Verdict, tier: Criterion, context: &str) -> Mismatch {
    match verdict {
        Verdict::Wrong(m) => {
            assert_eq!((m.tier, m.defect), (Some(tier), Defect::Value), "{context}: {m}");
            *m
        }
        other => panic!("{context}: a wrong result was accepted: {other:?}"),
    }
}

/// Refused by whichever tier looks first.
#[track_caller]
fn refused_by_any(verdict: &Verdict, context: &str) {
    assert!(matches!(verdict, Verdict::Wrong(m) if m.defect == Defect::Value), "{context}: {verdict:?}");
}

#[track_caller]
fn accepted(verdict: &Verdict, context: &str) {
    assert!(matches!(verdict, Verdict::Exact | Verdict::Within { .. }), "{context}: {verdict:?}");
}

/// Positive numbers of one precision in 1..2: every term matters.
fn ordinary(n: usize, seed: u64, precision: Precision) -> Vec<f64> {
    let values = ValueFamily::NearOne.fill(n, seed, precision);
    let into_1_2 = |v: f64| {
        if v >= 2.0 {
            v / 2.0
        } else if v < 1.0 {
            v * 2.0
        } else {
            v
        }
    };
    values.iter().map(|v| into_1_2(v.abs())).collect()
}

fn terms(n: usize, seed: u64, precision: Precision) -> Vec<(f64, f64)> {
    ordinary(n, seed, precision).into_iter().zip(ordinary(n, seed + 500, precision)).collect()
}

fn weakest(types: Types) -> Arithmetic {
    Contract { op: Op::Spmm, format: FormatKind::Csr, to: None, types }.weakest()
}

/// Every way of being wrong that the eye of a reviewer looks for, on the weakest declaration of every contract.
#[test]
fn wrong_kernels_are_refused_in_every_combination_of_types() {
    type Formula = fn(&[(f64, f64)], f64, f64, f64) -> f64;
    fn sum(terms: &[(f64, f64)]) -> f64 {
        terms.iter().map(|(a, b)| a * b).sum()
    }
    let wrong: [(&str, Formula); 13] = [
        ("drops the last term", |t, alpha, beta, c| alpha * sum(&t[1..]) + beta * c),
        ("drops the first term", |t, alpha, beta, c| alpha * sum(&t[..t.len() - 1]) + beta * c),
        ("doubles a term", |t, alpha, beta, c| alpha * (sum(t) + t[3].0 * t[3].1) + beta * c),
        ("wrong sign", |t, alpha, beta, c| -(alpha * sum(t) + beta * c)),
        ("subtracts C", |t, alpha, beta, c| alpha * sum(t) - beta * c),
        ("alpha squared", |t, alpha, beta, c| alpha * alpha * sum(t) + beta * c),
        ("alpha left out", |t, _, beta, c| sum(t) + beta * c),
        ("alpha scales C too", |t, alpha, beta, c| alpha * (sum(t) + beta * c)),
        ("beta left out", |t, alpha, _, c| alpha * sum(t) + c),
        ("C left out", |t, alpha, _, _| alpha * sum(t)),
        ("C added twice", |t, alpha, beta, c| alpha * sum(t) + 2.0 * beta * c),
        ("column off by one", |t, alpha, beta, c| {
            let shifted =
                t.iter().zip(t.iter().cycle().skip(1)).map(|(x, y)| x.0 * if x.1 == y.1 { 0.0 } else { y.1 });
            // Rows of B are 1, 2, 3 times as large, so that a neighbour's row is not a permutation in disguise.
            alpha * shifted.enumerate().map(|(k, p)| p * (k + 2) as f64).sum::<f64>() + beta * c
        }),
        ("zeros", |_, _, _, _| 0.0),
    ];
    for types in TYPES {
        for seed in 0..20 {
            let mut t = terms(6, seed, types.a);
            for pair in &mut t {
                *pair =
                    (input(pair.0, weakest(types).part().input), input(pair.1, weakest(types).part().input));
            }
            let case = dot(weakest(types), &t).scaled(-1.5, 2.0, 3.0);
            let right = -1.5 * sum(&t) + 6.0;
            accepted(&case.value(right), &format!("{types} seed {seed}: the right value"));
            for (name, formula) in wrong {
                let verdict = case.value(formula(&t, -1.5, 2.0, 3.0));
                refused_by_any(&verdict, &format!("{types} seed {seed}: {name}"));
            }
        }
    }
}

#[test]
fn c_is_read_exactly_when_beta_is_not_zero() {
    for types in TYPES {
        let t: Vec<(f64, f64)> = vec![(1.0, 2.0), (2.0, 3.0)];
        let unread = dot(weakest(types), &t).scaled(1.0, 0.0, 5.0);
        accepted(&unread.value(8.0), "beta = 0");
        refused(unread.value(13.0), Criterion::T0, "reads C with beta = 0");
        let nan_in_c = dot(weakest(types), &t).scaled(1.0, 0.0, f64::NAN);
        accepted(&nan_in_c.value(8.0), "NaN in an unread C vanishes");
        refused(nan_in_c.value(f64::NAN), Criterion::T1, "0 * NaN from C");
        let mut reads_c = dot(weakest(types), &t).scaled(1.0, 0.0, f64::NAN);
        reads_c.profile = reads_c.profile.with(Choice::Beta0ReadsC, "test");
        accepted(&reads_c.value(f64::NAN), "declared to read C");
        refused(reads_c.value(8.0), Criterion::T1, "declared to read C, and did not");
        let read = dot(weakest(types), &t).scaled(1.0, 1.0, 5.0);
        accepted(&read.value(13.0), "beta = 1");
        refused(read.value(8.0), Criterion::T0, "skips C with beta = 1");
    }
}

#[test]
fn alpha_zero_hides_a_and_b_unless_declared_otherwise() {
    for types in TYPES {
        let t = [(f64::NAN, 1.0), (1.0, 1.0)];
        let hidden = dot(weakest(types), &t).scaled(0.0, 1.0, 5.0);
        accepted(&hidden.value(5.0), "alpha = 0");
        refused(hidden.value(f64::NAN), Criterion::T1, "0 * NaN reaches C");
        let mut reads = dot(weakest(types), &t).scaled(0.0, 1.0, 5.0);
        reads.profile = reads.profile.with(Choice::Alpha0ReadsAb, "test");
        accepted(&reads.value(f64::NAN), "declared to read A and B");
        refused(reads.value(5.0), Criterion::T1, "declared to read A and B, and did not");
    }
}

/// Story: a loop in C that skips the sum at alpha = 0 and then computes `alpha * sum + beta * c` gives +0 where C holds -0. T2 called
/// that wrong, though no user of the kernel would.
#[test]
fn at_alpha_zero_a_zero_has_either_sign() {
    let declared = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    let zero = dot(declared, &[(1.0, 1.0)]).scaled(0.0, 1.0, -0.0);
    accepted(&zero.value(-0.0), "C as it was");
    accepted(&zero.value(0.0), "+0 added to it");
    refused(zero.value(f64::from(f32::from_bits(1))), Criterion::T0, "no zero at all");
    let product = dot(declared, &[(1.0, -0.0)]).scaled(1.0, 0.0, 0.0);
    accepted(&product.value(0.0), "a chain from +0");
    refused(product.value(-0.0), Criterion::T2, "elsewhere the sign counts");
}

/// Regression: with alpha = 0, beta = 1 nothing rounds, however many terms the row has.
#[test]
fn alpha_zero_forgives_no_rounding_of_terms() {
    let t = vec![(1.0, 1.0); 500];
    let c = 1.0 + 2.0f64.powi(-10);
    let f16 = dot(Arithmetic::any(Precision::F16, Precision::F16), &t).scaled(0.0, 1.0, c);
    accepted(&f16.value(c), "C as it was");
    let verdict = f16.value(1.25 * c);
    assert!(matches!(verdict, Verdict::Wrong(_)), "C a quarter too large: {verdict:?}");
}

#[test]
fn accumulating_in_f16_where_f32_is_declared_is_refused() {
    for seed in 0..40 {
        let t = terms(64, seed, Precision::F16);
        let mut random = Random::new(seed, "narrow");
        for way in Way::ALL {
            let narrow = Arithmetic::any(Precision::F16, Precision::F16);
            let bits = simulate(&narrow, way, &t, (1.0, 0.0), 0.0, &mut random);
            let y = decode(bits, Precision::F16);
            let declared = dot(Arithmetic::any(Precision::F32, Precision::F32), &t);
            refused(declared.value(y), Criterion::T1, &format!("{way:?} seed {seed}"));
            accepted(&dot(narrow, &t).value(y), "as declared");
        }
    }
}

#[test]
fn f32_results_are_refused_where_f64_is_declared() {
    for seed in 0..40 {
        let t = terms(8, seed, Precision::F32);
        let f32s = Arithmetic::any(Precision::F32, Precision::F32);
        let bits = simulate(&f32s, Way::Fused, &t, (1.0, 0.0), 0.0, &mut Random::new(seed, "f32"));
        let y = decode(bits, Precision::F32);
        let declared = dot(Arithmetic::any(Precision::F64, Precision::F64), &t);
        refused_by_any(&declared.value(y), &format!("seed {seed}"));
    }
}

/// Half a unit of tf32 above an even number: where the ties go is seen, and so is whether anything is rounded at all.
#[test]
fn ties_of_tf32_that_go_elsewhere_than_declared_are_refused() {
    let unit = 2.0f64.powi(-10);
    let f32s = Arithmetic::any(Precision::F32, Precision::F32);
    let tie = 1.0 + unit / 2.0;
    let answers = [
        (Input::Tf32Rna, 1.0 + unit),
        (Input::Tf32Rne, 1.0),
        (Input::Tf32Truncate, 1.0),
        (Input::AsStored, tie),
    ];
    for (declares, right) in answers {
        let terms = [(input(tie, declares), 1.0)];
        assert_eq!(terms[0].0, right, "{declares:?}");
        for (_, found) in answers {
            let verdict = dot(f32s.input(declares), &terms).value(found);
            if found == right {
                accepted(&verdict, "as declared");
            } else {
                refused_by_any(&verdict, &format!("{declares:?}, {found}"));
            }
        }
    }
    // Half above an odd number, where truncation differs from both.
    assert_eq!(input(tie + unit, Input::Tf32Rne), 1.0 + 2.0 * unit);
    assert_eq!(input(tie + unit, Input::Tf32Truncate), 1.0 + unit);
    assert_eq!(input(f64::from(f32::MAX), Input::Tf32Rne), f64::INFINITY);
    assert_eq!(input(-f64::from(f32::MAX), Input::Tf32Rna), f64::NEG_INFINITY);
}

#[test]
fn truncating_tf32_where_rounding_is_declared_is_refused() {
    let f32s = Arithmetic::any(Precision::F32, Precision::F32);
    for seed in 0..40 {
        let stored = terms(8, seed, Precision::Tf32);
        let used = |i: Input| -> Vec<(f64, f64)> {
            let bits = |v: f64| (v as f32).to_bits();
            let round = |v: f64| match i {
                Input::AsStored => v,
                Input::Tf32Truncate => f64::from(f32::from_bits(bits(v) & 0xffff_e000)),
                Input::Tf32Rna => f64::from(f32::from_bits((bits(v) + 0x1000) & 0xffff_e000)),
                // 11 bits of 24: Veltkamp's splitting rounds to nearest, ties to even.
                Input::Tf32Rne => {
                    let far = 8193.0f32 * v as f32;
                    f64::from(far - (far - v as f32))
                }
            };
            stored.iter().map(|&(a, b)| (round(a), round(b))).collect()
        };
        let run = |i: Input| {
            let bits = simulate(&f32s, Way::Fused, &used(i), (1.0, 0.0), 0.0, &mut Random::new(seed, "tf32"));
            decode(bits, Precision::F32)
        };
        let declared_terms: Vec<(f64, f64)> =
            stored.iter().map(|&(a, b)| (input(a, Input::Tf32Rna), input(b, Input::Tf32Rna))).collect();
        let declared = dot(f32s.input(Input::Tf32Rna), &declared_terms);
        accepted(&declared.value(run(Input::Tf32Rna)), "rna as declared");
        refused_by_any(&declared.value(run(Input::Tf32Truncate)), "truncated");
        refused_by_any(&declared.value(run(Input::AsStored)), "not rounded at all");
    }
}

#[test]
fn nan_and_infinities_are_neither_swallowed_nor_turned() {
    for types in TYPES {
        let case = |t: &[(f64, f64)]| dot(weakest(types), t);
        let inf = f64::INFINITY;
        let nan = case(&[(f64::NAN, 1.0), (1.0, 1.0)]);
        accepted(&nan.value(f64::NAN), "NaN");
        for y in [0.0, 1.0, inf] {
            refused(nan.value(y), Criterion::T1, "NaN swallowed");
        }
        let explicit_zero = case(&[(0.0, inf), (1.0, 1.0)]);
        accepted(&explicit_zero.value(f64::NAN), "0 x Inf");
        refused(explicit_zero.value(1.0), Criterion::T1, "an explicit zero skipped");
        let up = case(&[(1.0, inf), (1.0, 1.0)]);
        accepted(&up.value(inf), "Inf");
        for y in [-inf, f64::NAN, 1.0] {
            refused(up.value(y), Criterion::T1, "Inf turned");
        }
        let torn = case(&[(1.0, inf), (-1.0, inf)]);
        accepted(&torn.value(f64::NAN), "Inf - Inf");
        refused(torn.value(inf), Criterion::T1, "Inf - Inf is not Inf");
        let finite = case(&[(1.0, 2.0), (1.0, 1.0)]);
        for y in [inf, -inf, f64::NAN] {
            refused(finite.value(y), Criterion::T1, "a finite sum is finite");
        }
    }
}

#[test]
fn on_exact_operands_one_ulp_is_wrong() {
    for types in TYPES {
        for declared in [weakest(types), Arithmetic::any(types.acc, types.out)] {
            for (alpha, beta, c) in [(1.0, 0.0, 0.0), (2.0, 1.0, 3.0), (-1.0, -2.0, 1.0)] {
                let t: Vec<(f64, f64)> =
                    (0..9).map(|i| (f64::from(i % 3) - 0.5, f64::from(i % 4) + 1.0)).collect();
                let right: f64 = alpha * t.iter().map(|(a, b)| a * b).sum::<f64>() + beta * c;
                let case = dot(declared, &t).scaled(alpha, beta, c);
                let bits = store(right, types.out);
                assert_eq!(case.judged(bits).verdict, Verdict::Exact, "{types}");
                assert!(case.judged(bits).tiers.contains(&Criterion::T0));
                for wrong in [bits + 1, bits - 1] {
                    refused(case.judged(wrong).verdict, Criterion::T0, &format!("{types} alpha {alpha}"));
                }
            }
        }
    }
}

#[test]
fn where_the_bits_are_declared_one_ulp_is_wrong() {
    for types in TYPES {
        for (way, reduction) in [(Way::Fused, Reduction::FmaChain), (Way::Separate, Reduction::MulAddChain)] {
            for epilogue in [Epilogue::MulThenAdd, Epilogue::MulThenFma, Epilogue::AlphaIntoA] {
                let declared = Arithmetic::chain(reduction, types.acc, types.out).epilogue(epilogue);
                let t = terms(40, 9, types.a);
                let case = dot(declared, &t).scaled(-1.5, 0.75, 3.0);
                let mut random = Random::new(0, "unused");
                let bits = simulate(&declared, way, &t, (-1.5, 0.75), 3.0, &mut random);
                accepted(&case.judged(bits).verdict, "the declared bits");
                for wrong in [bits + 1, bits - 1] {
                    let context = format!("{types} {declared:?}");
                    let Verdict::Wrong(m) = case.judged(wrong).verdict else {
                        panic!("{context}: an ulp was forgiven");
                    };
                    assert_eq!((m.defect, m.found_bits), (Defect::Value, Some(wrong)), "{context}: {m}");
                    // An ulp of a narrow result may be more than the bound: then that is said first.
                    match m.tier {
                        Some(Criterion::T2) => assert_eq!(m.expected_bits, Some(bits), "{context}: {m}"),
                        Some(Criterion::T1) => assert!(m.error > m.bound, "{context}: {m}"),
                        _ => assert!(m.tier == Some(Criterion::T0) && m.error > Some(0.0), "{context}: {m}"),
                    }
                    if types.a == types.acc && types.acc == types.out {
                        assert_eq!(m.tier, Some(Criterion::T2), "{context}: {m}");
                        let alone = dot(weakest(types), &t).scaled(-1.5, 0.75, 3.0);
                        accepted(&alone.judged(wrong).verdict, "T1 alone forgives an ulp");
                    }
                }
            }
        }
    }
}

#[test]
fn another_order_or_unit_than_declared_is_seen_in_the_bits() {
    let fused = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let separate = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    let mut seen = [0; 2];
    for seed in 0..20 {
        let mut t = terms(40, seed, Precision::F32);
        let right = simulate(&fused, Way::Fused, &t, (1.0, 0.0), 0.0, &mut Random::new(0, "unused"));
        let case = dot(fused, &t);
        accepted(&case.judged(right).verdict, "as declared");
        let unfused = simulate(&separate, Way::Separate, &t, (1.0, 0.0), 0.0, &mut Random::new(0, "unused"));
        t.reverse();
        let backwards = simulate(&fused, Way::Fused, &t, (1.0, 0.0), 0.0, &mut Random::new(0, "unused"));
        for (count, bits) in seen.iter_mut().zip([unfused, backwards]) {
            let wrong =
                matches!(case.judged(bits).verdict, Verdict::Wrong(m) if m.tier == Some(Criterion::T2));
            assert_eq!(wrong, bits != right);
            *count += usize::from(wrong);
        }
    }
    assert!(seen.iter().all(|&n| n >= 5), "of 20: {seen:?}");
}

#[test]
fn poison_is_unwritten_even_where_nan_is_right() {
    let poison = 0x7fc0_dead_u64;
    for t in [vec![(f64::NAN, 1.0)], vec![(1.0, 1.0)], Vec::new()] {
        let mut case = dot(Arithmetic::any(Precision::F32, Precision::F32), &t);
        case.poison = Some(poison);
        let Verdict::Wrong(m) = case.judged(poison).verdict else { panic!("poison was accepted") };
        assert_eq!((m.defect, m.found_bits), (Defect::Unwritten, Some(poison)));
    }
    let mut nan = dot(Arithmetic::any(Precision::F32, Precision::F32), &[(f64::NAN, 1.0)]);
    nan.poison = Some(poison);
    accepted(&nan.judged(poison ^ 1).verdict, "any other NaN");
}

#[test]
fn every_wrong_element_is_counted_and_the_first_is_shown() {
    let a = Csr::try_new(CsrParts {
        rows: 3,
        cols: 1,
        row_ptr: vec![0, 1, 1, 2],
        col_idx: vec![0, 0],
        values: vec![1.0, 2.0],
    });
    let (a, b) = (a.expect("valid"), Dense::from_fn(1, 2, |_, j| 1.0 + j as f64));
    // Right: 1 2 / 0 0 / 2 4. Column-major, leading dimension 4.
    let found = Values::F32(vec![1.0, 0.5, 2.0, 99.0, 2.0, 0.0, 5.0, 99.0]);
    let place = Place::Strides(1, 4);
    let output = Output { found: found.as_slice(), place, poison: None, before: None, before_place: place };
    let arithmetic = Arithmetic::any(Precision::F32, Precision::F32);
    let judged = judge_problem(
        &Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None },
        &arithmetic,
        &Profile::default(),
        (1.0, 0.0),
        &output,
    );
    let Verdict::Wrong(m) = judged.verdict else { panic!("accepted") };
    assert_eq!((judged.elements, m.count, m.at), (6, 2, Some((1, 0))));
    assert_eq!((m.expected.as_str(), m.found.as_str(), m.error), ("0", "0.5", Some(0.5)));
}

/// A dropped term of four ones read "wrong value (T2): the declared reduction gives other bits", and an element that is one bit
/// beside its model hid it if it came first.
#[test]
fn the_strongest_statement_is_shown_of_the_first_element_that_it_is_true_of() {
    let uneven = [0.1f32, 0.7, 1.3, 0.3];
    let chain = uneven.iter().fold(0.0f32, |sum, v| sum + v);
    let a = Csr::try_new(CsrParts {
        rows: 2,
        cols: 4,
        row_ptr: vec![0, 4, 8],
        col_idx: vec![0, 1, 2, 3, 0, 1, 2, 3],
        values: uneven.map(f64::from).into_iter().chain([1.0; 4]).collect(),
    });
    let (a, b) = (a.expect("valid"), Dense::from_fn(4, 1, |_, _| 1.0));
    let arithmetic = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let mismatch = |found: [f32; 2]| {
        let found = Values::F32(found.to_vec());
        let place = Place::Strides(1, 1);
        let output =
            Output { found: found.as_slice(), place, poison: None, before: None, before_place: place };
        let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
        let judged = judge_problem(&problem, &arithmetic, &Profile::default(), (1.0, 0.0), &output);
        match judged.verdict {
            Verdict::Wrong(mismatch) => *mismatch,
            other => panic!("{other:?}"),
        }
    };
    let beside = f32::from_bits(chain.to_bits() + 1);

    let both = mismatch([beside, 3.0]);
    assert_eq!((both.at, both.tier, both.count), (Some((1, 0)), Some(Criterion::T0), 2));
    assert_eq!(
        both.message,
        "element (1, 0): expected 4 (0x40800000), found 3 (0x40400000): operands are exact in any order of summation, so only \
         the exact value is right"
    );
    let far = mismatch([2.0 * chain, 4.0]);
    assert_eq!((far.at, far.tier), (Some((0, 0)), Some(Criterion::T1)));
    assert!(far.message.contains("exceeds the bound"), "{}", far.message);

    // Within the bound, and not the declared bits: decimal and bits of both are of the same numbers, in f32.
    let bits = mismatch([beside, 4.0]);
    assert_eq!((bits.at, bits.tier), (Some((0, 0)), Some(Criterion::T2)));
    assert_eq!((bits.expected, bits.expected_bits), (chain.to_string(), Some(u64::from(chain.to_bits()))));
    assert_eq!((bits.found, bits.found_bits), (beside.to_string(), Some(u64::from(beside.to_bits()))));
    assert!(bits.message.ends_with("but the declared reduction gives other bits"), "{}", bits.message);
}

#[test]
fn the_simulated_units_are_not_all_alike() {
    let (x, y) = (1.0 + 2.0f64.powi(-10), 1.0 + 2.0f64.powi(-9));
    let products: Vec<f64> =
        [Precision::F64, Precision::F32, Precision::F16].iter().map(|&p| Fpu(p).mul(x, y)).collect();
    assert!(products[0] == products[1] && products[1] != products[2]);
}
