//! Operands as the DMA streams them: lane by lane along k, columns of A (CSC) or rows of B (CSR).
//!
//! ```text
//! CSR, CSC        borrowed, or turned by counting         as they lie in DRAM
//! RP-CSC, CP-CSR  groups joined lane by lane              encoded for another machine: read back and cut again
//! ```

use crate::portable::moves::{Arrays, turn};
use crate::portable::request::wrong_format;
use sparse_types::format::{CpCsr, Csr, FormatKind, RpCsc, Sparse};
use sparse_types::refusal::Refusal;
use std::borrow::Cow;

/// A matrix by lanes; indices ascend inside a lane.
#[derive(Clone, Debug)]
pub(super) struct MatrixLanes<'a, T: Clone> {
    /// What indices count.
    pub(super) extent: usize,
    /// Offsets of the lanes and the end of the last.
    pub(super) ptr: Cow<'a, [u32]>,
    pub(super) index: Cow<'a, [u32]>,
    pub(super) values: Cow<'a, [T]>,
}

impl<'a, T: Copy + Default> MatrixLanes<'a, T> {
    fn borrowed(extent: usize, ptr: &'a [u32], index: &'a [u32], values: &'a [T]) -> MatrixLanes<'a, T> {
        MatrixLanes {
            extent,
            ptr: Cow::Borrowed(ptr),
            index: Cow::Borrowed(index),
            values: Cow::Borrowed(values),
        }
    }

    fn owned(extent: usize, (ptr, index, values): Arrays<T>) -> MatrixLanes<'a, T> {
        MatrixLanes { extent, ptr: Cow::Owned(ptr), index: Cow::Owned(index), values: Cow::Owned(values) }
    }

    /// The rows of CSR.
    pub(super) fn of_csr(m: &'a Csr<T>) -> MatrixLanes<'a, T> {
        MatrixLanes::borrowed(m.cols, &m.row_ptr, &m.col_idx, &m.values)
    }

    /// The columns of RP-CSC, read from its arrays.
    pub(super) fn of_rp_csc(m: &RpCsc<T>) -> MatrixLanes<'static, T> {
        MatrixLanes::owned(m.rows, joined(&grouped_columns(m)))
    }

    /// The rows of CP-CSR, read from its arrays.
    pub(super) fn of_cp_csr(m: &CpCsr<T>) -> MatrixLanes<'static, T> {
        MatrixLanes::owned(m.cols, joined(&grouped_rows(m)))
    }

    /// Offsets, indices, values.
    pub(super) fn into_arrays(self) -> Arrays<T> {
        (self.ptr.into_owned(), self.index.into_owned(), self.values.into_owned())
    }

    /// Number of lanes.
    pub(super) fn count(&self) -> usize {
        self.ptr.len() - 1
    }

    /// Stored entries.
    pub(super) fn nnz(&self) -> u64 {
        self.index.len() as u64
    }

    /// The entries of a lane.
    pub(super) fn lane(&self, lane: usize) -> (&[u32], &[T]) {
        let range = self.ptr[lane] as usize..self.ptr[lane + 1] as usize;
        (&self.index[range.clone()], &self.values[range])
    }

    /// The same matrix by lanes the other way.
    pub(super) fn turned(&self) -> Result<MatrixLanes<'static, T>, Refusal> {
        let arrays = turn("lanes", self.extent, &self.ptr, &self.index, &self.values)?;
        Ok(MatrixLanes::owned(self.count(), arrays))
    }
}

/// A matrix by its rows, or by its columns.
pub(super) fn lanes<T: Copy + Default + 'static>(
    matrix: &Sparse<T>,
    by_rows: bool,
) -> Result<MatrixLanes<'_, T>, Refusal> {
    let (found, is_by_rows) = match matrix {
        Sparse::Csr(m) => (MatrixLanes::of_csr(m), true),
        Sparse::Csc(m) => (MatrixLanes::borrowed(m.rows, &m.col_ptr, &m.row_idx, &m.values), false),
        Sparse::RpCsc(m) => (MatrixLanes::of_rp_csc(m), false),
        Sparse::CpCsr(m) => (MatrixLanes::of_cp_csr(m), true),
        other => return Err(wrong_format("A", FormatKind::RpCsc, other.kind())),
    };
    if is_by_rows == by_rows { Ok(found) } else { found.turned() }
}

/// What RP-CSC and CP-CSR have in common.
struct GroupedView<'a, T> {
    lanes: usize,
    /// Rows (columns) of a group.
    size: usize,
    stored: &'a [u16],
    bitmaps: &'a [u64],
    length_ptr: &'a [u32],
    lengths: &'a [u8],
    value_ptr: &'a [u32],
    inner: &'a [u16],
    values: &'a [T],
}

fn grouped_columns<T>(m: &RpCsc<T>) -> GroupedView<'_, T> {
    GroupedView {
        lanes: m.cols,
        size: m.rows.div_ceil(m.groups),
        stored: &m.col_idx,
        bitmaps: &m.group_bitmap,
        length_ptr: &m.group_col_ptr,
        lengths: &m.col_len,
        value_ptr: &m.group_value_ptr,
        inner: &m.row_idx,
        values: &m.values,
    }
}

fn grouped_rows<T>(m: &CpCsr<T>) -> GroupedView<'_, T> {
    GroupedView {
        lanes: m.rows,
        size: m.cols.div_ceil(m.groups),
        stored: &m.row_idx,
        bitmaps: &m.group_bitmap,
        length_ptr: &m.group_row_ptr,
        lengths: &m.row_len,
        value_ptr: &m.group_value_ptr,
        inner: &m.col_idx,
        values: &m.values,
    }
}

/// Lane by lane, group by group; each group goes on where its last lane ended.
fn joined<T: Copy>(m: &GroupedView<'_, T>) -> Arrays<T> {
    let mut next_length: Vec<usize> = m.length_ptr.iter().map(|&at| at as usize).collect();
    let mut next_value: Vec<usize> = m.value_ptr.iter().map(|&at| at as usize).collect();
    let mut arrays = (vec![0], Vec::with_capacity(m.inner.len()), Vec::with_capacity(m.inner.len()));
    for (&lane, &bitmap) in m.stored.iter().zip(m.bitmaps) {
        arrays.0.resize(usize::from(lane) + 1, arrays.1.len() as u32);
        for group in bits(bitmap) {
            let start = next_value[group];
            let end = start + usize::from(m.lengths[next_length[group]]);
            (next_length[group], next_value[group]) = (next_length[group] + 1, end);
            let first = (group * m.size) as u32;
            arrays.1.extend(m.inner[start..end].iter().map(|&i| first + u32::from(i)));
            arrays.2.extend_from_slice(&m.values[start..end]);
        }
    }
    arrays.0.resize(m.lanes + 1, arrays.1.len() as u32);
    arrays
}

/// Positions of the bits that are set, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
