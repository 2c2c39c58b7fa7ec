//! Dot products of one row of X with several rows of Y: a block of Y is transposed in registers, so that each lane runs its
//! own chain.
//!
//! ```text
//! rows of Y, loaded           transposed                    chain
//! lane 0: y00 y01 y02 ..      y00 y10 y20 .. (k = 0)        acc = fma(x0, column 0, acc)
//! lane 1: y10 y11 y12 ..  ->  y01 y11 y21 .. (k = 1)   ->   acc = fma(x1, column 1, acc)
//! lane 2: y20 y21 y22 ..      y02 y12 y22 .. (k = 2)        ...
//! ```
//!
//! What is left over, of k or of the lanes, runs the same chains as scalars, several side by side.

#![expect(unsafe_code, reason = "vectors are loaded and stored through pointers")]

use crate::portable::unit::Unit;
use crate::x86::isa::{Avx2, Avx512, Isa};
use std::arch::x86_64::{
    __m256, __m256d, __m512, __m512d, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_loadu_pd, _mm256_loadu_ps,
    _mm256_permute2f128_pd, _mm256_permute2f128_ps, _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_pd,
    _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_storeu_pd, _mm256_storeu_ps, _mm256_unpackhi_pd,
    _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps, _mm512_fmadd_pd, _mm512_fmadd_ps,
    _mm512_loadu_pd, _mm512_loadu_ps, _mm512_set1_pd, _mm512_set1_ps, _mm512_setzero_pd, _mm512_setzero_ps,
    _mm512_shuffle_f32x4, _mm512_shuffle_f64x2, _mm512_shuffle_ps, _mm512_storeu_pd, _mm512_storeu_ps,
    _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// The most lanes of any extension.
pub(super) const LANES_LIMIT: usize = 16;

/// An extension's dot products in unit `A`.
pub(super) trait Dots<A>: Isa {
    /// Positions computed at a time, at most [`LANES_LIMIT`].
    const LANES: usize;

    /// `acc[l]` = the chain of `x` and `rows[l]`, for 1 to `LANES` rows. Panics where a row is not as long as `x`, or
    /// `acc` is shorter than `LANES`.
    fn dots(self, x: &[A], rows: &[&[A]], acc: &mut [A]);
}

/// Chains of the terms from `from` on, four rows side by side.
#[inline(always)]
fn scalars<A: Unit>(x: &[A], rows: &[&[A]], from: usize, acc: &mut [A]) {
    for (rows, acc) in rows.chunks(4).zip(acc.chunks_mut(4)) {
        if let ([r0, r1, r2, r3], [a0, a1, a2, a3]) = (rows, &mut *acc) {
            let right = r0[from..].iter().zip(&r1[from..]).zip(&r2[from..]).zip(&r3[from..]);
            for (&x, (((&y0, &y1), &y2), &y3)) in x[from..].iter().zip(right) {
                *a0 = A::fused(*a0, x, y0);
                *a1 = A::fused(*a1, x, y1);
                *a2 = A::fused(*a2, x, y2);
                *a3 = A::fused(*a3, x, y3);
            }
        } else {
            for (row, acc) in rows.iter().zip(acc) {
                for (&x, &y) in x[from..].iter().zip(&row[from..]) {
                    *acc = A::fused(*acc, x, y);
                }
            }
        }
    }
}

/// `lanes` rows, the last one repeated where there are fewer.
#[inline(always)]
fn filled<'a, A, const LANES: usize>(rows: &[&'a [A]]) -> [&'a [A]; LANES] {
    std::array::from_fn(|lane| rows[lane.min(rows.len() - 1)])
}

/// One extension and unit: vectors of `$lanes`, transposed by `$transpose`.
macro_rules! dots {
    ($isa:ty, $unit:ty, $feature:literal, $lanes:literal, $transpose:ident,
     $load:ident, $store:ident, $splat:ident, $zero:ident, $fma:ident) => {
        impl Dots<$unit> for $isa {
            const LANES: usize = $lanes;

            fn dots(self, x: &[$unit], rows: &[&[$unit]], acc: &mut [$unit]) {
                #[target_feature(enable = $feature)]
                fn dots(x: &[$unit], rows: &[&[$unit]], acc: &mut [$unit]) {
                    assert!(acc.len() >= $lanes && rows.iter().all(|row| row.len() == x.len()));
                    // Half a vector of scalar chains takes as long as a whole one.
                    if 2 * rows.len() <= $lanes {
                        acc.fill(0.0);
                        scalars(x, rows, 0, acc);
                        return;
                    }
                    let rows: [&[$unit]; $lanes] = filled(rows);
                    let mut sum = $zero();
                    let blocks = x.chunks_exact($lanes);
                    let whole = x.len() - blocks.remainder().len();
                    for (block, x) in blocks.enumerate() {
                        // SAFETY: the block is whole in x, and each row is as long as x.
                        let loaded = rows.map(|row| unsafe { $load(row.as_ptr().add(block * $lanes)) });
                        let columns = $transpose(loaded);
                        for (&x, column) in x.iter().zip(columns) {
                            sum = $fma(column, $splat(x), sum);
                        }
                    }
                    // SAFETY: acc holds at least as many elements as the vector has lanes.
                    unsafe { $store(acc.as_mut_ptr(), sum) };
                    scalars(x, &rows, whole, acc);
                }
                // SAFETY: the token proves the features.
                unsafe { dots(x, rows, acc) }
            }
        }
    };
}

dots!(
    Avx512,
    f32,
    "avx512f,avx2,fma",
    16,
    transpose_16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_setzero_ps,
    _mm512_fmadd_ps
);
dots!(
    Avx512,
    f64,
    "avx512f,avx2,fma",
    8,
    transpose_8_wide,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_setzero_pd,
    _mm512_fmadd_pd
);
dots!(
    Avx2,
    f32,
    "avx2,fma",
    8,
    transpose_8,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_setzero_ps,
    _mm256_fmadd_ps
);
dots!(
    Avx2,
    f64,
    "avx2,fma",
    4,
    transpose_4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_setzero_pd,
    _mm256_fmadd_pd
);

/// 16 x 16: pairs, quadruples, then 128-bit lanes twice.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose_16(r: [__m512; 16]) -> [__m512; 16] {
    // In t[4q + c], 128-bit lane b holds elements 4b + c of rows 4q .. 4q + 3.
    let mut t = r;
    for q in 0..4 {
        let [a, b, c, d] = [r[4 * q], r[4 * q + 1], r[4 * q + 2], r[4 * q + 3]];
        let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        t[4 * q] = _mm512_shuffle_ps::<0x44>(ab_low, cd_low);
        t[4 * q + 1] = _mm512_shuffle_ps::<0xee>(ab_low, cd_low);
        t[4 * q + 2] = _mm512_shuffle_ps::<0x44>(ab_high, cd_high);
        t[4 * q + 3] = _mm512_shuffle_ps::<0xee>(ab_high, cd_high);
    }
    let mut columns = r;
    for c in 0..4 {
        // Lanes 0 2 and 1 3 of rows 0 .. 7, and of rows 8 .. 15.
        let even_low = _mm512_shuffle_f32x4::<0x88>(t[c], t[4 + c]);
        let odd_low = _mm512_shuffle_f32x4::<0xdd>(t[c], t[4 + c]);
        let even_high = _mm512_shuffle_f32x4::<0x88>(t[8 + c], t[12 + c]);
        let odd_high = _mm512_shuffle_f32x4::<0xdd>(t[8 + c], t[12 + c]);
        columns[c] = _mm512_shuffle_f32x4::<0x88>(even_low, even_high);
        columns[4 + c] = _mm512_shuffle_f32x4::<0x88>(odd_low, odd_high);
        columns[8 + c] = _mm512_shuffle_f32x4::<0xdd>(even_low, even_high);
        columns[12 + c] = _mm512_shuffle_f32x4::<0xdd>(odd_low, odd_high);
    }
    columns
}

/// 8 x 8 of f64: pairs, then 128-bit lanes twice.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose_8_wide(r: [__m512d; 8]) -> [__m512d; 8] {
    // In t[2q + c], 128-bit lane b holds elements 2b + c of rows 2q and 2q + 1.
    let mut t = r;
    for q in 0..4 {
        t[2 * q] = _mm512_unpacklo_pd(r[2 * q], r[2 * q + 1]);
        t[2 * q + 1] = _mm512_unpackhi_pd(r[2 * q], r[2 * q + 1]);
    }
    let mut columns = r;
    for c in 0..2 {
        let even_low = _mm512_shuffle_f64x2::<0x88>(t[c], t[2 + c]);
        let odd_low = _mm512_shuffle_f64x2::<0xdd>(t[c], t[2 + c]);
        let even_high = _mm512_shuffle_f64x2::<0x88>(t[4 + c], t[6 + c]);
        let odd_high = _mm512_shuffle_f64x2::<0xdd>(t[4 + c], t[6 + c]);
        columns[c] = _mm512_shuffle_f64x2::<0x88>(even_low, even_high);
        columns[2 + c] = _mm512_shuffle_f64x2::<0x88>(odd_low, odd_high);
        columns[4 + c] = _mm512_shuffle_f64x2::<0xdd>(even_low, even_high);
        columns[6 + c] = _mm512_shuffle_f64x2::<0xdd>(odd_low, odd_high);
    }
    columns
}

/// 8 x 8 of f32: pairs, quadruples, then halves.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_8(r: [__m256; 8]) -> [__m256; 8] {
    let mut t = r;
    for q in 0..2 {
        let [a, b, c, d] = [r[4 * q], r[4 * q + 1], r[4 * q + 2], r[4 * q + 3]];
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        t[4 * q] = _mm256_shuffle_ps::<0x44>(ab_low, cd_low);
        t[4 * q + 1] = _mm256_shuffle_ps::<0xee>(ab_low, cd_low);
        t[4 * q + 2] = _mm256_shuffle_ps::<0x44>(ab_high, cd_high);
        t[4 * q + 3] = _mm256_shuffle_ps::<0xee>(ab_high, cd_high);
    }
    let mut columns = r;
    for c in 0..4 {
        columns[c] = _mm256_permute2f128_ps::<0x20>(t[c], t[4 + c]);
        columns[4 + c] = _mm256_permute2f128_ps::<0x31>(t[c], t[4 + c]);
    }
    columns
}

/// 4 x 4 of f64: pairs, then halves.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_4(r: [__m256d; 4]) -> [__m256d; 4] {
    let low = [_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpacklo_pd(r[2], r[3])];
    let high = [_mm256_unpackhi_pd(r[0], r[1]), _mm256_unpackhi_pd(r[2], r[3])];
    [
        _mm256_permute2f128_pd::<0x20>(low[0], low[1]),
        _mm256_permute2f128_pd::<0x20>(high[0], high[1]),
        _mm256_permute2f128_pd::<0x31>(low[0], low[1]),
        _mm256_permute2f128_pd::<0x31>(high[0], high[1]),
    ]
}
