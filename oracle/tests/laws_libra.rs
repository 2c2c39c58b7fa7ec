//! What holds of Libra's two formats for every matrix: which vectors and blocks the tensor part takes, and that positions
//! lead back to CSR.

use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry, FormatParams, LibraSddmm, LibraSpmm, PAD};
use sparse_oracle::prelude::*;
use std::collections::BTreeMap;

/// Patterns of 0 to 40 rows and columns, crowded to the left so that vectors of every density are there.
fn patterns() -> impl Strategy<Value = Entries<()>> {
    let extent = || prop_oneof![0usize..=8, 0usize..=40];
    (extent(), extent(), 1u32..=40).prop_flat_map(|(rows, cols, crowd)| {
        prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..=500).prop_map(move |cells| {
            let (rows32, cols32) = (rows as u32, cols as u32);
            let inside = cells.into_iter().filter(|_| rows * cols > 0);
            let mut positions: Vec<(u32, u32)> = inside
                .map(|(row, col, scattered)| {
                    let most = if scattered { cols32 } else { crowd.min(cols32) };
                    (row % rows32, col % most)
                })
                .collect();
            positions.sort_unstable();
            positions.dedup();
            let entry = |(row, col)| Entry { row, col, value: () };
            Entries::try_new(rows, cols, positions.into_iter().map(entry).collect()).expect("sorted")
        })
    })
}

fn params(eta: u32, kb: u32, fill: bool) -> FormatParams {
    FormatParams { eta: Some(eta), kb, fill, ..FormatParams::default() }
}

/// Entries of each vector of each window.
fn vectors<T>(entries: &Entries<T>) -> BTreeMap<(u32, u32), usize> {
    let mut found = BTreeMap::new();
    for e in &entries.list {
        *found.entry((e.row / 8, e.col)).or_insert(0) += 1;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Without filling, whether a vector is in the tensor part depends on its number of entries and nothing else.
    #[test]
    fn spmm_divides_by_vectors(entries in patterns(), eta in 1u32..=128) {
        let matrix = LibraSpmm::from_entries_with(&entries.map(|_| 1.0f32), &params(eta, 8, false)).expect("legal");
        let mut taken = Vec::new();
        for window in 0..entries.rows.div_ceil(8) {
            let blocks = matrix.window_block_ptr[window] as usize..matrix.window_block_ptr[window + 1] as usize;
            let columns = &matrix.block_col[8 * blocks.start..8 * blocks.end];
            taken.extend(columns.iter().filter(|&&col| col != PAD).map(|&col| (window as u32, col)));
        }
        let dense = vectors(&entries).into_iter().filter(|v| 16 * v.1 >= eta as usize);
        prop_assert_eq!(taken, dense.map(|v| v.0).collect::<Vec<_>>());
    }

    /// Filling adds no block, leaves no room while vectors are left, and takes none before a denser one, or one as dense
    /// further left.
    #[test]
    fn filling_takes_the_densest_vectors(entries in patterns(), eta in 1u32..=128, kb in 0usize..3) {
        let (entries, kb) = (entries.map(|_| 1.0f32), [4, 8, 16][kb]);
        let encode = |fill| LibraSpmm::from_entries_with(&entries, &params(eta, kb, fill)).expect("legal");
        let (sparse, filled) = (encode(false), encode(true));
        prop_assert_eq!(&sparse.window_block_ptr, &filled.window_block_ptr);
        let kb = kb as usize;
        for window in 0..entries.rows.div_ceil(8) {
            let blocks = filled.window_block_ptr[window] as usize..filled.window_block_ptr[window + 1] as usize;
            let columns = &filled.block_col[kb * blocks.start..kb * blocks.end];
            let before = &sparse.block_col[kb * blocks.start..kb * blocks.end];
            let counts: BTreeMap<u32, usize> = vectors(&entries)
                .into_iter()
                .filter(|v| v.0.0 == window as u32)
                .map(|v| (v.0.1, v.1))
                .collect();
            let (inside, outside): (Vec<_>, Vec<_>) = counts.into_iter().partition(|v| columns.contains(&v.0));
            prop_assert!(before.iter().all(|col| *col == PAD || columns.contains(col)));
            prop_assert!(outside.is_empty() || inside.len() == kb * blocks.len());
            for (col, nnz) in inside.into_iter().filter(|v| !before.contains(&v.0)) {
                let better = |other: &(u32, usize)| other.1 > nnz || other.1 == nnz && other.0 < col;
                prop_assert!(!outside.iter().any(better));
            }
        }
    }

    /// The tensor part is the front of the vectors by density, cut by 16, down to the first block that is not dense enough.
    #[test]
    fn sddmm_divides_by_blocks_of_the_densest(entries in patterns(), eta in 1u32..=40) {
        let matrix = LibraSddmm::from_entries_with(&entries.map(|_| 1.0f32), &params(eta, 8, false)).expect("legal");
        for window in 0..entries.rows.div_ceil(8) {
            let blocks = matrix.window_block_ptr[window] as usize..matrix.window_block_ptr[window + 1] as usize;
            let mut order: Vec<(usize, u32)> = vectors(&entries)
                .into_iter()
                .filter(|v| v.0.0 == window as u32)
                .map(|v| (8 - v.1, v.0.1))
                .collect();
            order.sort_unstable();
            let columns: Vec<u32> = order.iter().map(|v| v.1).collect();
            let found = &matrix.block_col[16 * blocks.start..16 * blocks.end];
            let real = found.iter().filter(|&&col| col != PAD).count();
            prop_assert_eq!(&found[..real], &columns[..real]);
            let nnz = |block: &[(usize, u32)]| block.iter().map(|v| 8 - v.0).sum::<usize>();
            for (i, block) in order.chunks(16).enumerate() {
                prop_assert_eq!(i < blocks.len(), nnz(block) >= eta as usize);
            }
        }
    }

    /// The positions of both parts together name every entry of CSR once, and the right one.
    #[test]
    fn positions_lead_back_to_csr(entries in patterns(), eta in 1u32..=128) {
        // The value of an entry is its place.
        let mut places = entries.map(|_| 0.0f64);
        for (place, e) in places.list.iter_mut().enumerate() {
            e.value = place as f64;
        }
        let matrix = LibraSddmm::from_entries_with(&places, &params(eta, 8, false)).expect("legal");
        let pairs = matrix.values.iter().zip(&matrix.position);
        let pairs = pairs.chain(matrix.rest_values.iter().zip(&matrix.rest_position));
        let mut seen = vec![false; entries.list.len()];
        for (&value, &position) in pairs {
            prop_assert_eq!(value, f64::from(position));
            prop_assert!(!std::mem::replace(&mut seen[position as usize], true));
        }
        prop_assert!(seen.iter().all(|&s| s));
    }
}
