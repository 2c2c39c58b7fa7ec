//! The bound holds on the worst that a seeded search finds, and is not vacuous: its worst share lies between 0.05 and 1.

use super::Case;
use super::declared::{Declared, all, instructions};
use super::inputs::{Family, case, mutated, terms};
use proptest::prelude::*;
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, CpuUnit, Flush, Reduction};
use sparse_oracle::judge::ElementVerdict;
use sparse_oracle::model::cpu::CpuStep;
use sparse_oracle::model::cpu::arm::Fpcr;
use sparse_oracle::model::cpu::x86::Mxcsr;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

/// The share of the declared bound that a run of the model uses; panics where it is refused.
fn share(declared: &Declared, run: &Arithmetic, case: &Case) -> f64 {
    // Of a row without terms, what an instruction of zeros would make of C.
    let modelled = case.bits(run).unwrap_or_else(|| {
        assert!(case.terms.is_empty(), "{}: {case:?}", declared.name);
        let zeros = Case::new(&[(0.0, 0.0)], case.scaling, case.c);
        zeros.modelled(run)
    });
    let accepted = case.accepts(&declared.arithmetic);
    match accepted.judge(modelled) {
        ElementVerdict::Exact => 0.0,
        // A bound below the normal f64 numbers is compared exactly, but its share has too few bits to be a figure.
        ElementVerdict::Within(_) if accepted.bound().is_none_or(|bound| bound < 1e-300) => 0.0,
        ElementVerdict::Within(share) => share,
        other => panic!(
            "{}: the model's own bits 0x{modelled:x} are {other:?} for {case:?}: {accepted:?}",
            declared.name
        ),
    }
}

/// The worst share over all families, then by climbing from the best of them.
fn search(declared: &Declared, run: &Arithmetic, seeds: u64, steps: u64) -> (f64, Family) {
    let mut random = Random::new(11, &declared.name);
    let block = run.part().block();
    let mut found: Vec<(f64, Family, Case)> = Vec::new();
    for family in Family::ALL {
        for seed in 0..seeds {
            let n = [block, 1, 3, 2 * block + 3, 5 * block][(seed % 5) as usize].max(1);
            let start = case(family, run, declared.input, n, &mut random);
            found.push((share(declared, run, &start), family, start));
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    found.truncate(1);
    for (best, _, case) in &mut found {
        for _ in 0..steps {
            let next = mutated(case, declared.input, declared.arithmetic.out, &mut random);
            let reached = share(declared, run, &next);
            if reached >= *best {
                (*best, *case) = (reached, next);
            }
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    (found[0].0, found[0].1)
}

#[test]
fn the_worst_that_a_search_finds_is_within_and_the_bound_is_used() {
    let list = all();
    println!("{} declarations; worst share of the bound, and where the search began", list.len());
    let mut weak = Vec::new();
    for declared in &list {
        let worst = declared
            .runs
            .iter()
            .map(|run| search(declared, run, 5, 40))
            .max_by(|x, y| x.0.total_cmp(&y.0))
            .expect("something runs");
        println!("{:64} {:.3} {:?}", declared.name, worst.0, worst.1);
        assert!(worst.0 < 1.0, "{}", declared.name);
        if worst.0 <= 0.05 {
            weak.push(format!("{} {:.4}", declared.name, worst.0));
        }
    }
    assert!(weak.is_empty(), "vacuous bounds: {weak:#?}");
}

/// Chains of a real unit under settings that a declaration leaves open: directed rounding, and flushing of operands, of
/// results, of both.
fn settings() -> Vec<(&'static str, Arithmetic, CpuStep)> {
    let mut list = Vec::new();
    for (unit, precision) in [
        (CpuUnit::FmopaF64, Precision::F64),
        (CpuUnit::FmopaF32, Precision::F32),
        (CpuUnit::FmopaF16, Precision::F16),
    ] {
        let mut directed = Arithmetic::chain(Reduction::FmaChain, precision, precision);
        directed.part_mut().nearest = false;
        for rmode in [Rounding::Up, Rounding::Down, Rounding::TowardZero] {
            let fpcr = Fpcr { rmode, ..Fpcr::DEFAULT };
            list.push(("directed", directed, CpuStep::new(unit).with_fpcr(fpcr)));
        }
    }
    for (unit, precision) in [(CpuUnit::Vfmaddpd, Precision::F64), (CpuUnit::Vfmaddps, Precision::F32)] {
        let mut flushing = Arithmetic::chain(Reduction::FmaChain, precision, precision);
        flushing.flush = Flush::both(precision);
        for (daz, ftz) in [(true, false), (false, true), (true, true), (false, false)] {
            let mxcsr = Mxcsr { daz, ftz, ..Mxcsr::DEFAULT };
            list.push(("flushing", flushing, CpuStep::new(unit).with_mxcsr(mxcsr)));
        }
    }
    list
}

#[test]
fn directed_rounding_and_flushing_stay_within_what_is_declared() {
    for (what, declared, step) in settings() {
        let precision = declared.part().acc;
        let mut random = Random::new(5, &format!("{what} {step:?}"));
        let mut worst = (0.0, Family::Bits);
        let mut judged = |case: &Case, family: Family| {
            let bits = |v: f64| encode(v, precision, Rounding::NearestEven);
            let sum = case
                .terms
                .iter()
                .fold(0, |acc, &(a, b)| step.apply(acc, &[bits(a)], &[bits(b)]).expect("one product"));
            let accepted = case.accepts(&declared);
            assert_eq!(accepted.modelled, None, "{what}: the bits are not fixed");
            match accepted.judge(sum) {
                ElementVerdict::Exact => 0.0,
                ElementVerdict::Within(_) if accepted.bound().is_none_or(|bound| bound < 1e-300) => 0.0,
                ElementVerdict::Within(share) => {
                    if share > worst.0 {
                        worst = (share, family);
                    }
                    share
                }
                other => panic!("{what} {step:?}: {:e} is {other:?} for {case:?}", decode(sum, precision)),
            }
        };
        for family in Family::ALL {
            for seed in 0..40 {
                let terms = terms(family, &declared, precision, [1, 2, 5, 17][seed % 4], &mut random);
                let mut best = Case::new(&terms, (1.0, 0.0), 0.0);
                let mut reached = judged(&best, family);
                for _ in 0..10 {
                    let next = mutated(&best, precision, precision, &mut random);
                    let share = judged(&next, family);
                    if share >= reached {
                        (best, reached) = (next, share);
                    }
                }
            }
        }
        println!("{what:9} {step:?}: {:.3} {:?}", worst.0, worst.1);
        assert!(worst.0 < 1.0 && worst.0 > 0.05, "{what} {step:?}: {worst:?}");
    }
}

/// Every row of the table on every architecture, and every CPU unit.
fn units() -> Vec<Declared> {
    let cores = instructions().into_iter().map(|(architecture, instruction)| {
        let arithmetic = Arithmetic::mma(Some(architecture), instruction, instruction.acc);
        (format!("{architecture} {instruction}"), arithmetic, instruction.input)
    });
    let cpus = CpuUnit::ALL.map(|unit| (unit.to_string(), Arithmetic::cpu(unit, unit.acc()), unit.input()));
    cores
        .chain(cpus)
        .map(|(name, arithmetic, input)| Declared { name, arithmetic, input, runs: vec![arithmetic] })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_operands_of_every_distribution_are_within_on_every_unit(seed in any::<u64>()) {
        let mut random = Random::new(seed, "every unit");
        for mut declared in units() {
            if random.below(2) == 0 {
                declared.arithmetic = declared.arithmetic.from_c();
            }
            let family = *random.pick(&Family::ALL);
            let n = random.below(70) as usize;
            let case = case(family, &declared.arithmetic, declared.input, n, &mut random);
            let share = share(&declared, &declared.arithmetic, &case);
            prop_assert!(share < 1.0, "{} {:?}", declared.name, case);
        }
    }
}
