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

use super::{
    AnySparse, Codec, Csr, Dense, Entries, Entry, FormatKind, FormatParams, Layout, SLOT_LIMIT, Sparse,
    Tiling, by_precision,
};
use crate::arithmetic::Slot;
use crate::refusal::{Limit, Refusal, RequestError, check_u32};
use crate::scalar::{FromF64, Precision, Scalar};
use crate::{each_format, each_sparse, with_scalar};

/// The encoders and decoders of all formats.
pub trait SparseCodec<T>: Sized {
    /// Decodes; in COO, repeated positions are summed exactly and rounded once.
    fn entries(&self) -> Entries<T>;

    /// Encodes; each format reads its own parameters.
    ///
    /// # Errors
    /// What the format's encoder refuses: invalid entries, parameters out of range, more slots than [`SLOT_LIMIT`],
    /// entries that the format's pattern has no room for, an element type that it is not defined for.
    fn from_entries(kind: FormatKind, params: FormatParams, entries: &Entries<T>) -> Result<Self, Refusal>;

    /// The parameters that the matrix was encoded with; the default for those that its format does not read.
    fn params(&self) -> FormatParams;

    /// How many slots a format stores for such entries at most; see [`Codec::most_slots`].
    fn most_slots(kind: FormatKind, params: &FormatParams, entries: &Entries<T>) -> u128;

    /// The slots of its tiles; see [`Codec::tile_slots`].
    fn tile_slots(&self) -> Vec<(u32, u32)>;

    /// Its tiles, counted; see [`Codec::tiling`].
    fn tiling(&self) -> Option<Tiling>;

    /// Places along k; see [`Codec::along_k`].
    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>>;
}

impl<T: Scalar> SparseCodec<T> for Sparse<T> {
    fn entries(&self) -> Entries<T> {
        by_precision::unboxed(by_precision::decode(T::PRECISION, self))
    }

    fn from_entries(kind: FormatKind, params: FormatParams, entries: &Entries<T>) -> Result<Self, Refusal> {
        by_precision::encode(T::PRECISION, kind, &params, entries).map(by_precision::unboxed)
    }

    fn params(&self) -> FormatParams {
        by_precision::params(T::PRECISION, self)
    }

    fn most_slots(kind: FormatKind, params: &FormatParams, entries: &Entries<T>) -> u128 {
        by_precision::most_slots(T::PRECISION, kind, params, entries)
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        each_format!(Sparse, self, m => m.tile_slots())
    }

    fn tiling(&self) -> Option<Tiling> {
        each_format!(Sparse, self, m => m.tiling())
    }

    fn along_k<U>(&self, positions: &Csr<U>) -> Option<Csr<Slot>> {
        each_format!(Sparse, self, m => m.along_k(positions))
    }
}

/// The same matrix in another format.
///
/// # Errors
/// See [`SparseCodec::from_entries`].
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
/// See [`SparseCodec::from_entries`].
pub fn transpose<T: Scalar>(matrix: &Sparse<T>) -> Result<Sparse<T>, Refusal> {
    Sparse::from_entries(matrix.kind(), matrix.params(), &matrix.entries().transpose())
}

/// The same where the element type too is known only at run time.
pub trait AnyCodec: Sized {
    /// Decodes to bit patterns, which lose nothing; see [`SparseCodec::entries`].
    #[must_use]
    fn entries_bits(&self) -> Entries<u64>;

    /// Decodes to exact values (a NaN's payload is lost); see [`SparseCodec::entries`].
    #[must_use]
    fn entries_f64(&self) -> Entries<f64>;

    /// Encodes bit patterns of `precision`.
    ///
    /// # Errors
    /// See [`SparseCodec::from_entries`].
    fn from_bits(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<u64>,
    ) -> Result<Self, Refusal>;

    /// Encodes numbers, each rounded to the nearest element of `precision`.
    ///
    /// # Errors
    /// See [`SparseCodec::from_entries`].
    fn from_f64(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<f64>,
    ) -> Result<Self, Refusal>;

    /// The same matrix in another format.
    ///
    /// # Errors
    /// See [`SparseCodec::from_entries`].
    fn convert(&self, kind: FormatKind, params: FormatParams) -> Result<Self, Refusal>;

    /// The transposed matrix, in the same format and with the same parameters.
    ///
    /// # Errors
    /// See [`SparseCodec::from_entries`].
    fn transpose(&self) -> Result<Self, Refusal>;

    /// The parameters that the matrix was encoded with (the default for formats that have none).
    #[must_use]
    fn params(&self) -> FormatParams;
}

impl AnyCodec for AnySparse {
    fn entries_bits(&self) -> Entries<u64> {
        each_sparse!(self, m => m.entries().bits())
    }

    fn entries_f64(&self) -> Entries<f64> {
        each_sparse!(self, m => m.entries().map(|v| v.to_f64()))
    }

    fn from_bits(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<u64>,
    ) -> Result<Self, Refusal> {
        with_scalar!(precision, T => {
            Sparse::from_entries(kind, params, &entries.map(|&bits| T::from_bits64(bits))).map(AnySparse::from)
        })
    }

    fn from_f64(
        precision: Precision,
        kind: FormatKind,
        params: FormatParams,
        entries: &Entries<f64>,
    ) -> Result<Self, Refusal> {
        with_scalar!(precision, T => {
            Sparse::from_entries(kind, params, &entries.map(|&number| T::from_f64(number))).map(AnySparse::from)
        })
    }

    fn convert(&self, kind: FormatKind, params: FormatParams) -> Result<AnySparse, Refusal> {
        each_sparse!(self, m => convert(m, kind, params).map(AnySparse::from))
    }

    fn transpose(&self) -> Result<AnySparse, Refusal> {
        each_sparse!(self, m => transpose(m).map(AnySparse::from))
    }

    fn params(&self) -> FormatParams {
        each_sparse!(self, m => m.params())
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
            return Err(Limit { field: "rows * cols", found: elements, limit: SLOT_LIMIT }.into());
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
    /// [`RequestError::TooLarge`] when there are 2^32 of them or more.
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
                return Err(RequestError::Shape { left_name, left, right_name, right }.into());
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
