//! Cuts a matrix into tiles that RP-CSC (CP-CSR) has room for.
//!
//! ```text
//! a b c . | d         tiles of 2 x 4: tile (0, 0) holds a b c e, tile (0, 4) holds d;
//! . . e . | .         tile (2, 0) has no entry and is not stored
//! --------+--
//! . . . . | f
//! ```

use sparse_oracle::format::{
    CpCsr, EXTENT_LIMIT, Entries, Entry, FormatParams, GROUP_LIMIT, LANE_LIMIT, RpCsc,
};
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::Scalar;
use std::collections::BTreeMap;

/// RP-CSC and CP-CSR as tiles see them.
pub trait Grouped<T>: Codec<T> {
    /// (grouped, other) extents from (rows, columns), or back: RP-CSC groups rows, CP-CSR columns.
    fn turned(shape: (usize, usize)) -> (usize, usize);
}

impl<T: Scalar> Grouped<T> for RpCsc<T> {
    fn turned(shape: (usize, usize)) -> (usize, usize) {
        shape
    }
}

impl<T: Scalar> Grouped<T> for CpCsr<T> {
    fn turned((rows, cols): (usize, usize)) -> (usize, usize) {
        (cols, rows)
    }
}

/// A tile and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile<M> {
    /// First row of the tile in the matrix.
    pub row: usize,
    /// First column of the tile in the matrix.
    pub col: usize,
    /// The tile; those at the right and lower edge may be smaller than the others.
    pub matrix: M,
}

/// A matrix in tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiling<M> {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Rows of a tile.
    pub tile_rows: usize,
    /// Columns of a tile.
    pub tile_cols: usize,
    /// The tiles that hold an entry, by first row, then first column.
    pub tiles: Vec<Tile<M>>,
}

impl<M> Tiling<M> {
    /// Cuts into tiles of the given size, each encoded in `groups` groups.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`], a tile without rows or columns, and what the format refuses of a tile:
    /// the number of groups, a tile or group too large for 16-bit indices, a lane of more than 255 entries in one
    /// group (of the whole matrix: its row and column).
    pub fn cut<T: Scalar>(
        entries: &Entries<T>,
        (tile_rows, tile_cols): (usize, usize),
        groups: u32,
    ) -> Result<Self, Refusal>
    where
        M: Grouped<T>,
    {
        entries.check()?;
        let params = FormatParams { groups, ..FormatParams::DEFAULT };
        for (field, extent) in [("tile_rows", tile_rows), ("tile_cols", tile_cols)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        // A full tile without entries stands for those that are not stored: its size must be legal too.
        let tile_at = |row: usize, col: usize, list| Entries {
            rows: tile_rows.min(entries.rows - row),
            cols: tile_cols.min(entries.cols - col),
            list,
        };
        M::from_entries_with(&tile_at(0, 0, Vec::new()), &params)?;
        let mut lists = BTreeMap::<(usize, usize), Vec<Entry<T>>>::new();
        for e in &entries.list {
            let (row, col) = (e.row as usize, e.col as usize);
            let origin = (row - row % tile_rows, col - col % tile_cols);
            lists.entry(origin).or_default().push(Entry {
                row: (row - origin.0) as u32,
                col: (col - origin.1) as u32,
                value: e.value,
            });
        }
        let encoded = lists.into_iter().map(|((row, col), list)| {
            let matrix = M::from_entries_with(&tile_at(row, col, list), &params);
            let matrix = matrix.map_err(|refusal| in_matrix(refusal, row, col))?;
            Ok(Tile { row, col, matrix })
        });
        Ok(Tiling {
            rows: entries.rows,
            cols: entries.cols,
            tile_rows,
            tile_cols,
            tiles: encoded.collect::<Result<_, Refusal>>()?,
        })
    }

    /// Cuts into legal tiles: as large as indices can count, then groups halved until no lane is too long. Every
    /// matrix has such tiles: a group of 255 rows has no longer column.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`], `groups` of 0 or more than 64.
    pub fn fit<T: Scalar>(entries: &Entries<T>, groups: u32) -> Result<Self, Refusal>
    where
        M: Grouped<T>,
    {
        let (grouped, other) = M::turned((entries.rows, entries.cols));
        let divisor = (groups as usize).clamp(1, GROUP_LIMIT);
        let mut extent = grouped.div_ceil(divisor).clamp(1, EXTENT_LIMIT);
        loop {
            let shape = M::turned((extent * divisor, other.clamp(1, EXTENT_LIMIT)));
            match Self::cut(entries, shape, groups) {
                Err(Refusal::Request(RequestError::TooFull { .. })) if extent > LANE_LIMIT => {
                    extent = extent.div_ceil(2);
                }
                result => return result,
            }
        }
    }

    /// Decodes all tiles.
    pub fn entries<T: Scalar>(&self) -> Entries<T>
    where
        M: Grouped<T>,
    {
        let mut list = Vec::new();
        for tile in &self.tiles {
            list.extend(tile.matrix.entries().list.iter().map(|e| Entry {
                row: e.row + tile.row as u32,
                col: e.col + tile.col as u32,
                value: e.value,
            }));
        }
        Entries::sorted(self.rows, self.cols, &list)
    }
}

/// Where in the matrix a tile's refusal is.
fn in_matrix(refusal: Refusal, first_row: usize, first_col: usize) -> Refusal {
    match refusal {
        Refusal::Request(RequestError::TooFull { what, row, column, found, limit, remedy }) => {
            Refusal::Request(RequestError::TooFull {
                what,
                row: first_row + row,
                column: first_col + column,
                found,
                limit,
                remedy,
            })
        }
        other => other,
    }
}
