//! Sparse matrices whose format, or element type too, is known only at run time.

use super::{Parts, PartsElement};
use crate::scalar::{Bf16, E4m3, E5m2, Element, F16, Precision, Scalar, Tf32, precisions};
use std::any::Any;

/// Who a format comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// The textbook: every operation is defined on it.
    General,
    /// A paper.
    Paper,
    /// A paper; it holds only matrices of its N:M pattern.
    Structured,
}

/// What a slot without an entry holds, where a format has such slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// There are none, or their column marks them.
    Nothing,
    /// +0.0, which an explicit +0.0 cannot be told from. (In LOOPS, in the tile part only.)
    Zeros,
    /// Nothing is stored: a bitmap, or the positions of the entries alone, say which slots of a tile hold one.
    Bits,
}

/// The element types that a format is defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    /// All of them.
    Every,
    /// Those that `mma.sp` multiplies with 2:4 metadata.
    OfSparseMma,
}

macro_rules! kinds {
    ($d:tt $($Format:ident $Parts:ident $name:literal $group:ident $fill:ident $elements:ident;)*) => {
        /// A sparse format by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "named as the format files")]
        pub enum FormatKind { $($Format),* }

        impl FormatKind {
            /// All formats.
            pub const ALL: [FormatKind; ROWS.len()] = [$(FormatKind::$Format),*];
        }

        /// Name and properties of each format, in the order of [`FormatKind`].
        const ROWS: &[(FormatKind, &str, Group, Fill, Elements)] =
            &[$((FormatKind::$Format, $name, Group::$group, Fill::$fill, Elements::$elements)),*];

        /// A sparse matrix of any format with elements of one type.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per FormatKind, named alike")]
        pub enum Sparse<T> { $($Format(super::$Format<T>)),* }

        impl<T> Sparse<T> {
            /// Which format this is.
            pub fn kind(&self) -> FormatKind {
                match self { $(Sparse::$Format(_) => FormatKind::$Format),* }
            }
        }

        $(impl<T> From<super::$Format<T>> for Sparse<T> {
            fn from(matrix: super::$Format<T>) -> Sparse<T> { Sparse::$Format(matrix) }
        })*

        $(impl<T: Element + PartsElement> SparseFormat for super::$Format<T> {
            type Value = T;
            type Parts = super::$Parts<T>;
            const KIND: FormatKind = FormatKind::$Format;

            fn parts(parts: super::$Parts<T>) -> Parts<T> { Parts::$Format(parts) }
        })*

        /// Runs `$body` with `$x` bound to the matrix inside a [`Sparse`](crate::format::Sparse), or to the parts inside a
        /// [`Parts`](crate::format::Parts): `each_format!(Sparse, matrix, m => m.rows)`.
        #[macro_export]
        macro_rules! each_format {
            ($d enum:ident, $d value:expr, $d x:ident => $d body:expr) => {
                match $d value { $($d crate::format::$d enum::$Format($d x) => $d body),* }
            };
        }

        /// Runs `$body` with the type `$Format` standing for the format of a [`FormatKind`](crate::format::FormatKind):
        /// `with_format!(kind, Format => Format::try_new(parts))`.
        #[macro_export]
        macro_rules! with_format {
            ($d kind:expr, $d Name:ident => $d body:expr) => {
                match $d kind { $($d crate::format::FormatKind::$Format => {
                    use $d crate::format::$Format as $d Name;
                    $d body
                }),* }
            };
        }
    };
}
formats!($ kinds);
pub(super) use each_format;

/// How many formats are general, or are not.
const fn count(general: bool) -> usize {
    let (mut at, mut found) = (0, 0);
    while at < ROWS.len() {
        found += (matches!(ROWS[at].2, Group::General) == general) as usize;
        at += 1;
    }
    found
}

/// The formats that are general, or are not.
const fn those<const N: usize>(general: bool) -> [FormatKind; N] {
    let mut list = [ROWS[0].0; N];
    let (mut at, mut found) = (0, 0);
    while at < ROWS.len() {
        if matches!(ROWS[at].2, Group::General) == general {
            list[found] = ROWS[at].0;
            found += 1;
        }
        at += 1;
    }
    list
}

impl FormatKind {
    /// The general formats: every operation is defined on them.
    pub const GENERAL: [FormatKind; count(true)] = those(true);

    /// The formats of the papers.
    pub const PAPERS: [FormatKind; count(false)] = those(false);

    /// The name used in contracts and case lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// The format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<FormatKind> {
        FormatKind::ALL.into_iter().find(|f| f.name() == name)
    }

    /// True when the format cannot tell an explicit +0.0 from a pad (SEMANTICS section 2).
    /// In LOOPS that is the tile part only.
    #[must_use]
    pub const fn pads_with_zeros(self) -> bool {
        matches!(ROWS[self as usize].3, Fill::Zeros)
    }

    /// True when a kernel that works on whole tiles multiplies slots that hold no entry (clause 2.7 of SEMANTICS.md): pads, or
    /// unset bits of a tile that goes through a matrix unit.
    #[must_use]
    pub const fn has_pads(self) -> bool {
        !matches!(ROWS[self as usize].3, Fill::Nothing)
    }

    /// True when some entries are stored in tiles and the others outside of them, each with a place along k in its part, so that two units
    /// may share a product (Libra's blocks for SDDMM have no such places).
    #[must_use]
    pub const fn has_two_parts(self) -> bool {
        matches!(self, FormatKind::Loops | FormatKind::RsTile | FormatKind::LibraSpmm)
    }

    /// True when the format holds only matrices of its N:M pattern; others are refused, and can be pruned first.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(ROWS[self as usize].2, Group::Structured)
    }

    /// The element types that the format is defined for.
    #[must_use]
    pub const fn precisions(self) -> &'static [Precision] {
        match ROWS[self as usize].4 {
            Elements::Every => &Precision::ALL,
            Elements::OfSparseMma => &[Precision::Tf32, Precision::F16, Precision::Bf16],
        }
    }
}

impl<T> Sparse<T> {
    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        each_format!(Sparse, self, m => (m.rows, m.cols))
    }
}

impl<T: Scalar> Sparse<T> {
    /// Number of entries that decoding gives before repeated positions are settled.
    pub fn nnz(&self) -> usize {
        each_format!(Sparse, self, m => m.nnz())
    }
}

macro_rules! any {
    ($d:tt $($Kind:ident $Type:ident $name:literal $spec:tt $doc:literal;)*) => {
        /// A sparse matrix of any format and element type.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "one variant per Precision, named alike")]
        pub enum AnySparse { $($Kind(Sparse<$Type>)),* }

        impl AnySparse {
            /// The element type.
            #[must_use]
            pub fn precision(&self) -> Precision {
                match self { $(AnySparse::$Kind(_) => Precision::$Kind),* }
            }
        }

        $(impl From<Sparse<$Type>> for AnySparse {
            fn from(matrix: Sparse<$Type>) -> AnySparse { AnySparse::$Kind(matrix) }
        })*

        /// Runs `$body` with `$x` bound to the [`Sparse`](crate::format::Sparse) inside an [`AnySparse`](crate::format::AnySparse).
        #[macro_export]
        macro_rules! each_sparse {
            ($d value:expr, $d x:ident => $d body:expr) => {
                match $d value { $($d crate::format::AnySparse::$Kind($d x) => $d body),* }
            };
        }
    };
}
precisions!($ any);

/// A format with elements of one type, known at compile time: `Csr<f32>`.
pub trait SparseFormat: Clone + 'static {
    /// The element type.
    type Value: Element + PartsElement;
    /// Its arrays, unchecked.
    type Parts;
    /// The format.
    const KIND: FormatKind;

    /// The arrays among those of all formats.
    fn parts(parts: Self::Parts) -> Parts<Self::Value>;

    /// The matrix inside, if it is of this format and element type.
    #[must_use]
    fn of(matrix: &AnySparse) -> Option<&Self> {
        let any: &dyn Any = each_sparse!(matrix, typed => each_format!(Sparse, typed, m => m));
        any.downcast_ref()
    }
}

impl AnySparse {
    /// The format.
    #[must_use]
    pub fn kind(&self) -> FormatKind {
        each_sparse!(self, m => m.kind())
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        each_sparse!(self, m => m.shape())
    }

    /// Number of stored entries; see [`Sparse::nnz`].
    #[must_use]
    pub fn nnz(&self) -> usize {
        each_sparse!(self, m => m.nnz())
    }
}
