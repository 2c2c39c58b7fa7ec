//! RSH-SpMM's schedule: thresholds, the scan under both rules, the parameters behind a partition, segments, what a
//! pipeline may load, and the counts that the paper plots.

use crate::drawings;
use crate::files_shared;
use crate::matrices;
use sparse_oracle::prelude::*;

use drawings::{WORKED, drawn};
use files_shared::{say, shared};
use matrices::patterns;
use proptest::prelude::*;
use sparse_oracle::format::{
    AnyParts, AnySparse, Entries, Entry, Fields, FormatKind, FormatParams, ImpactRule, Parts, RsTile, Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::source::file::read_path;
use sparse_oracle::verdict::Verdict;
use sparse_schedules::rs_tile::{
    RsTilePartition, RsTileThresholds, Segment, Statistics, estimate_tau_nnz, partition, prologue, recover,
    segments, statistics, sweep,
};

fn params(impact: ImpactRule, tau_nnz: u32, tau_inc: Option<u32>) -> FormatParams {
    FormatParams { tau_nnz: Some(tau_nnz), tau_inc, impact, ..FormatParams::default() }
}

fn scan<T>(entries: &Entries<T>, params: &FormatParams) -> RsTilePartition {
    partition(entries, &RsTileThresholds::new(entries.rows, entries.nnz(), params))
}

#[test]
fn tau_nnz_is_half_the_mean_from_1_to_4() {
    for (rows, nnz, tau) in [
        (0, 0, 1),
        (1, 0, 1),
        (10, 39, 1),
        (10, 40, 2),
        (10, 59, 2),
        (10, 60, 3),
        (10, 79, 3),
        (10, 80, 4),
        (10, 10_000, 4),
        (u32::MAX as usize, u32::MAX as usize, 1),
        (usize::MAX, usize::MAX, 1),
    ] {
        assert_eq!(estimate_tau_nnz(rows, nnz), tau, "{nnz} entries in {rows} rows");
    }
}

#[test]
fn both_rules_by_table() {
    use ImpactRule::{AsDescribed, AsPrinted};
    for (rule, tau, inc, nnz, added, cuda) in [
        // Described: half the row, rounded up, must be new columns.
        (AsDescribed, 4, None, 1, 0, false),
        (AsDescribed, 4, None, 1, 1, true),
        (AsDescribed, 4, None, 2, 1, true),
        (AsDescribed, 4, None, 3, 1, false),
        (AsDescribed, 4, None, 3, 2, true),
        (AsDescribed, 4, None, 4, 2, true),
        (AsDescribed, 4, None, 5, 5, false),
        (AsDescribed, 4, Some(4), 4, 3, false),
        (AsDescribed, 4, Some(4), 4, 4, true),
        (AsDescribed, 0, None, 1, 1, false),
        // Printed: fewer than tau_inc, which is tau_nnz.
        (AsPrinted, 4, None, 4, 3, true),
        (AsPrinted, 4, None, 4, 4, false),
        (AsPrinted, 4, None, 5, 0, false),
        (AsPrinted, 4, Some(1), 4, 0, true),
        (AsPrinted, 4, Some(1), 4, 1, false),
        (AsPrinted, 1, None, 1, 0, true),
        (AsPrinted, 1, None, 1, 1, false),
        (AsPrinted, 0, None, 1, 0, false),
    ] {
        let thresholds = RsTileThresholds::new(1, 1, &params(rule, tau, inc));
        assert_eq!(thresholds.send_to_cuda(nnz, added), cuda, "{thresholds:?}: {nnz} entries, {added} added");
    }
}

#[test]
fn short_rows_go_one_at_a_time_and_windows_eight() {
    // Rows 0 and 1 add their column; row 2 is long; row 3 is inside its window and not asked.
    let entries = drawn(&[
        "x.......", ".x......", "..xxx...", ".......x", "........", "........", "........", "........",
        "........", "........", "........", ".....x..", "......x.",
    ]);
    let found = scan(&entries, &params(ImpactRule::AsDescribed, 1, None));
    // Row 10 is empty: skipped. Rows 11 and 12 are alone with their columns.
    assert_eq!((found.windows, found.residual), (vec![2], vec![0, 1, 11, 12]));
}

#[test]
fn the_window_that_counts_added_columns_has_eight_rows() {
    // Column 0 occurs again seven rows below, inside the window, or eight rows below, outside.
    for (below, residual) in [(7, vec![]), (8, vec![0, 8])] {
        let mut lines = vec!["."; 9];
        (lines[0], lines[below]) = ("x", "x");
        let found = scan(&drawn(&lines), &params(ImpactRule::AsDescribed, 1, None));
        assert_eq!(found.residual, residual, "{below}");
    }
}

/// Slip 3: Algorithm 1 sends short rows to the CUDA part when they add few columns, the text when they overlap little.
#[test]
fn slip_3_a_partition_as_printed_is_caught_where_the_default_is_expected() {
    let worked = drawn(&WORKED);
    let described = params(ImpactRule::AsDescribed, 2, None);
    let printed = params(ImpactRule::AsPrinted, 2, None);
    assert_eq!(scan(&worked, &described).residual, [1, 10]);
    assert_eq!(scan(&worked, &printed).residual, [1, 10, 11, 13]);
    let encode = |params| Sparse::from_entries(FormatKind::RsTile, params, &worked).expect("encodes");
    let expected = AnySparse::F64(encode(described));
    let verdict = |found: Sparse<f64>| judge_encoded(&expected, AnyParts::F64(Parts::from(found)));
    assert_eq!(verdict(encode(described)), Verdict::Exact);
    // The same matrix, and valid: only the partition tells.
    let Verdict::Wrong(mismatch) = verdict(encode(printed)) else {
        panic!("a partition as printed passed");
    };
    assert!(mismatch.to_string().contains("window_row[1]"), "{mismatch}");
    // A backend that declares the rule is judged by it.
    let expected = AnySparse::F64(encode(printed));
    let found = judge_encoded(&expected, AnyParts::F64(Parts::from(encode(printed))));
    assert_eq!(found, Verdict::Exact);
}

#[test]
fn parameters_that_no_scan_answers_to_are_not_found() {
    let worked = drawn(&WORKED);
    let wanted = |windows: &[u32], residual: &[u32]| RsTilePartition {
        windows: windows.to_vec(),
        residual: residual.to_vec(),
    };
    assert_eq!(recover(&worked, &wanted(&[0, 9], &[])), None, "a window at an empty row");
    assert_eq!(recover(&worked, &wanted(&[2, 11], &[0, 1, 10])), None, "an empty residual row");
    assert_eq!(recover(&worked, &wanted(&[2, 11], &[10])), None, "row 1 is in no part");
    // Rows 1, 2, 3 add 1, 0, 1 columns, and only the last, which is as short as any, is to start a window.
    assert_eq!(recover(&worked, &wanted(&[3, 11], &[1, 2])), None);
    let found = recover(&worked, &wanted(&[2, 11], &[1, 10]));
    assert_eq!(found, Some(params(ImpactRule::AsDescribed, 2, None)));
}

/// Thresholds of every kind.
fn any_params() -> impl Strategy<Value = FormatParams> {
    let threshold = || prop::option::of(prop_oneof![4 => 0u32..10, 1 => Just(u32::MAX)]);
    (threshold(), threshold(), any::<bool>()).prop_map(|(tau_nnz, tau_inc, printed)| FormatParams {
        tau_nnz,
        tau_inc,
        impact: if printed { ImpactRule::AsPrinted } else { ImpactRule::AsDescribed },
        ..FormatParams::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn recovered_parameters_lead_to_the_same_partition(entries in patterns(), params in any_params()) {
        let wanted = scan(&entries, &params);
        let found = recover(&entries, &wanted).expect("there are some");
        prop_assert_eq!(scan(&entries, &found), wanted);
    }

    #[test]
    fn every_entry_is_in_one_window_or_residual_row(entries in patterns(), params in any_params()) {
        let RsTilePartition { windows, residual } = scan(&entries, &params);
        prop_assert!(windows.windows(2).all(|w| w[1] >= w[0] + 8));
        prop_assert!(residual.is_sorted_by(|a, b| a < b));
        let occupied = |row: u32| entries.list.iter().any(|e| e.row == row);
        prop_assert!(windows.iter().chain(&residual).all(|&row| occupied(row)));
        for e in &entries.list {
            let in_windows = windows.iter().filter(|&&w| (w..w + 8).contains(&e.row)).count();
            let alone = residual.iter().filter(|&&r| r == e.row).count();
            prop_assert_eq!(in_windows + alone, 1);
        }
    }

    #[test]
    fn statistics_count_what_the_format_stores(entries in patterns(), params in any_params()) {
        let counts = statistics(&entries, &scan(&entries, &params));
        let entries = entries.map(|&bits| f64::from_bits(bits));
        let matrix = RsTile::from_entries_with(&entries, &params).expect("encodes");
        let expected = Statistics {
            nnz: entries.nnz() as u64,
            windows: matrix.window_row.len() as u64,
            blocks: matrix.bitmap.len() as u64,
            tensor_nnz: matrix.values.len() as u64,
            residual_rows: matrix.residual_row.len() as u64,
            residual_slots: matrix.residual_col.len() as u64,
        };
        prop_assert_eq!(counts, expected);
        prop_assert_eq!(counts.index_bytes(), matrix.index_bytes());
        prop_assert_eq!(counts.total_bytes(8), matrix.index_bytes() + matrix.value_bytes());
    }

    #[test]
    fn segments_cover_every_block_once(blocks in prop::collection::vec(1u32..200, 0..40)) {
        let ptr: Vec<u32> = std::iter::once(0).chain(blocks.iter().scan(0, |end, b| { *end += b; Some(*end) })).collect();
        let found = segments(&ptr);
        let covered: Vec<u32> = found.iter().flat_map(|s| s.start..s.end).collect();
        prop_assert_eq!(covered, (0..*ptr.last().expect("an end")).collect::<Vec<u32>>());
        for s in &found {
            let window = s.window as usize;
            prop_assert!(ptr[window] <= s.start && s.start < s.end && s.end <= ptr[window + 1]);
            let others = found.iter().filter(|other| other.window == s.window).count();
            prop_assert_eq!(s.atomic, others > 1, "a segment adds iff another writes its rows");
            prop_assert!(!s.atomic || s.end - s.start <= 32);
        }
    }
}

#[test]
fn a_window_is_cut_past_32_blocks_and_four_times_the_mean() {
    let cut = |blocks: &[u32]| -> Vec<u32> {
        let ends = blocks.iter().scan(0, |end, b| {
            *end += b;
            Some(*end)
        });
        let ptr: Vec<u32> = std::iter::once(0).chain(ends).collect();
        segments(&ptr).iter().filter(|s| s.atomic).map(|s| s.end - s.start).collect()
    };
    assert_eq!(cut(&[32, 1, 1, 1, 1, 1]), [0; 0], "32 blocks are one segment");
    assert_eq!(cut(&[33, 1, 1, 1, 1, 1]), [32, 1]);
    assert_eq!(cut(&[96, 1, 1, 1, 1, 1]), [32, 32, 32]);
    // 40 blocks of 8 windows, 80 in all: exactly four times the mean of 10 is not past it.
    assert_eq!(cut(&[40, 6, 6, 6, 6, 6, 5, 5]), [0; 0]);
    assert_eq!(cut(&[40, 6, 6, 6, 6, 5, 5, 5]), [32, 8]);
    assert_eq!(cut(&[1000, 1000, 1000]), [0; 0], "long, but like the others");
    assert_eq!(cut(&[1000]), [0; 0], "nothing to balance against");
    assert_eq!(segments(&[]), []);
    assert_eq!(segments(&[0]), []);
}

#[test]
fn segments_in_full() {
    let segment = |window, start, end, atomic| Segment { window, start, end, atomic };
    let expected = [
        segment(0, 0, 3, false),
        segment(1, 3, 35, true),
        segment(1, 35, 67, true),
        segment(1, 67, 73, true),
        segment(2, 73, 74, false),
        segment(3, 74, 75, false),
        segment(4, 75, 76, false),
    ];
    assert_eq!(segments(&[0, 3, 73, 74, 75, 76]), expected);
    // Offsets near the end of u32 do not wrap.
    let most = u32::MAX;
    let last = segments(&[0, 1, 2, 3, 4, 5, most]).pop();
    assert_eq!(last.map(|s| (s.end, s.atomic)), Some((most, true)));
}

/// Algorithm 2, lines 11 and 12, load blocks `start_blk` and `start_blk + 1` whatever `end_blk` is.
#[test]
fn the_second_block_that_algorithm_2_prefetches_may_be_another_windows_or_none() {
    let printed = |start: u32| start..start + 2;
    let matrix = RsTile::from_entries_with(&drawn(&WORKED), &params(ImpactRule::AsDescribed, 2, None))
        .expect("encodes");
    let blocks = matrix.bitmap.len() as u32;
    let all = segments(&matrix.window_block_ptr);
    let ends: Vec<(u32, u32)> = all.iter().map(|s| (s.start, s.end)).collect();
    assert_eq!(ends, [(0, 2), (2, 3)], "the last window has one block");
    assert!(printed(all[1].start).contains(&blocks), "as printed, a load past the end");
    for s in &all {
        let loaded = prologue(s.start, s.end);
        assert!(loaded.start == s.start && loaded.end <= s.end, "inside the segment");
        assert_eq!(loaded.len(), 2.min((s.end - s.start) as usize));
    }
    assert_eq!(prologue(7, 7).count(), 0);
    assert_eq!(prologue(u32::MAX - 1, u32::MAX).count(), 1);
}

/// Section 4.3.2 on a real matrix: as described, density has a plateau; as printed, it has none, and the CUDA part takes
/// one entry in nine at threshold 8.
#[test]
fn density_on_cnr_2000_against_the_threshold() {
    let Some(folder) = shared("matrices/open") else {
        return;
    };
    let file = folder.join("cnr-2000.mtx.gz");
    let entries = read_path(&file).expect("readable").coo.entries().pattern();
    assert_eq!(estimate_tau_nnz(entries.rows, entries.nnz()), 4);
    let rounded = |counts: &[Statistics]| -> Vec<(f64, f64)> {
        let tenths = |x: f64| (x * 10.0).round() / 10.0;
        let pair = |c: &Statistics| (tenths(c.nnz_per_block()), tenths(100.0 * c.cuda_share()));
        counts.iter().map(pair).collect()
    };
    let described = sweep(&entries, ImpactRule::AsDescribed, &[0, 4, 8]);
    assert_eq!(rounded(&described), [(22.5, 0.0), (23.1, 1.1), (23.4, 1.7)]);
    // Threshold 0 asks no row, by either rule.
    let printed = sweep(&entries, ImpactRule::AsPrinted, &[4, 8]);
    assert_eq!(rounded(&printed), [(23.9, 3.9), (25.4, 10.7)]);
    let default = described[1];
    let (coo_index, coo) = (8 * default.nnz, 12 * default.nnz);
    assert!(default.index_bytes() * 10 < coo_index * 3, "index arrays are under 30 % of COO's");
    assert!(default.total_bytes(4) * 10 < coo * 6, "all arrays are under 60 % of COO's");
    say!(
        "cnr-2000: {:.1} nnz/window at tau_nnz 4, index bytes {:.3} of COO's",
        default.nnz_per_window(),
        default.index_bytes() as f64 / coo_index as f64
    );
}

#[test]
fn means_over_nothing_are_zero() {
    let nothing =
        statistics(&Entries::<f64>::try_new(5, 5, Vec::new()).expect("a shape"), &RsTilePartition::default());
    assert_eq!((nothing.nnz_per_block(), nothing.nnz_per_window(), nothing.cuda_share()), (0.0, 0.0, 0.0));
    let one = Entry { row: 0, col: 0, value: 1.0 };
    let one = Entries::try_new(1, 1, vec![one]).expect("an entry");
    let counts = statistics(&one, &scan(&one, &FormatParams::default()));
    assert_eq!((counts.nnz_per_block(), counts.cuda_share()), (0.0, 1.0));
    // A residual row, one slot; offsets of no windows and no blocks.
    assert_eq!(counts.index_bytes(), 4 + 4 + 4 + 4);
}
