//! One logical matrix in every format: the same entries out of each, and out of each converted to every other; explicit
//! +0.0 apart, where a format pads with them. The structured formats take part with what pruning leaves.

use proptest::prelude::*;
use proptest::sample::Index;
use sparse_oracle::convert::convert;
use sparse_oracle::format::{Entries, Entry, FormatKind, FormatParams, PARAMETERS, Parts, Sparse};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::{Bf16, E4m3, E5m2, F16, Precision, Refusal, Scalar, Tf32};
use std::collections::BTreeMap;

/// Bit patterns, many of them special: both zeros, infinities, NaN payloads, subnormals; from the top of 64 bits down.
fn bits() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0u64),
        1 => Just(1 << 63),
        1 => Just(0x7ff0 << 48),
        1 => any::<u64>().prop_map(|payload| payload | 0x7ff0 << 48),
        1 => any::<u8>().prop_map(u64::from),
        6 => any::<u64>(),
    ]
}

/// Up to 400 entries in any shape of 0..=200 by 0..=200: scattered, crowded into a corner, or in a few rows or columns.
fn patterns() -> impl Strategy<Value = Entries<u64>> {
    let reach = || prop_oneof![Just(200u32), 1u32..=200, 1u32..=8];
    (0usize..=200, 0usize..=200, reach(), reach()).prop_flat_map(|(rows, cols, tall, wide)| {
        let cell = (any::<u32>(), any::<u32>(), bits());
        prop::collection::vec(cell, 0..=400).prop_map(move |cells| {
            let cells = cells.into_iter().filter(|_| rows * cols > 0);
            let at: BTreeMap<(u32, u32), u64> = cells
                .map(|(row, col, value)| ((row % tall.min(rows as u32), col % wide.min(cols as u32)), value))
                .collect();
            let list = at.into_iter().map(|((row, col), value)| Entry { row, col, value });
            Entries::try_new(rows, cols, list.collect()).expect("a map is sorted and has no duplicates")
        })
    })
}

/// Every parameter of every format, at its default or one of its samples.
fn params() -> impl Strategy<Value = FormatParams> {
    let picks = prop::collection::vec(prop::option::of(any::<Index>()), PARAMETERS.len());
    picks.prop_map(|picks| {
        let mut params = FormatParams::default();
        for (parameter, pick) in PARAMETERS.iter().zip(picks) {
            if let Some(pick) = pick {
                (parameter.set)(&mut params, *pick.get(parameter.samples));
            }
        }
        params
    })
}

fn typed<T: Scalar>(entries: &Entries<u64>) -> Entries<T> {
    let drop = 64 - T::PRECISION.spec().storage_bits;
    entries.map(|&bits| match T::PRECISION {
        Precision::F64 => T::from_bits64(bits),
        // Keep the small patterns small: they are the subnormals.
        _ if bits < 256 => T::from_bits64(bits & 0x7f),
        _ => T::from_bits64(bits >> drop),
    })
}

/// What a format can hold of `entries`: all, or all but +0.0; in LOOPS +0.0 stays above the boundary.
fn carried<T: Scalar>(matrix: &Sparse<T>, entries: &Entries<T>) -> Entries<T> {
    let kept_above = match matrix {
        Sparse::Loops(m) => m.boundary as u32,
        other if other.kind().pads_with_zeros() => 0,
        _ => u32::MAX,
    };
    let kept = |e: &&Entry<T>| e.row < kept_above || !e.value.is_positive_zero();
    let list = entries.list.iter().filter(kept).copied().collect();
    Entries { list, ..*entries }
}

/// Every format of `kinds` holds `entries`, and so does every format made from it.
fn hold_the_same<T: Scalar>(
    kinds: &[FormatKind],
    entries: &Entries<T>,
    params: FormatParams,
) -> Result<(), TestCaseError> {
    for &kind in kinds {
        let matrix = Sparse::from_entries(kind, params, entries)
            .map_err(|refusal| TestCaseError::fail(format!("{kind:?}: {refusal}")))?;
        prop_assert_eq!((matrix.kind(), matrix.shape()), (kind, (entries.rows, entries.cols)));
        let held = matrix.entries();
        prop_assert_eq!(held.check(), Ok(()), "{:?}", kind);
        prop_assert_eq!(held.bits(), carried(&matrix, entries).bits(), "{:?}", kind);
        prop_assert_eq!(matrix.nnz(), held.nnz(), "{:?}", kind);
        let checked = Parts::from(matrix.clone()).check();
        prop_assert!(checked.is_ok(), "{:?}: {:?}", kind, checked.err());
        for &to in kinds {
            let converted = convert(&matrix, to, params)
                .map_err(|refusal| TestCaseError::fail(format!("{kind:?} to {to:?}: {refusal}")))?;
            prop_assert_eq!(converted.kind(), to);
            prop_assert_eq!(
                converted.entries().bits(),
                carried(&converted, &held).bits(),
                "{:?} to {:?}",
                kind,
                to
            );
        }
    }
    Ok(())
}

/// The formats that an element type has, and what they all have room for.
fn pruned<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
) -> Result<(Vec<FormatKind>, Entries<T>), Refusal> {
    let has_type = |kind: &FormatKind| kind.precisions().contains(&T::PRECISION);
    let kinds: Vec<_> = FormatKind::ALL.into_iter().filter(has_type).collect();
    // Pruning only takes away, so what fits one pattern still does after the next.
    let mut left = entries.clone();
    for &kind in kinds.iter().filter(|kind| kind.is_structured()) {
        left = prune(&left, kind, params)?;
    }
    Ok((kinds, left))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn all_formats_hold_the_same_entries(entries in patterns(), params in params()) {
        let (kinds, left) = pruned(&typed::<F16>(&entries), &params).expect("legal parameters");
        prop_assert_eq!(kinds, FormatKind::ALL);
        hold_the_same(&FormatKind::ALL, &left, params)?;
        let (kinds, left) = pruned(&typed::<f64>(&entries), &params).expect("legal parameters");
        prop_assert_eq!(kinds.len(), FormatKind::ALL.len() - 1);
        hold_the_same(&kinds, &left, params)?;
    }

    #[test]
    fn formats_without_structure_hold_any_entries(entries in patterns(), params in params()) {
        let kinds: Vec<_> = FormatKind::ALL.into_iter().filter(|kind| !kind.is_structured()).collect();
        hold_the_same(&kinds, &typed::<f32>(&entries), params)?;
    }

    /// From one to another in every type, one pair at a time.
    #[test]
    fn any_two_formats_hold_the_same_in_every_type(
        entries in patterns(),
        params in params(),
        (from, to) in (prop::sample::select(&FormatKind::ALL[..]), prop::sample::select(&FormatKind::ALL[..])),
    ) {
        fn pair<T: Scalar>(
            pair: [FormatKind; 2],
            entries: &Entries<u64>,
            params: FormatParams,
        ) -> Result<(), TestCaseError> {
            let (kinds, left) = pruned(&typed::<T>(entries), &params).expect("legal parameters");
            let pair: Vec<_> = pair.into_iter().filter(|kind| kinds.contains(kind)).collect();
            hold_the_same(&pair, &left, params)
        }
        let kinds = [from, to];
        pair::<f64>(kinds, &entries, params)?;
        pair::<f32>(kinds, &entries, params)?;
        pair::<Tf32>(kinds, &entries, params)?;
        pair::<F16>(kinds, &entries, params)?;
        pair::<Bf16>(kinds, &entries, params)?;
        pair::<E4m3>(kinds, &entries, params)?;
        pair::<E5m2>(kinds, &entries, params)?;
    }
}

/// Shapes where windows, blocks, groups and chunks begin and end, each empty, with corners, and full of ones.
#[test]
fn shapes_at_the_edges_of_windows() {
    let sides = [0, 1, 7, 8, 9, 16, 17, 33];
    for (rows, cols) in sides.into_iter().flat_map(|rows| sides.map(|cols| (rows, cols))) {
        let cells = (0..rows as u32).flat_map(|row| (0..cols as u32).map(move |col| (row, col)));
        let one = |(row, col)| Entry { row, col, value: F16(0x3c00) };
        let full: Vec<_> = cells.map(one).collect();
        let corner = |e: &&Entry<F16>| {
            (e.row == 0 || e.row as usize == rows - 1) && (e.col == 0 || e.col as usize == cols - 1)
        };
        let corners = full.iter().filter(corner).copied().collect();
        for list in [Vec::new(), corners, full] {
            let entries = Entries::try_new(rows, cols, list).expect("sorted");
            let params = FormatParams::default();
            let (_, left) = pruned(&entries, &params).expect("legal parameters");
            hold_the_same(&FormatKind::ALL, &left, params).expect("every format holds it");
        }
    }
}
