//! Small matrices for the tests of Libra, worked out by hand.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use sparse_oracle::format::{Entries, Entry, FormatParams, LibraSddmm, LibraSpmm, PAD};
use sparse_oracle::prelude::*;

/// Entries with values 1, 2, ... in order.
pub fn numbered(rows: usize, cols: usize, positions: &[(u32, u32)]) -> Entries<f32> {
    let list = positions.iter().zip(1u8..).map(|(&(row, col), n)| Entry { row, col, value: f32::from(n) });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

/// The picture of both format files; a to g are 1 to 7.
pub fn picture() -> Entries<f32> {
    numbered(3, 6, &[(0, 1), (0, 4), (1, 1), (1, 2), (1, 4), (2, 1), (2, 3)])
}

/// Two windows. The first has column 4 with three entries, 8 and 10 with two, 1, 6 and 11 with one; the second
/// columns 0 and 2 with one.
pub fn two_windows() -> Entries<f32> {
    let first = [(0, 4), (0, 8), (1, 4), (1, 10), (2, 4), (2, 6), (3, 1), (5, 10), (7, 8), (7, 11)];
    numbered(10, 12, &[&first[..], &[(8, 0), (9, 2)]].concat())
}

/// 8 x 17 with one entry per column: (c mod 8, c).
pub fn wrapped_diagonal() -> Entries<f32> {
    let row = |r| [(r, r), (r, r + 8)];
    let rest = (1..8).flat_map(row);
    let positions: Vec<_> = [(0, 0), (0, 8), (0, 16)].into_iter().chain(rest).collect();
    numbered(8, 17, &positions)
}

pub fn params(eta: u32, kb: u32, fill: bool) -> FormatParams {
    FormatParams { eta: Some(eta), kb, fill, ..FormatParams::default() }
}

pub fn spmm(entries: &Entries<f32>, params: FormatParams) -> LibraSpmm<f32> {
    LibraSpmm::from_entries_with(entries, &params).expect("encodes")
}

pub fn sddmm(entries: &Entries<f32>, eta: u32) -> LibraSddmm<f32> {
    LibraSddmm::from_entries_with(entries, &params(eta, 8, false)).expect("encodes")
}

/// Columns of blocks, padded.
pub fn padded(width: usize, blocks: &[&[u32]]) -> Vec<u32> {
    let pad = |block: &&[u32]| {
        let mut block = block.to_vec();
        block.resize(width, PAD);
        block
    };
    blocks.iter().flat_map(pad).collect()
}

/// `columns` full columns of one window, and one entry in the next column.
pub fn full_columns(columns: u32) -> Entries<f32> {
    let full = (0..8).flat_map(|row| (0..columns).map(move |col| (row, col)));
    let mut positions: Vec<_> = full.collect();
    positions.push((0, columns));
    positions.sort_unstable();
    numbered(8, 20, &positions)
}
