//! The instruction sets that the loops are compiled for, as proofs that this machine has them.
//!
//! ```text
//! run::<Avx512, ..>  --detect-->  Avx512 (a token)  --rows, tiles-->  #[target_feature] entry  -->  #[inline(always)] loops
//! ```
//!
//! A token exists only where its features are, so that calling the entries is safe for whoever holds one.

#![expect(unsafe_code, reason = "functions compiled for CPU features are called where a token proves them")]

use super::dense::{Dense, Target};
use super::lanes::{BlockTiles, Rows};
use super::{rows, tiles};
use crate::engine::Engine;
use crate::feature::Feature;
use crate::portable::scaling::Scaling;
use crate::portable::unit::Unit;
use sparse_types::F16;
use sparse_types::refusal::Refusal;
use std::arch::x86_64::{
    __m256, __m256d, __m512, __m512d, _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128,
    _mm256_cvtph_ps, _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_ps,
};

/// An instruction set.
pub(super) trait Isa: Copy + Send + Sync + 'static {
    /// What kernels for it run on.
    const ENGINE: Engine;
    /// What the machine must have.
    const NEEDS: &'static [Feature];

    /// The proof.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`](sparse_types::refusal::EngineError::Unavailable) names the first feature that is missing.
    fn detect() -> Result<Self, Refusal>;

    /// Exact. The runs are of one length.
    fn widen_f16(self, from: &[F16], to: &mut [f32]);

    /// To nearest, ties to even. The runs are of one length.
    fn narrow_f16(self, from: &[f32], to: &mut [F16]);
}

/// Loops for one accumulator type.
pub(super) trait Core<A: Unit>: Isa {
    /// `C = alpha * A * B + beta * C` for some rows; see [`rows::spmm`].
    fn rows(self, a: Rows<'_, A>, b: Dense<'_, A>, scaling: Scaling<A>, c: Target<'_, A>);

    /// The same where B and C have one column; see [`rows::spmv`].
    fn vector(self, a: Rows<'_, A>, b: Dense<'_, A>, scaling: Scaling<A>, c: Target<'_, A>);

    /// The same for some blocks of tiles; see [`tiles::spmm`].
    fn tiles(self, a: BlockTiles<'_, A>, b: Dense<'_, A>, scaling: Scaling<A>, c: Target<'_, A>);
}

macro_rules! isa {
    ($isa:ident, $features:literal, [$($need:ident),*], $($element:ty => $vector:ty),*) => {
        #[doc = concat!("Proof that this machine has `", $features, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $isa(());

        impl Isa for $isa {
            const ENGINE: Engine = Engine::$isa;
            const NEEDS: &'static [Feature] = &[$(Feature::$need),*];

            fn detect() -> Result<$isa, Refusal> {
                Feature::require(Self::NEEDS, super::detected)?;
                Ok($isa(()))
            }

            fn widen_f16(self, from: &[F16], to: &mut [f32]) {
                #[target_feature(enable = $features)]
                fn enter(from: &[F16], to: &mut [f32]) {
                    widen_f16(from, to);
                }
                // SAFETY: the token proves the features.
                unsafe { enter(from, to) }
            }

            fn narrow_f16(self, from: &[f32], to: &mut [F16]) {
                #[target_feature(enable = $features)]
                fn enter(from: &[f32], to: &mut [F16]) {
                    narrow_f16(from, to);
                }
                // SAFETY: the token proves the features.
                unsafe { enter(from, to) }
            }
        }

        $(impl Core<$element> for $isa {
            fn rows(self, a: Rows<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                #[target_feature(enable = $features)]
                fn enter(a: Rows<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                    // SAFETY: the vector's features are enabled here.
                    unsafe { rows::spmm::<$vector>(a, b, scaling, c) }
                }
                // SAFETY: the token proves the features.
                unsafe { enter(a, b, scaling, c) }
            }

            fn vector(self, a: Rows<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                #[target_feature(enable = $features)]
                fn enter(a: Rows<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                    // SAFETY: a lone element needs no feature.
                    unsafe { rows::spmv::<$element>(a, b, scaling, c) }
                }
                // SAFETY: the token proves the features.
                unsafe { enter(a, b, scaling, c) }
            }

            fn tiles(self, a: BlockTiles<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                #[target_feature(enable = $features)]
                fn enter(a: BlockTiles<'_, $element>, b: Dense<'_, $element>, scaling: Scaling<$element>, c: Target<'_, $element>) {
                    // SAFETY: the vector's features are enabled here.
                    unsafe { tiles::spmm::<$vector>(a, b, scaling, c) }
                }
                // SAFETY: the token proves the features.
                unsafe { enter(a, b, scaling, c) }
            }
        })*
    };
}

isa! { Avx512, "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl",
[Avx512f, Avx512bw, Avx512dq, Avx512vl, Avx2, Fma, F16c, Popcnt, Bmi1], f32 => __m512, f64 => __m512d }
isa! { Avx2, "avx2,fma,f16c", [Avx2, Fma, F16c, Popcnt, Bmi1], f32 => __m256, f64 => __m256d }

/// Eight at a time; the last ones through a buffer.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn widen_f16(from: &[F16], to: &mut [f32]) {
    for (from, to) in from.chunks(8).zip(to.chunks_mut(8)) {
        let mut codes = [0u16; 8];
        for (code, from) in codes.iter_mut().zip(from) {
            *code = from.0;
        }
        let mut wide = [0f32; 8];
        // SAFETY: both buffers are of eight elements.
        unsafe {
            let narrow = _mm_loadu_si128(codes.as_ptr().cast());
            _mm256_storeu_ps(wide.as_mut_ptr(), _mm256_cvtph_ps(narrow));
        }
        to.copy_from_slice(&wide[..to.len()]);
    }
}

/// Eight at a time; the last ones through a buffer.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn narrow_f16(from: &[f32], to: &mut [F16]) {
    for (from, to) in from.chunks(8).zip(to.chunks_mut(8)) {
        let mut wide = [0f32; 8];
        wide[..from.len()].copy_from_slice(from);
        let mut codes = [0u16; 8];
        // SAFETY: both buffers are of eight elements.
        unsafe {
            let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(wide.as_ptr()));
            _mm_storeu_si128(codes.as_mut_ptr().cast(), narrow);
        }
        for (to, code) in to.iter_mut().zip(codes) {
            *to = F16(code);
        }
    }
}
