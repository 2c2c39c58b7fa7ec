//! Sparse matrices whose format, or element type too, is known only at run time.

use super::{Bcsr, BlockedEll, Coo, Csc, Csr, Ell};
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Tf32};

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
}

impl FormatKind {
    /// All formats.
    pub const ALL: [FormatKind; 6] = [
        FormatKind::Coo,
        FormatKind::Csr,
        FormatKind::Csc,
        FormatKind::Bcsr,
        FormatKind::Ell,
        FormatKind::BlockedEll,
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
        }
    }

    /// The format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<FormatKind> {
        FormatKind::ALL.into_iter().find(|f| f.name() == name)
    }

    /// True when the format cannot tell an explicit +0.0 from a pad (SEMANTICS section 2), and multiplies pads.
    #[must_use]
    pub const fn pads_with_zeros(self) -> bool {
        matches!(self, FormatKind::Bcsr | FormatKind::BlockedEll)
    }
}

/// Parameters of the formats that have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatParams {
    /// Rows of a BCSR or Blocked-ELL block.
    pub block_rows: u32,
    /// Columns of a BCSR or Blocked-ELL block.
    pub block_cols: u32,
}

impl Default for FormatParams {
    fn default() -> Self {
        FormatParams {
            block_rows: 4,
            block_cols: 4,
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
        }
    }

    /// (rows, columns).
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Sparse::Coo(m) => (m.rows, m.cols),
            Sparse::Csr(m) => (m.rows, m.cols),
            Sparse::Csc(m) => (m.rows, m.cols),
            Sparse::Bcsr(m) => (m.rows, m.cols),
            Sparse::Ell(m) => (m.rows, m.cols),
            Sparse::BlockedEll(m) => (m.rows, m.cols),
        }
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
}

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
