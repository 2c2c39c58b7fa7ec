//! Vectors of f32 and f64 as one trait, so that each loop is written once: AVX-512, AVX2, and one lone element for SpMV.
//!
//! ```text
//!               f32     f64     tail by
//! __m512(d)     16      8       mask register
//! __m256(d)     8       4       vmaskmov
//! f32, f64      1       1       none
//! ```
//!
//! Every operation is one IEEE operation in each lane, to nearest, subnormals kept (MXCSR is never touched). Masked loads
//! and stores do not touch memory outside of the mask, so tails may end at the end of a page.

#![expect(unsafe_code, reason = "vector instructions have no safe form in generic code")]

use crate::portable::unit::Unit;
use std::arch::x86_64::{
    __m256, __m256d, __m256i, __m512, __m512d, __mmask8, __mmask16, _mm_stream_pd, _mm_stream_ps,
    _mm256_add_pd, _mm256_add_ps, _mm256_castpd256_pd128, _mm256_castps256_ps128, _mm256_cmpgt_epi32,
    _mm256_cmpgt_epi64, _mm256_extractf128_pd, _mm256_extractf128_ps, _mm256_fmadd_pd, _mm256_fmadd_ps,
    _mm256_loadu_pd, _mm256_loadu_ps, _mm256_maskload_pd, _mm256_maskload_ps, _mm256_maskstore_pd,
    _mm256_maskstore_ps, _mm256_mul_pd, _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd,
    _mm256_set1_ps, _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_setzero_pd, _mm256_setzero_ps,
    _mm256_storeu_pd, _mm256_storeu_ps, _mm256_stream_pd, _mm256_stream_ps, _mm512_add_pd, _mm512_add_ps,
    _mm512_castpd512_pd128, _mm512_castps512_ps128, _mm512_extractf32x4_ps, _mm512_extractf64x2_pd,
    _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mask_storeu_pd,
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_mul_pd, _mm512_mul_ps,
    _mm512_set1_pd, _mm512_set1_ps, _mm512_setzero_pd, _mm512_setzero_ps, _mm512_storeu_pd, _mm512_storeu_ps,
    _mm512_stream_pd, _mm512_stream_ps,
};

/// A vector, or one element.
///
/// # Safety
/// Every function needs the CPU features of the implementing type; pointers must be valid for the elements that are
/// loaded or stored, and need no alignment.
pub(super) trait Vector: Copy {
    /// What it holds.
    type Element: Unit;
    /// Selects the first lanes.
    type Mask: Copy;
    /// Number of elements.
    const LANES: usize;
    /// Registers: how many accumulators may live at once.
    const REGISTERS: usize;

    /// +0 in every lane.
    unsafe fn zero() -> Self;
    /// `x` in every lane.
    unsafe fn splat(x: Self::Element) -> Self;
    /// All lanes.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// All lanes.
    unsafe fn store(self, to: *mut Self::Element);
    /// All lanes, past the caches; `to` is a multiple of 16 bytes. Weakly ordered: a fence must follow before anybody else reads.
    unsafe fn stream(self, to: *mut Self::Element);
    /// The first `count` lanes.
    unsafe fn first(count: usize) -> Self::Mask;
    /// Lanes of the mask; +0 in the others.
    unsafe fn load_first(mask: Self::Mask, from: *const Self::Element) -> Self;
    /// Lanes of the mask.
    unsafe fn store_first(self, mask: Self::Mask, to: *mut Self::Element);
    /// `a * b + self`, rounded once.
    unsafe fn fused(self, a: Self, b: Self) -> Self;
    /// `self * other`.
    unsafe fn times(self, other: Self) -> Self;
    /// `self + other`.
    unsafe fn plus(self, other: Self) -> Self;
}

/// Writes one implementation; each function is the one instruction that it names.
macro_rules! vector {
    ($vector:ty, $element:ty, $lanes:literal, $registers:literal, $mask:ty, |$count:ident| $first:expr;
        $zero:ident $splat:ident $load:ident $store:ident $stream:ident $load_first:ident $store_first:ident $fused:ident $times:ident $plus:ident) => {
        impl Vector for $vector {
            type Element = $element;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller promises the features of this vector; registers only.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(x: $element) -> Self {
                // SAFETY: the caller promises the features of this vector; registers only.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller promises the features, and that all lanes are readable at `from`.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: the caller promises the features, and that all lanes are writable at `to`.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn stream(self, to: *mut $element) {
                // SAFETY: the caller promises the features, that all lanes are writable at `to`, and that it is a multiple of 16.
                unsafe { $stream(to, self) }
            }

            #[inline(always)]
            unsafe fn first($count: usize) -> $mask {
                $first
            }

            #[inline(always)]
            unsafe fn load_first(mask: $mask, from: *const $element) -> Self {
                // SAFETY: the caller promises the features, and that the lanes of the mask are readable at `from`; others are not touched.
                unsafe { $load_first(mask, from) }
            }

            #[inline(always)]
            unsafe fn store_first(self, mask: $mask, to: *mut $element) {
                // SAFETY: the caller promises the features, and that the lanes of the mask are writable at `to`; others are not touched.
                unsafe { $store_first(to, mask, self) }
            }

            #[inline(always)]
            unsafe fn fused(self, a: Self, b: Self) -> Self {
                // SAFETY: the caller promises the features of this vector; registers only.
                unsafe { $fused(a, b, self) }
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                // SAFETY: the caller promises the features of this vector; registers only.
                unsafe { $times(self, other) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the caller promises the features of this vector; registers only.
                unsafe { $plus(self, other) }
            }
        }
    };
}

vector! { __m512, f32, 16, 32, __mmask16, |count| first_bits(count) as __mmask16;
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps stream_512_ps _mm512_maskz_loadu_ps _mm512_mask_storeu_ps
    _mm512_fmadd_ps _mm512_mul_ps _mm512_add_ps
}
vector! { __m512d, f64, 8, 32, __mmask8, |count| first_bits(count) as __mmask8;
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd stream_512_pd _mm512_maskz_loadu_pd _mm512_mask_storeu_pd
    _mm512_fmadd_pd _mm512_mul_pd _mm512_add_pd
}
vector! { __m256, f32, 8, 16, __m256i,
    // SAFETY: the caller of `first` promises the features of the vector, AVX2 among them.
    |count| unsafe { first_of_8(count) };
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps stream_256_ps masked_load_ps _mm256_maskstore_ps
    _mm256_fmadd_ps _mm256_mul_ps _mm256_add_ps
}
vector! { __m256d, f64, 4, 16, __m256i,
    // SAFETY: the caller of `first` promises the features of the vector, AVX2 among them.
    |count| unsafe { first_of_4(count) };
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd stream_256_pd masked_load_pd _mm256_maskstore_pd
    _mm256_fmadd_pd _mm256_mul_pd _mm256_add_pd
}

/// Writes one vector past the caches: whole where the address allows it, else as quarters or halves of 16 bytes.
macro_rules! stream {
    ($name:ident, $vector:ty, $element:ty, $whole:ident, $quarter:ident, $low:ident, $($extract:ident $place:literal),*) => {
        /// # Safety
        /// The CPU has the features of the vector; all lanes are writable at `to`, a multiple of 16 bytes.
        #[inline(always)]
        unsafe fn $name(to: *mut $element, v: $vector) {
            // SAFETY: the caller promises the features and a writable vector at `to`, a multiple of 16 bytes, which is what a part
            // needs; a whole vector is written only where `to` is a multiple of its size.
            unsafe {
                if to.addr().is_multiple_of(size_of::<$vector>()) {
                    $whole(to.cast(), v);
                } else {
                    $quarter(to, $low(v));
                    $($quarter(to.add($place * 16 / size_of::<$element>()), $extract::<$place>(v));)*
                }
            }
        }
    };
}
stream!(stream_512_ps, __m512, f32, _mm512_stream_ps, _mm_stream_ps, _mm512_castps512_ps128,
    _mm512_extractf32x4_ps 1, _mm512_extractf32x4_ps 2, _mm512_extractf32x4_ps 3);
stream!(stream_512_pd, __m512d, f64, _mm512_stream_pd, _mm_stream_pd, _mm512_castpd512_pd128,
    _mm512_extractf64x2_pd 1, _mm512_extractf64x2_pd 2, _mm512_extractf64x2_pd 3);
stream!(stream_256_ps, __m256, f32, _mm256_stream_ps, _mm_stream_ps, _mm256_castps256_ps128, _mm256_extractf128_ps 1);
stream!(stream_256_pd, __m256d, f64, _mm256_stream_pd, _mm_stream_pd, _mm256_castpd256_pd128, _mm256_extractf128_pd 1);

/// A mask register with the first bits set.
#[inline(always)]
fn first_bits(count: usize) -> u32 {
    (1 << count) - 1
}

/// A mask of words whose sign says that the lane is selected.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn first_of_8(count: usize) -> __m256i {
    // SAFETY: the caller promises AVX2; registers only.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

/// The same for doublewords.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn first_of_4(count: usize) -> __m256i {
    // SAFETY: the caller promises AVX2; registers only.
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

/// `vmaskmovps` with the operands in the order of AVX-512.
///
/// # Safety
/// The CPU has AVX; the lanes of the mask are readable.
#[inline(always)]
unsafe fn masked_load_ps(mask: __m256i, from: *const f32) -> __m256 {
    // SAFETY: the caller promises AVX, and that the lanes of the mask are readable at `from`; others are not touched.
    unsafe { _mm256_maskload_ps(from, mask) }
}

/// `vmaskmovpd` with the operands in the order of AVX-512.
///
/// # Safety
/// The CPU has AVX; the lanes of the mask are readable.
#[inline(always)]
unsafe fn masked_load_pd(mask: __m256i, from: *const f64) -> __m256d {
    // SAFETY: the caller promises AVX, and that the lanes of the mask are readable at `from`; others are not touched.
    unsafe { _mm256_maskload_pd(from, mask) }
}

/// One element in a scalar register. The mask selects it always: no loop has a tail with this.
macro_rules! lone {
    ($element:ty) => {
        impl Vector for $element {
            type Element = $element;
            type Mask = ();
            const LANES: usize = 1;
            const REGISTERS: usize = 16;

            #[inline(always)]
            unsafe fn zero() -> Self {
                0.0
            }

            #[inline(always)]
            unsafe fn splat(x: $element) -> Self {
                x
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller promises that one element is readable at `from`.
                unsafe { from.read_unaligned() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: the caller promises that one element is writable at `to`.
                unsafe { to.write_unaligned(self) }
            }

            #[inline(always)]
            unsafe fn stream(self, to: *mut $element) {
                // SAFETY: the caller promises that one element is writable at `to`.
                unsafe { self.store(to) }
            }

            #[inline(always)]
            unsafe fn first(_: usize) {}

            #[inline(always)]
            unsafe fn load_first((): (), from: *const $element) -> Self {
                // SAFETY: the caller promises that one element is readable at `from`.
                unsafe { Self::load(from) }
            }

            #[inline(always)]
            unsafe fn store_first(self, (): (), to: *mut $element) {
                // SAFETY: the caller promises that one element is writable at `to`.
                unsafe { self.store(to) }
            }

            #[inline(always)]
            unsafe fn fused(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    };
}
lone!(f32);
lone!(f64);
