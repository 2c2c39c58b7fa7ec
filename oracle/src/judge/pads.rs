//! The slots of a tiled layout that hold no entry: what a kernel that works on whole tiles multiplies by zero.
//!
//! ```text
//! window of 8 rows, columns 1 3 6       . a . b . . .        slots of its tile:   rows 0..8 x {1, 3, 6}
//!                                       . . . c . . d        pads:                (0,6) (1,1) and rows 2..8 of all three
//! ```
//!
//! Where a dense operand holds NaN or Inf in a row that a pad faces, 0 x that is NaN (clause 2.7 of SEMANTICS.md). Columns marked as
//! pads face nothing, and slots outside the matrix neither.

use crate::format::{AnySparse, Entries, Entry};
use crate::prelude::*;

/// Slots inside the matrix that hold no entry, in the orientation of the stored matrix, row by row.
pub(super) fn pad_slots(a: &AnySparse, entries: &Entries<f64>) -> Entries<()> {
    let (rows, cols) = (entries.rows, entries.cols);
    let mut slots = crate::each_sparse!(a, m => m.tile_slots());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{FormatKind, FormatParams, Sparse};

    /// Two windows of eight rows; row 8 is longer than the others. Every 2:4 chunk and N:M window has at most two.
    fn matrix(kind: FormatKind) -> (AnySparse, Entries<f64>) {
        let at = [(0, 1), (0, 4), (1, 3), (3, 6), (8, 0), (8, 3), (8, 5), (10, 5)];
        let list = at.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec();
        let entries = Entries { rows: 11, cols: 7, list };
        let half = entries.clone().map(|&v: &f64| crate::F16::from_f64(v));
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
        use FormatKind::{BitTcf, LibraSddmm, LibraSpmm, Loops, MeTcf, RsTile, Tcf};
        for kind in [RsTile, LibraSpmm, LibraSddmm, BitTcf, Loops] {
            assert_eq!(pads(kind), squeezed(8), "{}", kind.name());
        }
        for kind in [Tcf, MeTcf] {
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
        use FormatKind::{Coo, CpCsr, Csc, Csr, Ell, RpCsc};
        for kind in [Coo, Csr, Csc, Ell, RpCsc, CpCsr] {
            assert_eq!(pads(kind), [], "{}", kind.name());
        }
    }

    #[test]
    fn every_format_with_pads_has_some_here() {
        for kind in FormatKind::ALL {
            assert_eq!(kind.has_pads(), !pads(kind).is_empty(), "{}", kind.name());
        }
    }

    /// What fills the slots of a format follows from its row; that it has tiles to be counted must follow too.
    #[test]
    fn every_format_with_tiles_counts_them() {
        for kind in FormatKind::ALL {
            let (sparse, _) = matrix(kind);
            let tiling = crate::each_sparse!(&sparse, m => m.tiling());
            assert_eq!(kind.has_pads() && !kind.is_structured(), tiling.is_some(), "{}", kind.name());
            let entries = tiling.map(|t| t.is_hybrid || t.entries == sparse.nnz());
            assert!(entries.is_none_or(|all| all), "{}", kind.name());
        }
    }

    #[test]
    fn every_format_of_two_parts_gives_its_entries_a_place_in_one_of_them() {
        for kind in FormatKind::ALL {
            let (sparse, entries) = matrix(kind);
            let positions = crate::format::Csr::from_entries(&entries).expect("small");
            let is_hybrid = crate::each_sparse!(&sparse, m => m.tiling()).is_some_and(|t| t.is_hybrid);
            let has_places = crate::each_sparse!(&sparse, m => m.along_k(&positions)).is_some();
            assert_eq!(kind.has_two_parts(), is_hybrid && has_places, "{}", kind.name());
        }
    }
}
