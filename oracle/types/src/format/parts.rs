//! Parts of any format: the arrays of a matrix before a constructor has looked at them.

use super::{
    AnySparse, Bcsr, BcsrParts, BitTcf, BitTcfParts, BlockedEll, BlockedEllParts, Coo, CooParts, CpCsr,
    CpCsrParts, Csc, CscParts, Csr, CsrParts, Ell, EllParts, FieldMut, FieldRef, Fields, FormatKind,
    LibraSddmm, LibraSddmmParts, LibraSpmm, LibraSpmmParts, Loops, LoopsParts, MeTcf, MeTcfParts, Nm,
    NmParts, RpCsc, RpCscParts, RsTile, RsTileParts, Sparse, SrBcrs, SrBcrsParts, Tcf, TcfParts, TwoFour,
    TwoFourParts, Vnm, VnmParts,
};
use crate::each_format;
use crate::refusal::Refusal;
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};

/// The arrays of a matrix of any format, unchecked.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "one variant per FormatKind, named alike")]
pub enum Parts<T> {
    Coo(CooParts<T>),
    Csr(CsrParts<T>),
    Csc(CscParts<T>),
    Bcsr(BcsrParts<T>),
    Ell(EllParts<T>),
    BlockedEll(BlockedEllParts<T>),
    Loops(LoopsParts<T>),
    RsTile(RsTileParts<T>),
    LibraSpmm(LibraSpmmParts<T>),
    LibraSddmm(LibraSddmmParts<T>),
    RpCsc(RpCscParts<T>),
    CpCsr(CpCsrParts<T>),
    Nm(NmParts<T>),
    TwoFour(TwoFourParts<T>),
    Vnm(VnmParts<T>),
    Tcf(TcfParts<T>),
    MeTcf(MeTcfParts<T>),
    BitTcf(BitTcfParts<T>),
    SrBcrs(SrBcrsParts<T>),
}

impl<T> Parts<T> {
    /// The empty arrays of a format, every extent 0.
    #[must_use]
    pub fn blank(kind: FormatKind) -> Parts<T>
    where
        T: Default,
    {
        macro_rules! blank {
            ($($variant:ident),*) => {
                match kind { $(FormatKind::$variant => Parts::$variant(Default::default())),* }
            };
        }
        blank!(
            Coo, Csr, Csc, Bcsr, Ell, BlockedEll, Loops, RsTile, LibraSpmm, LibraSddmm, RpCsc, CpCsr, Nm,
            TwoFour, Vnm, Tcf, MeTcf, BitTcf, SrBcrs
        )
    }
}

/// The arrays of a matrix of any format and element type, unchecked: what a backend's conversion returns.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "one variant per Precision, named alike")]
pub enum AnyParts {
    F64(Parts<f64>),
    F32(Parts<f32>),
    Tf32(Parts<Tf32>),
    F16(Parts<F16>),
    Bf16(Parts<Bf16>),
    E4m3(Parts<E4m3>),
    E5m2(Parts<E5m2>),
}

/// Runs `$body` with `$x` bound to the [`Parts`] inside an [`AnyParts`].
#[macro_export]
macro_rules! each_parts {
    ($value:expr, $x:ident => $body:expr) => {
        match $value {
            $crate::format::AnyParts::F64($x) => $body,
            $crate::format::AnyParts::F32($x) => $body,
            $crate::format::AnyParts::Tf32($x) => $body,
            $crate::format::AnyParts::F16($x) => $body,
            $crate::format::AnyParts::Bf16($x) => $body,
            $crate::format::AnyParts::E4m3($x) => $body,
            $crate::format::AnyParts::E5m2($x) => $body,
        }
    };
}

impl<T> Parts<T> {
    /// Which format the arrays claim to be.
    pub fn kind(&self) -> FormatKind {
        match self {
            Parts::Coo(_) => FormatKind::Coo,
            Parts::Csr(_) => FormatKind::Csr,
            Parts::Csc(_) => FormatKind::Csc,
            Parts::Bcsr(_) => FormatKind::Bcsr,
            Parts::Ell(_) => FormatKind::Ell,
            Parts::BlockedEll(_) => FormatKind::BlockedEll,
            Parts::Loops(_) => FormatKind::Loops,
            Parts::RsTile(_) => FormatKind::RsTile,
            Parts::LibraSpmm(_) => FormatKind::LibraSpmm,
            Parts::LibraSddmm(_) => FormatKind::LibraSddmm,
            Parts::RpCsc(_) => FormatKind::RpCsc,
            Parts::CpCsr(_) => FormatKind::CpCsr,
            Parts::Nm(_) => FormatKind::Nm,
            Parts::TwoFour(_) => FormatKind::TwoFour,
            Parts::Vnm(_) => FormatKind::Vnm,
            Parts::Tcf(_) => FormatKind::Tcf,
            Parts::MeTcf(_) => FormatKind::MeTcf,
            Parts::BitTcf(_) => FormatKind::BitTcf,
            Parts::SrBcrs(_) => FormatKind::SrBcrs,
        }
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        each_format!(Parts, self, p => (p.rows, p.cols))
    }
}

impl<T: Default> Parts<T> {
    /// No arrays yet, to be filled by name (see [`Fields::fields_mut`]).
    #[must_use]
    pub fn empty(kind: FormatKind) -> Parts<T> {
        match kind {
            FormatKind::Coo => Parts::Coo(CooParts::default()),
            FormatKind::Csr => Parts::Csr(CsrParts::default()),
            FormatKind::Csc => Parts::Csc(CscParts::default()),
            FormatKind::Bcsr => Parts::Bcsr(BcsrParts::default()),
            FormatKind::Ell => Parts::Ell(EllParts::default()),
            FormatKind::BlockedEll => Parts::BlockedEll(BlockedEllParts::default()),
            FormatKind::Loops => Parts::Loops(LoopsParts::default()),
            FormatKind::RsTile => Parts::RsTile(RsTileParts::default()),
            FormatKind::LibraSpmm => Parts::LibraSpmm(LibraSpmmParts::default()),
            FormatKind::LibraSddmm => Parts::LibraSddmm(LibraSddmmParts::default()),
            FormatKind::RpCsc => Parts::RpCsc(RpCscParts::default()),
            FormatKind::CpCsr => Parts::CpCsr(CpCsrParts::default()),
            FormatKind::Nm => Parts::Nm(NmParts::default()),
            FormatKind::TwoFour => Parts::TwoFour(TwoFourParts::default()),
            FormatKind::Vnm => Parts::Vnm(VnmParts::default()),
            FormatKind::Tcf => Parts::Tcf(TcfParts::default()),
            FormatKind::MeTcf => Parts::MeTcf(MeTcfParts::default()),
            FormatKind::BitTcf => Parts::BitTcf(BitTcfParts::default()),
            FormatKind::SrBcrs => Parts::SrBcrs(SrBcrsParts::default()),
        }
    }
}

impl<T: Scalar> Parts<T> {
    /// Checks the arrays as the format they claim to be.
    ///
    /// # Errors
    /// Whatever the format's constructor finds.
    pub fn check(self) -> Result<Sparse<T>, Refusal> {
        Ok(match self {
            Parts::Coo(p) => Sparse::Coo(Coo::try_new(p)?),
            Parts::Csr(p) => Sparse::Csr(Csr::try_new(p)?),
            Parts::Csc(p) => Sparse::Csc(Csc::try_new(p)?),
            Parts::Bcsr(p) => Sparse::Bcsr(Bcsr::try_new(p)?),
            Parts::Ell(p) => Sparse::Ell(Ell::try_new(p)?),
            Parts::BlockedEll(p) => Sparse::BlockedEll(BlockedEll::try_new(p)?),
            Parts::Loops(p) => Sparse::Loops(Loops::try_new(p)?),
            Parts::RsTile(p) => Sparse::RsTile(RsTile::try_new(p)?),
            Parts::LibraSpmm(p) => Sparse::LibraSpmm(LibraSpmm::try_new(p)?),
            Parts::LibraSddmm(p) => Sparse::LibraSddmm(LibraSddmm::try_new(p)?),
            Parts::RpCsc(p) => Sparse::RpCsc(RpCsc::try_new(p)?),
            Parts::CpCsr(p) => Sparse::CpCsr(CpCsr::try_new(p)?),
            Parts::Nm(p) => Sparse::Nm(Nm::try_new(p)?),
            Parts::TwoFour(p) => Sparse::TwoFour(TwoFour::try_new(p)?),
            Parts::Vnm(p) => Sparse::Vnm(Vnm::try_new(p)?),
            Parts::Tcf(p) => Sparse::Tcf(Tcf::try_new(p)?),
            Parts::MeTcf(p) => Sparse::MeTcf(MeTcf::try_new(p)?),
            Parts::BitTcf(p) => Sparse::BitTcf(BitTcf::try_new(p)?),
            Parts::SrBcrs(p) => Sparse::SrBcrs(SrBcrs::try_new(p)?),
        })
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

impl<T> From<Sparse<T>> for Parts<T> {
    fn from(matrix: Sparse<T>) -> Parts<T> {
        match matrix {
            Sparse::Coo(m) => Parts::Coo(m.into_parts()),
            Sparse::Csr(m) => Parts::Csr(m.into_parts()),
            Sparse::Csc(m) => Parts::Csc(m.into_parts()),
            Sparse::Bcsr(m) => Parts::Bcsr(m.into_parts()),
            Sparse::Ell(m) => Parts::Ell(m.into_parts()),
            Sparse::BlockedEll(m) => Parts::BlockedEll(m.into_parts()),
            Sparse::Loops(m) => Parts::Loops(m.into_parts()),
            Sparse::RsTile(m) => Parts::RsTile(m.into_parts()),
            Sparse::LibraSpmm(m) => Parts::LibraSpmm(m.into_parts()),
            Sparse::LibraSddmm(m) => Parts::LibraSddmm(m.into_parts()),
            Sparse::RpCsc(m) => Parts::RpCsc(m.into_parts()),
            Sparse::CpCsr(m) => Parts::CpCsr(m.into_parts()),
            Sparse::Nm(m) => Parts::Nm(m.into_parts()),
            Sparse::TwoFour(m) => Parts::TwoFour(m.into_parts()),
            Sparse::Vnm(m) => Parts::Vnm(m.into_parts()),
            Sparse::Tcf(m) => Parts::Tcf(m.into_parts()),
            Sparse::MeTcf(m) => Parts::MeTcf(m.into_parts()),
            Sparse::BitTcf(m) => Parts::BitTcf(m.into_parts()),
            Sparse::SrBcrs(m) => Parts::SrBcrs(m.into_parts()),
        }
    }
}

impl From<AnySparse> for AnyParts {
    fn from(matrix: AnySparse) -> AnyParts {
        match matrix {
            AnySparse::F64(m) => AnyParts::F64(m.into()),
            AnySparse::F32(m) => AnyParts::F32(m.into()),
            AnySparse::Tf32(m) => AnyParts::Tf32(m.into()),
            AnySparse::F16(m) => AnyParts::F16(m.into()),
            AnySparse::Bf16(m) => AnyParts::Bf16(m.into()),
            AnySparse::E4m3(m) => AnyParts::E4m3(m.into()),
            AnySparse::E5m2(m) => AnyParts::E5m2(m.into()),
        }
    }
}

impl AnyParts {
    /// The element type.
    #[must_use]
    pub fn precision(&self) -> Precision {
        match self {
            AnyParts::F64(_) => Precision::F64,
            AnyParts::F32(_) => Precision::F32,
            AnyParts::Tf32(_) => Precision::Tf32,
            AnyParts::F16(_) => Precision::F16,
            AnyParts::Bf16(_) => Precision::Bf16,
            AnyParts::E4m3(_) => Precision::E4m3,
            AnyParts::E5m2(_) => Precision::E5m2,
        }
    }

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

    /// Checks the arrays as the format they claim to be.
    ///
    /// # Errors
    /// Whatever the format's constructor finds.
    pub fn check(self) -> Result<AnySparse, Refusal> {
        Ok(match self {
            AnyParts::F64(p) => AnySparse::F64(p.check()?),
            AnyParts::F32(p) => AnySparse::F32(p.check()?),
            AnyParts::Tf32(p) => AnySparse::Tf32(p.check()?),
            AnyParts::F16(p) => AnySparse::F16(p.check()?),
            AnyParts::Bf16(p) => AnySparse::Bf16(p.check()?),
            AnyParts::E4m3(p) => AnySparse::E4m3(p.check()?),
            AnyParts::E5m2(p) => AnySparse::E5m2(p.check()?),
        })
    }
}

/// An element type whose parts can be put among those of all types.
pub trait PartsElement: Scalar {
    /// Forgets the element type.
    fn any_parts(parts: Parts<Self>) -> AnyParts;
}

macro_rules! wrap {
    ($($t:ty => $v:ident),*) => {$(
        impl PartsElement for $t {
            fn any_parts(parts: Parts<$t>) -> AnyParts { AnyParts::$v(parts) }
        }

        impl From<Parts<$t>> for AnyParts {
            fn from(parts: Parts<$t>) -> AnyParts { AnyParts::$v(parts) }
        }
    )*};
}
wrap!(f64 => F64, f32 => F32, Tf32 => Tf32, F16 => F16, Bf16 => Bf16, E4m3 => E4m3, E5m2 => E5m2);
