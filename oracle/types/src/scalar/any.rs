//! Values whose element type is known only at run time: what cases, backends and reports pass around.

use super::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};

/// Runs `$body` with `$x` bound to the typed vector or slice inside a [`Values`], [`AnySlice`] or [`AnySliceMut`].
#[macro_export]
macro_rules! each_precision {
    ($enum:ident, $value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::scalar::$enum::F64($x) => $body,
            $crate::scalar::$enum::F32($x) => $body,
            $crate::scalar::$enum::Tf32($x) => $body,
            $crate::scalar::$enum::F16($x) => $body,
            $crate::scalar::$enum::Bf16($x) => $body,
            $crate::scalar::$enum::E4m3($x) => $body,
            $crate::scalar::$enum::E5m2($x) => $body,
        }
    };
}

/// Runs `$body` with the type alias `$T` standing for the scalar type of a [`Precision`].
#[macro_export]
macro_rules! with_scalar {
    ($precision:expr, $T:ident => $body:expr) => {
        match $precision {
            $crate::Precision::F64 => {
                type $T = f64;
                $body
            }
            $crate::Precision::F32 => {
                type $T = f32;
                $body
            }
            $crate::Precision::Tf32 => {
                type $T = $crate::Tf32;
                $body
            }
            $crate::Precision::F16 => {
                type $T = $crate::F16;
                $body
            }
            $crate::Precision::Bf16 => {
                type $T = $crate::Bf16;
                $body
            }
            $crate::Precision::E4m3 => {
                type $T = $crate::E4m3;
                $body
            }
            $crate::Precision::E5m2 => {
                type $T = $crate::E5m2;
                $body
            }
        }
    };
}

macro_rules! any_enum {
    ($(#[$doc:meta])* $name:ident, owned) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum $name { F64(Vec<f64>), F32(Vec<f32>), Tf32(Vec<Tf32>), F16(Vec<F16>), Bf16(Vec<Bf16>), E4m3(Vec<E4m3>), E5m2(Vec<E5m2>) }
    };
    ($(#[$doc:meta])* $name:ident, shared) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum $name<'a> { F64(&'a [f64]), F32(&'a [f32]), Tf32(&'a [Tf32]), F16(&'a [F16]), Bf16(&'a [Bf16]), E4m3(&'a [E4m3]), E5m2(&'a [E5m2]) }
    };
    ($(#[$doc:meta])* $name:ident, unique) => {
        $(#[$doc])*
        #[derive(Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum $name<'a> { F64(&'a mut [f64]), F32(&'a mut [f32]), Tf32(&'a mut [Tf32]), F16(&'a mut [F16]), Bf16(&'a mut [Bf16]), E4m3(&'a mut [E4m3]), E5m2(&'a mut [E5m2]) }
    };
}
any_enum!(
    /// An owned array of elements of one type.
    Values, owned);
any_enum!(
    /// A borrowed array of elements of one type.
    AnySlice, shared);
any_enum!(
    /// A writable array of elements of one type.
    AnySliceMut, unique);

/// Moves a typed vector into a [`Values`] and back; implemented for every [`Scalar`] type.
pub trait Element: Scalar {
    /// Wraps a typed vector.
    fn wrap(values: Vec<Self>) -> Values;
    /// Borrows the typed slice, if the type matches.
    fn unwrap_slice(values: AnySlice<'_>) -> Option<&[Self]>;
    /// Borrows the typed slice mutably, if the type matches.
    fn unwrap_slice_mut(values: AnySliceMut<'_>) -> Option<&mut [Self]>;
    /// Wraps a typed slice.
    fn wrap_slice(values: &[Self]) -> AnySlice<'_>;
    /// Wraps a typed mutable slice.
    fn wrap_slice_mut(values: &mut [Self]) -> AnySliceMut<'_>;
}

macro_rules! element {
    ($($t:ty => $v:ident),*) => {$(
        impl Element for $t {
            fn wrap(values: Vec<Self>) -> Values { Values::$v(values) }
            fn unwrap_slice(values: AnySlice<'_>) -> Option<&[Self]> {
                if let AnySlice::$v(x) = values { Some(x) } else { None }
            }
            fn unwrap_slice_mut(values: AnySliceMut<'_>) -> Option<&mut [Self]> {
                if let AnySliceMut::$v(x) = values { Some(x) } else { None }
            }
            fn wrap_slice(values: &[Self]) -> AnySlice<'_> { AnySlice::$v(values) }
            fn wrap_slice_mut(values: &mut [Self]) -> AnySliceMut<'_> { AnySliceMut::$v(values) }
        }
    )*};
}
element!(f64 => F64, f32 => F32, Tf32 => Tf32, F16 => F16, Bf16 => Bf16, E4m3 => E4m3, E5m2 => E5m2);

impl Values {
    /// `len` copies of the bit pattern `bits`.
    #[must_use]
    pub fn filled(precision: Precision, len: usize, bits: u64) -> Values {
        with_scalar!(precision, T => <T as Element>::wrap(vec![T::from_bits64(bits); len]))
    }

    /// The exact values.
    #[must_use]
    pub fn to_f64(&self) -> Vec<f64> {
        each_precision!(Values, self, v => v.iter().map(|x| x.to_f64()).collect())
    }

    /// Borrows.
    #[must_use]
    pub fn as_slice(&self) -> AnySlice<'_> {
        each_precision!(Values, self, v => Element::wrap_slice(v))
    }

    /// Borrows mutably.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> AnySliceMut<'_> {
        each_precision!(Values, self, v => Element::wrap_slice_mut(v))
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        each_precision!(Values, self, v => v.len())
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.as_slice().precision()
    }
}

impl AnySlice<'_> {
    /// The element type.
    #[must_use]
    pub fn precision(&self) -> Precision {
        fn of<T: Scalar>(_: &[T]) -> Precision {
            T::PRECISION
        }
        each_precision!(AnySlice, *self, v => of(v))
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        each_precision!(AnySlice, *self, v => v.len())
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bit pattern of element `i`.
    #[must_use]
    pub fn bits(&self, i: usize) -> u64 {
        each_precision!(AnySlice, *self, v => v[i].bits64())
    }
}
