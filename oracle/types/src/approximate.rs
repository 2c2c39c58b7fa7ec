//! The `approx` traits for the element types, [`Dense`] and [`Csr`]: for users' own tests.
//!
//! Nothing that judges a kernel uses this module. A verdict rests on exact arithmetic and on a bound derived from
//! the operands, never on a tolerance that somebody chose; `oracle/tests/formats_approximate.rs` reads the sources to see
//! that it stays so.
//!
//! - Differences are taken between exact values; a NaN equals nothing, an infinity only itself.
//! - The default epsilon is that of the type, `2^(1 - p)` with `p` significand bits (tf32: 11).
//! - An ulp is a step of the type (for tf32, 2^13 steps of the f32 that stores it); as in `approx`, values of
//!   different sign are only near if their difference is within epsilon.
//! - Matrices of different shape, or sparse ones of different pattern, are never equal. A dense matrix is compared
//!   by its elements: layout, leading dimension and padding do not matter.

use crate::format::{Csr, Dense};
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};
use approx::{AbsDiffEq, RelativeEq, UlpsEq};

/// The distance from 1 to the next number of the type.
fn epsilon(precision: Precision) -> f64 {
    2.0f64.powi(1 - precision.spec().significand as i32)
}

fn abs_diff_eq(x: f64, y: f64, epsilon: f64) -> bool {
    // The first comparison is for infinities, whose difference is NaN.
    x == y || (x - y).abs() <= epsilon
}

fn relative_eq(x: f64, y: f64, epsilon: f64, max_relative: f64) -> bool {
    if x.is_infinite() || y.is_infinite() {
        return x == y;
    }
    let largest = x.abs().max(y.abs());
    abs_diff_eq(x, y, epsilon) || (x - y).abs() <= largest * max_relative
}

fn ulps_eq<T: Scalar>(x: T, y: T, epsilon: f64, max_ulps: u32) -> bool {
    let (a, b) = (x.to_f64(), y.to_f64());
    if a.is_nan() || b.is_nan() {
        return false;
    }
    if abs_diff_eq(a, b, epsilon) {
        return true;
    }
    if a.is_infinite() || b.is_infinite() || a.is_sign_negative() != b.is_sign_negative() {
        return false;
    }
    // Of one sign, bit patterns are ordered as the magnitudes are.
    let step = if T::PRECISION == Precision::Tf32 { 1 << 13 } else { 1 };
    x.bits64().abs_diff(y.bits64()) <= u64::from(max_ulps) * step
}

macro_rules! element {
    ($($t:ty),*) => {$(
        impl AbsDiffEq for $t {
            type Epsilon = f64;

            fn default_epsilon() -> f64 {
                epsilon(Self::PRECISION)
            }

            fn abs_diff_eq(&self, other: &Self, epsilon: f64) -> bool {
                abs_diff_eq(self.to_f64(), other.to_f64(), epsilon)
            }
        }

        impl RelativeEq for $t {
            fn default_max_relative() -> f64 {
                epsilon(Self::PRECISION)
            }

            fn relative_eq(&self, other: &Self, epsilon: f64, max_relative: f64) -> bool {
                relative_eq(self.to_f64(), other.to_f64(), epsilon, max_relative)
            }
        }

        impl UlpsEq for $t {
            fn default_max_ulps() -> u32 {
                4
            }

            fn ulps_eq(&self, other: &Self, epsilon: f64, max_ulps: u32) -> bool {
                ulps_eq(*self, *other, epsilon, max_ulps)
            }
        }
    )*};
}
element!(F16, Bf16, Tf32, E4m3, E5m2);

/// True when both have one shape and `near` holds for every pair of elements.
fn dense_eq<T: Copy>(x: &Dense<T>, y: &Dense<T>, near: impl Fn(&T, &T) -> bool) -> bool {
    let (rows, cols) = (x.rows(), x.cols());
    (rows, cols) == (y.rows(), y.cols())
        && (0..rows).all(|i| (0..cols).all(|j| near(&x.at(i, j), &y.at(i, j))))
}

/// True when both have one shape and pattern and `near` holds for every pair of values.
fn csr_eq<T>(x: &Csr<T>, y: &Csr<T>, near: impl Fn(&T, &T) -> bool) -> bool {
    (x.rows, x.cols) == (y.rows, y.cols)
        && x.row_ptr == y.row_ptr
        && x.col_idx == y.col_idx
        && x.values.iter().zip(&y.values).all(|(a, b)| near(a, b))
}

macro_rules! matrix {
    ($matrix:ident, $all:ident, $($bound:ident)?) => {
        impl<T: AbsDiffEq $(+ $bound)?> AbsDiffEq for $matrix<T>
        where
            T::Epsilon: Clone,
        {
            type Epsilon = T::Epsilon;

            fn default_epsilon() -> T::Epsilon {
                T::default_epsilon()
            }

            fn abs_diff_eq(&self, other: &Self, epsilon: T::Epsilon) -> bool {
                $all(self, other, |a, b| a.abs_diff_eq(b, epsilon.clone()))
            }
        }

        impl<T: RelativeEq $(+ $bound)?> RelativeEq for $matrix<T>
        where
            T::Epsilon: Clone,
        {
            fn default_max_relative() -> T::Epsilon {
                T::default_max_relative()
            }

            fn relative_eq(&self, other: &Self, epsilon: T::Epsilon, max_relative: T::Epsilon) -> bool {
                $all(self, other, |a, b| a.relative_eq(b, epsilon.clone(), max_relative.clone()))
            }
        }

        impl<T: UlpsEq $(+ $bound)?> UlpsEq for $matrix<T>
        where
            T::Epsilon: Clone,
        {
            fn default_max_ulps() -> u32 {
                T::default_max_ulps()
            }

            fn ulps_eq(&self, other: &Self, epsilon: T::Epsilon, max_ulps: u32) -> bool {
                $all(self, other, |a, b| a.ulps_eq(b, epsilon.clone(), max_ulps))
            }
        }
    };
}
matrix!(Dense, dense_eq, Copy);
matrix!(Csr, csr_eq,);
