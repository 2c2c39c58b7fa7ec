//! What the codecs of tiled formats share: slots of tiles, and where they lie.

use crate::arithmetic::Slot;
use crate::format::{Csr, Entries, Entry, PAD};
use std::ops::Range;

/// Rows and columns that meet in every slot of a tile.
pub(super) struct TileLines {
    pub(super) rows: Range<usize>,
    pub(super) cols: Vec<u32>,
}

/// The tiles of a matrix.
pub(super) struct TileList(pub(super) Vec<TileLines>);

impl TileList {
    /// Every slot above row `rows` whose column is no pad.
    pub(super) fn slots(self, rows: usize) -> Vec<(u32, u32)> {
        let mut slots = Vec::new();
        for TileLines { rows: lines, cols } in self.0 {
            for row in lines.start..lines.end.min(rows) {
                slots.extend(cols.iter().filter(|&&col| col != PAD).map(|&col| (row as u32, col)));
            }
        }
        slots
    }
}

/// One tile per block of each window of `height` rows; windows are counted from row `first`.
pub(super) fn windows(
    ptr: &[u32],
    height: usize,
    first: usize,
    cols: impl Fn(usize) -> Vec<u32>,
) -> TileList {
    let mut tiles = Vec::new();
    for (window, ends) in ptr.windows(2).enumerate() {
        let top = first + window * height;
        for block in ends[0] as usize..ends[1] as usize {
            tiles.push(TileLines { rows: top..top + height, cols: cols(block) });
        }
    }
    TileList(tiles)
}

/// The columns of block column `col`, `width` each; none of a pad.
pub(super) fn across(col: u32, width: u32) -> Vec<u32> {
    if col == PAD {
        return Vec::new();
    }
    (col * width..(col + 1) * width).collect()
}

/// The columns of a block of `width`.
pub(super) fn cut(cols: &[u32], block: usize, width: usize) -> Vec<u32> {
    cols[block * width..(block + 1) * width].to_vec()
}

/// Block row and block column of every block of `height` x `width` that holds an entry, ascending; blocks are counted from row 0 (a
/// format that counts from another row has about as many).
pub(super) fn distinct_blocks<T>(entries: &Entries<T>, height: u32, width: u32) -> Vec<(u32, u32)> {
    let block = |e: &Entry<T>| (e.row / height.max(1), e.col / width.max(1));
    let mut blocks: Vec<(u32, u32)> = entries.list.iter().map(block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// One slot for each position, in stored order.
pub(super) fn placed<U>(positions: &Csr<U>, slots: Vec<Slot>) -> Csr<Slot> {
    let mut slots = slots.into_iter();
    let nowhere = Slot { in_tile: false, at: 0 };
    positions.map(|_| slots.next().unwrap_or(nowhere))
}

/// Number of steps of an offset array that are not empty.
pub(super) fn filled(offsets: &[u32]) -> usize {
    offsets.windows(2).filter(|ends| ends[0] < ends[1]).count()
}

#[cfg(test)]
mod tests {
    use crate::format::{Csr, Entries, Entry, FormatParams, LibraSpmm, Loops, PAD, RsTile, RsTileParts};
    use crate::prelude::*;

    #[test]
    fn tiles_of_loops_are_counted_within_their_block_and_terms_within_their_row() {
        // Boundary 1, br 2: row 0 in the CSR part; blocks of rows 1 and 2 (tiles at 0, 2, 4), and of row 3 (tile at 2).
        let at = [(0, 1), (0, 4), (1, 0), (1, 4), (2, 2), (3, 2)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        let entries = Entries { rows: 4, cols: 5, list };
        let params = FormatParams { boundary: Some(1), br: 2, ..FormatParams::DEFAULT };
        let matrix = Loops::from_entries_with(&entries, &params).expect("legal");
        let positions = Csr::from_entries(&entries).expect("legal");
        let slots = matrix.along_k(&positions).expect("all are stored");
        let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
        let (rest, tile) = (|at| (false, at), |at| (true, at));
        assert_eq!(found, [rest(0), rest(1), tile(0), tile(2), tile(1), tile(0)]);

        let mut elsewhere = entries;
        elsewhere.list[5].col = 3;
        let positions = Csr::from_entries(&elsewhere).expect("legal");
        assert!(matrix.along_k(&positions).is_none(), "(3, 3) is in no tile");
    }

    /// A window of rows 0 to 7 with columns 1, 4 and 6, and row 8, which has two entries and stands apart in both formats.
    fn windowed() -> Entries<f64> {
        let at = [(0, 1), (0, 4), (1, 1), (1, 4), (2, 1), (2, 6), (3, 6), (4, 4), (5, 6), (8, 0), (8, 5)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        Entries { rows: 9, cols: 7, list }
    }

    #[test]
    fn columns_of_tiles_are_counted_within_their_window_and_the_rest_within_its_row() {
        let entries = windowed();
        let positions = Csr::from_entries(&entries).expect("legal");
        let wanted = [0, 1, 0, 1, 0, 2, 2, 1, 2].map(|at| (true, at));
        let parts = RsTileParts {
            rows: 9,
            cols: 7,
            window_row: vec![0],
            window_block_ptr: vec![0, 1],
            bitmap: vec![0x0402_0405_0303],
            block_value_ptr: vec![0, 9],
            block_col: vec![1, 4, 6, PAD, PAD, PAD, PAD, PAD],
            values: vec![1.0; 9],
            residual_row: vec![8],
            residual_width: 3,
            residual_col: vec![0, 5, PAD],
            residual_values: vec![1.0, 1.0, 0.0],
        };
        let matrix = RsTile::try_new(parts).expect("legal");
        assert_eq!(matrix.entries(), entries);
        let slots = matrix.along_k(&positions).expect("all are stored");
        let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
        assert_eq!(found, [&wanted[..], &[(false, 0), (false, 1)]].concat());

        // Three of eight make a vector dense: columns 1, 4 and 6 are, and both of row 8 are not.
        for kb in [4, 8, 16] {
            let params = FormatParams { kb, ..FormatParams::DEFAULT };
            let matrix = LibraSpmm::from_entries_with(&entries, &params).expect("legal");
            let slots = matrix.along_k(&positions).expect("all are stored");
            let found: Vec<(bool, u32)> = slots.values.iter().map(|s| (s.in_tile, s.at)).collect();
            assert_eq!(found, [&wanted[..], &[(false, 0), (false, 1)]].concat());
        }

        let mut elsewhere = windowed();
        elsewhere.list[10].col = 6;
        let positions = Csr::from_entries(&elsewhere).expect("legal");
        assert!(matrix.along_k(&positions).is_none(), "(8, 6) is in neither part");
    }
}
