//! Reordering by hand, and what holds of every result; orders of rows, applied and undone.

use crate::drawings;
use crate::matrices;
use sparse_oracle::prelude::*;

use drawings::drawn;
use matrices::{patterns, typed};
use proptest::prelude::*;
use sparse_oracle::format::{Csr, Dense, Entries, FormatParams, Layout, RsTile};
use sparse_oracle::{EncodingError, Refusal, RequestError};
use sparse_schedules::reorder::{COST_ONE, Permutation, adjacent_cost, reorder, similarity};

fn csr(lines: &[&str]) -> Csr<f64> {
    Csr::from_entries(&drawn(lines)).expect("encodes")
}

fn order(rows: &[u32]) -> Permutation {
    Permutation::try_new(rows.to_vec()).expect("a permutation")
}

/// All three orders of a result.
fn steps(lines: &[&str]) -> [Vec<u32>; 3] {
    let found = reorder(&csr(lines));
    [found.spanning, found.refined, found.adjusted].map(|p| p.rows().to_vec())
}

#[test]
fn similarity_by_hand() {
    // Degrees 2, 3, 1, 1: weights 1/2, 1/3, 1, 1.
    let m = csr(&["xxx.", "xx..", ".x.x", "...."]);
    assert_eq!(similarity(&m, 0, 1), (0.5 + 1.0 / 3.0) / (0.5 + 1.0 / 3.0 + 1.0));
    assert_eq!(similarity(&m, 0, 2), (1.0 / 3.0) / (0.5 + 1.0 / 3.0 + 1.0 + 1.0));
    assert_eq!(similarity(&m, 2, 0), similarity(&m, 0, 2));
    assert_eq!(similarity(&m, 1, 1), 1.0);
    assert_eq!(similarity(&m, 0, 3), 0.0);
    assert_eq!(similarity(&m, 3, 3), 0.0, "empty rows share nothing");
    assert_eq!(adjacent_cost(&m, &order(&[3, 0, 1, 2])), {
        let units = |similarity: f64| ((1.0 - similarity) * COST_ONE as f64) as u128;
        u128::from(COST_ONE) + units(similarity(&m, 0, 1)) + units(similarity(&m, 1, 2))
    });
}

#[test]
fn alike_rows_come_together() {
    // Two kinds of rows in turn. Costs 0 inside a kind; trees by their smallest row, children by id.
    let lines = ["xx..", "..xx", "xx..", "..xx", "xx..", "..xx"];
    for step in steps(&lines) {
        assert_eq!(step, [0, 2, 4, 1, 3, 5]);
    }
}

#[test]
fn a_chain_of_overlaps_is_followed() {
    // Each row shares one column with the next in the order 0 2 4 3 1: similarities 1/4, 1/3, 1/3, 1/4.
    let lines = ["xx....", "....xx", ".xx...", "...xx.", "..xx.."];
    for step in steps(&lines) {
        assert_eq!(step, [0, 2, 4, 3, 1]);
    }
}

#[test]
fn children_come_by_cost_before_id_and_depth_first() {
    // Row 0 is most like row 3, then 2, then 1; below row 2 hangs row 4. Columns that two rows have weigh 1/2, others 1.
    let lines = ["xxxx....", "..x.xx..", "...x..x.", "xx......", "......xx"];
    let m = csr(&lines);
    let shares = [similarity(&m, 0, 3), similarity(&m, 0, 2), similarity(&m, 0, 1), similarity(&m, 2, 4)];
    assert_eq!(shares, [1.0 / 2.0, 0.5 / 2.5, 0.5 / 4.0, 0.5 / 2.0]);
    let found = reorder(&m);
    assert_eq!(found.spanning.rows(), [0, 3, 2, 4, 1]);
}

#[test]
fn a_piece_is_turned_and_an_isolated_row_moves() {
    // Row 0 shares a column with each of the others, which share nothing: costs 2/3 beside row 0, else 1.
    let [spanning, refined, adjusted] = steps(&["xxx", "x..", ".x.", "..x"]);
    assert_eq!(spanning, [0, 1, 2, 3], "costs 2/3 1 1");
    assert_eq!(refined, [1, 0, 2, 3], "costs 2/3 2/3 1: rows 0 and 1 turned");
    // Row 3 fits row 0 only. On either side of it the order costs what it did, which is no reason to stay.
    assert_eq!(adjusted, [1, 0, 3, 2], "costs 2/3 2/3 1");
}

#[test]
fn empty_rows_go_last_in_their_order() {
    let lines = ["....", "xx..", "....", "..xx", ".xx.", "...."];
    let [spanning, refined, adjusted] = steps(&lines);
    // Each empty row is a tree; row 4 joins rows 1 and 3.
    assert_eq!(spanning, [0, 1, 4, 3, 2, 5]);
    assert_eq!(refined, spanning);
    assert_eq!(adjusted, [1, 4, 3, 0, 2, 5]);
}

#[test]
fn nothing_to_order() {
    assert_eq!(steps(&[]), [[0u32; 0]; 3].map(|s| s.to_vec()));
    assert_eq!(steps(&["x.x"]), [[0]; 3].map(|s| s.to_vec()));
    assert_eq!(steps(&["..", "..", ".."]), [[0, 1, 2]; 3].map(|s| s.to_vec()));
    // As many columns as there can be, two of them used: memory follows the entries.
    let far = Entries::try_new(2, u32::MAX as usize, drawn(&["x.", "xx"]).list).expect("sorted");
    assert_eq!(reorder(&Csr::from_entries(&far).expect("encodes")).adjusted, Permutation::identity(2));
}

#[test]
fn windows_of_alike_rows_have_fewer_blocks() {
    // Eight kinds of rows, eight of each, in turn: 64 columns in every window, or eight.
    let lines: Vec<String> =
        (0..64).map(|row| (0..64).map(|col| if col / 8 == row % 8 { 'x' } else { '.' }).collect()).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let blocks = |m: &Csr<f64>| {
        let tiles = RsTile::from_entries_with(&m.entries(), &FormatParams::default()).expect("encodes");
        tiles.bitmap.len()
    };
    let (before, found) = (csr(&lines), reorder(&csr(&lines)));
    assert_eq!(blocks(&before), 64);
    assert_eq!(blocks(&found.adjusted.csr(&before).expect("as many rows")), 8);
}

fn is_permutation(p: &Permutation, rows: usize) -> bool {
    let mut sorted = p.rows().to_vec();
    sorted.sort_unstable();
    sorted == (0..rows as u32).collect::<Vec<u32>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_step_is_a_permutation_and_costs_no_more_than_the_one_before(entries in patterns()) {
        let m = Csr::from_entries(&entries).expect("encodes");
        let found = reorder(&m);
        for p in [&found.spanning, &found.refined, &found.adjusted] {
            prop_assert!(is_permutation(p, m.rows));
        }
        let cost = |p| adjacent_cost(&m, p);
        prop_assert!(cost(&found.refined) <= cost(&found.spanning));
        prop_assert!(cost(&found.adjusted) <= cost(&found.refined));
        prop_assert_eq!(&reorder(&m), &found, "once more");
        // Values do not matter, nor do columns without entries.
        prop_assert_eq!(&reorder(&m.map(|_| ())), &found);
        let mut spread = m.clone().into_parts();
        spread.cols *= 3;
        spread.col_idx.iter_mut().for_each(|col| *col = 3 * *col + 1);
        prop_assert_eq!(reorder(&Csr::try_new(spread).expect("valid")), found);
    }

    #[test]
    fn the_inverse_undoes_an_order(entries in patterns(), seed in any::<u64>()) {
        let rows = entries.rows as u32;
        // Some order: rows by a hash.
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_by_key(|&row| (u64::from(row) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let order = Permutation::try_new(order).expect("a permutation");
        let inverse = order.inverse();
        prop_assert_eq!(inverse.inverse(), order.clone());
        let moved = order.entries(&entries).expect("as many rows");
        prop_assert_eq!(moved.check(), Ok(()));
        prop_assert_eq!(inverse.entries(&moved).expect("as many rows"), entries.clone());
        let m = Csr::from_entries(&entries).expect("encodes");
        let moved_csr = order.csr(&m).expect("as many rows");
        prop_assert_eq!(moved_csr.entries(), moved);
        prop_assert_eq!(inverse.csr(&moved_csr).expect("as many rows"), m);
    }

    /// Terms of a row keep their order, so that even rounded sums keep their bits.
    #[test]
    fn a_product_of_reordered_rows_undone_is_the_product_bit_for_bit(entries in patterns(), seed in any::<u32>()) {
        let m = Csr::from_entries(&typed::<f32>(&entries)).expect("encodes");
        let b = Dense::from_fn(m.cols, 3, |i, j| (i * 3 + j) as f32 * 0.1 + seed as f32);
        let order = reorder(&m).adjusted;
        let moved = chains(&order.csr(&m).expect("as many rows"), &b);
        let back = order.inverse().dense(&moved).expect("as many rows");
        let bits = |c: &Dense<f32>| c.data().iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        prop_assert_eq!(bits(&back), bits(&chains(&m, &b)));
    }
}

/// A * B, each element one chain of fused steps over ascending columns.
fn chains(a: &Csr<f32>, b: &Dense<f32>) -> Dense<f32> {
    Dense::from_fn(a.rows, b.cols(), |i, j| {
        let (cols, values) = a.row(i);
        let terms = cols.iter().zip(values);
        terms.fold(0.0, |sum: f32, (&col, &value)| value.mul_add(b.at(col as usize, j), sum))
    })
}

#[test]
fn orders_by_hand() {
    let p = order(&[2, 0, 1]);
    assert_eq!(p.inverse(), order(&[1, 2, 0]));
    let moved = p.entries(&drawn(&["x..", ".x.", "..x"])).expect("three rows");
    let places: Vec<(u32, u32, f64)> = moved.list.iter().map(|e| (e.row, e.col, e.value)).collect();
    assert_eq!(places, [(0, 2, 203.0), (1, 0, 1.0), (2, 1, 102.0)]);
    let columns = Dense::try_new(3, 2, 4, Layout::ColMajor, vec![1, 2, 3, 0, 4, 5, 6, 0]).expect("a matrix");
    let rows = p.dense(&columns).expect("three rows");
    assert_eq!(rows.data(), [3, 6, 1, 4, 2, 5]);
}

#[test]
fn what_is_no_order_is_refused() {
    assert_eq!(
        Permutation::try_new(vec![0, 2]),
        Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
            field: "order",
            at: 1,
            row: 1,
            found: 2,
            limit: 2
        }))
    );
    assert_eq!(
        Permutation::try_new(vec![1, 0, 1]),
        Err(Refusal::Request(RequestError::Parameter {
            field: "a row of order",
            expected: "one that has not occurred before",
            found: 1
        }))
    );
    let shape = |rows| {
        Refusal::Request(RequestError::Shape {
            left_name: "rows of the matrix",
            left: rows,
            right_name: "rows of the order",
            right: 2,
        })
    };
    let (p, three) = (order(&[1, 0]), drawn(&["x", "x", "x"]));
    assert_eq!(p.entries(&three), Err(shape(3)));
    assert_eq!(p.csr(&Csr::from_entries(&three).expect("encodes")), Err(shape(3)));
    assert_eq!(p.dense(&Dense::from_fn(1, 1, |_, _| 0)), Err(shape(1)));
}
