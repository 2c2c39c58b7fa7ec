//! Encoders and decoders, one format per file, with what a product must know of the layout.

mod bcsr;
mod bit_tcf;
mod blocked_ell;
mod coo;
mod cp_csr;
mod csc;
mod csr;
mod ell;
mod libra_sddmm;
mod libra_spmm;
mod loops;
mod me_tcf;
mod nm;
mod rp_csc;
pub(crate) mod rs_tile;
mod sr_bcrs;
mod tcf;
mod tiles;
mod two_four;
mod vnm;

use super::{Csr, Entries, FormatParams};
use crate::arithmetic::Slot;
use crate::refusal::Refusal;

/// The tiles of a matrix, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Rows and columns of a tile.
    pub shape: (usize, usize),
    /// Tiles stored.
    pub count: usize,
    /// Windows (block rows) that have tiles.
    pub windows: usize,
    /// Entries in tiles.
    pub entries: usize,
    /// True of a format that keeps the other entries beside its tiles, for another unit.
    pub is_hybrid: bool,
}

/// The encoder and the decoder of a format. What has a default is right for a format that stores one entry after another.
pub trait Codec<T>: Sized {
    /// Encodes sorted entries with the parameters that the format reads.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; parameters out of range; more than [`SLOT_LIMIT`](super::SLOT_LIMIT) slots of an array; entries that the format
    /// has no room for.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal>;

    /// Encodes sorted entries with the default parameters.
    ///
    /// # Errors
    /// As [`from_entries_with`](Self::from_entries_with).
    fn from_entries(entries: &Entries<T>) -> Result<Self, Refusal> {
        Self::from_entries_with(entries, &FormatParams::default())
    }

    /// Decodes.
    fn entries(&self) -> Entries<T>;

    /// The parameters that the matrix was encoded with; the default for those that its format does not read.
    fn params(&self) -> FormatParams;

    /// How many slots the format stores for such entries at most, where a small multiple of the entries does not bound them;
    /// else 0. Known before anything is allocated.
    fn most_slots(_entries: &Entries<T>, _params: &FormatParams) -> u128 {
        0
    }

    /// Row and column of every slot of its tiles, with an entry or without, in any order; some may lie outside the matrix. None
    /// of a format that stores one entry after another.
    fn tile_slots(&self) -> Vec<(u32, u32)> {
        Vec::new()
    }

    /// Its tiles. None of a format that stores one entry after another, and of one that holds an N:M pattern: of that every slot is stored,
    /// so that pads say all about it.
    fn tiling(&self) -> Option<Tiling> {
        None
    }

    /// Where a kernel that hands whole tiles to a matrix unit has the terms of a row along k: a slot for each of these
    /// positions. `None` where the layout does not say, a position is not stored, a slot is past u32, or the shapes differ.
    ///
    /// ```text
    /// BCSR, blocks of width 4, a block row with block columns 0 and 3:     columns 0 1 2 3  12 13 14 15
    ///                                                                      slots   0 1 2 3   4  5  6  7
    /// LOOPS, a block with tiles at columns 2, 5 and 9:                     columns 2  5  9
    /// RS-Tile and Libra, a window whose tiles have these columns:          slots   0  1  2
    /// ```
    fn along_k<U>(&self, _positions: &Csr<U>) -> Option<Csr<Slot>> {
        None
    }
}
