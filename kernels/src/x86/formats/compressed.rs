//! Formats that are rows already, or become rows as a whole: CSR and TCF as they are, CSC turned, COO grouped, RP-CSC and
//! CP-CSR decoded by our portable conversion (they count inside groups, so no row can be found without its group).

use super::{RowSource, opened};
use crate::portable::element::Stored;
use crate::portable::lanes::group;
use crate::portable::moves::{Move, turn};
use crate::portable::request::wrong_format;
use crate::x86::lanes::{Boxed, Buffers, RowUnits, Rows};
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Coo, FormatKind, FormatParams, Sparse};
use sparse_types::task::Answer;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

/// Marks kernels for CSR.
#[derive(Debug)]
pub(in crate::x86) struct CsrRows;

/// Marks kernels for TCF: CSR with more arrays, which follow from it.
#[derive(Debug)]
pub(in crate::x86) struct TcfRows;

/// Marks kernels for CSC.
#[derive(Debug)]
pub(in crate::x86) struct CscRows;

/// Marks kernels for COO.
#[derive(Debug)]
pub(in crate::x86) struct CooRows;

/// Marks kernels for a format that the move `M` decodes to CSR.
#[derive(Debug)]
pub(in crate::x86) struct DecodedRows<M>(PhantomData<M>);

/// Compressed rows, borrowed or made.
#[derive(Debug)]
pub(in crate::x86) struct CompressedRows<'a, T: Clone> {
    ptr: Cow<'a, [u32]>,
    cols: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
}

impl<'a, T: Stored> CompressedRows<'a, T> {
    /// Arrays as they are.
    pub(in crate::x86) fn borrowed(ptr: &'a [u32], cols: &'a [u32], values: &'a [T]) -> Self {
        CompressedRows { ptr: Cow::Borrowed(ptr), cols: Cow::Borrowed(cols), values: Cow::Borrowed(values) }
    }

    /// Arrays that were made.
    pub(in crate::x86) fn owned((ptr, cols, values): (Vec<u32>, Vec<u32>, Vec<T>)) -> Self {
        CompressedRows { ptr: Cow::Owned(ptr), cols: Cow::Owned(cols), values: Cow::Owned(values) }
    }
}

impl<T: Stored> RowUnits<T> for CompressedRows<'_, T> {
    fn units(&self) -> usize {
        self.ptr.len() - 1
    }

    fn first_row(&self, unit: usize) -> usize {
        unit
    }

    fn before(&self, unit: usize) -> usize {
        self.ptr[unit] as usize
    }

    fn read<'s>(&'s self, units: Range<usize>, _: &'s mut Buffers<T>) -> Rows<'s, T> {
        Rows::of(&self.ptr, &self.cols, &self.values, units)
    }
}

impl RowSource for CsrRows {
    const KIND: FormatKind = FormatKind::Csr;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(CompressedRows::borrowed(&m.row_ptr, &m.col_idx, &m.values), m.cols, transpose)
    }
}

impl RowSource for TcfRows {
    const KIND: FormatKind = FormatKind::Tcf;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Tcf(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(CompressedRows::borrowed(&m.node_pointer, &m.edge_list, &m.values), m.cols, transpose)
    }
}

impl RowSource for CscRows {
    const KIND: FormatKind = FormatKind::Csc;
    const PADS: Pads = Pads::Skipped;

    /// The columns of a matrix are the rows of its transpose.
    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Csc(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        opened(CompressedRows::borrowed(&m.col_ptr, &m.row_idx, &m.values), m.rows, !transpose)
    }
}

impl RowSource for CooRows {
    const KIND: FormatKind = FormatKind::Coo;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Sparse::Coo(m) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        if in_order(m) {
            let rows = CompressedRows {
                ptr: Cow::Owned(offsets(m.rows, &m.row_idx)),
                cols: Cow::Borrowed(&m.col_idx[..]),
                values: Cow::Borrowed(&m.values[..]),
            };
            return opened(rows, m.cols, transpose);
        }
        let rows = group(m.rows, &m.row_idx, &m.col_idx, &m.values);
        opened(CompressedRows::owned((rows.ptr, rows.index, rows.values)), m.cols, transpose)
    }
}

/// True when rows ascend, columns strictly inside a row: no position is stored twice then.
fn in_order<T: Copy>(m: &Coo<T>) -> bool {
    let keys = m.row_idx.iter().zip(&m.col_idx);
    keys.clone().zip(keys.skip(1)).all(|(before, after)| before < after)
}

/// Row pointers of ascending rows.
fn offsets(rows: usize, row_idx: &[u32]) -> Vec<u32> {
    let mut ptr = vec![0u32; rows + 1];
    for &row in row_idx {
        ptr[row as usize + 1] += 1;
    }
    for row in 0..rows {
        ptr[row + 1] += ptr[row];
    }
    ptr
}

impl<M: Move> RowSource for DecodedRows<M> {
    const KIND: FormatKind = M::FROM;
    const PADS: Pads = Pads::Skipped;

    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T> {
        let Answer::Sparse(csr) = M::perform(matrix, FormatParams::DEFAULT)? else {
            return Err(wrong_format("A", FormatKind::Csr, M::FROM));
        };
        let Some(values) = T::unwrap_slice(csr.values.as_slice()) else {
            return Err(wrong_format("A", FormatKind::Csr, M::FROM));
        };
        let arrays = if transpose {
            turn("row_ptr", csr.cols, &csr.offsets, &csr.indices, values)?
        } else {
            (csr.offsets, csr.indices, values.to_vec())
        };
        Ok(Box::new(CompressedRows::owned(arrays)))
    }
}
