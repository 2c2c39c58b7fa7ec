//! RS-Tile: 8 x 8 bitmap blocks of a window, one `mma` each, ascending; residual rows as a chain.
//!
//! Algorithm 2 of the paper; sections that balance would cut (clause 7.9) do not occur below 33 blocks.

use super::{Lane, slots, stored};
use crate::error::GoldenError;
use sparse_oracle::format::{Entries, FormatParams, PAD, RsTile};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

const SIDE: usize = 8;

/// One lane for each row of a window and each residual row.
pub(super) fn lanes<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
) -> Result<Vec<Lane>, GoldenError> {
    let m = RsTile::from_entries_with(entries, params)?;
    let mut lanes = Vec::new();
    for (window, &first) in m.window_row.iter().enumerate() {
        let first = first as usize;
        for index in first..m.rows.min(first + SIDE) {
            let tiles = m.blocks_of(window).flat_map(|block| {
                let columns = &m.block_col[block * SIDE..][..SIDE];
                let values = &m.values[m.block_value_ptr[block] as usize..];
                slots(columns, values, |c| rank(m.bitmap[block], SIDE * (index - first) + c))
            });
            lanes.push(Lane { index, tiles: tiles.collect(), ..Lane::default() });
        }
    }
    for (at, &row) in m.residual_row.iter().enumerate() {
        let range = at * m.residual_width..(at + 1) * m.residual_width;
        let (cols, values) = (&m.residual_col[range.clone()], &m.residual_values[range]);
        let used = cols.iter().position(|&col| col == PAD).unwrap_or(cols.len());
        lanes.push(Lane {
            index: row as usize,
            rest: stored(&cols[..used], &values[..used]),
            ..Lane::default()
        });
    }
    lanes.sort_by_key(|lane| lane.index);
    Ok(lanes)
}

/// The number of bits below `bit`, if that is set.
fn rank(bitmap: u64, bit: usize) -> Option<usize> {
    let below = (bitmap & ((1 << bit) - 1)).count_ones() as usize;
    (bitmap >> bit & 1 == 1).then_some(below)
}
