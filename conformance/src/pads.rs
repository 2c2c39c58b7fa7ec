//! The slots of a tiled layout that hold no entry: what a kernel that works on whole tiles multiplies by zero.
//!
//! ```text
//! window of 8 rows, columns 1 3 6       . a . b . . .        slots of its tile:   rows 0..8 x {1, 3, 6}
//!                                       . . . c . . d        pads:                (0,6) (1,1) and rows 2..8 of all three
//! ```
//!
//! Where a dense operand holds NaN or Inf in a row that a pad faces, 0 x that is NaN (clause 2.7 of SEMANTICS.md). Columns marked as
//! pads face nothing, and slots outside the matrix neither.

use sparse_oracle::format::{AnySparse, Entries, Entry, Nm, PAD, Sparse, SparseMma, TwoFour, Vnm};
use sparse_oracle::scalar::Element;
use std::collections::BTreeSet;
use std::ops::Range;

/// Rows and columns that meet in every slot of a tile.
struct Tile {
    rows: Range<usize>,
    cols: Vec<u32>,
}

/// Slots inside the matrix that hold no entry, in the orientation of the stored matrix, row by row.
pub(crate) fn pad_slots(a: &AnySparse, entries: &Entries<f64>) -> Entries<()> {
    let (rows, cols) = (entries.rows, entries.cols);
    let mut slots: Vec<(u32, u32)> = sparse_oracle::each_sparse!(a, m => match m {
        Sparse::Nm(m) => nm(m),
        Sparse::TwoFour(m) => two_four(m),
        Sparse::Vnm(m) => vnm(m),
        m => in_tiles(&tiles(m), rows),
    });
    slots.retain(|&(row, col)| (row as usize) < rows && (col as usize) < cols);
    slots.sort_unstable();
    slots.dedup();
    let mut stored = entries.list.iter().map(|e| (e.row, e.col)).peekable();
    slots.retain(|&slot| {
        while stored.next_if(|&at| at < slot).is_some() {}
        stored.peek() != Some(&slot)
    });
    let list = slots.into_iter().map(|(row, col)| Entry { row, col, value: () });
    Entries { rows, cols, list: list.collect() }
}

fn in_tiles(tiles: &[Tile], rows: usize) -> Vec<(u32, u32)> {
    let of = |tile: &Tile| {
        let inside = tile.rows.start..tile.rows.end.min(rows);
        let cols = tile.cols.clone();
        inside.flat_map(move |row| cols.clone().into_iter().map(move |col| (row as u32, col)))
    };
    tiles.iter().flat_map(of).filter(|slot| slot.1 != PAD).collect()
}

/// The tiles of a format that has some; formats that store one entry after another have none.
fn tiles<T: Element>(m: &Sparse<T>) -> Vec<Tile> {
    match m {
        Sparse::Bcsr(m) => {
            let (h, w) = (m.block_rows, m.block_cols as u32);
            windows(&m.block_row_ptr, h, 0, |block| across(m.block_col[block], w))
        }
        Sparse::BlockedEll(m) => {
            let (h, w) = (m.block_rows, m.block_cols as u32);
            let tile = |(at, &col): (usize, &u32)| Tile {
                rows: at / m.width * h..(at / m.width + 1) * h,
                cols: across(col, w),
            };
            m.block_col.iter().enumerate().map(tile).collect()
        }
        Sparse::Loops(m) => windows(&m.block_ptr, m.br, m.boundary, |tile| vec![m.block_col[tile]]),
        Sparse::SrBcrs(m) => windows(&m.window_ptr, m.v, 0, |vector| vec![m.vector_col[vector]]),
        Sparse::RsTile(m) => {
            let blocks = m.window_block_ptr.windows(2).zip(&m.window_row);
            let of = |(ends, &first): (&[u32], &u32)| Tile {
                rows: first as usize..first as usize + 8,
                cols: m.block_col[8 * ends[0] as usize..8 * ends[1] as usize].to_vec(),
            };
            blocks.map(of).collect()
        }
        Sparse::LibraSpmm(m) => windows(&m.window_block_ptr, 8, 0, |b| cut(&m.block_col, b, m.kb)),
        Sparse::LibraSddmm(m) => windows(&m.window_block_ptr, 8, 0, |b| cut(&m.block_col, b, 16)),
        Sparse::MeTcf(m) => windows(&m.row_window_offset, 16, 0, |b| cut(&m.sparse_a_to_b, b, 8)),
        Sparse::BitTcf(m) => windows(&m.row_window_offset, 8, 0, |b| cut(&m.sparse_a_to_b, b, 8)),
        Sparse::Tcf(m) => {
            let window = |first: usize| {
                let end = m.rows.min(first + 16);
                let entries = m.node_pointer[first] as usize..m.node_pointer[end] as usize;
                let cols: BTreeSet<u32> = m.edge_list[entries].iter().copied().collect();
                Tile { rows: first..end, cols: cols.into_iter().collect() }
            };
            (0..m.rows).step_by(16).map(window).collect()
        }
        Sparse::Coo(_)
        | Sparse::Csr(_)
        | Sparse::Csc(_)
        | Sparse::Ell(_)
        | Sparse::RpCsc(_)
        | Sparse::CpCsr(_)
        | Sparse::Nm(_)
        | Sparse::TwoFour(_)
        | Sparse::Vnm(_) => Vec::new(),
    }
}

/// One tile per block of each window of `height` rows; windows are counted from row `first`.
fn windows(ptr: &[u32], height: usize, first: usize, cols: impl Fn(usize) -> Vec<u32>) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for (window, ends) in ptr.windows(2).enumerate() {
        let top = first + window * height;
        for block in ends[0] as usize..ends[1] as usize {
            tiles.push(Tile { rows: top..top + height, cols: cols(block) });
        }
    }
    tiles
}

/// The columns of block column `col`, `width` each; none of a pad.
fn across(col: u32, width: u32) -> Vec<u32> {
    if col == PAD {
        return Vec::new();
    }
    (col * width..(col + 1) * width).collect()
}

fn cut(cols: &[u32], block: usize, width: usize) -> Vec<u32> {
    cols[block * width..(block + 1) * width].to_vec()
}

fn nm<T: Element>(m: &Nm<T>) -> Vec<(u32, u32)> {
    let stride = m.cols.div_ceil(m.l) * m.l;
    let slot = |at: usize| {
        let (u, col) = (at / stride, at % stride);
        (m.row(u, col / m.l) as u32, col as u32)
    };
    (0..m.values.len()).map(slot).collect()
}

fn two_four<T: Element>(m: &TwoFour<T>) -> Vec<(u32, u32)> {
    let Some(mma) = SparseMma::of(T::PRECISION, m.short_k) else {
        return Vec::new();
    };
    let across = m.cols.div_ceil(mma.k());
    let mut slots = Vec::with_capacity(m.values.len());
    for (at, &word) in m.metadata.iter().enumerate() {
        let (tile, word_at) = (at / mma.words(), at % mma.words());
        let (first_row, first_col) = (tile / across * 16, tile % across * mma.k());
        for place in 0..8 {
            let (row, chunk) = mma.chunk_of_nibble(word_at, place);
            let col = first_col + chunk * mma.chunk();
            let offsets = mma.offsets(word >> (4 * place) & 15).unwrap_or_default();
            // tf32 keeps one of two: both halves of its nibble name the same element.
            let kept = &offsets[..mma.chunk() / 2];
            slots.extend(kept.iter().map(|offset| ((first_row + row) as u32, (col + offset) as u32)));
        }
    }
    slots
}

fn vnm<T: Element>(m: &Vnm<T>) -> Vec<(u32, u32)> {
    let across = m.cols.div_ceil(m.m);
    let mut slots = Vec::with_capacity(m.values.len());
    for (lane, &index) in m.index.iter().enumerate() {
        let (row, block_col) = (lane / across, lane % across);
        let block = row / m.v * across + block_col;
        for j in 0..m.n {
            let offset = m.column[4 * block + usize::from(index >> (2 * j) & 3)] as usize;
            slots.push((row as u32, (block_col * m.m + offset) as u32));
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::format::{FormatKind, FormatParams};
    use sparse_oracle::prelude::*;

    /// Two windows of eight rows; row 8 is longer than the others. Every 2:4 chunk and N:M window has at most two.
    fn matrix(kind: FormatKind) -> (AnySparse, Entries<f64>) {
        let at = [(0, 1), (0, 4), (1, 3), (3, 6), (8, 0), (8, 3), (8, 5), (10, 5)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        let entries = Entries { rows: 11, cols: 7, list };
        let half = entries.clone().map(|&v: &f64| sparse_oracle::F16::from_f64(v));
        let params = FormatParams {
            tau_nnz: Some(0),
            eta: Some(1),
            boundary: Some(0),
            br: 8,
            ..FormatParams::DEFAULT
        };
        let sparse = Sparse::from_entries(kind, params, &half).expect("a small matrix");
        (AnySparse::from(sparse), entries)
    }

    fn pads(kind: FormatKind) -> Vec<(u32, u32)> {
        let (sparse, entries) = matrix(kind);
        pad_slots(&sparse, &entries).list.iter().map(|e| (e.row, e.col)).collect()
    }

    /// The definition read the slow way: in each window, every row meets every column that the window stores.
    fn squeezed(height: u32) -> Vec<(u32, u32)> {
        let (_, entries) = matrix(FormatKind::Csr);
        let stored: Vec<(u32, u32)> = entries.list.iter().map(|e| (e.row, e.col)).collect();
        let window = |row: u32| stored.iter().filter(move |at| at.0 / height == row / height);
        let all = (0..11).flat_map(|row| (0..7).map(move |col| (row, col)));
        all.filter(|&(row, col)| window(row).any(|at| at.1 == col) && !stored.contains(&(row, col))).collect()
    }

    #[test]
    fn squeezed_windows_multiply_every_column_of_theirs_in_every_row() {
        let of_8 = [
            FormatKind::RsTile,
            FormatKind::LibraSpmm,
            FormatKind::LibraSddmm,
            FormatKind::BitTcf,
            FormatKind::Loops,
        ];
        for kind in of_8 {
            assert_eq!(pads(kind), squeezed(8), "{}", kind.name());
        }
        for kind in [FormatKind::Tcf, FormatKind::MeTcf] {
            assert_eq!(pads(kind), squeezed(16), "{}", kind.name());
        }
    }

    #[test]
    fn slots_that_a_pattern_reserves_are_multiplied_inside_the_matrix_only() {
        // Vectors of 4 columns, 2 kept of 4 rows: window (0, 0) stores rows 0 and 1; of rows 8 to 10, row 8 is filled up with
        // row 9; a window without an entry keeps its first two rows.
        let nm = pads(FormatKind::Nm);
        assert!(nm.contains(&(0, 0)) && nm.contains(&(9, 1)) && nm.contains(&(4, 0)) && nm.contains(&(5, 6)));
        assert!(!nm.contains(&(2, 0)) && !nm.contains(&(6, 0)) && nm.iter().all(|at| at.0 < 11 && at.1 < 7));
        // 2:4: a chunk always names two of its four columns; (2, 0..4) is empty and names 0 and 1.
        let two_four = pads(FormatKind::TwoFour);
        assert!(two_four.contains(&(2, 0)) && two_four.contains(&(2, 1)) && !two_four.contains(&(2, 2)));
        assert!(two_four.contains(&(0, 0)) && !two_four.contains(&(0, 2)));
        let stored_and_pads = two_four.len() + 8;
        // 11 rows, chunks 0..4 and 4..7: two each; column 7 is never named first.
        assert_eq!(stored_and_pads, 11 * 4);
        // V:N:M, blocks of 8 rows and 4 columns: all four columns are kept, each row names its two lowest.
        let vnm = pads(FormatKind::Vnm);
        assert!(vnm.contains(&(2, 0)) && vnm.contains(&(2, 1)) && !vnm.contains(&(2, 3)));
    }

    #[test]
    fn formats_that_store_one_entry_after_another_have_none() {
        let without = [
            FormatKind::Coo,
            FormatKind::Csr,
            FormatKind::Csc,
            FormatKind::Ell,
            FormatKind::RpCsc,
            FormatKind::CpCsr,
        ];
        for kind in without {
            assert_eq!(pads(kind), [], "{}", kind.name());
        }
    }

    #[test]
    fn every_format_with_pads_has_some_here() {
        for kind in FormatKind::ALL {
            assert_eq!(kind.has_pads(), !pads(kind).is_empty(), "{}", kind.name());
        }
    }
}
