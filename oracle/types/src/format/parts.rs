//! Parts of any format: the arrays of a matrix before a constructor has looked at them.

use super::sparse::each_format;
use super::{AnySparse, FieldMut, FieldRef, Fields, FormatKind, Sparse};
use crate::refusal::Refusal;
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32, precisions};

macro_rules! parts {
    ($d:tt $($Format:ident $Parts:ident $name:literal $group:ident $fill:ident $elements:ident;)*) => {
        /// The arrays of a matrix of any format, unchecked.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per FormatKind, named alike")]
        pub enum Parts<T> { $($Format(super::$Parts<T>)),* }

        impl<T> Parts<T> {
            /// Which format the arrays claim to be.
            pub fn kind(&self) -> FormatKind {
                match self { $(Parts::$Format(_) => FormatKind::$Format),* }
            }
        }

        impl<T: Default> Parts<T> {
            /// The empty arrays of a format, every extent 0, to be filled by name (see [`Fields::fields_mut`]).
            #[must_use]
            pub fn empty(kind: FormatKind) -> Parts<T> {
                match kind { $(FormatKind::$Format => Parts::$Format(Default::default())),* }
            }
        }

        impl<T: Scalar> Parts<T> {
            /// Checks the arrays as the format they claim to be.
            ///
            /// # Errors
            /// Whatever the format's constructor finds.
            pub fn check(self) -> Result<Sparse<T>, Refusal> {
                Ok(match self { $(Parts::$Format(parts) => Sparse::$Format(super::$Format::try_new(parts)?)),* })
            }
        }

        impl<T> From<Sparse<T>> for Parts<T> {
            fn from(matrix: Sparse<T>) -> Parts<T> {
                match matrix { $(Sparse::$Format(matrix) => Parts::$Format(matrix.into_parts())),* }
            }
        }
    };
}
formats!($ parts);

impl<T> Parts<T> {
    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        each_format!(Parts, self, p => (p.rows, p.cols))
    }
}

impl<T> Fields<T> for Parts<T> {
    fn fields(&self) -> Vec<(&'static str, FieldRef<'_, T>)> {
        each_format!(Parts, self, p => p.fields())
    }

    fn fields_mut(&mut self) -> Vec<(&'static str, FieldMut<'_, T>)> {
        each_format!(Parts, self, p => p.fields_mut())
    }
}

/// An element type whose parts can be put among those of all types.
pub trait PartsElement: Scalar {
    /// Forgets the element type.
    fn any_parts(parts: Parts<Self>) -> AnyParts;
}

macro_rules! any {
    ($d:tt $($Kind:ident $Type:ident $name:literal $spec:tt $doc:literal;)*) => {
        /// The arrays of a matrix of any format and element type, unchecked: what a backend's conversion returns.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum AnyParts { $($Kind(Parts<$Type>)),* }

        impl AnyParts {
            /// The element type.
            #[must_use]
            pub fn precision(&self) -> Precision {
                match self { $(AnyParts::$Kind(_) => Precision::$Kind),* }
            }

            /// Checks the arrays as the format they claim to be.
            ///
            /// # Errors
            /// Whatever the format's constructor finds.
            pub fn check(self) -> Result<AnySparse, Refusal> {
                Ok(match self { $(AnyParts::$Kind(parts) => AnySparse::$Kind(parts.check()?)),* })
            }
        }

        impl From<AnySparse> for AnyParts {
            fn from(matrix: AnySparse) -> AnyParts {
                match matrix { $(AnySparse::$Kind(matrix) => AnyParts::$Kind(matrix.into())),* }
            }
        }

        $(impl PartsElement for $Type {
            fn any_parts(parts: Parts<$Type>) -> AnyParts { AnyParts::$Kind(parts) }
        }

        impl From<Parts<$Type>> for AnyParts {
            fn from(parts: Parts<$Type>) -> AnyParts { AnyParts::$Kind(parts) }
        })*

        /// Runs `$body` with `$x` bound to the [`Parts`](crate::format::Parts) inside an [`AnyParts`](crate::format::AnyParts).
        #[macro_export]
        macro_rules! each_parts {
            ($d value:expr, $d x:ident => $d body:expr) => {
                match $d value { $($d crate::format::AnyParts::$Kind($d x) => $d body),* }
            };
        }
    };
}
precisions!($ any);

impl AnyParts {
    /// Which format the arrays claim to be.
    #[must_use]
    pub fn kind(&self) -> FormatKind {
        each_parts!(self, p => p.kind())
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        each_parts!(self, p => p.shape())
    }
}
