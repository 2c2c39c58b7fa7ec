//! The slips of NM-SpMM: what is printed, written down as printed, is caught.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::{nm, picture};
use sparse_oracle::format::{Dense, Entries, Nm};
use sparse_oracle::op::nm::{definition, product};
use sparse_oracle::{EncodingError, Refusal};
use sparse_schedules::nm::{
    Block, Packing, PipelineStep, Tiles, check_pipeline, double_buffered, k_s, k_s_packed,
};

/// A of 3 x 8 with a different power of two in every column, so that a wrong column shows.
fn left() -> Dense<f64> {
    Dense::from_fn(3, 8, |i, k| f64::from(1 << (8 * i + k)))
}

/// 8 x 4, 2 of every 4 rows in vectors of 2.
fn right() -> Entries<f64> {
    picture(&["1 2 . .", ". . 3 4", "5 6 . .", ". . 7 1", ". . . .", "2 3 4 5", "6 7 . .", ". . 1 2"])
}

/// Equation (1) with another first summand of the column of A and another end of the sum.
fn equation_1(
    a: &Dense<f64>,
    b: &Nm<f64>,
    base: impl Fn(usize) -> usize,
    end: usize,
) -> Option<Vec<Vec<f64>>> {
    let groups = b.cols / b.l;
    let element = |i: usize, j: usize| -> Option<f64> {
        let mut sum = 0.0;
        for u in 0..end {
            let offset = *b.index.get(u * groups + j / b.l)? as usize;
            let k = base(u) + offset;
            let a_ik = if k < a.cols() { a.at(i, k) } else { 0.0 };
            sum += a_ik * b.values[u * b.cols + j];
        }
        Some(sum)
    };
    (0..a.rows()).map(|i| (0..b.cols).map(|j| element(i, j)).collect()).collect()
}

#[test]
fn slip_5_the_index_of_equation_1_and_its_last_term() {
    let (a, entries) = (left(), right());
    let b = Nm::from_entries_with(&entries, &nm(2, 4, 2)).expect("fits");
    let numbers = |rows: Vec<Vec<sparse_oracle::exact::Element>>| -> Vec<Vec<f64>> {
        rows.into_iter().map(|row| row.into_iter().map(|e| e.value.approx()).collect()).collect()
    };
    let exact = numbers(product(&a, &entries).expect("shapes fit"));
    assert_eq!(numbers(definition(&a, &b).expect("shapes fit")), exact);
    let (n, m, w) = (b.n, b.m, 4);
    // Pinned: floor(u / N) * M + D, u up to w - 1.
    assert_eq!(equation_1(&a, &b, |u| u / n * m, w).as_ref(), Some(&exact));
    // As printed: u * M / N + D.
    let printed = equation_1(&a, &b, |u| u * m / n, w).expect("in range");
    assert_ne!(printed, exact);
    // As printed: u = 0 to w, one term past the end of D and B'.
    assert_eq!(equation_1(&a, &b, |u| u / n * m, w + 1), None);
    // The factor M / N would double everything; it is alpha, and 1 unless asked for.
    assert!(exact.iter().flatten().all(|&c| c != 0.0));
}

/// Listing 1, line 4: `min(k, M * SM / (8 * (N * m_s + N * n_s)))`.
fn k_s_as_printed(tiles: &Tiles, n: u32, m: u32, sm: u32) -> u32 {
    m * sm / (8 * (n * tiles.m_s + n * tiles.n_s))
}

fn unpacked(tiles: &Tiles, n: u32, m: u32, k_s: u32) -> Block {
    Block { m_s: tiles.m_s, n_s: tiles.n_s, a_columns: k_s, w_s: k_s / m * n, q_s: 0 }
}

#[test]
fn slip_6_the_printed_k_s_does_not_fit_unless_all_windows_are_alike() {
    const SM: u32 = 192 * 1024;
    for (n, m) in [(16, 32), (12, 32), (8, 32), (4, 32), (2, 4), (1, 8)] {
        for tiles in [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE] {
            let printed = k_s_as_printed(&tiles, n, m, SM) / m * m;
            assert!(!unpacked(&tiles, n, m, printed).obeys_5(SM), "{n}:{m}, {tiles:?}: {printed}");
            let pinned = k_s(&tiles, n, m, SM).expect("a window fits");
            assert!(pinned < printed && unpacked(&tiles, n, m, pinned).obeys_5(SM));
            assert!(
                !unpacked(&tiles, n, m, pinned + m).obeys_5(SM),
                "{n}:{m}, {tiles:?}: {pinned} is not the largest"
            );
        }
    }
    // N = M: nothing is pruned, and the print is right.
    assert_eq!(k_s_as_printed(&Tiles::SMALL, 32, 32, SM), 384);
    assert_eq!(k_s(&Tiles::SMALL, 32, 32, SM), Ok(384));

    // Packed, the print is right exactly where all windows of a block keep the same rows.
    let sm = 8 * 1024;
    let entries = |pattern: &dyn Fn(usize) -> u32| {
        let at = |window: u32, col: usize| (window * 8 + pattern(col), col as u32);
        let mut cells: Vec<_> = (0..16).flat_map(|w| (0..32).map(move |c| at(w, c))).collect();
        cells.sort_unstable();
        let list = cells.into_iter().map(|(row, col)| sparse_oracle::format::Entry { row, col, value: 1.0 });
        Nm::from_entries_with(&Entries::try_new(128, 32, list.collect()).expect("sorted"), &nm(1, 8, 1))
            .expect("fits")
    };
    let alike = entries(&|_| 5);
    let different = entries(&|col| col as u32 % 8);
    let printed = k_s_as_printed(&Tiles::SMALL, 1, 8, sm);
    assert_eq!(printed, 128);
    assert_eq!(k_s_packed(&Tiles::SMALL, &alike, sm), Ok((128, 16)));
    let c = Packing::from_nm(&different, 128, 32).expect("fits").longest();
    assert_eq!(c, 128, "every column of A is used");
    let packed = Block { a_columns: c as u32, ..unpacked(&Tiles::SMALL, 1, 8, printed) };
    assert!(!packed.obeys_5(sm));
    assert_eq!(k_s_packed(&Tiles::SMALL, &different, sm), Ok((24, 24)));
}

/// Listing 4, lines 8 to 26: the outer pipeline, as printed.
fn listing_4(tiles: usize) -> Vec<PipelineStep> {
    let (mut cur, mut nex) = (1, 0);
    let mut steps = vec![PipelineStep::Load { tile: 0, buffer: cur }];
    for tile in 1..tiles {
        (cur, nex) = (cur ^ 1, nex ^ 1);
        steps.push(PipelineStep::Load { tile, buffer: nex });
        steps.push(PipelineStep::Compute { buffer: cur });
    }
    steps.push(PipelineStep::Compute { buffer: cur ^ 1 });
    steps
}

/// Listing 4, lines 34 to 45: the inner pipeline, as printed.
fn listing_4_inner(w_s: usize) -> Vec<PipelineStep> {
    let mut steps = vec![PipelineStep::Load { tile: 0, buffer: 0 }];
    for p in 0..w_s - 1 {
        steps.push(PipelineStep::Load { tile: p + 1, buffer: (p + 1) % 2 });
        steps.push(PipelineStep::Compute { buffer: p % 2 });
    }
    steps.push(PipelineStep::Compute { buffer: 1 });
    steps
}

#[test]
fn slip_7_the_first_tile_is_overwritten() {
    let wrong = |at, expected, found| {
        Err(Refusal::Encoding(EncodingError::Unequal { field: "pipeline", at, expected, found }))
    };
    for tiles in 1..10 {
        assert_eq!(check_pipeline(tiles, &double_buffered(tiles)), Ok(()), "{tiles}");
        // The first computation finds an empty buffer.
        let first = if tiles == 1 { 1 } else { 2 };
        assert_eq!(check_pipeline(tiles, &listing_4(tiles)), wrong(first, 0, tiles as u64), "{tiles}");
    }
}

#[test]
fn slip_7_the_last_inner_step_is_wrong_for_odd_w_s() {
    for w_s in 1..10 {
        let found = check_pipeline(w_s, &listing_4_inner(w_s));
        if w_s % 2 == 0 {
            assert_eq!(found, Ok(()), "{w_s}");
        } else {
            let last = if w_s == 1 { w_s } else { w_s - 2 } as u64;
            let (expected, at) = (w_s as u64 - 1, 2 * w_s - 1);
            assert_eq!(
                found,
                Err(Refusal::Encoding(EncodingError::Unequal {
                    field: "pipeline",
                    at,
                    expected,
                    found: last
                })),
                "{w_s}"
            );
        }
    }
}

/// Listing 2, lines 17 to 24: where a thread's tile begins, as printed.
fn listing_2(tiles: &Tiles, warp: u32, lane: u32) -> (u32, u32) {
    (warp / 2 * tiles.m_t * 4 + lane / 8 * tiles.m_t, warp % 2 * tiles.n_t * 8 + lane % 8 * tiles.n_t)
}

/// How often each element of `C_s` is computed by the threads of a block, row-major; `None` if one lies outside.
fn coverage(tiles: &Tiles, origin: impl Fn(u32, u32) -> (u32, u32)) -> Option<Vec<u32>> {
    let mut counts = vec![0; (tiles.m_s * tiles.n_s) as usize];
    let (down, across) = tiles.warps();
    for (warp, lane) in (0..down * across).flat_map(|warp| (0..32).map(move |lane| (warp, lane))) {
        let (row, col) = origin(warp, lane);
        for (i, j) in (0..tiles.m_t).flat_map(|i| (0..tiles.n_t).map(move |j| (i, j))) {
            if row + i >= tiles.m_s || col + j >= tiles.n_s {
                return None;
            }
            counts[((row + i) * tiles.n_s + col + j) as usize] += 1;
        }
    }
    Some(counts)
}

#[test]
fn slip_7_listing_2_is_not_the_grid_of_table_i() {
    for tiles in [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE] {
        let once = vec![1; (tiles.m_s * tiles.n_s) as usize];
        assert_eq!(coverage(&tiles, |w, l| tiles.thread_origin(w, l)), Some(once), "{tiles:?}");
    }
    // The large warp tile is 64 x 32; 4 x 8 threads of 8 x 8 make 32 x 64.
    assert_eq!(Tiles::LARGE.grid(), (8, 4));
    let extent = |tiles: &Tiles| {
        let lanes = (0..32).map(|lane| listing_2(tiles, 0, lane));
        lanes.fold((0, 0), |(r, c), (row, col)| (r.max(row + tiles.m_t), c.max(col + tiles.n_t)))
    };
    assert_eq!(extent(&Tiles::LARGE), (32, 64));
    assert_eq!(extent(&Tiles::MEDIUM), (32, 32));
    // Listing 2 puts two warps side by side; the small block has room for one.
    assert_eq!(Tiles::SMALL.warps(), (2, 1));
    assert_eq!(coverage(&Tiles::SMALL, |w, l| listing_2(&Tiles::SMALL, w, l)), None);
}
