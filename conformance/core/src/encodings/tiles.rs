//! Loose encodings of formats of tall thin tiles: LOOPS and SR-BCRS.

use super::room::{Room, at, of_rows, offsets};
use sparse_oracle::format::{Entries, FormatParams, LoopsParts, PAD, SrBcrsParts};
use sparse_oracle::scalar::Scalar;

/// Tiles of zeros among the others; the CSR part has one encoding.
pub(super) fn loops<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> LoopsParts<T> {
    let (rows, br) = (entries.rows, params.br as usize);
    let boundary = params.boundary.map_or(rows / 2, |given| given as usize);
    let csr = of_rows(&entries.list, 0..boundary);
    let row_length = |row| of_rows(csr, row..row + 1).len();
    let (mut counts, mut block_col, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for first in (boundary..rows).step_by(br) {
        let inside = of_rows(&entries.list, first..first + br);
        let columns = room.columns(inside, 3, br);
        for &col in &columns {
            let value = |row| at(inside, row, col).unwrap_or(T::from_bits64(0));
            values.extend((first..first + br).map(value));
        }
        counts.push(columns.len());
        block_col.extend(columns);
    }
    LoopsParts {
        rows,
        cols: entries.cols,
        boundary,
        br,
        row_ptr: offsets((0..boundary).map(row_length)),
        col_idx: csr.iter().map(|e| e.col).collect(),
        csr_values: csr.iter().map(|e| e.value).collect(),
        block_ptr: offsets(counts.into_iter()),
        block_col,
        values,
    }
}

/// Vectors of zeros among the others, and groups of pads behind them.
pub(super) fn sr_bcrs<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> SrBcrsParts<T> {
    let (v, stride) = (params.v as usize, params.stride as usize);
    let (mut counts, mut vector_col, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for first in (0..entries.rows).step_by(v) {
        let inside = of_rows(&entries.list, first..first + v);
        // A vector more may need a group more.
        let mut columns = room.columns(inside, 3, v * stride);
        columns.resize(columns.len().next_multiple_of(stride), PAD);
        if room.one_in(4) && room.spend(v * stride) {
            columns.resize(columns.len() + stride, PAD);
        }
        for group in columns.chunks(stride) {
            for row in first..first + v {
                let value = |&col: &u32| at(inside, row, col).unwrap_or(T::from_bits64(0));
                values.extend(group.iter().map(value));
            }
        }
        counts.push(columns.len());
        vector_col.extend(columns);
    }
    SrBcrsParts {
        rows: entries.rows,
        cols: entries.cols,
        v,
        stride,
        window_ptr: offsets(counts.into_iter()),
        vector_col,
        values,
    }
}
