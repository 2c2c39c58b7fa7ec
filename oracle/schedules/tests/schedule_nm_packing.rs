//! NM-SpMM's packing by hand and at random: which columns of A a block needs, and that nothing else changes.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::{nm, picture};
use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry, FormatKind, Nm};
use sparse_oracle::op::prune;
use sparse_oracle::{EncodingError, Refusal, RequestError};
use sparse_schedules::nm::{Block, Packing, PackingParts, Tiles, k_s_packed, plan};

/// The picture in the documentation: 1 of 4, columns 3 3 0 in the first window, 2 2 1 in the second.
fn documented() -> Nm<f32> {
    let entries = picture(&[". . 1", ". . .", ". . .", "1 1 .", ". . .", ". . 1", "1 1 .", ". . ."]);
    Nm::from_entries_with(&entries, &nm(1, 4, 1)).expect("fits")
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
    assert_eq!((&packing.col_ptr[..], &packing.col_info[..]), (&[0, 2, 4][..], &[0, 3, 5, 6][..]));
    assert_eq!(packing.index, [1, 1, 0, 1, 1, 0]);
    let wrong =
        |field, expected, found| Err(Refusal::Request(RequestError::Parameter { field, expected, found }));
    let of = |k_s, n_s| Packing::from_nm(&matrix, k_s, n_s).map(|_| ());
    assert_eq!(of(6, 1), wrong("k_s", "a multiple of m", 6));
    assert_eq!(of(0, 1), wrong("k_s", "a multiple of m", 0));
    assert_eq!(of(4, 0), wrong("l", "a divisor of n_s", 1));
    let wide = Nm::from_entries_with(&matrix.entries(), &nm(2, 4, 2)).expect("fits");
    assert_eq!(Packing::from_nm(&wide, 4, 3).map(|_| ()), wrong("l", "a divisor of n_s", 2));
}

#[test]
fn a_longer_block_may_need_fewer_columns() {
    // Windows of 4 that use 1, 1, 4, 4, 1, 1 columns: k_s = 8 meets the full ones in one block, k_s = 12 does not.
    let mut list: Vec<Entry<f32>> = Vec::new();
    for (window, used) in [1, 1, 4, 4, 1, 1].into_iter().enumerate() {
        for col in 0..4 {
            list.push(Entry { row: window as u32 * 4 + col % used, col, value: 1.0 });
        }
    }
    list.sort_unstable_by_key(|e| (e.row, e.col));
    let entries = Entries::try_new(24, 4, list).expect("sorted");
    let matrix = Nm::from_entries_with(&entries, &nm(1, 4, 1)).expect("fits");
    let longest = |k_s| Packing::from_nm(&matrix, k_s, 32).expect("whole blocks").longest();
    assert_eq!([4, 8, 12, 16, 20, 24].map(longest), [4, 8, 6, 10, 11, 12]);
    // Room for c = 6 with w_s = 3, not for c = 8 with w_s = 2: a search from below would stop at 4.
    let tiles = Tiles::SMALL;
    let sm = 8 * (32 * 6 + 3 * 32);
    assert_eq!(k_s_packed(&tiles, &matrix, sm), Ok((12, 6)));
    assert_eq!(k_s_packed(&tiles, &matrix, sm - 1), Ok((4, 4)));
    let one = 8 * (32 * 4 + 32);
    assert_eq!(k_s_packed(&tiles, &matrix, one), Ok((4, 4)));
    let field = "twice the bytes of A_s and B_s for one window";
    let refused =
        Refusal::Request(RequestError::TooLarge { field, found: u128::from(one), limit: u64::from(one) - 1 });
    assert_eq!(k_s_packed(&tiles, &matrix, one - 1), Err(refused));
    assert_eq!(k_s_packed(&tiles, &matrix, u32::MAX), Ok((24, 12)), "no longer than k");
}

#[test]
fn plans_pack_above_70_percent_and_stay_within_k() {
    let sm = 192 * 1024;
    let matrix = documented();
    let found = plan(3, &matrix, sm).expect("fits");
    assert_eq!((found.packed, found.k_s, found.tiles), (true, 8, Tiles::SMALL));
    assert_eq!(found.block, Block { m_s: 32, n_s: 32, a_columns: 4, w_s: 2, q_s: 32 });
    let moderate = Nm::from_entries_with(&matrix.entries(), &nm(2, 4, 4)).expect("fits");
    let found = plan(3, &moderate, sm).expect("fits");
    assert_eq!((found.packed, found.k_s), (false, 8));
    assert_eq!(found.block, Block { m_s: 32, n_s: 32, a_columns: 8, w_s: 4, q_s: 8 });
    assert!(matches!(plan(3, &matrix, 100), Err(Refusal::Request(RequestError::TooLarge { .. }))));
    assert!(matches!(plan(3, &moderate, 100), Err(Refusal::Request(RequestError::TooLarge { .. }))));
    let odd = Nm::from_entries_with(&matrix.entries(), &nm(2, 4, 3)).expect("fits");
    assert!(matches!(
        plan(3, &odd, sm),
        Err(Refusal::Request(RequestError::Parameter { field: "l", found: 3, .. }))
    ));
}

#[test]
#[rustfmt::skip]
fn packings_that_mean_something_else_are_refused() {
    let valid = Packing::from_nm(&documented(), 8, 2).expect("whole blocks").into_parts();
    assert!(Packing::try_new(valid.clone()).is_ok());
    let (offset, info, index) = ("col_ptr", "col_info", "index");
    type Damage = fn(&mut PackingParts);
    let table: [(Damage, Refusal); 16] = [
        (|p| p.m = 0, Refusal::Request(RequestError::Zero { field: "m" })),
        (|p| p.k_s = 6, Refusal::Request(RequestError::Parameter { field: "k_s", expected: "a multiple of m", found: 6 })),
        (|p| p.k_s = usize::MAX, Refusal::Request(RequestError::Parameter { field: "k_s", expected: "a multiple of m", found: usize::MAX as u64 })),
        (|p| p.n_s = 0, Refusal::Request(RequestError::Parameter { field: "l", expected: "a divisor of n_s", found: 1 })),
        (|p| (p.rows, p.m, p.k_s) = (u32::MAX as usize, 1 << 31, 1 << 31), Refusal::Request(RequestError::TooLarge { field: "rows, padded", found: 1 << 32, limit: u32::MAX.into() })),
        (|p| p.rows = 9, Refusal::Encoding(EncodingError::Length { field: offset, expected: 5, found: 3 })),
        (|p| p.n_s = 1, Refusal::Encoding(EncodingError::Length { field: offset, expected: 4, found: 3 })),
        (|p| p.index.truncate(5), Refusal::Encoding(EncodingError::Length { field: index, expected: 6, found: 5 })),
        (|p| p.col_ptr[0] = 1, Refusal::Encoding(EncodingError::FirstOffset { field: offset, found: 1 })),
        (|p| p.col_ptr[1] = 5, Refusal::Encoding(EncodingError::Decreasing { field: offset, at: 2, previous: 5, found: 4 })),
        (|p| p.col_ptr[2] = 3, Refusal::Encoding(EncodingError::LastOffset { field: offset, expected: 4, found: 3 })),
        (|p| p.col_info.swap(2, 3), Refusal::Encoding(EncodingError::Unsorted { field: info, at: 3, row: 1, previous: 5, found: 0 })),
        (|p| p.index[5] = 2, Refusal::Encoding(EncodingError::IndexOutOfRange { field: index, at: 5, row: 1, found: 2, limit: 2 })),
        (|p| p.index[2] = 0, Refusal::Encoding(EncodingError::IndexOutOfRange { field: info, at: 0, row: 0, found: 3, limit: 8 })),
        (|p| p.col_info[3] = 8, Refusal::Encoding(EncodingError::IndexOutOfRange { field: info, at: 3, row: 1, found: 8, limit: 8 })),
        (|p| { p.col_info.insert(1, 4); p.col_ptr[1..].iter_mut().for_each(|o| *o += 1); p.index[2..4].fill(2); },
            Refusal::Encoding(EncodingError::DirtyPad { field: info, at: 1, row: 0 })),
    ];
    for (number, (damage, expected)) in table.into_iter().enumerate() {
        let mut parts = valid.clone();
        damage(&mut parts);
        assert_eq!(Packing::try_new(parts), Err(expected), "number {number}");
    }
    // Two rows of one window must not meet the same column.
    let entries: Entries<f32> = picture(&["1", "1", ".", "."]);
    let matrix = Nm::from_entries_with(&entries, &nm(2, 4, 1)).expect("fits");
    let mut parts = Packing::from_nm(&matrix, 4, 1).expect("whole blocks").into_parts();
    parts.index.swap(0, 1);
    let unsorted = Refusal::Encoding(EncodingError::Unsorted { field: index, at: 1, row: 0, previous: 1, found: 0 });
    assert_eq!(Packing::try_new(parts), Err(unsorted));
}

/// N:M matrices of every ratio up to 32, and blocks for them.
fn packable() -> impl Strategy<Value = (Nm<f64>, usize, usize)> {
    let ratio = (1u32..=32).prop_flat_map(|m| (1..=m, Just(m), 1u32..=4));
    (ratio, 0usize..=100, 0usize..=30, 1usize..=4, 1usize..=6, any::<u64>()).prop_map(
        |((n, m, l), rows, cols, windows, groups, seed)| {
            let mut state = seed | 1;
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below.max(1)
            };
            let mut list = std::collections::BTreeMap::new();
            for _ in 0..if rows * cols > 0 { random(200) } else { 0 } {
                list.insert((random(rows) as u32, random(cols) as u32), 1.0 + random(99) as f64);
            }
            let list = list.into_iter().map(|((row, col), value)| Entry { row, col, value });
            let entries = Entries::try_new(rows, cols, list.collect()).expect("sorted");
            let entries = prune(&entries, FormatKind::Nm, &nm(n, m, l)).expect("legal parameters");
            let matrix = Nm::from_entries_with(&entries, &nm(n, m, l)).expect("pruned");
            (matrix, windows * m as usize, groups * l as usize)
        },
    )
}

/// One column of products, in ascending u: the packed A is gathered by `col_info` first.
fn packed_product(a: &[f64], matrix: &Nm<f64>, packing: &Packing, j: usize) -> f64 {
    let (w, q) = (matrix.rows.div_ceil(matrix.m) * matrix.n, matrix.cols.div_ceil(matrix.l));
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
}
