//! LOOPS: row boundary, tile height and performance model, against numbers worked out by hand and against what defines
//! them; and the printed equation, which the tests tell from the right one.

use proptest::prelude::*;
use sparse_oracle::Precision;
use sparse_oracle::exact::Dyadic;
use sparse_schedules::loops::{
    AVX512_BITS, CalibrationRun, Choice, LoopsUnit, ScheduleError, THREAD_LIMIT, ThreadModel, choose,
    row_boundary, row_boundary_as_printed, tile_rows,
};

fn unit(throughput: f64, threads: u32) -> LoopsUnit {
    LoopsUnit { throughput, threads }
}

fn sample(csr_threads: u32, tile_threads: u32, performance: f64) -> CalibrationRun {
    CalibrationRun { csr_threads, tile_threads, performance }
}

/// Rows, CSR unit, tile unit, boundary.
#[test]
fn the_boundary_shares_rows_by_throughput() {
    let table = [
        // 3 : 1 by throughput, 3 : 1 by threads, both.
        (100, unit(3.0, 1), unit(1.0, 1), 75),
        (100, unit(1.0, 3), unit(1.0, 1), 75),
        (100, unit(1.5, 2), unit(0.25, 4), 75),
        // 10 * 2 / 3 = 6.67 and 10 / 3 = 3.33.
        (10, unit(2.0, 1), unit(1.0, 1), 7),
        (10, unit(1.0, 1), unit(2.0, 1), 3),
        // Halves go to the even side: 0.5, 1.5, 2.5, 3.5.
        (1, unit(1.0, 1), unit(1.0, 1), 0),
        (3, unit(1.0, 1), unit(1.0, 1), 2),
        (5, unit(1.0, 1), unit(1.0, 1), 2),
        (7, unit(1.0, 1), unit(1.0, 1), 4),
        // A part without threads gets nothing, neither does one that is slow enough.
        (7, unit(1.0, 0), unit(1.0, 1), 0),
        (7, unit(1.0, 1), unit(1.0, 0), 7),
        (7, unit(1e-300, 1), unit(1e300, 1), 0),
        (0, unit(1.0, 1), unit(1.0, 1), 0),
        // 2^32 - 1 rows and one row more for the faster unit: (2^32 - 1) * (2^52 + 1) / (2^53 + 1) is above the half.
        (u32::MAX as usize, unit(4_503_599_627_370_497.0, 1), unit(4_503_599_627_370_496.0, 1), 1 << 31),
        (
            u32::MAX as usize,
            unit(4_503_599_627_370_495.0, 1),
            unit(4_503_599_627_370_496.0, 1),
            (1 << 31) - 1,
        ),
    ];
    for (rows, csr, tile, expected) in table {
        assert_eq!(row_boundary(rows, csr, tile), Ok(expected), "{rows} rows, {csr:?}, {tile:?}");
    }
}

/// Equation (1) as printed balances rows times throughput, so that the faster unit gets fewer rows.
#[test]
fn slip_2_the_printed_boundary_gives_the_faster_unit_fewer_rows() {
    let (csr, tile) = (unit(3.0, 1), unit(1.0, 1));
    assert_eq!(row_boundary(100, csr, tile), Ok(75));
    assert_eq!(row_boundary_as_printed(100, csr, tile), Ok(25));
    // Times to finish: 25 and 25 as pinned; 8.3 and 75 as printed.
    let finish = |boundary: usize| (boundary as f64 / 3.0).max(100.0 - boundary as f64);
    assert_eq!((finish(75), finish(25)), (25.0, 75.0));
    // Where both are as fast, the slip cannot be seen.
    assert_eq!(row_boundary_as_printed(100, tile, tile), row_boundary(100, tile, tile));
}

#[test]
fn units_that_share_nothing_are_refused() {
    let fine = unit(1.0, 1);
    for bad in [0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for (part, csr, tile) in [("CSR", unit(bad, 1), fine), ("tile", fine, unit(bad, 0))] {
            for boundary in [row_boundary, row_boundary_as_printed] {
                match boundary(8, csr, tile) {
                    Err(ScheduleError::Throughput { part: p, found }) => {
                        assert_eq!((p, found.to_bits()), (part, bad.to_bits()));
                    }
                    other => panic!("{bad}: {other:?}"),
                }
            }
        }
    }
    let idle = unit(1.0, 0);
    assert_eq!(row_boundary(8, idle, idle), Err(ScheduleError::NoThreads));
    assert_eq!(row_boundary_as_printed(8, idle, idle), Err(ScheduleError::NoThreads));
}

#[test]
fn a_tile_is_as_high_as_a_vector_has_lanes() {
    let of = |precision, bits| tile_rows(precision, bits);
    assert_eq!(of(Precision::F64, AVX512_BITS), Ok(8));
    assert_eq!(of(Precision::F32, AVX512_BITS), Ok(16));
    assert_eq!(of(Precision::F16, AVX512_BITS), Ok(32));
    assert_eq!(of(Precision::F64, 128), Ok(2));
    assert_eq!(of(Precision::F16, 2048), Ok(128));
    for found in [0, 64, 96, 384, 4096, u32::MAX] {
        assert_eq!(of(Precision::F64, found), Err(ScheduleError::VectorBits { found }));
    }
}

/// 1 + 2x + 3y - x^2/4 - y^2/2, at the corners of a star and one point more.
fn exact_samples() -> Vec<CalibrationRun> {
    let f = |x: u32, y: u32| {
        let (a, b) = (f64::from(x), f64::from(y));
        sample(x, y, 1.0 + 2.0 * a + 3.0 * b - 0.25 * a * a - 0.5 * b * b)
    };
    vec![f(1, 1), f(2, 1), f(3, 1), f(1, 2), f(1, 3), f(4, 4)]
}

#[test]
fn samples_on_a_quadratic_give_its_coefficients() {
    let model = ThreadModel::fit(&exact_samples()).expect("determined");
    let quarters = [4, 8, 12, -1, -2].map(Dyadic::from);
    for (n, q) in model.numerators.iter().zip(&quarters) {
        assert_eq!(n.mul_pow2(2), q * &model.denominator);
    }
    assert!(model.denominator > Dyadic::zero());
    // 1 + 2 * 5 + 3 * 3 - 25 / 4 - 9 / 2.
    assert_eq!(model.predict(5, 3), 9.25);
    assert_eq!(model.predict(0, 0), 1.0);
}

/// The parabolas peak at x = 4 and y = 3, so seven threads reach the peak and fewer give up the cheaper step.
#[test]
fn the_best_pair_of_a_known_quadratic() {
    let chosen = |total| {
        let c = choose(&exact_samples(), total, 100, 50).expect("a choice");
        (c.csr_threads, c.tile_threads, c.boundary)
    };
    assert_eq!(chosen(12), (4, 3, 50));
    assert_eq!(chosen(7), (4, 3, 50));
    // From (4, 3), one step down costs 1/4 in x and 1/2 in y; two in x cost 1, one in each 3/4.
    assert_eq!(chosen(6), (3, 3, 50));
    assert_eq!(chosen(5), (3, 2, 50));
    assert_eq!(chosen(2), (1, 1, 50));
}

/// Nine measurements of a flat model: the mean, by hand; and noise that least squares does not see.
#[test]
fn noise_is_averaged_as_least_squares_does() {
    let grid = |f: fn(f64, f64) -> f64| {
        let at = |x: u32, y: u32| sample(x, y, f(f64::from(x), f64::from(y)));
        (1..=3).flat_map(|x| (1..=3).map(move |y| at(x, y))).collect::<Vec<_>>()
    };
    // (x - 2)(y - 2) is orthogonal on the grid to every function of x alone and of y alone.
    let model = ThreadModel::fit(&grid(|x, y| 5.0 + 16.0 * (x - 2.0) * (y - 2.0))).expect("determined");
    let constant = [5, 0, 0, 0, 0].map(Dyadic::from);
    for (n, c) in model.numerators.iter().zip(&constant) {
        assert_eq!(*n, c * &model.denominator);
    }
    // One outlier of 9 at (2, 2): the additive fit takes 9 (1/3 + 1/3 - 1/9) = 5 of it there, 2 in its row and
    // column, -1 at the corners.
    let model =
        ThreadModel::fit(&grid(|x, y| if (x, y) == (2.0, 2.0) { 9.0 } else { 0.0 })).expect("determined");
    assert_eq!((model.predict(2, 2), model.predict(1, 2), model.predict(3, 3)), (5.0, 2.0, -1.0));
}

#[test]
fn ties_go_to_fewer_threads_and_then_to_fewer_for_the_csr_part() {
    let flat = |f: fn(f64, f64) -> f64| {
        let points = [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)];
        points.map(|(x, y): (u32, u32)| sample(x, y, f(f64::from(x), f64::from(y))))
    };
    let of = |samples: &[CalibrationRun], total, rows, boundary| {
        let c = choose(samples, total, rows, boundary).expect("a choice");
        (c.csr_threads, c.tile_threads)
    };
    // All equal: as few threads as the parts need.
    assert_eq!(of(&flat(|_, _| 7.0), 6, 10, 5), (1, 1));
    assert_eq!(of(&flat(|_, _| 7.0), 6, 10, 0), (0, 1));
    assert_eq!(of(&flat(|_, _| 7.0), 6, 10, 10), (1, 0));
    assert_eq!(of(&flat(|_, _| 7.0), 6, 0, 0), (0, 1));
    // x + y alone counts: of all pairs of six threads, the one with the smallest x.
    assert_eq!(of(&flat(|x, y| x + y), 6, 10, 5), (1, 5));
    assert_eq!(of(&flat(|x, y| x + y), 6, 10, 0), (0, 6));
    assert_eq!(of(&flat(|x, y| x + y), 6, 10, 10), (1, 5));
}

#[test]
fn a_part_with_rows_has_a_thread() {
    // More tile threads only hurt, and more CSR threads only help.
    let against_tiles = [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)];
    let samples = against_tiles.map(|(x, y)| sample(x, y, f64::from(x) - f64::from(y)));
    let of = |boundary| {
        let c = choose(&samples, 4, 10, boundary).expect("a choice");
        (c.csr_threads, c.tile_threads)
    };
    assert_eq!(of(10), (4, 0));
    assert_eq!(of(9), (3, 1));
    assert_eq!(of(0), (3, 1));
    let against_csr = samples.map(|s| sample(s.csr_threads, s.tile_threads, -s.performance));
    let c = choose(&against_csr, 4, 10, 0).expect("a choice");
    assert_eq!((c.csr_threads, c.tile_threads), (0, 4));
}

#[test]
fn one_thread_takes_the_faster_part_without_a_fit() {
    let of = |samples: &[CalibrationRun]| choose(samples, 1, 10, 5);
    let csr = Ok(Choice { csr_threads: 1, tile_threads: 0, boundary: 10 });
    let tile = Ok(Choice { csr_threads: 0, tile_threads: 1, boundary: 0 });
    assert_eq!(of(&[sample(1, 0, 2.0), sample(0, 1, 1.0)]), csr);
    assert_eq!(of(&[sample(1, 0, 1.0), sample(0, 1, 2.0)]), tile);
    assert_eq!(of(&[sample(1, 0, 1.0), sample(0, 1, 1.0)]), tile, "a tie: smaller x");
    assert_eq!(of(&[sample(1, 0, 1.0), sample(0, 1, 2.0), sample(1, 0, 3.0)]), csr, "the best run");
    assert_eq!(of(&[sample(1, 0, 1.0)]), csr, "the only one measured");
    assert_eq!(of(&[sample(0, 1, 1.0)]), tile);
    let none = Err(ScheduleError::TooFewSamples { found: 0, needed: 1 });
    assert_eq!(of(&[sample(1, 1, 1.0), sample(2, 0, 1.0)]), none);
    assert_eq!(of(&[]), none);
}

#[test]
fn calibrations_that_determine_nothing_are_refused() {
    let fine = exact_samples();
    for count in 0..5 {
        let few = ScheduleError::TooFewSamples { found: count, needed: 5 };
        assert_eq!(ThreadModel::fit(&fine[..count]), Err(few.clone()));
        assert_eq!(choose(&fine[..count], 4, 10, 5), Err(few));
    }
    assert!(ThreadModel::fit(&fine[..5]).is_ok());
    // y takes two values only; all on one line; five times the same run; x + y constant.
    let deficient: [fn(u32) -> (u32, u32); 4] =
        [|i| (i, i % 2), |i| (i, 1), |_| (1, 1), |i| (i % 3, 1 + i % 3)];
    for (which, at) in deficient.into_iter().enumerate() {
        let samples: Vec<CalibrationRun> = (0..9).map(|i| sample(at(i).0, at(i).1, f64::from(i))).collect();
        assert_eq!(ThreadModel::fit(&samples), Err(ScheduleError::RankDeficient), "{which}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let mut samples = fine.clone();
        samples[3].performance = bad;
        for result in [choose(&samples, 1, 10, 5), choose(&samples, 4, 10, 5)] {
            assert!(matches!(result, Err(ScheduleError::Performance { at: 3, .. })), "{result:?}");
        }
    }
}

#[test]
fn no_threads_too_many_and_a_boundary_past_the_end_are_refused() {
    let fine = exact_samples();
    assert_eq!(choose(&fine, 0, 10, 5), Err(ScheduleError::NoThreads));
    assert!(choose(&fine, THREAD_LIMIT, 10, 5).is_ok());
    let found = THREAD_LIMIT + 1;
    assert_eq!(choose(&fine, found, 10, 5), Err(ScheduleError::TooManyThreads { found }));
    let past = Err(ScheduleError::Boundary { found: 11, rows: 10 });
    assert_eq!(choose(&fine, 4, 10, 11), past);
    assert_eq!(choose(&fine, 1, 10, 11), past);
}

/// Measurements so unlike one another that floats would lose the small ones: the fit is exact all the same.
#[test]
fn a_fit_over_the_whole_range_of_floats_is_exact() {
    let values = [1e308, 5e-324, -1e308, 1.0, 1e-300, 3.0];
    let samples: Vec<CalibrationRun> = exact_samples()
        .iter()
        .zip(values)
        .map(|(s, performance)| CalibrationRun { performance, ..*s })
        .collect();
    let model = ThreadModel::fit(&samples).expect("determined");
    assert_eq!(residual_moments(&model, &samples), [const { None }; 5]);
    assert!(choose(&samples, 8, 10, 5).is_ok());
}

/// What defines least squares: the residuals are orthogonal to 1, x, y, x^2, y^2. The moments that are not zero.
fn residual_moments(model: &ThreadModel, samples: &[CalibrationRun]) -> [Option<Dyadic>; 5] {
    std::array::from_fn(|which| {
        let moment: Dyadic = samples
            .iter()
            .map(|s| {
                let (x, y) = (i64::from(s.csr_threads), i64::from(s.tile_threads));
                let term = Dyadic::from([1, x, y, x * x, y * y][which]);
                let measured = &Dyadic::from_f64(s.performance).expect("finite") * &model.denominator;
                &term * &(&measured - &model.scaled(s.csr_threads, s.tile_threads))
            })
            .sum();
        Some(moment).filter(|m| !m.is_zero())
    })
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1u32..50).prop_map(f64::from),
        (1u32..1000).prop_map(|n| f64::from(n) / 64.0),
        any::<f64>().prop_map(f64::abs).prop_filter("positive and finite", |x| *x > 0.0 && x.is_finite()),
    ]
}

proptest! {
    /// |boundary * (c + t) - rows * c| is at most half of c + t; where it is half, the boundary is even.
    #[test]
    fn the_boundary_is_the_nearest_integer(
        rows in prop_oneof![0usize..100, 0usize..=u32::MAX as usize],
        (csr, x) in (1u32..5000, 0u32..20),
        (tile, y) in (1u32..5000, 0u32..20),
    ) {
        prop_assume!(x + y > 0);
        let found = row_boundary(rows, unit(f64::from(csr), x), unit(f64::from(tile), y)).expect("fine");
        let (c, t) = (i128::from(csr) * i128::from(x), i128::from(tile) * i128::from(y));
        let miss = 2 * (found as i128 * (c + t) - rows as i128 * c).abs();
        prop_assert!(miss <= c + t);
        prop_assert!(miss < c + t || found.is_multiple_of(2));
    }

    #[test]
    fn more_threads_or_rows_never_mean_fewer_rows(
        rows in 0usize..100_000,
        (c, t) in (positive(), positive()),
        (x, y) in (0u32..20, 1u32..20),
    ) {
        let of = |rows, x, y| row_boundary(rows, unit(c, x), unit(t, y)).expect("fine");
        let here = of(rows, x, y);
        prop_assert!(here <= rows);
        prop_assert!(of(rows, x + 1, y) >= here);
        prop_assert!(of(rows, x, y + 1) <= here);
        prop_assert!(of(rows + 1, x, y) >= here);
    }

    /// The two parts' shares add up, but for a row that lies exactly between them.
    #[test]
    fn shares_add_up(rows in 0usize..100_000, (c, t) in (positive(), positive()), (x, y) in (1u32..20, 1u32..20)) {
        let (csr, tile) = (unit(c, x), unit(t, y));
        let here = row_boundary(rows, csr, tile).expect("fine");
        let there = row_boundary(rows, tile, csr).expect("fine");
        prop_assert_eq!(row_boundary_as_printed(rows, csr, tile), Ok(there));
        prop_assert!(here + there == rows || here.abs_diff(rows - there) == 1 && here.is_multiple_of(2) && there.is_multiple_of(2));
    }

    /// The units of measurement do not matter.
    #[test]
    fn scaled_throughputs_share_alike(rows in 0usize..100_000, c in 1u32..5000, t in 1u32..5000, shift in -200i32..200) {
        let of = |scale: f64| row_boundary(rows, unit(f64::from(c) * scale, 3), unit(f64::from(t) * scale, 2));
        prop_assert_eq!(of(1.0), of(2.0f64.powi(shift)));
    }

    #[test]
    fn residuals_are_orthogonal_to_the_model(
        points in prop::collection::vec((0u32..6, 0u32..6, -1e6f64..1e6), 5..12),
    ) {
        let samples: Vec<CalibrationRun> = points.iter().map(|&(x, y, p)| sample(x, y, p)).collect();
        let counts = |of: fn(&CalibrationRun) -> u32| {
            samples.iter().map(of).collect::<std::collections::BTreeSet<_>>().len()
        };
        match ThreadModel::fit(&samples) {
            Ok(model) => prop_assert_eq!(residual_moments(&model, &samples), [const { None }; 5]),
            Err(ScheduleError::RankDeficient) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
        if counts(|s| s.csr_threads) < 3 || counts(|s| s.tile_threads) < 3 {
            prop_assert_eq!(ThreadModel::fit(&samples), Err(ScheduleError::RankDeficient));
        }
    }

    /// No legal pair is better, and none that is as good comes earlier.
    #[test]
    fn the_choice_is_the_first_of_the_best(
        performances in prop::collection::vec(0u8..4, 9),
        total in 2u32..9,
        boundary in 0usize..3,
    ) {
        let grid = (0..3).flat_map(|x| (0..3).map(move |y| (x, y)));
        let samples: Vec<CalibrationRun> =
            grid.zip(performances).map(|((x, y), p)| sample(x, y, f64::from(p))).collect();
        let model = ThreadModel::fit(&samples).expect("a grid determines it");
        let chosen = choose(&samples, total, 2, boundary).expect("a choice");
        let mut order = Vec::new();
        for x in 0..=total {
            for y in 0..=total - x {
                if x + y > 0 && (x > 0 || boundary == 0) && (y > 0 || boundary == 2) {
                    order.push((std::cmp::Reverse(model.scaled(x, y)), x + y, x));
                }
            }
        }
        order.sort();
        prop_assert_eq!((chosen.csr_threads + chosen.tile_threads, chosen.csr_threads), (order[0].1, order[0].2));
    }
}
