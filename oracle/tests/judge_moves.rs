//! Conversions, transposes and SpGEMM: every structural defect is reachable, named, and told from what is right.

use sparse_oracle::arithmetic::{Arithmetic, Flush};
use sparse_oracle::exact::dot_reference;
use sparse_oracle::format::{AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, Sparse};
use sparse_oracle::judge::{Problem, Sheet, judge_moved, judge_spgemm};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{AnySlice, Values};
use sparse_oracle::task::RawSparse;
use sparse_oracle::verdict::{Criterion, Defect, Verdict};
use sparse_oracle::{Precision, Rounding};
use std::collections::BTreeMap;

fn entries(rows: usize, cols: usize, list: &[(u32, u32, f32)]) -> Entries<f32> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

/// 4 x 6 with an explicit zero, a -0 and an empty row.
fn sample() -> Entries<f32> {
    entries(4, 6, &[(0, 1, 1.5), (0, 4, 0.0), (1, 0, -2.0), (1, 5, -0.0), (3, 3, f32::NAN)])
}

fn encoded(kind: FormatKind, entries: &Entries<f32>) -> AnySparse {
    let blocks = FormatParams::blocks(2, 3);
    Sparse::from_entries(kind, blocks, entries).expect("small").into()
}

fn judged(expected: &AnySparse, found: RawSparse) -> Verdict {
    judge_moved(expected, found, &Profile::default(), &BTreeMap::new())
}

#[track_caller]
fn is_wrong(verdict: &Verdict, defect: Defect, words: &str) {
    match verdict {
        Verdict::Wrong(m) => {
            assert_eq!(m.defect, defect, "{m}");
            assert!(m.message.contains(words), "{words:?} is not in {:?}", m.message);
        }
        other => panic!("expected {defect:?}, found {other:?}"),
    }
}

/// Applies a change to a correct result and judges that.
fn changed(kind: FormatKind, change: impl FnOnce(&mut RawSparse)) -> Verdict {
    let expected = encoded(kind, &sample());
    let mut raw = RawSparse::of(expected.clone());
    change(&mut raw);
    judged(&expected, raw)
}

#[test]
fn the_right_result_is_exact_in_every_format() {
    for kind in FormatKind::GENERAL {
        assert_eq!(changed(kind, |_| {}), Verdict::Exact, "{kind:?}");
    }
}

#[test]
fn another_kind_shape_or_type_is_named() {
    for kind in FormatKind::GENERAL {
        is_wrong(&changed(kind, |raw| raw.rows += 1), Defect::Shape, "5x6");
        is_wrong(&changed(kind, |raw| raw.cols -= 1), Defect::Shape, "4x5");
        let f64s = |raw: &mut RawSparse| raw.values = Values::F64(raw.values.to_f64());
        is_wrong(&changed(kind, f64s), Defect::Shape, "f64");
        let other = if kind == FormatKind::Csr { FormatKind::Csc } else { FormatKind::Csr };
        is_wrong(&changed(kind, |raw| raw.kind = other), Defect::Shape, other.name());
    }
}

/// Regression: one block of 4 x 4 and one of 4 x 8 may have equal index arrays; only the block shapes differ.
#[test]
fn another_block_shape_is_refused_even_if_the_indices_agree() {
    let matrix = entries(4, 4, &[(0, 0, 1.0), (3, 3, 2.0)]);
    for kind in [FormatKind::Bcsr, FormatKind::BlockedEll] {
        let blocks = |block_cols| FormatParams::blocks(4, block_cols);
        let encode = |params| AnySparse::from(Sparse::from_entries(kind, params, &matrix).expect("small"));
        let (asked, given) = (RawSparse::of(encode(blocks(4))), RawSparse::of(encode(blocks(8))));
        assert_eq!((&asked.offsets, &asked.indices), (&given.offsets, &given.indices));
        is_wrong(&judged(&encode(blocks(4)), given), Defect::Shape, "blocks of 4x4, found 4x8");
    }
}

#[test]
fn wrong_bits_are_a_value_defect_even_where_the_numbers_are_equal() {
    for kind in FormatKind::GENERAL {
        for (from, to) in [(1.5f32, 1.500_000_1f32), (-0.0, 0.0), (-2.0, 2.0)] {
            if to == 0.0 && kind.pads_with_zeros() {
                continue; // There +0.0 is a pad: the next test.
            }
            let verdict = changed(kind, |raw| {
                let Values::F32(values) = &mut raw.values else { panic!("f32") };
                let at = values.iter().position(|v| v.to_bits() == from.to_bits()).expect("stored");
                values[at] = to;
            });
            is_wrong(&verdict, Defect::Value, "stored entry");
        }
        let payload = changed(kind, |raw| {
            let Values::F32(values) = &mut raw.values else { panic!("f32") };
            let at = values.iter().position(|v| v.is_nan()).expect("stored");
            values[at] = f32::from_bits(values[at].to_bits() ^ 1);
        });
        is_wrong(&payload, Defect::Value, "stored entry");
    }
}

#[test]
fn a_lost_or_invented_entry_is_a_pattern_defect() {
    for kind in [FormatKind::Bcsr, FormatKind::BlockedEll] {
        let lost = changed(kind, |raw| {
            let Values::F32(values) = &mut raw.values else { panic!("f32") };
            let at = values.iter().position(|v| *v == 1.5).expect("stored");
            values[at] = 0.0;
        });
        is_wrong(&lost, Defect::Pattern, "stored entry 0");
    }
    for kind in [FormatKind::Coo, FormatKind::Csr, FormatKind::Csc, FormatKind::Ell] {
        let expected = encoded(kind, &sample());
        let mut fewer = sample();
        fewer.list.remove(1);
        is_wrong(&judged(&expected, RawSparse::of(encoded(kind, &fewer))), Defect::Pattern, "stored entry 1");
        let mut more = sample();
        more.list.push(Entry { row: 3, col: 5, value: 0.0 });
        is_wrong(
            &judged(&expected, RawSparse::of(encoded(kind, &more))),
            Defect::Pattern,
            "expected nothing",
        );
    }
}

#[test]
fn invalid_arrays_are_a_structure_defect() {
    for kind in [FormatKind::Csr, FormatKind::Csc, FormatKind::Bcsr] {
        is_wrong(&changed(kind, |raw| raw.offsets[1] = 99), Defect::Structure, "not a valid encoding");
        is_wrong(&changed(kind, |raw| raw.offsets[0] = 1), Defect::Structure, "not a valid encoding");
        is_wrong(&changed(kind, |raw| raw.offsets.truncate(1)), Defect::Structure, "not a valid encoding");
    }
    for kind in FormatKind::GENERAL {
        is_wrong(&changed(kind, |raw| raw.indices[0] = 77), Defect::Structure, "not a valid encoding");
        is_wrong(&changed(kind, |raw| raw.indices.truncate(1)), Defect::Structure, "not a valid encoding");
    }
}

#[test]
fn lanes_out_of_order_are_a_structure_defect() {
    let swapped = changed(FormatKind::Csr, |raw| {
        raw.indices.swap(0, 1);
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values.swap(0, 1);
    });
    is_wrong(&swapped, Defect::Structure, "not a valid encoding");
    let coo = changed(FormatKind::Coo, |raw| {
        raw.offsets.reverse();
        raw.indices.reverse();
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values.reverse();
    });
    assert_eq!(coo, Verdict::Exact, "COO has no order");
}

#[test]
fn a_valid_encoding_that_is_not_canonical_is_named() {
    let wider = changed(FormatKind::Ell, |raw| {
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        let (mut wide_indices, mut wide_values) = (Vec::new(), Vec::new());
        for (lane, slots) in raw.indices.chunks(raw.width).zip(values.chunks(raw.width)) {
            wide_indices.extend(lane.iter().copied().chain([u32::MAX]));
            wide_values.extend(slots.iter().copied().chain([0.0]));
        }
        (raw.indices, *values) = (wide_indices, wide_values);
        raw.width += 1;
    });
    is_wrong(&wider, Defect::Structure, "not the format's canonical encoding");
    let idle_block = changed(FormatKind::Bcsr, |raw| {
        // Block row 1 gains an empty block in column 0 before its only block in column 1.
        assert_eq!((raw.offsets.as_slice(), raw.indices.as_slice()), (&[0, 2, 3][..], &[0, 1, 1][..]));
        raw.offsets[2] = 4;
        raw.indices.insert(2, 0);
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values.splice(12..12, [0.0; 6]);
    });
    is_wrong(&idle_block, Defect::Structure, "not the format's canonical encoding");
}

/// Regression: decoding sums repeated positions, so 0.5 + 1.0 at one position would pass for 1.5.
#[test]
fn a_position_split_in_two_is_refused_unless_the_operand_had_it_twice() {
    let split = |raw: &mut RawSparse| {
        raw.offsets.push(0);
        raw.indices.push(1);
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values[0] = 0.5;
        values.push(1.0);
    };
    is_wrong(&changed(FormatKind::Coo, split), Defect::Pattern, "(0, 1) is stored more than once");
    let expected = encoded(FormatKind::Coo, &sample());
    let mut raw = RawSparse::of(expected.clone());
    split(&mut raw);
    let twice = BTreeMap::from([((0, 1), Vec::new())]);
    assert_eq!(judge_moved(&expected, raw, &Profile::default(), &twice), Verdict::Exact);
}

#[test]
fn bits_listed_for_a_summed_position_are_right_too_and_no_others() {
    let expected = encoded(FormatKind::Csr, &sample());
    let with = |value: f32| {
        let mut raw = RawSparse::of(expected.clone());
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values[0] = value;
        let other_order = BTreeMap::from([((0, 1), vec![u64::from(1.75f32.to_bits())])]);
        judge_moved(&expected, raw, &Profile::default(), &other_order)
    };
    assert_eq!(with(1.5), Verdict::Exact);
    assert_eq!(with(1.75), Verdict::Exact);
    is_wrong(&with(1.625), Defect::Value, "stored entry 0");
}

#[test]
fn explicit_zeros_may_be_dropped_by_profile_only() {
    let expected = encoded(FormatKind::Csr, &sample());
    let mut fewer = sample();
    fewer.list.retain(|e| e.value != 0.0);
    let found = || RawSparse::of(encoded(FormatKind::Csr, &fewer));
    is_wrong(&judged(&expected, found()), Defect::Pattern, "stored entry 1");
    let drops = Profile::default().with(Choice::ExplicitZerosDropped, "test");
    assert_eq!(judge_moved(&expected, found(), &drops, &BTreeMap::new()), Verdict::Exact);
    fewer.list.pop();
    is_wrong(&judge_moved(&expected, found_of(&fewer), &drops, &BTreeMap::new()), Defect::Pattern, "nothing");
}

/// Two positions of an operand are stored more than once: one adds up to 0 or to 1.75 by the order of the addition, the other to 2 or 2.5.
/// Found while libraries were judged: a result that left out the first was compared with the wrong neighbours from there on, and
/// one in which the order had made the zero was said to miss an entry.
#[test]
fn a_sum_in_any_order_may_be_a_zero_that_is_dropped() {
    let at = |first: f32, second: f32| entries(4, 6, &[(0, 1, first), (0, 4, 3.0), (2, 2, second)]);
    let bits = |list: [f32; 2]| list.map(|v| u64::from(v.to_bits())).to_vec();
    let summed = BTreeMap::from([((0, 1), bits([0.0, 1.75])), ((2, 2), bits([2.0, 2.5]))]);
    let both = Profile::default()
        .with(Choice::DuplicatesSumAnyOrder, "test")
        .with(Choice::ExplicitZerosDropped, "test");
    let any_order = Profile::default().with(Choice::DuplicatesSumAnyOrder, "test");
    for kind in FormatKind::GENERAL {
        for (first, second) in [(0.0, 2.0), (1.75, 2.0)] {
            let expected = encoded(kind, &at(first, second));
            let judged = |profile: &Profile, found: &Entries<f32>| {
                judge_moved(&expected, RawSparse::of(encoded(kind, found)), profile, &summed)
            };
            for (first, second) in [(0.0, 2.0), (0.0, 2.5), (1.75, 2.0), (1.75, 2.5)] {
                let found = at(first, second);
                assert_eq!(judged(&any_order, &found), Verdict::Exact, "{kind:?} {first} {second}");
                assert_eq!(judged(&both, &found), Verdict::Exact, "{kind:?} {first} {second}");
            }
            for second in [2.0, 2.5] {
                let mut found = at(0.0, second);
                found.list.remove(0);
                assert_eq!(judged(&both, &found), Verdict::Exact, "{kind:?}: dropped beside {second}");
                let one = judged(&any_order, &found);
                assert!(matches!(one, Verdict::Wrong(_)), "{kind:?}: a zero that stays is there, {one:?}");
                found.list.remove(0);
                is_wrong(&judged(&both, &found), Defect::Pattern, "expected (0, 4)");
            }
            is_wrong(&judged(&both, &at(1.75, 2.25)), Defect::Value, "stored entry");
        }
    }
}

/// A zero that is dropped before the blocks are formed leaves no block behind.
#[test]
fn a_dropped_zero_takes_its_block_along() {
    let all = entries(4, 6, &[(0, 1, 1.5), (3, 4, 0.0)]);
    let fewer = entries(4, 6, &[(0, 1, 1.5)]);
    let drops = Profile::default().with(Choice::ExplicitZerosDropped, "test");
    for kind in [FormatKind::Bcsr, FormatKind::BlockedEll] {
        let expected = encoded(kind, &all);
        let found = || RawSparse::of(encoded(kind, &fewer));
        assert_eq!(judge_moved(&expected, found(), &drops, &BTreeMap::new()), Verdict::Exact);
        is_wrong(&judged(&expected, found()), Defect::Structure, "canonical");
    }
}

fn found_of(entries: &Entries<f32>) -> RawSparse {
    RawSparse::of(encoded(FormatKind::Csr, entries))
}

/// A * B with one structural entry that cancels: row 0 is [cancels to 0, 2, -3], row 1 is empty, row 2 is [., ., 6].
fn product() -> (Csr<f64>, Csr<f64>, Entries<f32>) {
    let exact = |e: &Entries<f32>| Csr::from_entries(&e.map(|v| f64::from(*v))).expect("small");
    let a = entries(3, 2, &[(0, 0, 1.0), (0, 1, 1.0), (2, 1, -2.0)]);
    let b = entries(2, 3, &[(0, 0, 4.0), (0, 1, 2.0), (1, 0, -4.0), (1, 2, -3.0)]);
    let c = entries(3, 3, &[(0, 0, 0.0), (0, 1, 2.0), (0, 2, -3.0), (2, 0, 8.0), (2, 2, 6.0)]);
    (exact(&a), exact(&b), c)
}

fn multiplied(kind: FormatKind, profile: &Profile, change: impl FnOnce(&mut RawSparse)) -> Verdict {
    let (a, b, c) = product();
    let mut raw = RawSparse::of(encoded(kind, &c));
    change(&mut raw);
    let arithmetic = Arithmetic::any(Precision::F32, Precision::F32);
    judge_spgemm(&Problem::Spgemm { a: &a, b: &b }, &arithmetic, profile, kind, raw).verdict
}

fn without(position: (u32, u32)) -> impl Fn(&mut RawSparse) {
    move |raw| {
        let (_, _, mut c) = product();
        c.list.retain(|e| (e.row, e.col) != position);
        *raw = RawSparse::of(encoded(raw.kind, &c));
    }
}

fn swap_first_two(raw: &mut RawSparse) {
    raw.indices.swap(0, 1);
    let Values::F32(values) = &mut raw.values else { panic!("f32") };
    values.swap(0, 1);
}

#[test]
fn spgemm_keeps_the_structural_pattern_unless_declared_numeric() {
    let default = Profile::default();
    let numeric = Profile::default().with(Choice::NumericPattern, "test");
    for kind in [FormatKind::Csr, FormatKind::Csc] {
        assert_eq!(multiplied(kind, &default, |_| {}), Verdict::Exact);
        let missing = multiplied(kind, &default, without((0, 0)));
        is_wrong(&missing, Defect::Pattern, "(0, 0) is missing");
        assert_eq!(multiplied(kind, &numeric, without((0, 0))), Verdict::Exact);
        // A missing entry that is not zero reads as 0, and that is wrong.
        is_wrong(&multiplied(kind, &numeric, without((2, 2))), Defect::Value, "element (2, 2)");
        let extra = |raw: &mut RawSparse| {
            let (_, _, mut c) = product();
            c.list.insert(3, Entry { row: 1, col: 1, value: 0.0 });
            *raw = RawSparse::of(encoded(raw.kind, &c));
        };
        for profile in [&default, &numeric] {
            is_wrong(&multiplied(kind, profile, extra), Defect::Pattern, "(1, 1) is stored, but no product");
        }
    }
}

#[test]
fn spgemm_lanes_may_be_unsorted_by_profile_only() {
    let unsorted = Profile::default().with(Choice::Unsorted, "test");
    for kind in [FormatKind::Csr, FormatKind::Csc] {
        is_wrong(
            &multiplied(kind, &Profile::default(), swap_first_two),
            Defect::Structure,
            "not a valid encoding",
        );
        assert_eq!(multiplied(kind, &unsorted, swap_first_two), Verdict::Exact);
        // Indices alone out of order: the values are at the wrong places.
        let indices_only = multiplied(kind, &unsorted, |raw| raw.indices.swap(0, 1));
        is_wrong(&indices_only, Defect::Value, "element (0, 0)");
        let twice = multiplied(kind, &unsorted, |raw| raw.indices[1] = raw.indices[0]);
        is_wrong(&twice, Defect::Structure, "not a valid encoding");
        is_wrong(&multiplied(kind, &unsorted, |raw| raw.offsets[1] = 50), Defect::Structure, "not a valid");
    }
}

#[test]
fn spgemm_values_and_kinds_are_judged() {
    let default = Profile::default();
    let off_by_one = multiplied(FormatKind::Csr, &default, |raw| {
        let Values::F32(values) = &mut raw.values else { panic!("f32") };
        values[1] = 2.000_000_2;
    });
    is_wrong(&off_by_one, Defect::Value, "element (0, 1)");
    let Verdict::Wrong(m) = &off_by_one else { panic!("wrong") };
    assert_eq!((m.tier, m.at), (Some(Criterion::T0), Some((0, 1))));
    is_wrong(&multiplied(FormatKind::Csr, &default, |raw| raw.rows = 4), Defect::Shape, "4x3");
    let f64s = |raw: &mut RawSparse| raw.values = Values::F64(raw.values.to_f64());
    is_wrong(&multiplied(FormatKind::Csr, &default, f64s), Defect::Shape, "f64");
    is_wrong(&multiplied(FormatKind::Csr, &default, |raw| raw.kind = FormatKind::Csc), Defect::Shape, "csc");
}

/// Regression: a fused chain may underflow to -0, which a numeric pattern drops and the judge reads as +0.
#[test]
fn a_dropped_minus_zero_is_a_zero() {
    let tiny = 2.0f64.powi(-100);
    let one = |v: f64| Csr::from_entries(&entries(1, 1, &[(0, 0, 1.0)]).map(|_| v)).expect("small");
    let (a, b) = (one(-tiny), one(tiny));
    let fused =
        Arithmetic::chain(sparse_oracle::arithmetic::Reduction::FmaChain, Precision::F32, Precision::F32);
    let problem = Problem::Spgemm { a: &a, b: &b };
    let judged = |profile: &Profile| {
        let nothing = RawSparse::of(encoded(FormatKind::Csr, &entries(1, 1, &[])));
        judge_spgemm(&problem, &fused, profile, FormatKind::Csr, nothing).verdict
    };
    let verdict = judged(&Profile::default().with(Choice::NumericPattern, "test"));
    assert!(matches!(verdict, Verdict::Within { .. }), "{verdict:?}");
    is_wrong(&judged(&Profile::default()), Defect::Pattern, "missing");
    let sum = dot_reference(&[-tiny], &[tiny]);
    assert_eq!(sum.value.round(Precision::F32, Rounding::NearestEven), 1 << 31);
    assert_eq!(AnySlice::F32(&[0.0]).bits(0), 0);
}

/// Story: a kernel that reads subnormal numbers as zero and takes stored zeros for absent declared both, and was accused of missing positions
/// (and, beside a NaN, of leaving it out).
#[test]
fn what_is_read_as_zero_may_be_absent_where_zeros_are() {
    let tiny = 2.0f64.powi(-130);
    let flushed = Arithmetic::any(Precision::F32, Precision::F32).flushes(Flush::inputs(Precision::F32));
    let plain = Arithmetic::any(Precision::F32, Precision::F32);
    let absent = Profile::default().with(Choice::StoredZerosAbsent, "test");
    let row = |values: &[f64]| {
        let list = (0..).zip(values).map(|(col, &value)| Entry { row: 0, col, value }).collect();
        Csr::from_entries(&Entries::try_new(1, values.len(), list).expect("sorted")).expect("small")
    };
    let column = |values: &[f64]| {
        let list = (0..).zip(values).map(|(row, &value)| Entry { row, col: 0, value }).collect();
        Csr::from_entries(&Entries::try_new(values.len(), 1, list).expect("sorted")).expect("small")
    };
    let is_right =
        |arithmetic: &Arithmetic, profile: &Profile, (a, b): (&[f64], &[f64]), found: Option<f32>| {
            let (a, b) = (row(a), column(b));
            let stored: Vec<_> = found.map(|value| (0, 0, value)).into_iter().collect();
            let raw = RawSparse::of(encoded(FormatKind::Csr, &entries(1, 1, &stored)));
            let problem = Problem::Spgemm { a: &a, b: &b };
            let judged = judge_spgemm(&problem, arithmetic, profile, FormatKind::Csr, raw).verdict;
            // What is worked out once for many results says the same.
            let by_sheet = by_sheet(&problem, (arithmetic, profile), found);
            assert_eq!(judged.is_finding(), by_sheet.is_finding(), "{judged:?}, {by_sheet:?}");
            !judged.is_finding()
        };
    let nan = f64::NAN;
    for (a, b, found) in [
        (&[tiny][..], &[3.0][..], None),
        (&[3.0], &[tiny], None),
        (&[tiny, 2.0], &[3.0, tiny], None),
        (&[tiny], &[nan], None),
        (&[tiny, 2.0], &[nan, 3.0], Some(6.0)),
        (&[nan, 2.0], &[tiny, 3.0], Some(6.0)),
        (&[tiny, 2.0], &[f64::INFINITY, 3.0], Some(6.0)),
    ] {
        assert!(is_right(&flushed, &absent, (a, b), found), "{a:?} {b:?}");
        assert!(!is_right(&plain, &absent, (a, b), found), "{a:?} {b:?}: no flush");
        // What is read as zero is stored all the same.
        assert!(!is_right(&flushed, &Profile::default(), (a, b), found), "{a:?} {b:?}: zeros are stored");
    }
    // A product that is normal stays, and so does a NaN that faces one.
    assert!(!is_right(&flushed, &absent, (&[tiny, 2.0], &[3.0, 5.0]), None));
    assert!(!is_right(&flushed, &absent, (&[1.0, 2.0], &[nan, 3.0]), Some(6.0)));
    assert!(!is_right(&flushed, &absent, (&[tiny, 2.0], &[nan, 3.0]), Some(7.0)));
}

fn by_sheet(
    problem: &Problem<'_>,
    (arithmetic, profile): (&Arithmetic, &Profile),
    found: Option<f32>,
) -> Verdict {
    let sheet =
        Sheet::new(problem, (arithmetic, profile), (1.0, 0.0), None, 9).expect("they fit").expect("one");
    let stored: Vec<_> = found.map(|value| (0, 0, value)).into_iter().collect();
    let raw = RawSparse::of(encoded(FormatKind::Csr, &entries(1, 1, &stored)));
    sheet.judge_spgemm(profile, FormatKind::Csr, raw).verdict
}
