//! The `approx` traits do what their users expect, and nothing that judges uses them.

use approx::{AbsDiffEq, RelativeEq, UlpsEq, assert_abs_diff_eq, assert_relative_eq, assert_ulps_eq};
use sparse_oracle::format::{Csr, CsrParts, Dense, Layout};
use sparse_oracle::prelude::*;
use sparse_oracle::{Bf16, E4m3, E5m2, F16, Scalar, Tf32};
use std::path::{Path, PathBuf};

/// Checks on one type: its epsilon is that of its significand, and its special values compare as they should.
fn check<T: Scalar + RelativeEq + UlpsEq<Epsilon = f64>>(significand: i32, ulp: u64) {
    let epsilon = 2.0f64.powi(1 - significand);
    assert_eq!(T::default_epsilon(), epsilon, "{:?}", T::PRECISION);
    assert_eq!(<T as RelativeEq>::default_max_relative(), epsilon);
    let (one, two) = (T::from_f64(1.0), T::from_f64(2.0));
    let next = T::from_bits64(one.bits64() + ulp);
    assert_eq!(next.to_f64() - 1.0, epsilon, "{:?}: one ulp above 1", T::PRECISION);
    assert!(one.abs_diff_eq(&next, epsilon) && !one.abs_diff_eq(&next, epsilon / 2.0));
    assert!(one.relative_eq(&next, 0.0, epsilon) && !one.relative_eq(&two, 0.0, 0.25));
    assert!(one.ulps_eq(&next, 0.0, 1) && !one.ulps_eq(&next, 0.0, 0));
    let third = T::from_bits64(one.bits64() + 3 * ulp);
    assert!(one.ulps_eq(&third, 0.0, 3) && !one.ulps_eq(&third, 0.0, 2));
    assert!(third.ulps_eq(&one, 0.0, 3) && !third.ulps_eq(&one, 0.0, 2));
    let (zero, minus) = (T::from_f64(0.0), T::from_f64(-0.0));
    assert!(zero.ulps_eq(&minus, 0.0, 0) && zero.relative_eq(&minus, 0.0, 0.0));
    assert!(!one.ulps_eq(&T::from_f64(-1.0), 0.0, u32::MAX), "not across signs");
    let nan = T::from_f64(f64::NAN);
    for other in [nan, one] {
        assert!(!nan.abs_diff_eq(&other, f64::INFINITY) && !other.abs_diff_eq(&nan, f64::INFINITY));
        assert!(!nan.relative_eq(&other, f64::INFINITY, f64::INFINITY));
        assert!(!nan.ulps_eq(&other, f64::INFINITY, u32::MAX) && !other.ulps_eq(&nan, 0.0, u32::MAX));
    }
    assert_ulps_eq!(one, one);
}

#[test]
fn element_types() {
    check::<F16>(11, 1);
    check::<Bf16>(8, 1);
    check::<Tf32>(11, 1 << 13);
    check::<E4m3>(4, 1);
    check::<E5m2>(3, 1);
}

#[test]
fn infinities_equal_themselves_only() {
    let (inf, minus, max) = (F16(0x7c00), F16(0xfc00), F16(0x7bff));
    assert!(inf.abs_diff_eq(&inf, 0.0) && inf.relative_eq(&inf, 0.0, 0.0) && inf.ulps_eq(&inf, 0.0, 0));
    for other in [minus, max] {
        assert!(!inf.abs_diff_eq(&other, 1e9));
        assert!(!inf.relative_eq(&other, 1e9, 1e9));
        assert!(!inf.ulps_eq(&other, 1e9, u32::MAX));
    }
}

#[test]
fn dense_matrices_are_compared_by_their_elements() {
    let rows =
        Dense::try_new(2, 2, 3, Layout::RowMajor, vec![1.0f32, 2.0, 9.0, 3.0, 4.0, 9.0]).expect("ld 3");
    let cols = Dense::try_new(2, 2, 2, Layout::ColMajor, vec![1.0f32, 3.0, 2.0, 4.0]).expect("ld 2");
    assert_relative_eq!(rows, cols);
    assert_ulps_eq!(rows, cols);
    assert_abs_diff_eq!(rows, cols.map(|v| v + 0.25), epsilon = 0.25);
    assert!(!rows.abs_diff_eq(&cols.map(|v| v + 0.25), 0.2));
    assert!(!rows.relative_eq(&Dense::from_fn(2, 3, |_, _| 1.0f32), 1e9, 1e9), "another shape");
    assert!(!rows.relative_eq(&Dense::from_fn(4, 1, |_, _| 1.0f32), 1e9, 1e9), "as many elements");
}

#[test]
fn sparse_matrices_of_another_pattern_differ() {
    let csr = |cols: usize, row_ptr: &[u32], col_idx: &[u32], values: &[f32]| {
        let parts = CsrParts {
            rows: 2,
            cols,
            row_ptr: row_ptr.to_vec(),
            col_idx: col_idx.to_vec(),
            values: values.to_vec(),
        };
        Csr::try_new(parts).expect("valid")
    };
    let matrix = csr(3, &[0, 1, 2], &[0, 2], &[1.0, 0.0]);
    assert_relative_eq!(matrix, csr(3, &[0, 1, 2], &[0, 2], &[1.0 + f32::EPSILON, 0.0]));
    assert_ulps_eq!(matrix, csr(3, &[0, 1, 2], &[0, 2], &[1.0 + 4.0 * f32::EPSILON, 0.0]));
    for (other, why) in [
        (csr(4, &[0, 1, 2], &[0, 2], &[1.0, 0.0]), "another shape"),
        (csr(3, &[0, 1, 2], &[0, 1], &[1.0, 0.0]), "another column"),
        (csr(3, &[0, 2, 2], &[0, 2], &[1.0, 0.0]), "another row"),
        (csr(3, &[0, 1, 1], &[0], &[1.0]), "without the explicit zero"),
        (csr(3, &[0, 1, 2], &[0, 2], &[f32::NAN, 0.0]), "NaN"),
    ] {
        assert!(!matrix.abs_diff_eq(&other, 1e9), "{why}");
        assert!(!matrix.relative_eq(&other, 1e9, 1e9), "{why}");
        assert!(!matrix.ulps_eq(&other, 1e9, u32::MAX), "{why}");
    }
}

/// All `.rs` files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|x| x == "rs") {
            found.push(path);
        }
    }
}

/// What a use of `approx`, or of the module that implements its traits, cannot do without.
const TRACES: [&str; 8] = [
    "approx::",
    "use approx",
    "approximate::",
    "::approximate",
    "abs_diff_eq",
    "relative_eq",
    "ulps_eq",
    "AbsDiffEq",
];

#[test]
fn nothing_that_judges_uses_them() {
    let oracle = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in
        ["src", "types/src", "../conformance/src", "../kernels/src"].map(|folder| oracle.join(folder))
    {
        sources(&folder, &mut files);
    }
    let traces = |text: &str| TRACES.into_iter().filter(|t| text.contains(t)).collect::<Vec<_>>();
    let mut implementations = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a readable source");
        if file.ends_with("src/approximate.rs") {
            implementations += 1;
            assert!(traces(&text).len() > 4, "the traces are those that a use leaves");
        } else {
            assert_eq!(traces(&text), Vec::<&str>::new(), "{} uses approx", file.display());
        }
    }
    assert_eq!(implementations, 1);
    for judge in ["tolerance.rs", "verdict.rs"] {
        assert!(files.iter().any(|f| f.ends_with(judge)), "{judge} was not read");
    }
}
