//! Sparse matrices whose format, or element type too, is known only at run time.

use super::{
    Bcsr, BitTcf, BlockedEll, Coo, CpCsr, Csc, Csr, Ell, LibraSddmm, LibraSpmm, Loops, MeTcf, Nm, RpCsc,
    RsTile, SrBcrs, Tcf, TwoFour, Vnm,
};
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};

/// A sparse format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as the format files")]
pub enum FormatKind {
    Coo,
    Csr,
    Csc,
    Bcsr,
    Ell,
    BlockedEll,
    Loops,
    RsTile,
    LibraSpmm,
    LibraSddmm,
    RpCsc,
    CpCsr,
    Nm,
    TwoFour,
    Vnm,
    Tcf,
    MeTcf,
    BitTcf,
    SrBcrs,
}

impl FormatKind {
    /// All formats.
    pub const ALL: [FormatKind; 19] = [
        FormatKind::Coo,
        FormatKind::Csr,
        FormatKind::Csc,
        FormatKind::Bcsr,
        FormatKind::Ell,
        FormatKind::BlockedEll,
        FormatKind::Loops,
        FormatKind::RsTile,
        FormatKind::LibraSpmm,
        FormatKind::LibraSddmm,
        FormatKind::RpCsc,
        FormatKind::CpCsr,
        FormatKind::Nm,
        FormatKind::TwoFour,
        FormatKind::Vnm,
        FormatKind::Tcf,
        FormatKind::MeTcf,
        FormatKind::BitTcf,
        FormatKind::SrBcrs,
    ];

    /// The general formats: every operation is defined on them.
    pub const GENERAL: [FormatKind; 6] = [
        FormatKind::Coo,
        FormatKind::Csr,
        FormatKind::Csc,
        FormatKind::Bcsr,
        FormatKind::Ell,
        FormatKind::BlockedEll,
    ];

    /// The formats of the papers.
    pub const PAPERS: [FormatKind; 13] = [
        FormatKind::Loops,
        FormatKind::RsTile,
        FormatKind::LibraSpmm,
        FormatKind::LibraSddmm,
        FormatKind::RpCsc,
        FormatKind::CpCsr,
        FormatKind::Nm,
        FormatKind::TwoFour,
        FormatKind::Vnm,
        FormatKind::Tcf,
        FormatKind::MeTcf,
        FormatKind::BitTcf,
        FormatKind::SrBcrs,
    ];

    /// The name used in contracts and case lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FormatKind::Coo => "coo",
            FormatKind::Csr => "csr",
            FormatKind::Csc => "csc",
            FormatKind::Bcsr => "bcsr",
            FormatKind::Ell => "ell",
            FormatKind::BlockedEll => "blocked_ell",
            FormatKind::Loops => "loops",
            FormatKind::RsTile => "rs_tile",
            FormatKind::LibraSpmm => "libra_spmm",
            FormatKind::LibraSddmm => "libra_sddmm",
            FormatKind::RpCsc => "rp_csc",
            FormatKind::CpCsr => "cp_csr",
            FormatKind::Nm => "nm",
            FormatKind::TwoFour => "two_four",
            FormatKind::Vnm => "vnm",
            FormatKind::Tcf => "tcf",
            FormatKind::MeTcf => "me_tcf",
            FormatKind::BitTcf => "bit_tcf",
            FormatKind::SrBcrs => "sr_bcrs",
        }
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
        matches!(
            self,
            FormatKind::Bcsr
                | FormatKind::BlockedEll
                | FormatKind::Loops
                | FormatKind::Nm
                | FormatKind::TwoFour
                | FormatKind::Vnm
                | FormatKind::SrBcrs
        )
    }

    /// True when a kernel that works on whole tiles multiplies slots that hold no entry (clause 2.7 of SEMANTICS.md): pads, or
    /// unset bits of a tile that goes through a matrix unit.
    #[must_use]
    pub const fn has_pads(self) -> bool {
        use FormatKind::{BitTcf, LibraSddmm, LibraSpmm, MeTcf, RsTile, Tcf};
        self.pads_with_zeros() || matches!(self, RsTile | LibraSpmm | LibraSddmm | Tcf | MeTcf | BitTcf)
    }

    /// True when the format holds only matrices of its N:M pattern; others are refused, and can be pruned first.
    #[must_use]
    pub const fn is_structured(self) -> bool {
        matches!(self, FormatKind::Nm | FormatKind::TwoFour | FormatKind::Vnm)
    }

    /// The element types that the format is defined for.
    #[must_use]
    pub const fn precisions(self) -> &'static [Precision] {
        match self {
            FormatKind::TwoFour => &[Precision::Tf32, Precision::F16, Precision::Bf16],
            _ => &Precision::ALL,
        }
    }
}

/// A sparse matrix of any format with elements of one type.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "one variant per FormatKind, named alike")]
pub enum Sparse<T> {
    Coo(Coo<T>),
    Csr(Csr<T>),
    Csc(Csc<T>),
    Bcsr(Bcsr<T>),
    Ell(Ell<T>),
    BlockedEll(BlockedEll<T>),
    Loops(Loops<T>),
    RsTile(RsTile<T>),
    LibraSpmm(LibraSpmm<T>),
    LibraSddmm(LibraSddmm<T>),
    RpCsc(RpCsc<T>),
    CpCsr(CpCsr<T>),
    Nm(Nm<T>),
    TwoFour(TwoFour<T>),
    Vnm(Vnm<T>),
    Tcf(Tcf<T>),
    MeTcf(MeTcf<T>),
    BitTcf(BitTcf<T>),
    SrBcrs(SrBcrs<T>),
}

/// A sparse matrix of any format and element type.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "one variant per Precision, named alike")]
pub enum AnySparse {
    F64(Sparse<f64>),
    F32(Sparse<f32>),
    Tf32(Sparse<Tf32>),
    F16(Sparse<F16>),
    Bf16(Sparse<Bf16>),
    E4m3(Sparse<E4m3>),
    E5m2(Sparse<E5m2>),
}

/// Runs `$body` with `$x` bound to the matrix inside a [`Sparse`], or to the parts inside a
/// [`Parts`](super::Parts): `each_format!(Sparse, matrix, m => m.rows)`.
#[macro_export]
macro_rules! each_format {
    ($enum:ident, $value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::format::$enum::Coo($x) => $body,
            $crate::format::$enum::Csr($x) => $body,
            $crate::format::$enum::Csc($x) => $body,
            $crate::format::$enum::Bcsr($x) => $body,
            $crate::format::$enum::Ell($x) => $body,
            $crate::format::$enum::BlockedEll($x) => $body,
            $crate::format::$enum::Loops($x) => $body,
            $crate::format::$enum::RsTile($x) => $body,
            $crate::format::$enum::LibraSpmm($x) => $body,
            $crate::format::$enum::LibraSddmm($x) => $body,
            $crate::format::$enum::RpCsc($x) => $body,
            $crate::format::$enum::CpCsr($x) => $body,
            $crate::format::$enum::Nm($x) => $body,
            $crate::format::$enum::TwoFour($x) => $body,
            $crate::format::$enum::Vnm($x) => $body,
            $crate::format::$enum::Tcf($x) => $body,
            $crate::format::$enum::MeTcf($x) => $body,
            $crate::format::$enum::BitTcf($x) => $body,
            $crate::format::$enum::SrBcrs($x) => $body,
        }
    };
}

impl<T> Sparse<T> {
    /// Which format this is.
    pub fn kind(&self) -> FormatKind {
        match self {
            Sparse::Coo(_) => FormatKind::Coo,
            Sparse::Csr(_) => FormatKind::Csr,
            Sparse::Csc(_) => FormatKind::Csc,
            Sparse::Bcsr(_) => FormatKind::Bcsr,
            Sparse::Ell(_) => FormatKind::Ell,
            Sparse::BlockedEll(_) => FormatKind::BlockedEll,
            Sparse::Loops(_) => FormatKind::Loops,
            Sparse::RsTile(_) => FormatKind::RsTile,
            Sparse::LibraSpmm(_) => FormatKind::LibraSpmm,
            Sparse::LibraSddmm(_) => FormatKind::LibraSddmm,
            Sparse::RpCsc(_) => FormatKind::RpCsc,
            Sparse::CpCsr(_) => FormatKind::CpCsr,
            Sparse::Nm(_) => FormatKind::Nm,
            Sparse::TwoFour(_) => FormatKind::TwoFour,
            Sparse::Vnm(_) => FormatKind::Vnm,
            Sparse::Tcf(_) => FormatKind::Tcf,
            Sparse::MeTcf(_) => FormatKind::MeTcf,
            Sparse::BitTcf(_) => FormatKind::BitTcf,
            Sparse::SrBcrs(_) => FormatKind::SrBcrs,
        }
    }

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

impl AnySparse {
    /// The element type.
    #[must_use]
    pub fn precision(&self) -> Precision {
        match self {
            AnySparse::F64(_) => Precision::F64,
            AnySparse::F32(_) => Precision::F32,
            AnySparse::Tf32(_) => Precision::Tf32,
            AnySparse::F16(_) => Precision::F16,
            AnySparse::Bf16(_) => Precision::Bf16,
            AnySparse::E4m3(_) => Precision::E4m3,
            AnySparse::E5m2(_) => Precision::E5m2,
        }
    }

    /// The format.
    #[must_use]
    pub fn kind(&self) -> FormatKind {
        crate::each_sparse!(self, m => m.kind())
    }

    /// (rows, columns).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        crate::each_sparse!(self, m => m.shape())
    }

    /// Number of stored entries; see [`Sparse::nnz`].
    #[must_use]
    pub fn nnz(&self) -> usize {
        crate::each_sparse!(self, m => m.nnz())
    }
}

macro_rules! wrap {
    ($($t:ty => $v:ident),*) => {$(
        impl From<Sparse<$t>> for AnySparse {
            fn from(matrix: Sparse<$t>) -> AnySparse { AnySparse::$v(matrix) }
        }
    )*};
}
wrap!(f64 => F64, f32 => F32, Tf32 => Tf32, F16 => F16, Bf16 => Bf16, E4m3 => E4m3, E5m2 => E5m2);

/// Runs `$body` with `$x` bound to the [`Sparse`] inside an [`AnySparse`].
#[macro_export]
macro_rules! each_sparse {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::format::AnySparse::F64($x) => $body,
            $crate::format::AnySparse::F32($x) => $body,
            $crate::format::AnySparse::Tf32($x) => $body,
            $crate::format::AnySparse::F16($x) => $body,
            $crate::format::AnySparse::Bf16($x) => $body,
            $crate::format::AnySparse::E4m3($x) => $body,
            $crate::format::AnySparse::E5m2($x) => $body,
        }
    };
}

/// Runs `$body` with the type `$Format` standing for the format of a [`FormatKind`]: `with_format!(kind, Format => Format::try_new(parts))`.
#[macro_export]
macro_rules! with_format {
    ($kind:expr, $Format:ident => $body:expr) => {
        match $kind {
            $crate::format::FormatKind::Coo => {
                use $crate::format::Coo as $Format;
                $body
            }
            $crate::format::FormatKind::Csr => {
                use $crate::format::Csr as $Format;
                $body
            }
            $crate::format::FormatKind::Csc => {
                use $crate::format::Csc as $Format;
                $body
            }
            $crate::format::FormatKind::Bcsr => {
                use $crate::format::Bcsr as $Format;
                $body
            }
            $crate::format::FormatKind::Ell => {
                use $crate::format::Ell as $Format;
                $body
            }
            $crate::format::FormatKind::BlockedEll => {
                use $crate::format::BlockedEll as $Format;
                $body
            }
            $crate::format::FormatKind::Loops => {
                use $crate::format::Loops as $Format;
                $body
            }
            $crate::format::FormatKind::RsTile => {
                use $crate::format::RsTile as $Format;
                $body
            }
            $crate::format::FormatKind::LibraSpmm => {
                use $crate::format::LibraSpmm as $Format;
                $body
            }
            $crate::format::FormatKind::LibraSddmm => {
                use $crate::format::LibraSddmm as $Format;
                $body
            }
            $crate::format::FormatKind::RpCsc => {
                use $crate::format::RpCsc as $Format;
                $body
            }
            $crate::format::FormatKind::CpCsr => {
                use $crate::format::CpCsr as $Format;
                $body
            }
            $crate::format::FormatKind::Nm => {
                use $crate::format::Nm as $Format;
                $body
            }
            $crate::format::FormatKind::TwoFour => {
                use $crate::format::TwoFour as $Format;
                $body
            }
            $crate::format::FormatKind::Vnm => {
                use $crate::format::Vnm as $Format;
                $body
            }
            $crate::format::FormatKind::Tcf => {
                use $crate::format::Tcf as $Format;
                $body
            }
            $crate::format::FormatKind::MeTcf => {
                use $crate::format::MeTcf as $Format;
                $body
            }
            $crate::format::FormatKind::BitTcf => {
                use $crate::format::BitTcf as $Format;
                $body
            }
            $crate::format::FormatKind::SrBcrs => {
                use $crate::format::SrBcrs as $Format;
                $body
            }
        }
    };
}

macro_rules! wrap_formats {
    ($($format:ident),*) => {$(
        impl<T> From<$format<T>> for Sparse<T> {
            fn from(matrix: $format<T>) -> Sparse<T> { Sparse::$format(matrix) }
        }
    )*};
}
wrap_formats!(
    Coo, Csr, Csc, Bcsr, Ell, BlockedEll, Loops, RsTile, LibraSpmm, LibraSddmm, RpCsc, CpCsr, Nm, TwoFour,
    Vnm, Tcf, MeTcf, BitTcf, SrBcrs
);
