//! Pruning: by hand, against its definition in rationals, and what it promises the encoders.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::{nm, picture, vnm};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry, FormatKind, FormatParams, Sparse};
use sparse_oracle::op::prune;
use sparse_oracle::{F16, Precision, Refusal, RequestError, Scalar, Tf32, with_scalar};

fn pruned<T: Scalar>(kind: FormatKind, params: FormatParams, rows: &[&str]) -> Entries<T> {
    prune(&picture::<T>(rows), kind, &params).expect("legal parameters")
}

#[test]
fn the_vectors_of_largest_norm_stay() {
    // Norms squared of the row vectors: 25, 18, 16, 26 | 0, 1, 2, 1.
    let found = pruned::<f32>(FormatKind::Nm, nm(2, 4, 2), &["3 4 0 0", "3 3 . 1", "-4 . 1 1", "1 5 1 ."]);
    assert_eq!(found, picture(&["3 4 . .", ". . . 1", ". . 1 1", "1 5 . ."]));
    // The largest single value need not be in the largest vector.
    let found = pruned::<f32>(FormatKind::Nm, nm(1, 2, 3), &["5 . .", "3 3 3"]);
    assert_eq!(found, picture(&[". . .", "3 3 3"]));
    // Windows are independent, and the last ones smaller.
    let found = pruned::<f32>(FormatKind::Nm, nm(1, 2, 2), &["1 . 2", "2 . 1", "1 . 1"]);
    assert_eq!(found, picture(&[". . 2", "2 . .", "1 . 1"]));
}

#[test]
fn ties_go_to_the_lower_index() {
    let found = pruned::<f32>(FormatKind::Nm, nm(2, 5, 1), &["1", "2", "-2", ".", "2"]);
    assert_eq!(found, picture(&[".", "2", "-2", ".", "."]));
    let found = pruned::<F16>(FormatKind::TwoFour, FormatParams::default(), &["1 -1 1 1 3 -3 . 3"]);
    assert_eq!(found, picture(&["1 -1 . . 3 -3 . ."]));
    let found = pruned::<Tf32>(FormatKind::TwoFour, FormatParams::default(), &["1 -1 -2 2 . 1"]);
    assert_eq!(found, picture(&["1 . -2 . . 1"]));
}

#[test]
fn sums_that_f64_cannot_tell_apart_are_compared_exactly() {
    // 2^60 + 1 against 2^60: in f64 both round to 2^60, and the tie would go to row 0.
    let big = 2f64.powi(30);
    let entries = |cells: &[(u32, u32, f64)]| {
        let list = cells.iter().map(|&(row, col, value)| Entry { row, col, value });
        Entries::try_new(2, 2, list.collect()).expect("sorted")
    };
    let found = prune(&entries(&[(0, 0, big), (1, 0, big), (1, 1, 1.0)]), FormatKind::Nm, &nm(1, 2, 2));
    assert_eq!(found, Ok(entries(&[(1, 0, big), (1, 1, 1.0)])));
    // Squares that f64 underflows to zero, and overflows to infinity.
    for scale in [f64::from_bits(1), 2f64.powi(1020)] {
        let found = prune(&entries(&[(0, 0, scale), (1, 0, 2.0 * scale)]), FormatKind::Nm, &nm(1, 2, 1));
        assert_eq!(found, Ok(entries(&[(1, 0, 2.0 * scale)])));
    }
}

#[test]
fn tf32_is_compared_as_stored() {
    // Both round to 1 in tf32.
    let found = pruned::<Tf32>(FormatKind::TwoFour, FormatParams::default(), &["1 1.00000012"]);
    assert_eq!((found.list.len(), found.list[0].col), (1, 1));
}

#[test]
fn nan_counts_as_largest_and_infinity_next() {
    let found = pruned::<f32>(FormatKind::Nm, nm(1, 4, 1), &["9e9", "inf", "nan", "nan"]);
    assert_eq!((found.list.len(), found.list[0].row), (1, 2));
    let found = pruned::<f32>(FormatKind::Nm, nm(2, 4, 2), &["inf 1", "9e9 9e9", "0 nan", "-inf inf"]);
    let rows: Vec<u32> = found.list.iter().map(|e| e.row).collect();
    assert_eq!(rows, [0, 0, 2, 2]);
}

#[test]
fn what_fits_is_not_touched_and_explicit_zeros_stay() {
    let entries: Entries<f32> = picture(&["0 . .", "-0 . 1", ". . 1", ". 5 1"]);
    let found = prune(&entries, FormatKind::Nm, &nm(2, 4, 1)).expect("legal parameters");
    let mut expected = entries.clone();
    expected.list.retain(|e| (e.row, e.col) != (3, 2));
    assert_eq!(found.bits(), expected.bits());
    // Only stored vectors compete: the zero in row 3 is kept, though the absent rows before it are as small.
    let found = pruned::<f32>(FormatKind::Nm, nm(2, 4, 1), &[".", "7", ".", "0"]);
    assert_eq!(found.list.len(), 2);
    for kind in FormatKind::ALL.into_iter().filter(|kind| !kind.is_structured()) {
        let found = prune(&entries, kind, &nm(0, 0, 0)).map(|e| e.bits());
        assert_eq!(found, Ok(entries.bits()), "{kind:?}");
    }
}

#[test]
fn vnm_chooses_columns_of_the_block_first() {
    // Column norms squared of the 2 x 6 block: 26, 2, 8, 9, 10, 1; columns 1 and 5 go. Then two per row.
    let found = pruned::<f32>(FormatKind::Vnm, vnm(2, 2, 6), &["5 1 2 3 1 .", "1 1 2 . 3 1"]);
    assert_eq!(found, picture(&["5 . . 3 . .", ". . 2 . 3 ."]));
    // A row's largest entry is lost with its column.
    let found = pruned::<f32>(FormatKind::Vnm, vnm(2, 1, 5), &["4 4 4 4 .", "1 1 1 1 3"]);
    assert_eq!(found, picture(&["4 . . . .", "1 . . . ."]));
    // Alone in its block it stays.
    let found = pruned::<f32>(FormatKind::Vnm, vnm(1, 1, 5), &["4 4 4 4 .", "1 1 1 1 3"]);
    assert_eq!(found, picture(&["4 . . . .", ". . . . 3"]));
}

#[test]
fn what_the_format_refuses_is_refused() {
    let entries: Entries<f32> = picture(&["1"]);
    let refused = |kind, params| prune(&entries, kind, &params).expect_err("refused");
    for (kind, params) in [
        (FormatKind::Nm, nm(0, 4, 1)),
        (FormatKind::Nm, nm(1, 0, 1)),
        (FormatKind::Nm, nm(1, 4, 0)),
        (FormatKind::Nm, nm(5, 4, 1)),
        (FormatKind::Vnm, vnm(0, 1, 4)),
        (FormatKind::Vnm, vnm(1, 0, 4)),
        (FormatKind::Vnm, vnm(1, 1, 0)),
        (FormatKind::Vnm, vnm(1, 1, 3)),
        (FormatKind::Vnm, vnm(1, 5, 8)),
        (FormatKind::TwoFour, nm(2, 4, 1)),
    ] {
        let encoder = Sparse::from_entries(kind, params, &entries).expect_err("refused");
        assert_eq!(refused(kind, params), encoder, "{kind:?}");
    }
    let unsorted = Entries { list: [entries.list[0]; 2].to_vec(), ..entries };
    let refusal = unsorted.check().expect_err("a duplicate");
    assert_eq!(prune(&unsorted, FormatKind::Nm, &nm(1, 1, 1)), Err(refusal));
    assert!(matches!(
        prune(&picture::<f64>(&["1"]), FormatKind::TwoFour, &nm(1, 1, 1)),
        Err(Refusal::Request(RequestError::Kind { field: "values", .. }))
    ));
}

/// The exact value of a finite float, by its bits.
fn rational(value: f64) -> BigRational {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let significand = BigInt::from(if field == 0 { fraction } else { fraction | 1 << 52 });
    let exponent = field.max(1) - 1075;
    let two = BigRational::from_integer(BigInt::from(2));
    BigRational::from_integer(significand) * num_traits::Pow::pow(two, exponent)
}

/// (2, 0) for NaN, (1, 0) for infinity, (0, sum of squares) for the rest: larger is larger.
fn weight(values: &[f64]) -> (u8, BigRational) {
    let zero = BigRational::zero;
    if values.iter().any(|v| v.is_nan()) {
        return (2, zero());
    }
    if values.iter().any(|v| v.is_infinite()) {
        return (1, zero());
    }
    (0, values.iter().map(|&v| rational(v) * rational(v)).fold(zero(), |a, b| a + b))
}

/// The definition: an entry stays iff fewer than `limit` lines of its window are larger than its own, or as large and
/// before it.
fn by_definition<T: Scalar>(
    entries: &Entries<T>,
    limit: usize,
    window: impl Fn(&Entry<T>) -> (u32, u32),
    line: impl Fn(&Entry<T>) -> u32,
) -> Entries<T> {
    let stays = |e: &Entry<T>| {
        let peers: Vec<&Entry<T>> = entries.list.iter().filter(|o| window(o) == window(e)).collect();
        let values =
            |l: u32| peers.iter().filter(|o| line(o) == l).map(|o| o.value.to_f64()).collect::<Vec<_>>();
        let mut lines: Vec<u32> = peers.iter().map(|o| line(o)).collect();
        lines.sort_unstable();
        lines.dedup();
        let own = weight(&values(line(e)));
        let beats = |l: &&u32| {
            let other = weight(&values(**l));
            other > own || other == own && **l < line(e)
        };
        lines.iter().filter(beats).count() < limit
    };
    let list = entries.list.iter().filter(|e| stays(e)).copied().collect();
    Entries { list, ..*entries }
}

fn defined<T: Scalar>(entries: &Entries<T>, kind: FormatKind, p: &FormatParams) -> Entries<T> {
    let chunk = if T::PRECISION == Precision::Tf32 { 2 } else { 4 };
    match kind {
        FormatKind::Nm => by_definition(entries, p.n as usize, |e| (e.row / p.m, e.col / p.l), |e| e.row),
        FormatKind::TwoFour => {
            by_definition(entries, chunk as usize / 2, |e| (e.row, e.col / chunk), |e| e.col)
        }
        _ => {
            let columns = by_definition(entries, 4, |e| (e.row / p.v, e.col / p.m), |e| e.col);
            by_definition(&columns, p.n as usize, |e| (e.row, e.col / p.m), |e| e.col)
        }
    }
}

/// Numbers with many ties, and the special ones.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-3i32..=3).prop_map(f64::from),
        2 => (-100i32..=100).prop_map(|x| f64::from(x) / 64.0),
        1 => Just(-0.0),
        1 => Just(f64::NAN),
        1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY]),
        1 => prop::sample::select(vec![6e-8, -6e-8, 1.2e-7, 65504.0, -65472.0]),
        1 => any::<f64>(),
    ]
}

fn matrices() -> impl Strategy<Value = Entries<f64>> {
    (1u32..=40, 1u32..=24).prop_flat_map(|(rows, cols)| {
        let cells = prop::collection::btree_map((0..rows, 0..cols), number(), 0..=150);
        cells.prop_map(move |cells| {
            let list = cells.into_iter().map(|((row, col), value)| Entry { row, col, value });
            Entries::try_new(rows as usize, cols as usize, list.collect()).expect("a map is sorted")
        })
    })
}

/// Every 1 <= n <= m <= 32 for N:M; legal parameters of V:N:M and 2:4.
fn choices() -> impl Strategy<Value = (FormatKind, FormatParams)> {
    let nm_ = (1u32..=32)
        .prop_flat_map(|m| (1..=m, Just(m), 1u32..=9))
        .prop_map(|(n, m, l)| (FormatKind::Nm, nm(n, m, l)));
    let vnm_ = (1u32..=9, 1u32..=4, 4u32..=12).prop_map(|(v, n, m)| (FormatKind::Vnm, vnm(v, n, m)));
    prop_oneof![nm_, vnm_, Just((FormatKind::TwoFour, FormatParams::default()))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn pruning_is_its_definition_in_rationals(
        entries in matrices(),
        (kind, params) in choices(),
        precision in prop::sample::select(vec![Precision::F64, Precision::Tf32, Precision::F16, Precision::Bf16]),
    ) {
        let legal = kind.precisions().contains(&precision);
        with_scalar!(if legal { precision } else { Precision::F16 }, T => {
            let entries = entries.map(|&v| T::from_f64(v));
            let found = prune(&entries, kind, &params).expect("legal parameters");
            prop_assert_eq!(found.check(), Ok(()));
            prop_assert_eq!(found.bits(), defined(&entries, kind, &params).bits());
            prop_assert_eq!(prune(&found, kind, &params).map(|e| e.bits()), Ok(found.bits()), "pruning twice");
            let matrix = Sparse::from_entries(kind, params, &found);
            let matrix = matrix.map_err(|r| TestCaseError::fail(format!("does not fit: {r}")))?;
            prop_assert_eq!(matrix.entries().bits(), found.without_positive_zeros().bits());
            if found.list.len() < entries.list.len() {
                let refused = matches!(Sparse::from_entries(kind, params, &entries), Err(Refusal::Request(RequestError::TooFull { .. })));
                prop_assert!(refused, "encoded although pruning dropped something");
            }
        });
    }
}
