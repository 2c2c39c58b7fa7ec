//! What the processing elements multiply and add: f64, and f32 as the narrower variant. Each result is rounded on its own.

use std::fmt::Debug;

/// An element type of the accelerator.
pub trait Value: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// Bytes in DRAM.
    const BYTES: u64;

    /// `self * other`, rounded.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// `self + other`, rounded.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

impl Value for f64 {
    const BYTES: u64 = 8;

    #[inline]
    fn times(self, other: f64) -> f64 {
        self * other
    }

    #[inline]
    fn plus(self, other: f64) -> f64 {
        self + other
    }
}

impl Value for f32 {
    const BYTES: u64 = 4;

    #[inline]
    fn times(self, other: f32) -> f32 {
        self * other
    }

    #[inline]
    fn plus(self, other: f32) -> f32 {
        self + other
    }
}
