//! What one encoding weighs and how full its tiles are.
//!
//! ```text
//! index bytes + value bytes = total, against COO's 8 bytes of index and one value per entry
//! slots = values stored = entries + pads
//! ```

use serde::Serialize;
use sparse_oracle::format::{FieldRef, Fields, Parts, Sparse, Tiling};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

/// Sizes and counts of one encoding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// Entries that decoding gives back.
    pub entries: u64,
    /// Explicit zeros that the format cannot tell from pads, and so loses.
    pub lost_zeros: u64,
    /// Bytes of offsets, indices and bitmaps.
    pub index_bytes: u64,
    /// Bytes of values, pads included.
    pub value_bytes: u64,
    /// Both.
    pub total_bytes: u64,
    /// `index_bytes` over those of COO; `None` without entries.
    pub index_to_coo: Option<f64>,
    /// `total_bytes` over those of COO; `None` without entries.
    pub total_to_coo: Option<f64>,
    /// Values stored.
    pub slots: u64,
    /// Slots without an entry.
    pub pads: u64,
    /// The tiles, for formats that have some.
    pub tiles: Option<Tiles>,
    /// Who does what, for hybrids.
    pub split: Option<Split>,
}

/// Tiles of one shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tiles {
    /// Rows of a tile.
    pub height: u64,
    /// Columns of a tile.
    pub width: u64,
    /// Tiles stored.
    pub count: u64,
    /// Windows (block rows) that have tiles.
    pub windows: u64,
    /// Entries in tiles.
    pub entries: u64,
    /// Entries over positions of tiles; `None` without tiles.
    pub density: Option<f64>,
    /// Mean entries of a tile.
    pub per_tile: Option<f64>,
    /// Mean entries of a window.
    pub per_window: Option<f64>,
}

/// Entries by unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// Entries in tiles, for tensor cores (for the matrix unit in LOOPS).
    pub tensor: u64,
    /// The others, for CUDA cores (for the vector unit in LOOPS).
    pub cuda: u64,
    /// Share of the tiles; `None` without entries.
    pub tensor_share: Option<f64>,
}

/// Measures a matrix that was encoded from `encoded` entries.
pub fn measure<T: Scalar>(matrix: Sparse<T>, encoded: u64) -> Numbers {
    let entries = matrix.nnz() as u64;
    let tiling = matrix.tiling();
    let parts = Parts::from(matrix);
    let (index_bytes, value_bytes) = (parts.index_bytes(), parts.value_bytes());
    let values = |(_, field): &(_, FieldRef<'_, T>)| match field {
        FieldRef::Values(values) => values.len() as u64,
        _ => 0,
    };
    let slots: u64 = parts.fields().iter().map(values).sum();
    let coo = (8 * encoded, (8 + size_of::<T>() as u64) * encoded);
    Numbers {
        entries,
        lost_zeros: encoded - entries,
        index_bytes,
        value_bytes,
        total_bytes: index_bytes + value_bytes,
        index_to_coo: ratio(index_bytes, coo.0),
        total_to_coo: ratio(index_bytes + value_bytes, coo.1),
        slots,
        pads: slots - slots.min(entries),
        tiles: tiling.as_ref().map(tiles),
        split: tiling.filter(|tiling| tiling.is_hybrid).map(|tiling| split(&tiling, entries)),
    }
}

/// `part / whole`, `None` of nothing.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn tiles(tiling: &Tiling) -> Tiles {
    let (height, width) = (tiling.shape.0 as u64, tiling.shape.1 as u64);
    let (count, windows, entries) = (tiling.count as u64, tiling.windows as u64, tiling.entries as u64);
    Tiles {
        height,
        width,
        count,
        windows,
        entries,
        density: ratio(entries, count * height * width),
        per_tile: ratio(entries, count),
        per_window: ratio(entries, windows),
    }
}

/// Of `entries` those in tiles, and the others.
fn split(tiling: &Tiling, entries: u64) -> Split {
    let tensor = tiling.entries as u64;
    Split { tensor, cuda: entries - tensor, tensor_share: ratio(tensor, entries) }
}
