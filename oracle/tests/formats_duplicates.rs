//! Repeated positions in COO: four policies, exact sums, bits kept where nothing is repeated.

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;
use sparse_oracle::format::{Coo, CooParts, Duplicates};
use sparse_oracle::prelude::*;
use sparse_oracle::{E4m3, EncodingError, F16, Refusal, Scalar, Tf32};

fn coo<T: Scalar>(triples: &[(u32, u32, T)]) -> Coo<T> {
    let parts = CooParts {
        rows: 3,
        cols: 3,
        row_idx: triples.iter().map(|t| t.0).collect(),
        col_idx: triples.iter().map(|t| t.1).collect(),
        values: triples.iter().map(|t| t.2).collect(),
    };
    Coo::try_new(parts).expect("in range")
}

/// The bits that `terms`, all stored at one position, stand for.
fn settled<T: Scalar>(policy: Duplicates, terms: &[T]) -> u64 {
    let triples: Vec<_> = terms.iter().map(|&t| (1, 2, t)).collect();
    let entries = coo(&triples).entries_with(policy).expect("not rejected");
    assert_eq!((entries.nnz(), entries.list[0].row, entries.list[0].col), (1, 1, 2));
    entries.list[0].value.bits64()
}

#[test]
fn entries_are_sorted_whatever_the_stored_order() {
    let matrix = coo(&[(2, 0, 1.0f32), (0, 2, 2.0), (0, 1, 3.0), (2, 0, 4.0)]);
    let found: Vec<_> = matrix.entries().list.iter().map(|e| (e.row, e.col, e.value)).collect();
    assert_eq!(found, [(0, 1, 3.0), (0, 2, 2.0), (2, 0, 5.0)]);
}

#[test]
fn a_position_stored_once_keeps_its_bits() {
    for bits in [0x8000_0000u32, 0, 1, 0x7fc0_1234, 0xffa0_0001, 0x7f80_0000] {
        for policy in Duplicates::ALL {
            assert_eq!(settled(policy, &[f32::from_bits(bits)]), u64::from(bits), "{policy:?}");
        }
        assert_eq!(settled(Duplicates::SumExact, &[Tf32(bits)]), u64::from(bits));
    }
}

#[test]
fn policies_differ_where_rounding_does() {
    // 2^24 + 1 + 1: each addition alone is a tie that falls back to 2^24.
    let terms = [16_777_216.0f32, 1.0, 1.0];
    assert_eq!(settled(Duplicates::SumExact, &terms), u64::from(16_777_218.0f32.to_bits()));
    assert_eq!(settled(Duplicates::SumRounded, &terms), u64::from(16_777_216.0f32.to_bits()));
    assert_eq!(settled(Duplicates::LastWins, &terms), u64::from(1.0f32.to_bits()));
    let turned = [1.0f32, 1.0, 16_777_216.0];
    assert_eq!(settled(Duplicates::SumRounded, &turned), u64::from(16_777_218.0f32.to_bits()));
}

#[test]
fn an_exact_sum_forgets_no_small_term() {
    assert_eq!(settled(Duplicates::SumExact, &[1e300, 1.0, -1e300]), 1.0f64.to_bits());
    assert_eq!(settled(Duplicates::SumRounded, &[1e300, 1.0, -1e300]), 0.0f64.to_bits());
    // f64::MAX + f64::MAX - f64::MAX overflows on the way only if it is rounded on the way.
    let large = [f64::MAX, f64::MAX, -f64::MAX];
    assert_eq!(settled(Duplicates::SumExact, &large), f64::MAX.to_bits());
    assert_eq!(settled(Duplicates::SumRounded, &large), f64::INFINITY.to_bits());
}

#[test]
fn the_sign_of_a_zero_sum_follows_ieee() {
    for policy in [Duplicates::SumExact, Duplicates::SumRounded] {
        assert_eq!(settled(policy, &[-0.0f64, -0.0]), (-0.0f64).to_bits(), "{policy:?}");
        assert_eq!(settled(policy, &[-0.0f64, 0.0]), 0, "{policy:?}");
        assert_eq!(settled(policy, &[1.5f64, -1.5]), 0, "{policy:?}: an explicit +0.0 stays");
        assert_eq!(settled(policy, &[F16(0x8000), F16(0x8000)]), 0x8000, "{policy:?}");
    }
}

#[test]
fn special_values_follow_ieee() {
    let inf = f32::INFINITY;
    for policy in [Duplicates::SumExact, Duplicates::SumRounded] {
        assert_eq!(settled(policy, &[inf, 1.0]), u64::from(inf.to_bits()), "{policy:?}");
        for terms in [[inf, -inf], [f32::NAN, 1.0], [f32::NAN, inf]] {
            let bits = settled(policy, &terms) as u32;
            assert!(f32::from_bits(bits).is_nan(), "{policy:?} {terms:?}");
        }
        assert_eq!(settled(policy, &[f32::MAX, f32::MAX]), u64::from(inf.to_bits()), "{policy:?}");
        // 448 + 448 has no infinity to go to.
        assert!(E4m3(settled(policy, &[E4m3(0x7e), E4m3(0x7e)]) as u8).to_f64().is_nan(), "{policy:?}");
    }
}

#[test]
fn tf32_sums_are_stored_as_f32() {
    let terms = [1.0f32, 2.0f32.powi(-20)].map(|x| Tf32(x.to_bits()));
    let sum = 1.0f32 + 2.0f32.powi(-20);
    assert_eq!(settled(Duplicates::SumExact, &terms), u64::from(sum.to_bits()));
    assert_eq!(settled(Duplicates::SumRounded, &terms), u64::from(sum.to_bits()));
}

#[test]
fn reject_names_the_first_triple_that_repeats() {
    let matrix = coo(&[(2, 0, 1.0f32), (0, 2, 2.0), (2, 0, 3.0), (0, 2, 4.0)]);
    let expected = Refusal::Encoding(EncodingError::Duplicate { field: "values", at: 2, row: 2, column: 0 });
    assert_eq!(matrix.entries_with(Duplicates::Reject), Err(expected.clone()));
    assert_eq!(matrix.check_unique(), Err(expected));
    let unique = coo(&[(2, 0, 1.0f32), (0, 2, 2.0)]);
    assert_eq!(unique.entries_with(Duplicates::Reject), Ok(unique.entries()));
}

#[test]
fn names_are_read_back() {
    for policy in Duplicates::ALL {
        assert_eq!(Duplicates::from_name(policy.name()), Some(policy));
    }
    assert_eq!(Duplicates::from_name("sum"), None);
}

fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).expect("finite")
}

proptest! {
    /// The exact sum is nearest: no neighbour of the result is nearer to the rational sum.
    #[test]
    fn exact_sums_are_nearest(terms in prop::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), 2..9)) {
        let got = f32::from_bits(settled(Duplicates::SumExact, &terms) as u32);
        prop_assume!(got.is_finite());
        let sum: BigRational = terms.iter().map(|&x| rational(f64::from(x))).sum();
        let distance = |x: f32| {
            let d = rational(f64::from(x)) - &sum;
            if d < BigRational::from(BigInt::from(0)) { -d } else { d }
        };
        for neighbour in [got.next_up(), got.next_down()] {
            if neighbour.is_finite() {
                let (here, there) = (distance(got), distance(neighbour));
                prop_assert!(here < there || (here == there && got.to_bits().is_multiple_of(2)));
            }
        }
    }

    /// Two terms: rounding once and rounding each addition are the same thing.
    #[test]
    fn two_terms_agree_under_both_sums(x in any::<u16>(), y in any::<u16>()) {
        let (x, y) = (F16(x), F16(y));
        let (exact, rounded) = (settled(Duplicates::SumExact, &[x, y]), settled(Duplicates::SumRounded, &[x, y]));
        let nan = |bits: u64| F16(bits as u16).to_f64().is_nan();
        prop_assert!(exact == rounded || (nan(exact) && nan(rounded)), "{x:?} + {y:?}: {exact:x} {rounded:x}");
    }
}
