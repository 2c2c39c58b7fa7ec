//! NM-SpMM's schedule by hand and at random: what fits, which tiles, what packing keeps.

#[allow(dead_code, reason = "V:N:M has no schedule")]
mod nm_support;

use nm_support::{nm, picture};
use proptest::prelude::*;
use sparse_oracle::Refusal;
use sparse_oracle::format::{Entries, Entry, Nm};
use sparse_oracle::schedule::nm::{
    Block, LdsWidth, Packing, PackingParts, Step, Tiles, check_pipeline, cmar, is_packed, k_s, k_s_packed,
    plan,
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
    assert_eq!(
        (Tiles::SMALL.grid(), Tiles::MEDIUM.grid(), Tiles::LARGE.grid()),
        ((4, 8), (4, 8), (8, 4))
    );
    assert_eq!(
        (Tiles::SMALL.warps(), Tiles::MEDIUM.warps(), Tiles::LARGE.warps()),
        ((2, 1), (1, 2), (1, 4))
    );
}

#[test]
fn tiles_that_do_not_nest_are_refused() {
    let check = |change: fn(&mut Tiles)| {
        let mut tiles = Tiles::SMALL;
        change(&mut tiles);
        tiles.check().expect_err("refused")
    };
    let wrong = |field, expected, found| Refusal::Parameter {
        field,
        expected,
        found,
    };
    assert_eq!(check(|t| t.m_s = 0), Refusal::Zero { field: "m_s" });
    assert_eq!(check(|t| t.n_r = 0), Refusal::Zero { field: "n_r" });
    assert_eq!(check(|t| t.n_t = 0), Refusal::Zero { field: "n_t" });
    assert_eq!(check(|t| t.m_s = 16), wrong("m_s", "a multiple of 32", 16));
    assert_eq!(check(|t| t.n_r = 16), wrong("threads of a warp tile", "32", 16));
    assert_eq!(
        check(|t| t.n_r = 30),
        wrong("n_r", "a multiple of the tile inside it", 30)
    );
    assert_eq!(
        check(|t| t.n_s = 48),
        wrong("n_s", "a multiple of the tile inside it", 48)
    );
    let registers = Refusal::TooLarge {
        field: "m_t + n_t + m_t * n_t",
        found: 288,
        limit: 255,
    };
    assert_eq!(check(|t| (t.m_t, t.n_t) = (16, 16)), registers);
}

#[test]
fn cmar_is_equation_6_within_255_registers() {
    let ratio = |m_t, n_t, width| cmar(m_t, n_t, width).map(|r| (r.numerator, r.denominator));
    assert_eq!(ratio(8, 8, LdsWidth::Bits128), Ok((64, 16)));
    assert_eq!(ratio(8, 8, LdsWidth::Bits64), Ok((64, 32)));
    assert_eq!(ratio(8, 8, LdsWidth::Bits32), Ok((64, 64)));
    assert_eq!(
        cmar(8, 16, LdsWidth::Bits128).map(|r| r.to_f64()),
        Ok(128.0 / 24.0)
    );
    assert_eq!(
        cmar(15, 15, LdsWidth::Bits128).map(|r| r.to_f64()),
        Ok(7.5),
        "255 registers"
    );
    let too_many = |found| {
        Err(Refusal::TooLarge {
            field: "m_t + n_t + m_t * n_t",
            found,
            limit: 255,
        })
    };
    assert_eq!(ratio(1, 128, LdsWidth::Bits32), too_many(257));
    assert_eq!(
        ratio(u32::MAX, u32::MAX, LdsWidth::Bits32),
        too_many((1 << 64) - 1)
    );
    assert_eq!(ratio(0, 8, LdsWidth::Bits32), Err(Refusal::Zero { field: "m_t" }));
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
    assert_eq!(is_packed(0, 4), Err(Refusal::Zero { field: "n" }));
    assert_eq!(is_packed(0, 0), Err(Refusal::Zero { field: "n" }));
    assert_eq!(
        is_packed(5, 4),
        Err(Refusal::TooLarge {
            field: "n",
            found: 5,
            limit: 4
        })
    );
}

#[test]
fn equations_3_4_and_5_by_hand() {
    // 64 x 128 with k_s = 64 at 8:32: w_s = 16, q_s = 4 for L = 32.
    let block = Block {
        m_s: 64,
        n_s: 128,
        a_columns: 64,
        w_s: 16,
        q_s: 4,
    };
    let ai = block.arithmetic_intensity();
    assert_eq!(
        (ai.numerator, ai.denominator),
        (2 * 64 * 128 * 16, 64 * 64 + 16 * 128 + 2 * 64 * 128)
    );
    assert_eq!(block.bytes_without_d(), 4 * (64 * 64 + 16 * 128));
    assert_eq!(block.bytes(), 4 * (64 * 64 + 16 * 128 + 16 * 4));
    let (without, with) = (8 * (64 * 64 + 16 * 128), 8 * (64 * 64 + 16 * 128 + 16 * 4));
    assert!(block.obeys_5(without) && !block.obeys_5(without - 1));
    assert!(block.obeys_4(with) && !block.obeys_4(with - 1));
    let nothing = Block {
        m_s: 0,
        n_s: 0,
        a_columns: 0,
        w_s: 0,
        q_s: 0,
    };
    assert_eq!(nothing.arithmetic_intensity().to_f64(), 0.0);
    let huge = Block {
        m_s: u32::MAX,
        n_s: u32::MAX,
        a_columns: u32::MAX,
        w_s: u32::MAX,
        q_s: u32::MAX,
    };
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
    let too_large = Refusal::TooLarge {
        field: "twice the bytes of A_s and B_s for one window",
        found: u128::from(one),
        limit: u64::from(one) - 1,
    };
    assert_eq!(k_s(&Tiles::LARGE, 16, 32, one - 1), Err(too_large));
    assert_eq!(k_s(&Tiles::LARGE, 0, 32, a100), Err(Refusal::Zero { field: "n" }));
    let tiles = Tiles {
        n_t: 0,
        ..Tiles::LARGE
    };
    assert_eq!(k_s(&tiles, 16, 32, a100), Err(Refusal::Zero { field: "n_t" }));
}

/// The picture in the documentation: 1 of 4, columns 3 3 0 in the first window, 2 2 1 in the second.
fn documented() -> Nm<f32> {
    let entries = picture(&[
        ". . 1", ". . .", ". . .", "1 1 .", ". . .", ". . 1", "1 1 .", ". . .",
    ]);
    Nm::from_entries(&entries, &nm(1, 4, 1)).expect("fits")
}

#[test]
fn packing_by_hand() {
    let matrix = documented();
    assert_eq!(matrix.index, [3, 3, 0, 2, 2, 1]);
    let packing = Packing::from_nm(&matrix, 8, 2).expect("whole blocks");
    assert_eq!(packing.col_ptr, [0, 2, 4]);
    assert_eq!(packing.col_info, [3, 6, 0, 5]);
    // Block by block: two groups of two rows, then one group of two rows.
    assert_eq!(packing.index, [0, 0, 1, 1, 0, 1]);
    assert_eq!(packing.longest(), 2);
    let packing = Packing::from_nm(&matrix, 4, 3).expect("whole blocks");
    assert_eq!(
        (&packing.col_ptr[..], &packing.col_info[..]),
        (&[0, 2, 4][..], &[0, 3, 5, 6][..])
    );
    assert_eq!(packing.index, [1, 1, 0, 1, 1, 0]);
    let wrong = |field, expected, found| {
        Err(Refusal::Parameter {
            field,
            expected,
            found,
        })
    };
    let of = |k_s, n_s| Packing::from_nm(&matrix, k_s, n_s).map(|_| ());
    assert_eq!(of(6, 1), wrong("k_s", "a multiple of m", 6));
    assert_eq!(of(0, 1), wrong("k_s", "a multiple of m", 0));
    assert_eq!(of(4, 0), wrong("l", "a divisor of n_s", 1));
    let wide = Nm::from_entries(&matrix.entries(), &nm(2, 4, 2)).expect("fits");
    assert_eq!(
        Packing::from_nm(&wide, 4, 3).map(|_| ()),
        wrong("l", "a divisor of n_s", 2)
    );
}

#[test]
fn a_longer_block_may_need_fewer_columns() {
    // Windows of 4 that use 1, 1, 4, 4, 1, 1 columns: k_s = 8 meets the full ones in one block, k_s = 12 does not.
    let mut list: Vec<Entry<f32>> = Vec::new();
    for (window, used) in [1, 1, 4, 4, 1, 1].into_iter().enumerate() {
        for col in 0..4 {
            list.push(Entry {
                row: window as u32 * 4 + col % used,
                col,
                value: 1.0,
            });
        }
    }
    list.sort_unstable_by_key(|e| (e.row, e.col));
    let entries = Entries::try_new(24, 4, list).expect("sorted");
    let matrix = Nm::from_entries(&entries, &nm(1, 4, 1)).expect("fits");
    let longest = |k_s| {
        Packing::from_nm(&matrix, k_s, 32)
            .expect("whole blocks")
            .longest()
    };
    assert_eq!([4, 8, 12, 16, 20, 24].map(longest), [4, 8, 6, 10, 11, 12]);
    // Room for c = 6 with w_s = 3, not for c = 8 with w_s = 2: a search from below would stop at 4.
    let tiles = Tiles::SMALL;
    let sm = 8 * (32 * 6 + 3 * 32);
    assert_eq!(k_s_packed(&tiles, &matrix, sm), Ok((12, 6)));
    assert_eq!(k_s_packed(&tiles, &matrix, sm - 1), Ok((4, 4)));
    let one = 8 * (32 * 4 + 32);
    assert_eq!(k_s_packed(&tiles, &matrix, one), Ok((4, 4)));
    let field = "twice the bytes of A_s and B_s for one window";
    let refused = Refusal::TooLarge {
        field,
        found: u128::from(one),
        limit: u64::from(one) - 1,
    };
    assert_eq!(k_s_packed(&tiles, &matrix, one - 1), Err(refused));
    assert_eq!(
        k_s_packed(&tiles, &matrix, u32::MAX),
        Ok((24, 12)),
        "no longer than k"
    );
}

#[test]
fn plans_pack_above_70_percent_and_stay_within_k() {
    let sm = 192 * 1024;
    let matrix = documented();
    let found = plan(3, &matrix, sm).expect("fits");
    assert_eq!((found.packed, found.k_s, found.tiles), (true, 8, Tiles::SMALL));
    assert_eq!(
        found.block,
        Block {
            m_s: 32,
            n_s: 32,
            a_columns: 4,
            w_s: 2,
            q_s: 32
        }
    );
    let moderate = Nm::from_entries(&matrix.entries(), &nm(2, 4, 4)).expect("fits");
    let found = plan(3, &moderate, sm).expect("fits");
    assert_eq!((found.packed, found.k_s), (false, 8));
    assert_eq!(
        found.block,
        Block {
            m_s: 32,
            n_s: 32,
            a_columns: 8,
            w_s: 4,
            q_s: 8
        }
    );
    assert!(matches!(plan(3, &matrix, 100), Err(Refusal::TooLarge { .. })));
    assert!(matches!(plan(3, &moderate, 100), Err(Refusal::TooLarge { .. })));
    let odd = Nm::from_entries(&matrix.entries(), &nm(2, 4, 3)).expect("fits");
    assert!(matches!(
        plan(3, &odd, sm),
        Err(Refusal::Parameter {
            field: "l",
            found: 3,
            ..
        })
    ));
}

#[test]
#[rustfmt::skip]
fn packings_that_mean_something_else_are_refused() {
    let valid = Packing::from_nm(&documented(), 8, 2).expect("whole blocks").into_parts();
    assert!(Packing::try_new(valid.clone()).is_ok());
    let (offset, info, index) = ("col_ptr", "col_info", "index");
    let table: [(fn(&mut PackingParts), Refusal); 16] = [
        (|p| p.m = 0, Refusal::Zero { field: "m" }),
        (|p| p.k_s = 6, Refusal::Parameter { field: "k_s", expected: "a multiple of m", found: 6 }),
        (|p| p.k_s = usize::MAX, Refusal::Parameter { field: "k_s", expected: "a multiple of m", found: usize::MAX as u64 }),
        (|p| p.n_s = 0, Refusal::Parameter { field: "l", expected: "a divisor of n_s", found: 1 }),
        (|p| (p.rows, p.m, p.k_s) = (u32::MAX as usize, 1 << 31, 1 << 31), Refusal::TooLarge { field: "rows, padded", found: 1 << 32, limit: u32::MAX.into() }),
        (|p| p.rows = 9, Refusal::Length { field: offset, expected: 5, found: 3 }),
        (|p| p.n_s = 1, Refusal::Length { field: offset, expected: 4, found: 3 }),
        (|p| p.index.truncate(5), Refusal::Length { field: index, expected: 6, found: 5 }),
        (|p| p.col_ptr[0] = 1, Refusal::FirstOffset { field: offset, found: 1 }),
        (|p| p.col_ptr[1] = 5, Refusal::Decreasing { field: offset, at: 2, previous: 5, found: 4 }),
        (|p| p.col_ptr[2] = 3, Refusal::LastOffset { field: offset, expected: 4, found: 3 }),
        (|p| p.col_info.swap(2, 3), Refusal::Unsorted { field: info, at: 3, row: 1, previous: 5, found: 0 }),
        (|p| p.index[5] = 2, Refusal::IndexOutOfRange { field: index, at: 5, row: 1, found: 2, limit: 2 }),
        (|p| p.index[2] = 0, Refusal::IndexOutOfRange { field: info, at: 0, row: 0, found: 3, limit: 8 }),
        (|p| p.col_info[3] = 8, Refusal::IndexOutOfRange { field: info, at: 3, row: 1, found: 8, limit: 8 }),
        (|p| { p.col_info.insert(1, 4); p.col_ptr[1..].iter_mut().for_each(|o| *o += 1); p.index[2..4].fill(2); },
            Refusal::DirtyPad { field: info, at: 1, row: 0 }),
    ];
    for (number, (damage, expected)) in table.into_iter().enumerate() {
        let mut parts = valid.clone();
        damage(&mut parts);
        assert_eq!(Packing::try_new(parts), Err(expected), "number {number}");
    }
    // Two rows of one window must not meet the same column.
    let entries: Entries<f32> = picture(&["1", "1", ".", "."]);
    let matrix = Nm::from_entries(&entries, &nm(2, 4, 1)).expect("fits");
    let mut parts = Packing::from_nm(&matrix, 4, 1).expect("whole blocks").into_parts();
    parts.index.swap(0, 1);
    let unsorted = Refusal::Unsorted { field: index, at: 1, row: 0, previous: 1, found: 0 };
    assert_eq!(Packing::try_new(parts), Err(unsorted));
}

#[test]
fn pipelines_end_when_all_tiles_are_done() {
    let load = |tile, buffer| Step::Load { tile, buffer };
    let compute = |buffer| Step::Compute { buffer };
    assert_eq!(check_pipeline(0, &[]), Ok(()));
    let short = Refusal::Length {
        field: "pipeline",
        expected: 2,
        found: 1,
    };
    assert_eq!(
        check_pipeline(2, &[load(0, 0), load(1, 1), compute(0)]),
        Err(short)
    );
    let again = Refusal::Unequal {
        field: "pipeline",
        at: 2,
        expected: 1,
        found: 0,
    };
    assert_eq!(
        check_pipeline(1, &[load(0, 0), compute(0), compute(0)]),
        Err(again)
    );
    let overwritten = Refusal::Unequal {
        field: "pipeline",
        at: 2,
        expected: 0,
        found: 1,
    };
    assert_eq!(
        check_pipeline(2, &[load(0, 0), load(1, 0), compute(0)]),
        Err(overwritten)
    );
}

/// N:M matrices of every ratio up to 32, and blocks for them.
fn packable() -> impl Strategy<Value = (Nm<f64>, usize, usize)> {
    let ratio = (1u32..=32).prop_flat_map(|m| (1..=m, Just(m), 1u32..=4));
    (
        ratio,
        0usize..=100,
        0usize..=30,
        1usize..=4,
        1usize..=6,
        any::<u64>(),
    )
        .prop_map(|((n, m, l), rows, cols, windows, groups, seed)| {
            let mut state = seed | 1;
            let mut random = |below: usize| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below.max(1)
            };
            let mut list = std::collections::BTreeMap::new();
            for _ in 0..if rows * cols > 0 { random(200) } else { 0 } {
                list.insert(
                    (random(rows) as u32, random(cols) as u32),
                    1.0 + random(99) as f64,
                );
            }
            let list = list
                .into_iter()
                .map(|((row, col), value)| Entry { row, col, value });
            let entries = Entries::try_new(rows, cols, list.collect()).expect("sorted");
            let kind = sparse_oracle::format::FormatKind::Nm;
            let entries = sparse_oracle::op::prune(&entries, kind, &nm(n, m, l)).expect("legal parameters");
            let matrix = Nm::from_entries(&entries, &nm(n, m, l)).expect("pruned");
            (matrix, windows * m as usize, groups * l as usize)
        })
}

/// One column of products, in ascending u: the packed A is gathered by `col_info` first.
fn packed_product(a: &[f64], matrix: &Nm<f64>, packing: &Packing, j: usize) -> f64 {
    let (w, q) = (
        matrix.rows.div_ceil(matrix.m) * matrix.n,
        matrix.cols.div_ceil(matrix.l),
    );
    let (w_s, q_s) = (packing.k_s / matrix.m * matrix.n, packing.n_s / matrix.l);
    let across = matrix.cols.div_ceil(packing.n_s);
    let (mut sum, group) = (0.0f64, j / matrix.l);
    for u in 0..w {
        let (i, g) = (u / w_s, group / q_s);
        let ends = &packing.col_ptr[i * across + g..];
        let a_s: Vec<f64> = packing.col_info[ends[0] as usize..ends[1] as usize]
            .iter()
            .map(|&column| a.get(column as usize).copied().unwrap_or(0.0))
            .collect();
        // Blocks above are whole rows; blocks to the left have the height of this one.
        let (height, width) = ((w - i * w_s).min(w_s), (q - g * q_s).min(q_s));
        let at = i * w_s * q + height * g * q_s + (u - i * w_s) * width + (group - g * q_s);
        sum = a_s[packing.index[at] as usize].mul_add(matrix.values[u * q * matrix.l + j], sum);
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn packing_never_changes_which_operand_meets_which_value((matrix, k_s, n_s) in packable()) {
        let packing = Packing::from_nm(&matrix, k_s, n_s).expect("whole blocks");
        prop_assert_eq!(Packing::try_new(packing.clone().into_parts()), Ok(packing.clone()));
        let (w, q) = (matrix.rows.div_ceil(matrix.m) * matrix.n, matrix.cols.div_ceil(matrix.l));
        for (u, group) in (0..w).flat_map(|u| (0..q).map(move |g| (u, g))) {
            prop_assert_eq!(packing.column(u, group), matrix.row(u, group), "u = {}, group {}", u, group);
        }
        let (w_s, q_s) = (k_s / matrix.m * matrix.n, n_s / matrix.l);
        prop_assert!(packing.longest() <= k_s.min(w_s * q_s), "c is at most min(k_s, w_s * q_s)");
        let a: Vec<f64> = (0..matrix.rows).map(|k| (k as f64 + 1.0).sqrt()).collect();
        for j in 0..matrix.cols {
            let unpacked = (0..w).fold(0.0f64, |sum, u| {
                let k = matrix.row(u, j / matrix.l);
                a.get(k).copied().unwrap_or(0.0).mul_add(matrix.values[u * q * matrix.l + j], sum)
            });
            prop_assert_eq!(packed_product(&a, &matrix, &packing, j).to_bits(), unpacked.to_bits());
        }
    }

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
