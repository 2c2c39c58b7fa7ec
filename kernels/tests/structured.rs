//! Conversions to N:M, 2:4 and V:N:M, reference against optimised: every ratio up to 32, matrices that do not fit,
//! parameters that are not legal, and matrices large enough for many threads.

use crate::papers;
use sparse_oracle::prelude::*;

use papers::{corrupted, damage, encoded, patterns, round_trip, typed};
use proptest::prelude::*;
use sparse_oracle::format::{AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, PartsElement, Sparse};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::op::prune;
use sparse_oracle::scalar::Element;
use sparse_oracle::verdict::Verdict;
use sparse_oracle::{Bf16, F16, Refusal, RequestError, Scalar, Tf32};

const STRUCTURED: [FormatKind; 3] = [FormatKind::Nm, FormatKind::TwoFour, FormatKind::Vnm];

/// Every 1 <= n <= m <= 32 for N:M; n up to 4 and m up to 36 for V:N:M.
fn choices() -> impl Strategy<Value = (FormatKind, FormatParams)> {
    let length = || prop_oneof![4 => 1u32..=9, 1 => 10u32..=250, 1 => Just(u32::MAX)];
    let default = FormatParams::default();
    let nm = (1u32..=32).prop_flat_map(move |m| (1..=m, Just(m), length()));
    let nm = nm.prop_map(move |(n, m, l)| (FormatKind::Nm, FormatParams { n, m, l, ..default }));
    let vnm = (1u32..=4, 4u32..=36, length());
    let vnm = vnm.prop_map(move |(n, m, v)| (FormatKind::Vnm, FormatParams { n, m, v, ..default }));
    let two_four =
        any::<bool>().prop_map(move |short_k| (FormatKind::TwoFour, FormatParams { short_k, ..default }));
    prop_oneof![4 => nm, 3 => vnm, 2 => two_four]
}

/// The same refusal, or the same arrays.
fn alike<T: PartsElement + Element>(
    kind: FormatKind,
    entries: &Entries<T>,
    params: FormatParams,
) -> Result<Option<Refusal>, TestCaseError>
where
    AnySparse: From<Sparse<T>>,
{
    let csr = Csr::from_entries(entries).expect("small");
    let optimised = encoded(csr, kind, params);
    match Sparse::from_entries(kind, params, entries) {
        Ok(matrix) => {
            let parts = optimised.map_err(|r| TestCaseError::fail(format!("optimised: {r}")))?;
            let verdict = judge_encoded(&AnySparse::from(matrix), parts);
            prop_assert_eq!(verdict, Verdict::Exact);
            Ok(None)
        }
        Err(refusal) => {
            prop_assert_eq!(optimised.map(|p| p.kind()), Err(refusal.clone()));
            Ok(Some(refusal))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_ratio_round_trips(entries in patterns(), (kind, params) in choices()) {
        round_trip::<F16>(kind, &entries, params)?;
        round_trip::<Tf32>(kind, &entries, params)?;
    }

    #[test]
    fn what_does_not_fit_is_refused_alike(entries in patterns(), (kind, params) in choices()) {
        alike(kind, &typed::<Bf16>(&entries), params)?;
        alike(kind, &typed::<Tf32>(&entries), params)?;
    }

    #[test]
    fn damage_to_every_ratio_is_refused_or_decoded_alike(
        entries in patterns(),
        (kind, params) in choices(),
        damage in damage(),
    ) {
        corrupted(kind, &entries, params, damage)?;
    }
}

#[test]
fn parameters_out_of_range_are_refused_alike() {
    let list = vec![Entry { row: 1, col: 2, value: F16(0x3c00) }];
    let entries = Entries::try_new(5, 7, list).expect("sorted");
    let extremes = [0, 1, 2, 3, 4, 5, 1 << 16, u32::MAX - 1, u32::MAX];
    let (mut refused, mut taken) = (0, 0);
    for kind in [FormatKind::Nm, FormatKind::Vnm] {
        for (n, m) in extremes.into_iter().flat_map(|n| extremes.map(|m| (n, m))) {
            for length in [0, 1, 3, u32::MAX] {
                let params = FormatParams { n, m, l: length, v: length, ..FormatParams::default() };
                match alike(kind, &entries, params).expect("alike") {
                    Some(_) => refused += 1,
                    None => taken += 1,
                }
            }
        }
    }
    assert!(refused > 100 && taken > 50, "{refused} refused, {taken} taken");
}

/// Entries of a large matrix, about one of `every` positions.
fn large<T: Scalar>(rows: usize, cols: usize, every: u64) -> Entries<T> {
    let mut state = 7u64;
    let mut list = Vec::new();
    for (row, col) in (0..rows as u32).flat_map(|row| (0..cols as u32).map(move |col| (row, col))) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (state >> 33).is_multiple_of(every) {
            let value = T::from_f64(1.0 + (state >> 58) as f64);
            list.push(Entry { row, col, value });
        }
    }
    Entries::try_new(rows, cols, list).expect("sorted")
}

#[test]
fn many_threads_give_the_same_arrays_and_the_first_refusal() {
    let entries = large::<F16>(2_000, 97, 3);
    assert!(entries.nnz() > 60_000);
    for kind in STRUCTURED {
        for params in [
            FormatParams::default(),
            FormatParams { n: 3, m: 16, l: 1, v: 7, short_k: true, ..FormatParams::default() },
            FormatParams { n: 1, m: 500, l: 97, v: 1_999, ..FormatParams::default() },
        ] {
            assert!(
                matches!(
                    alike(kind, &entries, params).expect("alike"),
                    Some(Refusal::Request(RequestError::TooFull { .. }))
                ),
                "{kind:?} takes what does not fit"
            );
            let pruned = prune(&entries, kind, &params).expect("legal parameters");
            assert_eq!(alike(kind, &pruned, params).expect("alike"), None, "{kind:?}");
            let matrix = Sparse::from_entries(kind, params, &pruned).expect("pruned");
            let expected = matrix.entries().bits();
            assert_eq!(papers::decoded(&AnySparse::from(matrix)), Ok(expected), "{kind:?}");
            // One entry too many, far from the first band.
            let kept: std::collections::BTreeSet<_> = pruned.list.iter().map(|e| (e.row, e.col)).collect();
            let late = |e: &Entry<F16>| e.row >= 1_500 || kept.contains(&(e.row, e.col));
            let list = entries.list.iter().copied().filter(late).collect();
            let refusal = alike(kind, &Entries { list, ..entries }, params).expect("alike");
            assert!(
                matches!(refusal, Some(Refusal::Request(RequestError::TooFull { .. }))),
                "{kind:?}: {refusal:?}"
            );
        }
    }
}
