//! 2:4 against what an H200 did: metadata words and registers of A as they were given to `mma.sp`, put into the arrays of
//! the format, must multiply to what the hardware returned.
//!
//! ```text
//! recorded A, metadata  ->  TwoFour  ->  entries x recorded B + C   =   recorded D, within rounding
//! ```
//!
//! The files hold one selector each; lanes that it does not name hold legal nibbles of other matrices, so that a wrong
//! lane, row or column shows in nearly every element.

use crate::files_shared;
use sparse_oracle::prelude::*;

use files_shared::say;
use sparse_oracle::exact::{Dyadic, dot_reference};
use sparse_oracle::format::{SparseMma, TwoFour, TwoFourParts};
use sparse_oracle::{Bf16, F16, Precision, Scalar, Tf32};
use std::path::{Path, PathBuf};

/// Warps in each file.
const WARPS: usize = 160;

/// The u32 words of a recording; says so when it is not there.
fn recording(name: &str) -> Option<Vec<u32>> {
    let root = std::env::var_os("SPARSE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let path = root.join("data/silicon").join(name);
    match std::fs::read(&path) {
        Ok(bytes) => {
            let words = bytes.chunks_exact(4);
            Some(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
        }
        Err(error) => {
            say!("SKIPPED {}: {error}; set SPARSE_SHARED", path.display());
            None
        }
    }
}

/// The sections of a recording.
struct Warps<'a> {
    a: &'a [u32],
    b: &'a [u32],
    c: &'a [u32],
    d: &'a [u32],
    metadata: &'a [u32],
}

impl<'a> Warps<'a> {
    /// Sections follow one another; A and B take as many registers as the instruction has k / 8 (k / 4 in tf32).
    fn new(words: &'a [u32], mma: SparseMma) -> Warps<'a> {
        let lanes = WARPS * 32;
        let registers = if mma.chunk() == 4 { mma.k() / 8 } else { mma.k() / 4 };
        let (a, rest) = words.split_at(registers * lanes);
        let (b, rest) = rest.split_at(registers * lanes);
        let (c, rest) = rest.split_at(4 * lanes);
        let (d, metadata) = rest.split_at(4 * lanes);
        assert_eq!(metadata.len(), lanes, "the file has another shape");
        Warps { a, b, c, d, metadata }
    }
}

/// Element `i` of a fragment, of which a register holds one (tf32, f32) or two.
fn element(section: &[u32], warp: usize, lane: usize, i: usize, per_register: usize) -> u64 {
    let registers = section.len() / (WARPS * 32);
    let word = section[(warp * registers + i / per_register) * 32 + lane];
    let shift = if per_register == 2 { i % 2 * 16 } else { 0 };
    u64::from(word) >> shift & if per_register == 2 { 0xffff } else { 0xffff_ffff }
}

/// What the multiplier sees: tf32 ignores its low 13 bits, which may turn a NaN into an infinity.
fn seen<T: Scalar>(value: T) -> f64 {
    let ignored = if T::PRECISION == Precision::Tf32 { 0x1fff } else { 0 };
    T::from_bits64(value.bits64() & !ignored).to_f64()
}

/// The arrays of the format, as the registers of one warp have them.
fn arrays<T: Scalar>(warps: &Warps<'_>, warp: usize, mma: SparseMma, selector: usize) -> TwoFourParts<T> {
    let per_register = mma.chunk() / 2;
    let word = |word| warps.metadata[warp * 32 + mma.lane_of_word(word, selector)];
    let mut values = vec![T::from_bits64(0); 16 * mma.k() / 2];
    for (lane, i) in (0..32).flat_map(|lane| (0..mma.k() / 4).map(move |i| (lane, i))) {
        let (row, col) = mma.a_of_lane(lane, i);
        values[row * mma.k() / 2 + col] = T::from_bits64(element(warps.a, warp, lane, i, per_register));
    }
    TwoFourParts {
        rows: 16,
        cols: mma.k(),
        short_k: mma.words() == 8,
        metadata: (0..mma.words()).map(word).collect(),
        values,
    }
}

/// Compares every output of a recording; returns how many there were and how many were finite.
fn compare<T: Scalar>(words: &[u32], mma: SparseMma, selector: usize) -> (usize, usize) {
    let warps = Warps::new(words, mma);
    let (mut outputs, mut finite) = (0, 0);
    let least_normal = 2f64.powi(T::PRECISION.spec().emin);
    for warp in 0..WARPS {
        let matrix = TwoFour::<T>::try_new(arrays(&warps, warp, mma, selector)).expect("legal metadata");
        let entries = matrix.entries();
        let mut b = vec![[0.0; 8]; mma.k()];
        for (lane, i) in (0..32).flat_map(|lane| (0..mma.k() / 4).map(move |i| (lane, i))) {
            let (row, col) = mma.b_of_lane(lane, i);
            b[row][col] = seen(T::from_bits64(element(warps.b, warp, lane, i, mma.chunk() / 2)));
        }
        for (lane, i) in (0..32).flat_map(|lane| (0..4).map(move |i| (lane, i))) {
            let (row, col) = mma.c_of_lane(lane, i);
            let number = |section| f64::from(f32::from_bits(element(section, warp, lane, i, 1) as u32));
            let (c, d) = (number(warps.c), number(warps.d));
            let stored = entries.list.iter().filter(|e| e.row as usize == row);
            let terms = stored.map(|e| (seen(e.value), b[e.col as usize][col]));
            let (left, right): (Vec<f64>, Vec<f64>) = terms.chain([(1.0, c)]).unzip();
            let exact = dot_reference(&left, &right);
            outputs += 1;
            let Some(expected) = exact.value.to_dyadic() else {
                let special = exact.value.approx();
                let alike = special.is_nan() && d.is_nan() || special == d;
                assert!(alike, "warp {warp}, ({row}, {col}): {d} for {special}");
                continue;
            };
            // One fused sum of up to 17 terms, each cut to 25 bits below the largest: 18 * 2^-25 + 2^-23 of the gauge,
            // in which subnormals count as the least normal number.
            let normal = |x: f64| if x == 0.0 { 0.0 } else { x.abs().max(least_normal) };
            let gauge = dot_reference(
                &left.iter().map(|&x| normal(x)).collect::<Vec<_>>(),
                &right.iter().map(|&x| normal(x)).collect::<Vec<_>>(),
            );
            let gauge = gauge.value.to_dyadic().expect("finite");
            let bound = &gauge.mul_pow2(-20) + &Dyadic::from(1).mul_pow2(-140);
            let Some(found) = Dyadic::from_f64(d) else {
                assert!(gauge > Dyadic::from(1).mul_pow2(127), "warp {warp}, ({row}, {col}): {d}");
                continue;
            };
            let error = (&found - &expected).abs();
            assert!(error <= bound, "{mma:?}, warp {warp}, ({row}, {col}): {d} for {}", exact.value.approx());
            finite += 1;
        }
    }
    (outputs, finite)
}

#[test]
fn recorded_metadata_means_what_the_format_says() {
    use SparseMma::{HalfK16, HalfK32, Tf32K8, Tf32K16};
    type Compare = fn(&[u32], SparseMma, usize) -> (usize, usize);
    let files: [(&str, SparseMma, usize, Compare); 6] = [
        ("h200_spf16_k16_s0.bin", HalfK16, 0, compare::<F16>),
        ("h200_spf16_k32_s0.bin", HalfK32, 0, compare::<F16>),
        ("h200_spf16_k32_s1.bin", HalfK32, 1, compare::<F16>),
        ("h200_spbf16_k32_s0.bin", HalfK32, 0, compare::<Bf16>),
        ("h200_sptf32_k8_s1.bin", Tf32K8, 1, compare::<Tf32>),
        ("h200_sptf32_k16_s0.bin", Tf32K16, 0, compare::<Tf32>),
    ];
    for (name, mma, selector, compare) in files {
        if let Some(words) = recording(name) {
            let (outputs, finite) = compare(&words, mma, selector);
            assert_eq!(outputs, WARPS * 128);
            assert!(finite > outputs / 2, "{name}: only {finite} of {outputs} are numbers");
            say!("{name}: {outputs} outputs, {finite} of them finite");
        }
    }
}

#[test]
fn another_selector_is_another_matrix() {
    let Some(words) = recording("h200_spf16_k32_s0.bin") else {
        return;
    };
    let wrong = std::panic::catch_unwind(|| compare::<F16>(&words, SparseMma::HalfK32, 1));
    assert!(wrong.is_err(), "the lanes of selector 1 hold another matrix");
}
