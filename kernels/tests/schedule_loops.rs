//! The LOOPS scheduler against the oracle's exact one: the same boundary always, the same threads unless the exact
//! predictions are closer than what the scheduler calls a tie; and plans from injected clocks.

use crate::support;
use sparse_oracle::prelude::*;

use proptest::prelude::*;
use sparse_kernels::schedule::{
    self, Choice, LoopsUnit, Plan, RowSample, Sample, ScheduleError, THREAD_LIMIT, TIE, choose, pairs, plan,
    row_boundary, sample_rows, timed_plan,
};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams};
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::{Precision, each_sparse};
use sparse_schedules::loops as exact;
use support::{Rng, entries};

fn sample(csr_threads: u32, tile_threads: u32, performance: f64) -> Sample {
    Sample { csr_threads, tile_threads, performance }
}

fn exactly(samples: &[Sample]) -> Vec<exact::CalibrationRun> {
    let one = |s: &Sample| exact::CalibrationRun {
        csr_threads: s.csr_threads,
        tile_threads: s.tile_threads,
        performance: s.performance,
    };
    samples.iter().map(one).collect()
}

/// Any positive finite number, simple ones often, so that halves and equal rates occur.
fn throughput() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1u32..12).prop_map(f64::from),
        1.0f64..1e12,
        (1u64..0x7ff0_0000_0000_0000).prop_map(f64::from_bits),
        // Close to one another, where the last bit decides.
        (0u64..4).prop_map(|up| f64::from_bits(1.0f64.to_bits() + up)),
    ]
}

fn performance() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-5i32..9).prop_map(f64::from),
        0.1f64..100.0,
        -1e300f64..1e300,
        (0.1f64..10.0).prop_map(|p| p * f64::MIN_POSITIVE),
    ]
}

fn samples(limit: u32) -> impl Strategy<Value = Vec<Sample>> {
    let one = (0..limit, 0..limit, performance()).prop_map(|(x, y, p)| sample(x, y, p));
    prop_oneof![
        prop::collection::vec(one, 0..14),
        // Measured as the scheduler measures.
        (2..limit, prop::collection::vec(performance(), 60)).prop_map(|(total, p)| {
            pairs(total).into_iter().zip(p).map(|((x, y), p)| sample(x, y, p)).collect()
        }),
    ]
}

/// The exact error in words that both crates use.
fn same_error(found: &ScheduleError, wanted: &exact::ScheduleError) -> bool {
    use exact::ScheduleError as E;
    use schedule::ScheduleError as S;
    matches!(
        (found, wanted),
        (S::NoThreads, E::NoThreads)
            | (S::TooManyThreads { .. }, E::TooManyThreads { .. })
            | (S::Throughput { .. }, E::Throughput { .. })
            | (S::Boundary { .. }, E::Boundary { .. })
            | (S::Performance { .. }, E::Performance { .. })
            | (S::TooFewSamples { .. }, E::TooFewSamples { .. })
            | (S::RankDeficient, E::RankDeficient)
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_boundary_is_exact(
        rows: u32, few in 0u32..40, small: bool,
        c in throughput(), t in throughput(), x in 0u32..=THREAD_LIMIT, y in 0u32..=THREAD_LIMIT,
    ) {
        let rows = if small { few } else { rows };
        let found = row_boundary(rows, LoopsUnit { throughput: c, threads: x }, LoopsUnit { throughput: t, threads: y });
        let unit = |throughput, threads| exact::LoopsUnit { throughput, threads };
        match exact::row_boundary(rows as usize, unit(c, x), unit(t, y)) {
            Ok(wanted) => prop_assert_eq!(found.map(|b| b as usize), Ok(wanted)),
            Err(wanted) => prop_assert!(found.as_ref().is_err_and(|e| same_error(e, &wanted)), "{found:?} {wanted:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn threads_are_chosen_as_by_the_exact_model(
        samples in samples(9), total in 0u32..9, rows in 0u32..50, cut in 0u32..60,
    ) {
        let found = choose(&samples, total, rows, cut);
        let exactly = exactly(&samples);
        match exact::choose(&exactly, total, rows as usize, cut as usize) {
            Err(wanted) => prop_assert!(found.as_ref().is_err_and(|e| same_error(e, &wanted)), "{found:?} {wanted:?}"),
            Ok(wanted) => {
                let found = found.expect("the exact one chose");
                prop_assert_eq!(found.boundary as usize, wanted.boundary);
                let (mine, best) = ((found.csr_threads, found.tile_threads), (wanted.csr_threads, wanted.tile_threads));
                if mine != best {
                    // Then the two are tied as far as the scheduler can tell: no more apart than it says.
                    prop_assert!(total > 1);
                    let exact_model = exact::ThreadModel::fit(&exactly).expect("it chose");
                    let model = schedule::Model::fit(&samples).expect("it chose");
                    let (p, q) = (model.predict(mine.0, mine.1), model.predict(best.0, best.1));
                    let apart = exact_model.predict(best.0, best.1) - exact_model.predict(mine.0, mine.1);
                    prop_assert!(apart.abs() <= 2.0 * (p.uncertainty + q.uncertainty), "{mine:?} {best:?}: {apart}");
                    let fewer = (mine.0 + mine.1, mine.0) < (best.0 + best.1, best.0);
                    prop_assert!(fewer || apart.abs() <= p.uncertainty + q.uncertainty);
                }
            }
        }
    }

    #[test]
    fn predictions_are_those_of_the_exact_model(samples in samples(40), x in 0u32..40, y in 0u32..40) {
        if let (Ok(model), Ok(wanted)) = (schedule::Model::fit(&samples), exact::ThreadModel::fit(&exactly(&samples))) {
            let (found, wanted) = (model.predict(x, y), wanted.predict(x, y));
            let subnormal = f64::MIN_POSITIVE;
            prop_assert!((found.performance - wanted).abs() <= found.uncertainty + subnormal || wanted.is_infinite());
        }
    }
}

#[test]
fn equal_measurements_settle_on_fewer_threads() {
    let flat: Vec<Sample> = pairs(6).into_iter().map(|(x, y)| sample(x, y, 0.3)).collect();
    let chosen = |boundary| choose(&flat, 6, 10, boundary).map(|c| (c.csr_threads, c.tile_threads));
    assert_eq!([chosen(10), chosen(0), chosen(4)], [Ok((1, 0)), Ok((0, 1)), Ok((1, 1))]);
}

/// Samples on a conic do not determine the model although there are many: x^2 + y^2 = 25 in whole numbers.
#[test]
fn rank_is_decided_exactly() {
    let circle = [(0, 5), (5, 0), (3, 4), (4, 3)].map(|(x, y)| sample(x, y, 1.0));
    let twice: Vec<Sample> = circle.into_iter().chain(circle).collect();
    assert_eq!(schedule::Model::fit(&twice), Err(ScheduleError::RankDeficient));
    let large: Vec<Sample> = (0..8).map(|i| sample(1000 + i, 1024 - i, f64::from(i))).collect();
    assert_eq!(schedule::Model::fit(&large), Err(ScheduleError::RankDeficient));
    for total in (2..=64).chain([255, 256, 1023, THREAD_LIMIT]) {
        let all: Vec<Sample> = pairs(total).into_iter().map(|(x, y)| sample(x, y, 1.0)).collect();
        assert!(schedule::Model::fit(&all).is_ok(), "{total} threads");
    }
}

/// Found here: the ranges of 68 of 73 rows overlapped, so that rows were sampled twice.
#[test]
fn nearly_all_rows_are_sampled_once() {
    let ranges = sample_rows(73, 68);
    assert!(ranges.windows(2).all(|w| w[0].end <= w[1].start), "{ranges:?}");
}

/// A machine whose parts have these rates, one thread each; threads of one part slow each other by `drag`, both run at once.
fn machine(rates: (f64, f64), drag: f64) -> impl Fn(&Plan, u32) -> f64 {
    move |plan: &Plan, rows: u32| {
        let Choice { csr_threads: x, tile_threads: y, boundary } = plan.choice;
        assert!((x == 0) == (boundary == 0) && (y == 0) == (boundary == rows), "{plan:?} of {rows} rows");
        let speed =
            |rate: f64, threads: u32| rate * f64::from(threads) / (1.0 + drag * (f64::from(threads) - 1.0));
        let time = |rows: u32, rate, threads| {
            if rows == 0 { 0.0 } else { f64::from(rows) / speed(rate, threads) }
        };
        let slowest = time(boundary, rates.0, x).max(time(rows - boundary, rates.1, y));
        f64::from(rows) / slowest
    }
}

fn planned(rates: (f64, f64), drag: f64, total: u32) -> Plan {
    let machine = machine(rates, drag);
    plan(10_000, 800, 8, total, |p| Ok(machine(p, 800))).expect("a plan")
}

#[test]
fn a_plan_takes_what_pays() {
    let threads = |plan: Plan| (plan.choice.csr_threads, plan.choice.tile_threads, plan.choice.boundary);
    // One thread: the faster part.
    assert_eq!(threads(planned((2.0, 1.0), 0.0, 1)), (1, 0, 10_000));
    assert_eq!(threads(planned((1.0, 2.0), 0.0, 1)), (0, 1, 0));
    // Two threads that do not slow each other: two of the faster part beat one of each.
    assert_eq!(threads(planned((3.0, 1.0), 0.0, 2)), (2, 0, 10_000));
    assert_eq!(threads(planned((1.0, 3.0), 0.0, 2)), (0, 2, 0));
    // Threads of one part that share what they need: a hybrid, rows 3 : 2.
    assert_eq!(threads(planned((3.0, 2.0), 0.9, 2)), (1, 1, 6_000));
    assert!(planned((3.0, 2.0), 0.9, 2).is_hybrid());
    // Equal runs: CSR alone.
    assert_eq!(threads(planned((1.0, 1.0), 0.0, 2)), (2, 0, 10_000));
}

#[test]
fn every_plan_that_is_measured_is_legal_and_the_fastest_run_wins() {
    for total in (1..=9).chain([64, THREAD_LIMIT]) {
        for (rates, drag) in [((1.0, 1.0), 0.2), ((1.0, 30.0), 0.5), ((1e-3, 1e4), 0.1), ((5.0, 4.0), 1.0)] {
            let machine = machine(rates, drag);
            let (mut runs, mut best) = (0, 0.0f64);
            let found = plan(1_000, 100, 4, total, |p| {
                runs += 1;
                best = best.max(machine(p, 100));
                Ok(machine(p, 100))
            });
            let found = found.expect("a plan");
            // The model's pair, boundaries in two and four steps both ways, threads in rounds of six, the last turns.
            assert!(
                runs <= pairs(total).len() + 1 + 12 + 12 * (total.ilog2() as usize + 1) + 15,
                "{runs} runs for {total} threads"
            );
            // The whole matrix has rows enough that rounding the boundary costs little.
            let speed = machine(&found, 1_000);
            assert!(speed >= 0.97 * best, "{total} {rates:?} {drag}: {found:?} {speed} of {best}");
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let ok = |_: &Plan| Ok(1.0);
    assert_eq!(plan(5, 5, 8, 0, ok), Err(ScheduleError::NoThreads));
    assert_eq!(plan(5, 5, 0, 2, ok), Err(ScheduleError::NoTileRows));
    let many = THREAD_LIMIT + 1;
    assert_eq!(plan(5, 5, 8, many, ok), Err(ScheduleError::TooManyThreads { found: many }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = plan(5, 5, 8, 2, |_| Ok(bad)).expect_err("not a throughput");
        assert!(matches!(refused, ScheduleError::Throughput { part: "CSR", .. }), "{bad}");
    }
    let error = ScheduleError::Refused(Refusal::Request(RequestError::Zero { field: "x" }));
    assert_eq!(plan(5, 5, 8, 2, |_| Err(error.clone())), Err(error.clone()));
    let never = |_: &Plan| -> Result<f64, ScheduleError> { panic!("nothing to measure") };
    let empty = plan(0, 0, 8, 3, never).expect("no rows");
    assert_eq!((empty.choice.boundary, empty.is_hybrid()), (0, false));
}

proptest! {
    #[test]
    fn samples_are_rows_of_the_matrix_in_order(rows in 0usize..500, wanted in 0usize..600) {
        let ranges = sample_rows(rows, wanted);
        let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        prop_assert_eq!(total, wanted.min(rows));
        prop_assert!(ranges.windows(2).all(|w| w[0].end <= w[1].start));
        prop_assert!(ranges.iter().all(|r| r.end <= rows));
    }
}

#[test]
fn a_sample_is_encoded_as_the_plan_says() {
    let e = entries(&mut Rng(8), 40, 9, 30, Rng::real);
    for precision in [Precision::F64, Precision::F16, Precision::E4m3] {
        let a =
            AnySparse::from_f64(precision, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
        let sampled = RowSample::new(&a, &[2..7, 30..40]).expect("rows of A");
        let choice = Choice { csr_threads: 1, tile_threads: 1, boundary: 6 };
        let loops = sampled.encoded(Plan { choice, br: 4 }.params()).expect("encodes");
        assert_eq!((loops.kind(), loops.shape()), (FormatKind::Loops, (15, 9)));
        let rows: Vec<usize> = (2..7).chain(30..40).collect();
        let kept = |r: u32| rows.iter().position(|&row| row == r as usize);
        let of_a = a.entries_bits().list;
        let wanted: Vec<(usize, u32, u64)> =
            of_a.iter().filter_map(|e| Some((kept(e.row)?, e.col, e.value))).collect();
        let found: Vec<(usize, u32, u64)> =
            loops.entries_bits().list.iter().map(|e| (e.row as usize, e.col, e.value)).collect();
        assert_eq!(found, wanted);
        assert!(RowSample::new(&a, std::slice::from_ref(&(38..41))).is_err());
    }
    let coo =
        AnySparse::from_f64(Precision::F64, FormatKind::Coo, FormatParams::default(), &e).expect("encodes");
    assert!(matches!(
        RowSample::new(&coo, &[]),
        Err(Refusal::Request(RequestError::Kind { field: "A", .. }))
    ));
}

/// The clock itself: whatever it says, the plan is legal and what is executed has the plan's boundary.
#[test]
fn a_timed_plan_executes_what_it_times() {
    let e = entries(&mut Rng(9), 300, 20, 30, Rng::real);
    let a =
        AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
    let mut runs = 0;
    let found = timed_plan(&a, 100, 16, 2, |loops, plan| {
        runs += 1;
        assert_eq!(loops.shape(), (100, 20));
        let boundary = each_sparse!(loops, m => match m {
            sparse_oracle::format::Sparse::Loops(m) => m.boundary,
            other => panic!("{:?}", other.kind()),
        });
        assert_eq!(boundary, plan.choice.boundary as usize);
        std::hint::black_box((0..1000).sum::<u64>());
        Ok(())
    });
    let found = found.expect("a plan");
    assert!(runs >= 20, "{runs}");
    assert!(found.choice.boundary <= 300 && found.br == 16);
    const { assert!(TIE < 1e-6) };
}
