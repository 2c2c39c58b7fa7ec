//! Values whose element type is known only at run time: what cases, backends and reports pass around.

use super::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32, precisions};

macro_rules! any {
    ($d:tt $($Kind:ident $Type:ident $name:literal $spec:tt $doc:literal;)*) => {
        /// An owned array of elements of one type.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum Values { $($Kind(Vec<$Type>)),* }

        /// A borrowed array of elements of one type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum AnySlice<'a> { $($Kind(&'a [$Type])),* }

        /// A writable array of elements of one type.
        #[derive(Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum AnySliceMut<'a> { $($Kind(&'a mut [$Type])),* }

        $(impl Element for $Type {
            fn wrap(values: Vec<Self>) -> Values { Values::$Kind(values) }
            fn unwrap_slice(values: AnySlice<'_>) -> Option<&[Self]> {
                if let AnySlice::$Kind(x) = values { Some(x) } else { None }
            }
            fn unwrap_slice_mut(values: AnySliceMut<'_>) -> Option<&mut [Self]> {
                if let AnySliceMut::$Kind(x) = values { Some(x) } else { None }
            }
            fn wrap_slice(values: &[Self]) -> AnySlice<'_> { AnySlice::$Kind(values) }
            fn wrap_slice_mut(values: &mut [Self]) -> AnySliceMut<'_> { AnySliceMut::$Kind(values) }
        })*

        /// Runs `$body` with `$x` bound to the typed vector or slice inside a [`Values`](crate::scalar::Values),
        /// [`AnySlice`](crate::scalar::AnySlice) or [`AnySliceMut`](crate::scalar::AnySliceMut).
        #[macro_export]
        macro_rules! each_precision {
            ($d enum:ident, $d value:expr, $d x:ident => $d body:expr) => {
                match $d value { $($d crate::scalar::$d enum::$Kind($d x) => $d body),* }
            };
        }

        /// Runs `$body` with the type alias `$T` standing for the scalar type of a [`Precision`](crate::Precision).
        #[macro_export]
        macro_rules! with_scalar {
            ($d precision:expr, $d T:ident => $d body:expr) => {
                match $d precision { $($d crate::Precision::$Kind => {
                    type $d T = $d crate::scalar::element_types::$Type;
                    $d body
                }),* }
            };
        }
    };
}
precisions!($ any);

/// The types by the names of the table, for [`with_scalar!`](crate::with_scalar).
#[doc(hidden)]
pub mod element_types {
    pub use crate::scalar::{Bf16, E4m3, E5m2, F16, Tf32};
    pub use std::primitive::{f32, f64};
}

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

impl AnySliceMut<'_> {
    /// Borrows to read.
    #[must_use]
    pub fn as_slice(&self) -> AnySlice<'_> {
        each_precision!(AnySliceMut, self, v => Element::wrap_slice(v))
    }

    /// Lends.
    #[must_use]
    pub fn reborrow(&mut self) -> AnySliceMut<'_> {
        each_precision!(AnySliceMut, self, v => Element::wrap_slice_mut(v))
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
