//! Conversions between formats, all through [`Entries`]: decode, then encode.
//!
//! ```text
//! coo  csr  csc  ell  --entries()-->  Entries  --from_entries()-->  any format
//! bcsr  blocked_ell   --(all but +0.0)-^  |  ^
//!                                         v  |
//!                                        Dense     (absent positions +0.0; the pattern travels separately)
//! ```
//!
//! A conversion is exact, bit for bit, except where SEMANTICS section 2 says what is lost: a format that pads with
//! zeros drops explicit +0.0 on decoding, and COO settles repeated positions.

use crate::format::{
    AnySparse, Bcsr, BitTcf, BlockedEll, Coo, CpCsr, Csc, Csr, Dense, Ell, Entries, Entry, FormatKind,
    FormatParams, Layout, LibraSddmm, LibraSpmm, Loops, MeTcf, Nm, RpCsc, RsTile, SLOT_LIMIT, Sparse, SrBcrs,
    Tcf, TwoFour, Vnm,
};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::{Bf16, E4m3, E5m2, F16, Precision, Scalar, Tf32};
use crate::{each_format, each_sparse, with_scalar};

impl<T: Scalar> Sparse<T> {
    /// Decodes; in COO, repeated positions are summed exactly and rounded once.
    pub fn entries(&self) -> Entries<T> {
        each_format!(Sparse, self, m => m.entries())
    }

    /// Encodes; each format reads its own parameters.
    ///
    /// # Errors
    /// What the format's encoder refuses: invalid entries, parameters out of range, more slots than [`SLOT_LIMIT`],
    /// entries that the format's pattern has no room for, an element type that it is not defined for.
    pub fn from_entries(
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<T>,
    ) -> Result<Self, Refusal> {
        let (block_rows, block_cols) = (params.block_rows as usize, params.block_cols as usize);
        Ok(match kind {
            FormatKind::Coo => Sparse::Coo(Coo::from_entries(entries)?),
            FormatKind::Csr => Sparse::Csr(Csr::from_entries(entries)?),
            FormatKind::Csc => Sparse::Csc(Csc::from_entries(entries)?),
            FormatKind::Bcsr => Sparse::Bcsr(Bcsr::from_entries(entries, block_rows, block_cols)?),
            FormatKind::Ell => Sparse::Ell(Ell::from_entries(entries)?),
            FormatKind::BlockedEll => {
                Sparse::BlockedEll(BlockedEll::from_entries(entries, block_rows, block_cols)?)
            }
            FormatKind::Loops => Sparse::Loops(Loops::from_entries(entries, &params)?),
            FormatKind::RsTile => Sparse::RsTile(RsTile::from_entries(entries, &params)?),
            FormatKind::LibraSpmm => Sparse::LibraSpmm(LibraSpmm::from_entries(entries, &params)?),
            FormatKind::LibraSddmm => Sparse::LibraSddmm(LibraSddmm::from_entries(entries, &params)?),
            FormatKind::RpCsc => Sparse::RpCsc(RpCsc::from_entries(entries, &params)?),
            FormatKind::CpCsr => Sparse::CpCsr(CpCsr::from_entries(entries, &params)?),
            FormatKind::Nm => Sparse::Nm(Nm::from_entries(entries, &params)?),
            FormatKind::TwoFour => Sparse::TwoFour(TwoFour::from_entries(entries, &params)?),
            FormatKind::Vnm => Sparse::Vnm(Vnm::from_entries(entries, &params)?),
            FormatKind::Tcf => Sparse::Tcf(Tcf::from_entries(entries, &params)?),
            FormatKind::MeTcf => Sparse::MeTcf(MeTcf::from_entries(entries, &params)?),
            FormatKind::BitTcf => Sparse::BitTcf(BitTcf::from_entries(entries, &params)?),
            FormatKind::SrBcrs => Sparse::SrBcrs(SrBcrs::from_entries(entries, &params)?),
        })
    }

    /// The parameters that the matrix was encoded with; the default for those that its format does not read.
    pub fn params(&self) -> FormatParams {
        // A valid block has an area of at most 2^16.
        match self {
            Sparse::Bcsr(m) => FormatParams::blocks(m.block_rows as u32, m.block_cols as u32),
            Sparse::BlockedEll(m) => FormatParams::blocks(m.block_rows as u32, m.block_cols as u32),
            Sparse::Coo(_) | Sparse::Csr(_) | Sparse::Csc(_) | Sparse::Ell(_) => FormatParams::default(),
            Sparse::Loops(m) => m.params(),
            Sparse::RsTile(m) => m.params(),
            Sparse::LibraSpmm(m) => m.params(),
            Sparse::LibraSddmm(m) => m.params(),
            Sparse::RpCsc(m) => m.params(),
            Sparse::CpCsr(m) => m.params(),
            Sparse::Nm(m) => m.params(),
            Sparse::TwoFour(m) => m.params(),
            Sparse::Vnm(m) => m.params(),
            Sparse::Tcf(m) => m.params(),
            Sparse::MeTcf(m) => m.params(),
            Sparse::BitTcf(m) => m.params(),
            Sparse::SrBcrs(m) => m.params(),
        }
    }

    /// Number of entries that decoding gives before repeated positions are settled.
    pub fn nnz(&self) -> usize {
        each_format!(Sparse, self, m => m.nnz())
    }
}

/// The same matrix in another format.
///
/// # Errors
/// See [`Sparse::from_entries`].
pub fn convert<T: Scalar>(
    matrix: &Sparse<T>,
    kind: FormatKind,
    params: FormatParams,
) -> Result<Sparse<T>, Refusal> {
    Sparse::from_entries(kind, params, &matrix.entries())
}

/// The transposed matrix, in the format and with the parameters of `matrix`.
///
/// # Errors
/// See [`Sparse::from_entries`].
pub fn transpose<T: Scalar>(matrix: &Sparse<T>) -> Result<Sparse<T>, Refusal> {
    Sparse::from_entries(matrix.kind(), matrix.params(), &matrix.entries().transpose())
}

macro_rules! wrap {
    ($($t:ty => $v:ident),*) => {$(
        impl From<Sparse<$t>> for AnySparse {
            fn from(matrix: Sparse<$t>) -> AnySparse { AnySparse::$v(matrix) }
        }
    )*};
}
wrap!(f64 => F64, f32 => F32, Tf32 => Tf32, F16 => F16, Bf16 => Bf16, E4m3 => E4m3, E5m2 => E5m2);

impl AnySparse {
    /// Decodes to bit patterns, which lose nothing; see [`Sparse::entries`].
    #[must_use]
    pub fn entries_bits(&self) -> Entries<u64> {
        each_sparse!(self, m => m.entries().bits())
    }

    /// Decodes to exact values (a NaN's payload is lost); see [`Sparse::entries`].
    #[must_use]
    pub fn entries_f64(&self) -> Entries<f64> {
        each_sparse!(self, m => m.entries().map(|v| v.to_f64()))
    }

    /// Encodes bit patterns of `precision`.
    ///
    /// # Errors
    /// See [`Sparse::from_entries`].
    pub fn from_bits(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<u64>,
    ) -> Result<Self, Refusal> {
        with_scalar!(precision, T => {
            Sparse::from_entries(kind, params, &entries.map(|&bits| T::from_bits64(bits))).map(AnySparse::from)
        })
    }

    /// Encodes numbers, each rounded to the nearest element of `precision`.
    ///
    /// # Errors
    /// See [`Sparse::from_entries`].
    pub fn from_f64(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<f64>,
    ) -> Result<Self, Refusal> {
        with_scalar!(precision, T => {
            Sparse::from_entries(kind, params, &entries.map(|&number| T::from_f64(number))).map(AnySparse::from)
        })
    }

    /// The same matrix in another format.
    ///
    /// # Errors
    /// See [`Sparse::from_entries`].
    pub fn convert(&self, kind: FormatKind, params: FormatParams) -> Result<AnySparse, Refusal> {
        each_sparse!(self, m => convert(m, kind, params).map(AnySparse::from))
    }

    /// The transposed matrix, in the same format and with the same parameters.
    ///
    /// # Errors
    /// See [`Sparse::from_entries`].
    pub fn transpose(&self) -> Result<AnySparse, Refusal> {
        each_sparse!(self, m => transpose(m).map(AnySparse::from))
    }

    /// The parameters that the matrix was encoded with (the default for formats that have none).
    #[must_use]
    pub fn params(&self) -> FormatParams {
        each_sparse!(self, m => m.params())
    }

    /// Number of stored entries; see [`Sparse::nnz`].
    #[must_use]
    pub fn nnz(&self) -> usize {
        each_sparse!(self, m => m.nnz())
    }
}

impl<T: Scalar> Entries<T> {
    /// A compact row-major dense matrix with +0.0 at absent positions. Which positions were present is lost; keep
    /// [`pattern`](Entries::pattern) and come back with [`gather`](Entries::gather).
    ///
    /// # Errors
    /// Entries that fail [`check`](Entries::check); more than [`SLOT_LIMIT`] elements.
    pub fn to_dense(&self) -> Result<Dense<T>, Refusal> {
        self.check()?;
        let elements = self.rows as u128 * self.cols as u128;
        if elements > u128::from(SLOT_LIMIT) {
            return Err(Refusal::TooLarge { field: "rows * cols", found: elements, limit: SLOT_LIMIT });
        }
        let mut data = vec![T::from_bits64(0); elements as usize];
        for e in &self.list {
            data[e.row as usize * self.cols + e.col as usize] = e.value;
        }
        Dense::try_new(self.rows, self.cols, self.cols, Layout::RowMajor, data)
    }

    /// The elements of a dense matrix that are not bitwise +0.0.
    ///
    /// # Errors
    /// [`Refusal::TooLarge`] when there are 2^32 of them or more.
    pub fn from_dense(dense: &Dense<T>) -> Result<Self, Refusal> {
        let mut list = Vec::new();
        for row in 0..dense.rows() {
            for col in 0..dense.cols() {
                let value = dense.at(row, col);
                if !value.is_positive_zero() {
                    list.push(Entry { row: row as u32, col: col as u32, value });
                }
            }
        }
        check_u32("nnz", list.len() as u128)?;
        Ok(Entries { rows: dense.rows(), cols: dense.cols(), list })
    }
}

impl<P> Entries<P> {
    /// The elements of `dense` at the positions of this pattern.
    ///
    /// # Errors
    /// Entries that fail [`check`](Entries::check); a dense matrix of another shape.
    pub fn gather<T: Copy>(&self, dense: &Dense<T>) -> Result<Entries<T>, Refusal> {
        self.check()?;
        for (left_name, left, right_name, right) in [
            ("rows of the pattern", self.rows, "rows of the dense matrix", dense.rows()),
            ("columns of the pattern", self.cols, "columns of the dense matrix", dense.cols()),
        ] {
            if left != right {
                return Err(Refusal::Shape { left_name, left, right_name, right });
            }
        }
        let list = self.list.iter().map(|e| Entry {
            row: e.row,
            col: e.col,
            value: dense.at(e.row as usize, e.col as usize),
        });
        Ok(Entries { rows: self.rows, cols: self.cols, list: list.collect() })
    }
}
