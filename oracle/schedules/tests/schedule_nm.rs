//! NM-SpMM's blocking by hand and at random: which tiles, what fits into shared memory, how buffers alternate.

use proptest::prelude::*;
use sparse_oracle::{EncodingError, Refusal, RequestError};
use sparse_schedules::nm::{
    Block, LdsWidth, PipelineStep, Ratio, Tiles, check_pipeline, cmar, is_packed, k_s,
};

#[test]
fn table_i_is_chosen_as_table_ii_labels_its_examples() {
    for (m, n, expected) in [
        (512, 512, Tiles::SMALL),
        (512, 1024, Tiles::SMALL),
        (512, 2048, Tiles::MEDIUM),
        (1024, 2048, Tiles::MEDIUM),
        (2048, 4096, Tiles::LARGE),
        (4096, 4096, Tiles::LARGE),
        (0, 0, Tiles::SMALL),
        (usize::MAX, usize::MAX, Tiles::LARGE),
    ] {
        assert_eq!(Tiles::for_shape(m, n), expected, "{m} x {n}");
    }
    for tiles in [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE] {
        assert_eq!(tiles.check(), Ok(()));
    }
    assert_eq!((Tiles::SMALL.grid(), Tiles::MEDIUM.grid(), Tiles::LARGE.grid()), ((4, 8), (4, 8), (8, 4)));
    assert_eq!((Tiles::SMALL.warps(), Tiles::MEDIUM.warps(), Tiles::LARGE.warps()), ((2, 1), (1, 2), (1, 4)));
}

#[test]
fn tiles_that_do_not_nest_are_refused() {
    let check = |change: fn(&mut Tiles)| {
        let mut tiles = Tiles::SMALL;
        change(&mut tiles);
        tiles.check().expect_err("refused")
    };
    let wrong = |field, expected, found| Refusal::Request(RequestError::Parameter { field, expected, found });
    assert_eq!(check(|t| t.m_s = 0), Refusal::Request(RequestError::Zero { field: "m_s" }));
    assert_eq!(check(|t| t.n_r = 0), Refusal::Request(RequestError::Zero { field: "n_r" }));
    assert_eq!(check(|t| t.n_t = 0), Refusal::Request(RequestError::Zero { field: "n_t" }));
    assert_eq!(check(|t| t.m_s = 16), wrong("m_s", "a multiple of 32", 16));
    assert_eq!(check(|t| t.n_r = 16), wrong("threads of a warp tile", "32", 16));
    assert_eq!(check(|t| t.n_r = 30), wrong("n_r", "a multiple of the tile inside it", 30));
    assert_eq!(check(|t| t.n_s = 48), wrong("n_s", "a multiple of the tile inside it", 48));
    let registers =
        Refusal::Request(RequestError::TooLarge { field: "m_t + n_t + m_t * n_t", found: 288, limit: 255 });
    assert_eq!(check(|t| (t.m_t, t.n_t) = (16, 16)), registers);
}

#[test]
fn cmar_is_equation_6_within_255_registers() {
    let ratio = |m_t, n_t, width| cmar(m_t, n_t, width).map(|r| (r.numerator, r.denominator));
    assert_eq!(ratio(8, 8, LdsWidth::Bits128), Ok((64, 16)));
    assert_eq!(ratio(8, 8, LdsWidth::Bits64), Ok((64, 32)));
    assert_eq!(ratio(8, 8, LdsWidth::Bits32), Ok((64, 64)));
    assert_eq!(cmar(8, 16, LdsWidth::Bits128).map(Ratio::to_f64), Ok(128.0 / 24.0));
    assert_eq!(cmar(15, 15, LdsWidth::Bits128).map(Ratio::to_f64), Ok(7.5), "255 registers");
    let too_many = |found| {
        Err(Refusal::Request(RequestError::TooLarge { field: "m_t + n_t + m_t * n_t", found, limit: 255 }))
    };
    assert_eq!(ratio(1, 128, LdsWidth::Bits32), too_many(257));
    assert_eq!(ratio(u32::MAX, u32::MAX, LdsWidth::Bits32), too_many((1 << 64) - 1));
    assert_eq!(ratio(0, 8, LdsWidth::Bits32), Err(Refusal::Request(RequestError::Zero { field: "m_t" })));
}

#[test]
fn packing_begins_above_70_percent() {
    // The four levels of the paper, and both sides of 70 %.
    for (n, m, expected) in [
        (16, 32, false),
        (12, 32, false),
        (8, 32, true),
        (4, 32, true),
        (32, 32, false),
        (3, 10, false),
        (30, 100, false),
        (299, 1000, true),
        (301, 1000, false),
        (1, 4, true),
        (2, 4, false),
        (1, u32::MAX, true),
        (u32::MAX, u32::MAX, false),
    ] {
        assert_eq!(is_packed(n, m), Ok(expected), "{n}:{m}");
    }
    assert_eq!(is_packed(0, 4), Err(Refusal::Request(RequestError::Zero { field: "n" })));
    assert_eq!(is_packed(0, 0), Err(Refusal::Request(RequestError::Zero { field: "n" })));
    assert_eq!(
        is_packed(5, 4),
        Err(Refusal::Request(RequestError::TooLarge { field: "n", found: 5, limit: 4 }))
    );
}

#[test]
fn equations_3_4_and_5_by_hand() {
    // 64 x 128 with k_s = 64 at 8:32: w_s = 16, q_s = 4 for L = 32.
    let block = Block { m_s: 64, n_s: 128, a_columns: 64, w_s: 16, q_s: 4 };
    let ai = block.arithmetic_intensity();
    assert_eq!((ai.numerator, ai.denominator), (2 * 64 * 128 * 16, 64 * 64 + 16 * 128 + 2 * 64 * 128));
    assert_eq!(block.bytes_without_d(), 4 * (64 * 64 + 16 * 128));
    assert_eq!(block.bytes(), 4 * (64 * 64 + 16 * 128 + 16 * 4));
    let (without, with) = (8 * (64 * 64 + 16 * 128), 8 * (64 * 64 + 16 * 128 + 16 * 4));
    assert!(block.obeys_5(without) && !block.obeys_5(without - 1));
    assert!(block.obeys_4(with) && !block.obeys_4(with - 1));
    let nothing = Block { m_s: 0, n_s: 0, a_columns: 0, w_s: 0, q_s: 0 };
    assert_eq!(nothing.arithmetic_intensity().to_f64(), 0.0);
    let huge = Block { m_s: u32::MAX, n_s: u32::MAX, a_columns: u32::MAX, w_s: u32::MAX, q_s: u32::MAX };
    assert!(!huge.obeys_4(u32::MAX) && huge.arithmetic_intensity().to_f64() > 1e9);
}

#[test]
fn k_s_by_hand_and_where_nothing_fits() {
    // A100, large tiles, 50 %: 8 k_s (64 + 64) <= 192 KiB gives k_s <= 192.
    let a100 = 192 * 1024;
    assert_eq!(k_s(&Tiles::LARGE, 16, 32, a100), Ok(192));
    // 87.5 %: 8 k_s (64 + 16) <= 196608 gives 307.2, and 288 = 9 * 32.
    assert_eq!(k_s(&Tiles::LARGE, 4, 32, a100), Ok(288));
    // One window of 32 takes 8 * (32 * 64 + 16 * 128) bytes, doubled buffers included.
    let one = 8 * (32 * 64 + 16 * 128);
    assert_eq!(k_s(&Tiles::LARGE, 16, 32, one), Ok(32));
    let too_large = Refusal::Request(RequestError::TooLarge {
        field: "twice the bytes of A_s and B_s for one window",
        found: u128::from(one),
        limit: u64::from(one) - 1,
    });
    assert_eq!(k_s(&Tiles::LARGE, 16, 32, one - 1), Err(too_large));
    assert_eq!(k_s(&Tiles::LARGE, 0, 32, a100), Err(Refusal::Request(RequestError::Zero { field: "n" })));
    let tiles = Tiles { n_t: 0, ..Tiles::LARGE };
    assert_eq!(k_s(&tiles, 16, 32, a100), Err(Refusal::Request(RequestError::Zero { field: "n_t" })));
}

#[test]
fn pipelines_end_when_all_tiles_are_done() {
    let load = |tile, buffer| PipelineStep::Load { tile, buffer };
    let compute = |buffer| PipelineStep::Compute { buffer };
    assert_eq!(check_pipeline(0, &[]), Ok(()));
    let short = Refusal::Encoding(EncodingError::Length { field: "pipeline", expected: 2, found: 1 });
    assert_eq!(check_pipeline(2, &[load(0, 0), load(1, 1), compute(0)]), Err(short));
    let again = Refusal::Encoding(EncodingError::Unequal { field: "pipeline", at: 2, expected: 1, found: 0 });
    assert_eq!(check_pipeline(1, &[load(0, 0), compute(0), compute(0)]), Err(again));
    let overwritten =
        Refusal::Encoding(EncodingError::Unequal { field: "pipeline", at: 2, expected: 0, found: 1 });
    assert_eq!(check_pipeline(2, &[load(0, 0), load(1, 0), compute(0)]), Err(overwritten));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn k_s_is_the_largest_multiple_that_fits(m in 1u32..=64, n in 1u32..=64, sm in 0u32..=300_000) {
        prop_assume!(n <= m);
        for tiles in [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE] {
            let fits = |windows: u64| {
                8 * windows * u64::from(m * tiles.m_s + n * tiles.n_s) <= u64::from(sm)
            };
            match k_s(&tiles, n, m, sm) {
                Ok(k_s) => {
                    prop_assert_eq!(k_s % m, 0);
                    let windows = u64::from(k_s / m);
                    prop_assert!(windows > 0 && fits(windows) && !fits(windows + 1));
                }
                Err(_) => prop_assert!(!fits(1)),
            }
        }
    }

    #[test]
    fn sparsity_lowers_arithmetic_intensity(tiles in 0usize..3, m in 2u32..=64, windows in 1u32..=8) {
        let tiles = [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE][tiles];
        let intensity = |n: u32| {
            let (a_columns, w_s) = (windows * m, windows * n);
            Block { m_s: tiles.m_s, n_s: tiles.n_s, a_columns, w_s, q_s: 0 }.arithmetic_intensity()
        };
        for n in 2..=m {
            let (less, more) = (intensity(n - 1), intensity(n));
            prop_assert!(less.numerator * more.denominator < more.numerator * less.denominator, "{} of {}", n, m);
        }
    }
}
