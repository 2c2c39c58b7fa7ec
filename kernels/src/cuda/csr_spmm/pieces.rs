//! Long rows of CSR, cut into pieces of [`CUT`] entries that are added up apart.
//!
//! ```text
//! row of 150 entries: [0, 64) [64, 128) [128, 150)    one chain each, into three rows of the workspace;
//!                                                     a second pass adds those in ascending order
//! ```
//!
//! One chain would keep a group of threads busy with a long row while the rest of the GPU has nothing to do: 93,000 entries in
//! one row took 8 ms of a product that takes 0.15 ms otherwise.

/// Entries of a piece.
pub(super) const CUT: u32 = 64;

/// The pieces of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    /// First entry and the one past the last, per piece.
    pub(super) ends: Vec<u32>,
    /// `struct CutRow` of the source: row, first of its pieces, number of them.
    pub(super) rows: Vec<u32>,
}

impl Pieces {
    /// Cuts the rows of more than `cut` entries.
    pub(super) fn new(row_ptr: &[u32], cut: u32) -> Pieces {
        let mut pieces = Pieces::default();
        for (row, ends) in row_ptr.windows(2).enumerate() {
            let count = (ends[1] - ends[0]).div_ceil(cut);
            if count < 2 {
                continue;
            }
            pieces.rows.extend([row as u32, pieces.count(), count]);
            for start in (ends[0]..ends[1]).step_by(cut as usize) {
                pieces.ends.extend([start, ends[1].min(start.saturating_add(cut))]);
            }
        }
        pieces
    }

    /// Number of pieces.
    pub(super) fn count(&self) -> u32 {
        (self.ends.len() / 2) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_more_than_the_cut_is_cut_and_no_other() {
        let pieces = Pieces::new(&[0, 4, 4, 9, 12, 25], 4);
        assert_eq!(pieces.ends, [4, 8, 8, 9, 12, 16, 16, 20, 20, 24, 24, 25]);
        assert_eq!(pieces.rows, [2, 0, 2, 4, 2, 4]);
        assert_eq!(pieces.count(), 6);
        assert_eq!(Pieces::new(&[0, 4, 4, 9, 12, 25], 13), Pieces::default());
    }

    #[test]
    fn the_last_piece_ends_with_the_last_entry_that_an_offset_can_name() {
        let last = u32::MAX;
        let pieces = Pieces::new(&[0, 3, last], last - 5);
        assert_eq!(pieces.ends, [3, last - 2, last - 2, last]);
    }
}
