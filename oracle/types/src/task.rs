//! One request to a backend and what may come back: operands as borrowed data, results as plain arrays.
//!
//! The types say nothing about how to compute. [`RawSparse`] is deliberately unchecked: a backend may return
//! anything, and [`RawSparse::check`] is where the oracle finds out.

mod request;

pub use self::request::{Inputs, SddmmMode, Task};

use crate::format::{
    AnyParts, AnySparse, Bcsr, BcsrParts, BlockedEll, BlockedEllParts, Coo, CooParts, Csc, CscParts, Csr,
    CsrParts, Ell, EllParts, FormatKind, FormatParams, Layout, Parts, PartsElement, Sparse,
};
use crate::refusal::{Refusal, RequestError, check_u32};
use crate::scalar::{AnySlice, AnySliceMut, Element, Values};

/// A dense operand: shape, leading dimension and layout over borrowed elements.
#[derive(Clone, Copy, Debug)]
pub struct DenseRef<'a> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Leading dimension, in elements.
    pub ld: usize,
    /// Which index runs fastest.
    pub layout: Layout,
    /// `ld * outer` elements.
    pub data: AnySlice<'a>,
}

/// A dense result to be written in place. Elements between the inner extent and `ld` must not be touched.
#[derive(Debug)]
pub struct DenseMut<'a> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Leading dimension, in elements.
    pub ld: usize,
    /// Which index runs fastest.
    pub layout: Layout,
    /// `ld * outer` elements.
    pub data: AnySliceMut<'a>,
}

/// What a backend returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The result was written into the task's output.
    Written,
    /// A new sparse matrix of a general format, not yet checked.
    Sparse(RawSparse),
    /// A new sparse matrix of any format, not yet checked.
    Parts(AnyParts),
}

/// The arrays of a sparse matrix of a general format, by position, unchecked. Formats of the papers have more arrays:
/// see [`AnyParts`].
///
/// | format | `offsets` | `indices` | `values` |
/// |---|---|---|---|
/// | coo | row of each triple | column of each triple | one per triple |
/// | csr | row pointer | columns | one per column |
/// | csc | column pointer | rows | one per row |
/// | bcsr | block row pointer | block columns | `block_rows * block_cols` per block |
/// | ell | empty | `rows * width` columns | `rows * width` |
/// | blocked_ell | empty | block columns | `block_rows * block_cols` per slot |
#[derive(Clone, Debug, PartialEq)]
pub struct RawSparse {
    /// Format that the arrays claim to be.
    pub kind: FormatKind,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Block shape, for the blocked formats.
    pub params: FormatParams,
    /// Slots per row (ELL) or blocks per block row (Blocked-ELL), else 0.
    pub width: usize,
    /// First index array.
    pub offsets: Vec<u32>,
    /// Second index array.
    pub indices: Vec<u32>,
    /// Values.
    pub values: Values,
}

impl RawSparse {
    /// Checks the arrays as the format they claim to be.
    ///
    /// # Errors
    /// Whatever the format's constructor finds.
    pub fn check(self) -> Result<AnySparse, Refusal> {
        let RawSparse { kind, rows, cols, params, width, offsets, indices, values } = self;
        let raw = Untyped { kind, rows, cols, params, width, offsets, indices };
        Ok(match values {
            Values::F64(v) => AnySparse::F64(raw.check(v)?),
            Values::F32(v) => AnySparse::F32(raw.check(v)?),
            Values::Tf32(v) => AnySparse::Tf32(raw.check(v)?),
            Values::F16(v) => AnySparse::F16(raw.check(v)?),
            Values::Bf16(v) => AnySparse::Bf16(raw.check(v)?),
            Values::E4m3(v) => AnySparse::E4m3(raw.check(v)?),
            Values::E5m2(v) => AnySparse::E5m2(raw.check(v)?),
        })
    }
}

struct Untyped {
    kind: FormatKind,
    rows: usize,
    cols: usize,
    params: FormatParams,
    width: usize,
    offsets: Vec<u32>,
    indices: Vec<u32>,
}

impl Untyped {
    fn check<T: Element>(self, values: Vec<T>) -> Result<Sparse<T>, Refusal> {
        let Untyped { kind, rows, cols, params, width, offsets, indices } = self;
        let (block_rows, block_cols) = (params.block_rows as usize, params.block_cols as usize);
        Ok(match kind {
            FormatKind::Coo => Sparse::Coo(Coo::try_new(CooParts {
                rows,
                cols,
                row_idx: offsets,
                col_idx: indices,
                values,
            })?),
            FormatKind::Csr => Sparse::Csr(Csr::try_new(CsrParts {
                rows,
                cols,
                row_ptr: offsets,
                col_idx: indices,
                values,
            })?),
            FormatKind::Csc => Sparse::Csc(Csc::try_new(CscParts {
                rows,
                cols,
                col_ptr: offsets,
                row_idx: indices,
                values,
            })?),
            FormatKind::Bcsr => Sparse::Bcsr(Bcsr::try_new(BcsrParts {
                rows,
                cols,
                block_rows,
                block_cols,
                block_row_ptr: offsets,
                block_col: indices,
                values,
            })?),
            FormatKind::Ell => {
                Sparse::Ell(Ell::try_new(EllParts { rows, cols, width, col_idx: indices, values })?)
            }
            FormatKind::BlockedEll => Sparse::BlockedEll(BlockedEll::try_new(BlockedEllParts {
                rows,
                cols,
                block_rows,
                block_cols,
                width,
                block_col: indices,
                values,
            })?),
            other => {
                return Err(Refusal::Request(RequestError::Kind {
                    field: "the arrays' format",
                    expected: "a general format (others come as parts)".to_owned(),
                    found: other.name().to_owned(),
                }));
            }
        })
    }
}

impl Answer {
    /// The arrays of a result: those of a general format as [`RawSparse`], which profiles are applied to, those of the
    /// papers' formats as their parts. Nothing is checked but that sides of blocks fit where they go.
    ///
    /// # Errors
    /// [`RequestError::TooLarge`] for a side of a block past u32.
    pub fn from_parts<T: Element + PartsElement>(parts: Parts<T>) -> Result<Answer, Refusal> {
        let kind = parts.kind();
        let (rows, cols) = parts.shape();
        let blocks = |rows: usize, cols: usize| -> Result<FormatParams, Refusal> {
            let side = |name, side: usize| check_u32(name, side as u128);
            Ok(FormatParams::blocks(side("block_rows", rows)?, side("block_cols", cols)?))
        };
        let plain = FormatParams::default();
        let (params, width, offsets, indices, values) = match parts {
            Parts::Coo(p) => (plain, 0, p.row_idx, p.col_idx, p.values),
            Parts::Csr(p) => (plain, 0, p.row_ptr, p.col_idx, p.values),
            Parts::Csc(p) => (plain, 0, p.col_ptr, p.row_idx, p.values),
            Parts::Bcsr(p) => {
                (blocks(p.block_rows, p.block_cols)?, 0, p.block_row_ptr, p.block_col, p.values)
            }
            Parts::Ell(p) => (plain, p.width, Vec::new(), p.col_idx, p.values),
            Parts::BlockedEll(p) => {
                (blocks(p.block_rows, p.block_cols)?, p.width, Vec::new(), p.block_col, p.values)
            }
            other => return Ok(Answer::Parts(T::any_parts(other))),
        };
        Ok(Answer::Sparse(RawSparse {
            kind,
            rows,
            cols,
            params,
            width,
            offsets,
            indices,
            values: T::wrap(values),
        }))
    }
}
