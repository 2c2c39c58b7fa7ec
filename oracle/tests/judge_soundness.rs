//! No false alarm: whatever a kernel that computes as declared returns is accepted, on every family of values, in
//! every combination of element types, in every order, with every epilogue. Where the declaration fixes the bits, the
//! simulated kernel must also have them (T2), so this judges the models by independent arithmetic too.

use crate::judge_support;

use judge_support::{Way, simulate};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init, Input, Reduction};
use sparse_oracle::contract::{TYPES, Types};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::judge::{ElementVerdict, Problem, Rule};
use sparse_oracle::op::input;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::{VALUE_FAMILIES, ValueFamily};
use std::collections::BTreeMap;

const ROW_LENGTHS: [usize; 7] = [0, 1, 1, 2, 5, 17, 60];
const INNER: usize = 64;
const COLUMNS: usize = 3;

/// The declarations that fit one way of reducing.
fn declarations(types: Types, way: Way) -> Vec<Arithmetic> {
    let base = match way {
        Way::Fused => Arithmetic::chain(Reduction::FmaChain, types.acc, types.out),
        Way::Separate => Arithmetic::chain(Reduction::MulAddChain, types.acc, types.out),
        Way::Tree | Way::Mixed => Arithmetic::any(types.acc, types.out),
    };
    let mut from_c = base.epilogue(Epilogue::None);
    from_c.part_mut().init = Init::C;
    let all = [
        base.epilogue(Epilogue::MulThenAdd),
        base.epilogue(Epilogue::MulThenFma),
        base.epilogue(Epilogue::AlphaIntoA),
        base.epilogue(Epilogue::AlphaIntoB),
        from_c,
    ];
    let inputs: &[Input] = if types.a == Precision::Tf32 {
        &[Input::Tf32Rna, Input::Tf32Rne, Input::Tf32Truncate, Input::AsStored]
    } else {
        &[Input::AsStored]
    };
    all.iter().flat_map(|a| inputs.iter().map(|&i| a.input(i))).collect()
}

/// alpha and beta, exact in the accumulator's type.
fn scalings(acc: Precision, epilogue: Epilogue) -> Vec<(f64, f64)> {
    let exact = |v: f64| decode(encode(v, acc, Rounding::NearestEven), acc);
    let all = [
        (1.0, 0.0),
        (1.0, 1.0),
        (1.0, exact(-1.0 / 3.0)),
        (-1.0, 1.0),
        (0.0, 1.0),
        (0.0, exact(0.7)),
        (exact(1.0 / 3.0), 0.0),
        (exact(-1.9), exact(0.3)),
        (exact(1.1e-3), 1.0),
        (exact(777.7), exact(-5.5e-4)),
    ];
    all.into_iter().filter(|s| epilogue != Epilogue::None || s.0 == 1.0).collect()
}

fn operands(family: ValueFamily, precision: Precision, seed: u64) -> (Csr<f64>, Dense<f64>) {
    let mut random = Random::new(seed, "judge_soundness");
    let (mut row_ptr, mut col_idx, mut columns) = (vec![0u32], Vec::new(), Vec::new());
    for length in ROW_LENGTHS {
        random.distinct(INNER as u64, length as u64, &mut columns);
        col_idx.extend(columns.iter().map(|&c| c as u32));
        row_ptr.push(col_idx.len() as u32);
    }
    let values = family.fill(col_idx.len(), seed, precision);
    let a = Csr::try_new(CsrParts { rows: ROW_LENGTHS.len(), cols: INNER, row_ptr, col_idx, values });
    let b = family.fill(INNER * COLUMNS, seed + 1000, precision);
    (a.expect("valid"), Dense::from_fn(INNER, COLUMNS, |i, j| b[i * COLUMNS + j]))
}

/// Judges every element of one simulated product; the worst share of a bound that was used.
fn judge_product(
    (a, b): (&Csr<f64>, &Dense<f64>),
    c: &[f64],
    (arithmetic, way): (&Arithmetic, Way),
    scaling: (f64, f64),
    context: &str,
    random: &mut Random,
) -> f64 {
    let used = |v: &f64| input(*v, arithmetic.part().input);
    let (a, b) = (a.map(used), b.map(used));
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
    let profile = Profile::default();
    let mut rule =
        Rule::new(arithmetic, &profile, scaling.0, scaling.1, problem.other_max(arithmetic.epilogue));
    let mut worst = 0.0f64;
    let visited = problem.for_each(&mut |site| {
        let (i, j) = site.at;
        let c = c[i * COLUMNS + j];
        let (columns, values) = a.row(i);
        let terms: Vec<(f64, f64)> =
            columns.iter().zip(values).map(|(&k, &v)| (v, b.at(k as usize, j))).collect();
        let bits = simulate(arithmetic, way, &terms, scaling, c, random);
        let accepted = rule.accepts(site, c);
        match accepted.judge(bits) {
            ElementVerdict::Unjudged => panic!("nothing promised for so few terms"),
            ElementVerdict::Exact => {}
            ElementVerdict::Within(share) => worst = worst.max(share),
            ElementVerdict::Wrong(tier, figures) => panic!(
                "false alarm by {tier}: {context}, {arithmetic:?}, {way:?}, alpha, beta = {scaling:?}, c = {c:e}, \
                 terms {terms:?}: found {:e} (0x{bits:x}), {accepted:?}, {figures:?}",
                decode(bits, arithmetic.out)
            ),
        }
    });
    visited.expect("the operands fit");
    worst
}

fn sound(families: &[ValueFamily], seeds: u64) -> BTreeMap<(String, Way), f64> {
    let mut worst: BTreeMap<(String, Way), f64> = BTreeMap::new();
    let mut random = Random::new(3, "judge_soundness order");
    for types in TYPES {
        for &family in families {
            for seed in 0..seeds {
                let (a, b) = operands(family, types.a, seed);
                let c = family.fill(ROW_LENGTHS.len() * COLUMNS, seed + 2000, types.out);
                for way in Way::ALL {
                    for arithmetic in declarations(types, way) {
                        for scaling in scalings(types.acc, arithmetic.epilogue) {
                            let context = format!("{types} {family} seed {seed}");
                            let share = judge_product(
                                (&a, &b),
                                &c,
                                (&arithmetic, way),
                                scaling,
                                &context,
                                &mut random,
                            );
                            let most = worst.entry((types.to_string(), way)).or_insert(0.0);
                            *most = most.max(share);
                        }
                    }
                }
            }
        }
    }
    worst
}

fn report(worst: &BTreeMap<(String, Way), f64>) {
    for ((types, way), share) in worst {
        println!("{types:20} {way:?}: worst share of the bound {share:.3}");
    }
}

#[test]
fn finite_families_are_never_refused_and_the_bound_is_used() {
    let finite: Vec<ValueFamily> = VALUE_FAMILIES.iter().filter(|f| f.finite).map(|f| f.family).collect();
    let worst = sound(&finite, 3);
    report(&worst);
    for (key, share) in &worst {
        // A single rounding of (1 + u) 2^e, a tie, is off by all that its bound allows: u / (1 + u) of it.
        assert!(*share <= 1.0 && *share > 0.01, "{key:?}: {share}");
    }
}

#[test]
fn special_values_are_never_refused() {
    report(&sound(&[ValueFamily::Special], 12));
}

/// Regression: alpha folded into A may underflow to 0, and 0 x Inf is NaN where the exact product is infinite.
#[test]
fn an_alpha_that_underflows_a_beside_an_infinite_b_may_give_nan() {
    let tiny = 2.0f64.powi(-149);
    let a = Csr::try_new(CsrParts {
        rows: 1,
        cols: 1,
        row_ptr: vec![0, 1],
        col_idx: vec![0],
        values: vec![tiny],
    });
    let infinite = Dense::from_fn(1, COLUMNS, |_, _| f64::INFINITY);
    let swapped =
        (a.as_ref().expect("valid").map(|_| f64::INFINITY), Dense::from_fn(1, COLUMNS, |_, _| tiny));
    let into_a = (a.expect("valid"), infinite);
    let mut random = Random::new(1, "underflow");
    for way in Way::ALL {
        for arithmetic in declarations(TYPES[1], way) {
            if arithmetic.epilogue != Epilogue::None {
                let (a, b) = match arithmetic.epilogue {
                    Epilogue::AlphaIntoB => &swapped,
                    _ => &into_a,
                };
                judge_product((a, b), &[0.0; 3], (&arithmetic, way), (0.25, 0.0), "", &mut random);
            }
        }
    }
}
