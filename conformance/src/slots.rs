//! How many slots a padded format needs for a matrix, so that a case too large for the suite is not run.

use sparse_oracle::format::{Entries, FormatKind, FormatParams};

/// Slots that a format stores at most, where these are not bounded by a small multiple of the entries.
pub(crate) fn padded_slots<T>(format: FormatKind, params: &FormatParams, entries: &Entries<T>) -> u128 {
    let (rows, cols) = (entries.rows as u128, entries.cols as u128);
    let n = u128::from(params.n);
    let windows = |extent: u128, window: u32| extent.div_ceil(u128::from(window.max(1)));
    let tiles = |height: u32| distinct_tiles(entries, height) * u128::from(height);
    match format {
        FormatKind::Ell => u128::from(longest_row(entries)) * rows,
        FormatKind::Nm => windows(rows, params.m) * n * windows(cols, params.l) * u128::from(params.l),
        FormatKind::TwoFour => (rows + 16) * (cols + 32) / 2,
        FormatKind::Vnm => (rows + u128::from(params.v)) * windows(cols, params.m) * n,
        FormatKind::Loops => tiles(params.br),
        FormatKind::SrBcrs => tiles(params.v) + windows(rows, params.v) * u128::from(params.stride),
        FormatKind::Coo
        | FormatKind::Csr
        | FormatKind::Csc
        | FormatKind::Bcsr
        | FormatKind::BlockedEll
        | FormatKind::RsTile
        | FormatKind::LibraSpmm
        | FormatKind::LibraSddmm
        | FormatKind::RpCsc
        | FormatKind::CpCsr
        | FormatKind::Tcf
        | FormatKind::MeTcf
        | FormatKind::BitTcf => 0,
    }
}

/// Number of `height` x 1 tiles that hold an entry, counted from row 0 (from another row it differs a little).
fn distinct_tiles<T>(entries: &Entries<T>, height: u32) -> u128 {
    let mut tiles: Vec<(u32, u32)> = entries.list.iter().map(|e| (e.row / height.max(1), e.col)).collect();
    tiles.sort_unstable();
    tiles.dedup();
    tiles.len() as u128
}

fn longest_row<T>(entries: &Entries<T>) -> u32 {
    entries.list.chunk_by(|a, b| a.row == b.row).map(|row| row.len() as u32).max().unwrap_or(0)
}
