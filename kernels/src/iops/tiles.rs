//! A matrix in tiles, encoded: strips across k, of which only those with an entry exist, and tiles along it.
//!
//! ```text
//! A by columns      strip 0 [tile k 0] [tile k 2]      B by rows      strip 0   strip 3
//!                   strip 3 [tile k 1]                                [k 0]     [k 0]
//!                                                                     [k 1]
//! ```

use super::clock::Supply;
use super::counters::Overflows;
use super::encoder::{Encoder, Piece};
use super::lanes::MatrixLanes;
use super::machine::{LENGTH, LOCATION};
use super::value::Value;
use rayon::prelude::*;

/// How an operand is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileCut {
    /// Groups of a tile.
    pub(super) groups: usize,
    /// Rows (columns) of a group.
    pub(super) size: usize,
    /// k of a tile.
    pub(super) kt: usize,
    /// Entries that half a buffer has room for.
    pub(super) room: u64,
}

/// A tile with entries.
#[derive(Clone, Debug)]
pub(super) struct Tile<T> {
    /// Which along k.
    pub(super) at: usize,
    /// What goes into half a buffer at a time; one piece unless the tile overflows.
    pub(super) pieces: Vec<Piece<T>>,
    /// Lanes that went on in another piece.
    long_lanes: u64,
    /// Lengths that the encoder reads: those of all lanes that the tile spans.
    lengths: u64,
}

impl<T: Value> Tile<T> {
    /// Bytes that reading a piece costs; the lengths come with the first.
    pub(super) fn bytes(&self, piece: usize) -> u64 {
        let lengths = if piece == 0 { self.lengths * LENGTH } else { 0 };
        self.pieces[piece].entries * (T::BYTES + LOCATION) + lengths
    }
}

/// All tiles over the same rows (columns).
#[derive(Clone, Debug)]
pub(super) struct Strip<T> {
    /// First row (column).
    pub(super) first: usize,
    /// Ascending.
    pub(super) tiles: Vec<Tile<T>>,
}

impl<T: Value> Strip<T> {
    /// What a buffer is told of it.
    pub(super) fn supply(&self, strip: usize) -> Supply {
        let pieces = || self.tiles.iter().flat_map(|tile| &tile.pieces);
        Supply {
            strip,
            entries: pieces().map(|piece| piece.entries).sum(),
            largest: pieces().map(|piece| piece.entries).max().unwrap_or(0),
            whole: self.tiles.iter().all(|tile| tile.pieces.len() == 1),
        }
    }
}

/// Cuts and encodes; strips ascend.
pub(super) fn cut<T: Value>(lanes: &MatrixLanes<'_, T>, cut: TileCut) -> Vec<Strip<T>> {
    let across = cut.groups * cut.size;
    let mut k_of = vec![0u32; lanes.index.len()];
    for (k, ends) in lanes.ptr.windows(2).enumerate() {
        k_of[ends[0] as usize..ends[1] as usize].fill(k as u32);
    }
    // Strip and place: within a strip the stream keeps its order, by k, then location.
    let places = lanes.index.iter().zip(0u64..);
    let mut keys: Vec<u64> =
        places.map(|(&at, place)| (at as usize / across) as u64 * (1 << 32) + place).collect();
    keys.par_sort_unstable();
    let strips: Vec<&[u64]> = keys.chunk_by(|a, b| a >> 32 == b >> 32).collect();
    let strip = |keys: &[u64]| {
        let first = (keys[0] >> 32) as usize * across;
        let tile_of = |key: u64| k_of[key as u32 as usize] as usize / cut.kt;
        let tiles = keys.chunk_by(|&a, &b| tile_of(a) == tile_of(b));
        let tiles = tiles.map(|keys| tile(lanes, cut, first, tile_of(keys[0]), &k_of, keys));
        Strip { first, tiles: tiles.collect() }
    };
    strips.into_par_iter().map(strip).collect()
}

fn tile<T: Value>(
    lanes: &MatrixLanes<'_, T>,
    cut: TileCut,
    first: usize,
    at: usize,
    k_of: &[u32],
    keys: &[u64],
) -> Tile<T> {
    let mut encoder = Encoder::new(cut.groups, cut.size, cut.room);
    let first_k = at * cut.kt;
    for &key in keys {
        let place = key as u32 as usize;
        let k = k_of[place] as usize - first_k;
        encoder.push(k as u16, lanes.index[place] as usize - first, lanes.values[place]);
    }
    let long_lanes = encoder.long_lanes;
    Tile { at, pieces: encoder.finish(), long_lanes, lengths: cut.kt.min(lanes.count() - first_k) as u64 }
}

/// What the tiles of A overflowed: pieces beyond the first, and lanes that went on in another.
pub(super) fn overflows_a<T>(strips: &[Strip<T>]) -> Overflows {
    let (buffer_a, col_len) = overflows(strips);
    Overflows { buffer_a, col_len, ..Overflows::default() }
}

/// The same of B.
pub(super) fn overflows_b<T>(strips: &[Strip<T>]) -> Overflows {
    let (buffer_b, row_len) = overflows(strips);
    Overflows { buffer_b, row_len, ..Overflows::default() }
}

fn overflows<T>(strips: &[Strip<T>]) -> (u64, u64) {
    let tiles = || strips.iter().flat_map(|strip| &strip.tiles);
    let long: u64 = tiles().map(|tile| tile.long_lanes).sum();
    let further: u64 = tiles().map(|tile| tile.pieces.len() as u64 - 1).sum();
    (further - long, long)
}
