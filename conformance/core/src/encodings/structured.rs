//! Loose encodings of N:M, V:N:M and 2:4: what a pattern keeps without an entry is chosen by chance, not the lowest.

use super::room::{Room, at, of_rows};
use sparse_oracle::format::{Entries, FormatParams, NmParts, SparseMma, TwoFourParts, VnmParts};
use sparse_oracle::scalar::Scalar;
use std::collections::BTreeMap;

/// Columns that a block of V:N:M keeps.
const KEPT: usize = 4;

/// Ascending and each once.
fn distinct(mut all: Vec<u32>) -> Vec<u32> {
    all.sort_unstable();
    all.dedup();
    all
}

/// Windows name any rows beside those that they store.
pub(super) fn nm<T: Scalar>(entries: &Entries<T>, params: &FormatParams, room: &mut Room) -> NmParts<T> {
    let (n, m, l) = (params.n as usize, params.m as usize, params.l as usize);
    let groups = entries.cols.div_ceil(l);
    let windows = entries.rows.div_ceil(m);
    let mut index = vec![0; windows * n * groups];
    let mut values = vec![T::from_bits64(0); windows * n * groups * l];
    for window in 0..windows {
        let inside = of_rows(&entries.list, window * m..(window + 1) * m);
        let mut used: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for e in inside {
            used.entry(e.col as usize / l).or_default().push(e.row % m as u32);
        }
        for group in 0..groups {
            let stored = distinct(used.remove(&group).unwrap_or_default());
            for (j, offset) in room.filled(stored, m, n).into_iter().enumerate() {
                let vector = (window * n + j) * groups + group;
                index[vector] = offset;
                for c in 0..l {
                    let (row, col) = (window * m + offset as usize, (group * l + c) as u32);
                    if let Some(value) = at(inside, row, col) {
                        values[vector * l + c] = value;
                    }
                }
            }
        }
    }
    NmParts { rows: entries.rows, cols: entries.cols, n, m, l, index, values }
}

/// Blocks keep any columns, and rows any of those, beside what they store.
pub(super) fn vnm<T: Scalar>(entries: &Entries<T>, params: &FormatParams, room: &mut Room) -> VnmParts<T> {
    let (v, n, m) = (params.v as usize, params.n as usize, params.m as usize);
    let across = entries.cols.div_ceil(m);
    let down = entries.rows.div_ceil(v);
    let mut column = vec![0; down * across * KEPT];
    // A row past the end names the first n.
    let first = (0..n).fold(0, |byte, j| byte | j << (2 * j)) as u8;
    let mut index = vec![first; down * v * across];
    let mut values = vec![T::from_bits64(0); down * v * across * n];
    for block_row in 0..down {
        let inside = of_rows(&entries.list, block_row * v..(block_row + 1) * v);
        let mut used: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for e in inside {
            used.entry(e.col as usize / m).or_default().push(e.col % m as u32);
        }
        for block_col in 0..across {
            let stored = distinct(used.remove(&block_col).unwrap_or_default());
            let kept = room.filled(stored, m, KEPT);
            let block = block_row * across + block_col;
            column[block * KEPT..(block + 1) * KEPT].copy_from_slice(&kept);
            for row in block_row * v..entries.rows.min((block_row + 1) * v) {
                let value = |q: u32| at(inside, row, (block_col * m) as u32 + kept[q as usize]);
                let stored = (0..KEPT as u32).filter(|&q| value(q).is_some()).collect();
                let lane = row * across + block_col;
                index[lane] = 0;
                for (j, q) in room.filled(stored, KEPT, n).into_iter().enumerate() {
                    index[lane] |= (q as u8) << (2 * j);
                    values[lane * n + j] = value(q).unwrap_or(T::from_bits64(0));
                }
            }
        }
    }
    VnmParts { rows: entries.rows, cols: entries.cols, v, n, m, column, index, values }
}

/// Chunks name any columns beside those that they store; those outside the matrix must name the lowest. `None` for element types that
/// 2:4 is not defined for.
pub(super) fn two_four<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> Option<TwoFourParts<T>> {
    let mma = SparseMma::of(T::PRECISION, params.short_k)?;
    let (chunk, kept) = (mma.chunk(), mma.chunk() / 2);
    let across = entries.cols.div_ceil(mma.k());
    let tiles = entries.rows.div_ceil(16) * across;
    let mut metadata = vec![0u32; tiles * mma.words()];
    let mut values = vec![T::from_bits64(0); tiles * 16 * mma.k() / 2];
    for (word_at, word) in metadata.iter_mut().enumerate() {
        let (tile, inner) = (word_at / mma.words(), word_at % mma.words());
        for place in 0..8 {
            let (row, at_chunk) = mma.chunk_of_nibble(inner, place);
            let row = tile / across * 16 + row;
            let first_col = tile % across * mma.k() + at_chunk * chunk;
            let value = |offset: u32| at(&entries.list, row, first_col as u32 + offset);
            let offsets = if row < entries.rows && first_col < entries.cols {
                let stored = (0..chunk as u32).filter(|&offset| value(offset).is_some()).collect();
                room.filled(stored, chunk, kept)
            } else {
                (0..kept as u32).collect()
            };
            *word |= nibble(&offsets) << (4 * place);
            let slot = (row * across * mma.k() + first_col) / 2;
            for (j, &offset) in offsets.iter().enumerate() {
                values[slot + j] = value(offset).unwrap_or(T::from_bits64(0));
            }
        }
    }
    Some(TwoFourParts { rows: entries.rows, cols: entries.cols, short_k: params.short_k, metadata, values })
}

/// Two indices of a chunk of four; of a pair both halves of the one element that is kept.
fn nibble(offsets: &[u32]) -> u32 {
    match offsets {
        [0] => 0b0100,
        [_] => 0b1110,
        [low, high, ..] => high << 2 | low,
        [] => 0,
    }
}
