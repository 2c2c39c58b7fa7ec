//! Libra's schedule against numbers worked out by hand: equations (2) to (8), the distribution of a small matrix, the
//! threshold tuner.

use crate::libra;
use sparse_oracle::prelude::*;

use libra::{full_columns, numbered, two_windows};
use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry, FormatParams, LibraSddmm, LibraSpmm, PAD};
use sparse_oracle::{Refusal, RequestError};
use sparse_schedules::libra::{
    CostModel, Grid, Mma, OccupancyThresholds, Profile, SDDMM_ETA, SDDMM_GRID, SPMM_ETA, SPMM_GRID, Streams,
    UsedUnits, Work, needed_entries, sddmm_work, spmm_work, tune_sddmm, tune_spmm,
};

#[test]
fn reuse_and_utilisation_follow_equations_2_to_6() {
    let mma = Mma::K8;
    assert_eq!(mma.spmm_reuse(16), 2.0, "(2): 16 entries in 8 columns");
    assert_eq!(mma.spmm_reuse_of_density(16.0 / 64.0), 2.0, "(3): the same by density");
    assert_eq!(mma.sddmm_reuse(12), 1.0, "(4): break even at (m + n) / 2 entries");
    assert_eq!(mma.sddmm_reuse(24), 2.0);
    assert_eq!(mma.least_spmm_reuse(), 1.0, "(5)");
    assert_eq!(mma.least_sddmm_reuse(), 32.0 / 24.0, "(5): above 1 because m < n");
    assert_eq!(mma.spmm_utilisation(3), 0.375, "(6)");
    assert_eq!(mma.spmm_utilisation(1), 0.125, "the least that section 3.2 names");
    assert_eq!(mma.sddmm_utilisation(24), 0.1875, "(6)");
    assert_eq!(Mma::K16.spmm_reuse(16), 1.0);
    // Tall blocks gain nothing for sure: m = 16, n = 8.
    let tall = Mma::try_new(16, 8, 8).expect("a shape");
    assert!(tall.least_sddmm_reuse() < 1.0);
    for (shape, field) in [((0, 1, 1), "m"), ((1, 0, 1), "n"), ((1, 1, 0), "k")] {
        assert_eq!(
            Mma::try_new(shape.0, shape.1, shape.2),
            Err(Refusal::Request(RequestError::Zero { field }))
        );
    }
}

/// Figure 7 in blocks of 4 x 4: 0.5 is two entries of a vector, 0.25 four of a block.
#[test]
fn thresholds_in_entries_are_those_of_figure_7() {
    assert_eq!(needed_entries(64, 4), Ok(2));
    assert_eq!(needed_entries(32, 16), Ok(4));
    assert_eq!(needed_entries(SPMM_ETA, 8), Ok(3));
    assert_eq!(needed_entries(SDDMM_ETA, 128), Ok(24));
    assert_eq!(needed_entries(1, 8), Ok(1));
    assert_eq!(needed_entries(17, 8), Ok(2));
    assert_eq!(needed_entries(128, u32::MAX), Ok(u32::MAX));
    assert_eq!(needed_entries(0, 8), Err(Refusal::Request(RequestError::Zero { field: "eta" })));
    let too_dense = Refusal::Request(RequestError::TooLarge { field: "eta", found: 129, limit: 128 });
    assert_eq!(needed_entries(129, 8), Err(too_dense));
}

#[test]
fn two_streams_iff_neither_part_fills_the_device() {
    let h100 = OccupancyThresholds::H100_PUBLISHED;
    let grid = |blocks| Grid { launched: [blocks, 1, 1], multiprocessors: 50, resident: 2 };
    let ratio = |blocks| grid(blocks).occupancy().expect("a device");
    assert_eq!(ratio(250).get(), 2.5, "(7)");
    assert_eq!(h100.normalised(ratio(391), ratio(0)), (1.0, 0.0), "(8)");
    for (tensor, cuda, streams) in [
        (390, 3826, Streams::Multi),
        (391, 0, Streams::Sequential),
        (0, 3827, Streams::Sequential),
        (390, 3827, Streams::Sequential),
        (391, 3826, Streams::Sequential),
        (0, 0, Streams::Multi),
    ] {
        assert_eq!(h100.streams(ratio(tensor), ratio(cuda)), streams, "{tensor} and {cuda} blocks");
    }
    // A device of its own thresholds, and the largest grid there is.
    let own = OccupancyThresholds::try_new(2.0, 2.0).expect("positive");
    assert_eq!(own.streams(ratio(199), ratio(199)), Streams::Multi);
    assert_eq!(own.streams(ratio(199), ratio(200)), Streams::Sequential);
    let largest = Grid { launched: [u32::MAX; 3], ..grid(0) };
    assert!(largest.occupancy().expect("a device").get() > 7e26);
    let none = Grid { multiprocessors: 0, ..grid(1) };
    assert_eq!(none.occupancy(), Err(Refusal::Request(RequestError::Zero { field: "multiprocessors" })));
    let none = Grid { resident: 0, ..grid(1) };
    assert_eq!(none.occupancy(), Err(Refusal::Request(RequestError::Zero { field: "resident" })));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            OccupancyThresholds::try_new(bad, 1.0).is_err()
                && OccupancyThresholds::try_new(1.0, bad).is_err()
        );
    }
}

/// Vectors of 3, 2, 2, 1, 1, 1 entries in the first window, of 1 and 1 in the second, which has two rows.
#[test]
fn work_of_two_windows() {
    let profile = Profile::of(&two_windows()).expect("sorted");
    assert_eq!((profile.nnz(), profile.vectors(), profile.windows().len()), (12, 8, 2));
    assert_eq!(profile.windows()[0].vectors, [3, 2, 1, 0, 0, 0, 0, 0]);
    assert_eq!((profile.windows()[1].window, profile.windows()[1].rows), (1, 2));
    assert_eq!(profile.single_entry_ratio(), Some(5.0 / 8.0));
    let spmm = |mode, fill| spmm_work(&profile, mode, 4, fill).expect("legal");
    let hybrid = UsedUnits::Hybrid { eta: 48 };
    let work = |nnz: (u64, u64), blocks, slots, access: (u64, u64)| Work {
        tensor_nnz: nnz.0,
        cuda_nnz: nnz.1,
        tensor_blocks: blocks,
        tensor_slots: slots,
        tensor_access: access.0,
        cuda_access: access.1,
    };
    assert_eq!(spmm(hybrid, false), work((3, 9), 1, 32, (1, 9)));
    assert_eq!(spmm(hybrid, true), work((8, 4), 1, 32, (4, 4)));
    assert_eq!(spmm(UsedUnits::TensorOnly, false), work((12, 0), 3, 96, (8, 0)));
    assert_eq!(spmm(UsedUnits::CudaOnly, true), work((0, 12), 0, 0, (0, 12)));
    let filled = spmm(hybrid, true);
    assert_eq!((filled.utilisation(), filled.access()), (Some(0.25), 8));
    assert_eq!(filled.tensor_share(), Some(8.0 / 12.0));
    assert_eq!(spmm(UsedUnits::CudaOnly, true).utilisation(), None);
    let sddmm = |mode| sddmm_work(&profile, mode).expect("legal");
    assert_eq!(sddmm(UsedUnits::Hybrid { eta: 10 }), work((10, 2), 1, 128, (8 + 6, 4)));
    assert_eq!(sddmm(UsedUnits::Hybrid { eta: 11 }), work((0, 12), 0, 0, (0, 24)));
    assert_eq!(sddmm(UsedUnits::TensorOnly), work((12, 0), 2, 256, (14 + 4, 0)));
    let refused = spmm_work(&profile, hybrid, 5, false);
    assert!(matches!(refused, Err(Refusal::Request(RequestError::Parameter { field: "kb", found: 5, .. }))));
    assert!(spmm_work(&profile, UsedUnits::Hybrid { eta: 0 }, 8, false).is_err());
    assert!(sddmm_work(&profile, UsedUnits::Hybrid { eta: 129 }).is_err());
    let nothing = Profile::of(&numbered(5, 5, &[])).expect("empty");
    assert_eq!(nothing.single_entry_ratio(), None);
    let nothing = spmm_work(&nothing, hybrid, 8, true).expect("legal");
    assert_eq!((nothing, nothing.tensor_share()), (Work::default(), None));
}

#[test]
fn a_tall_matrix_has_a_small_profile() {
    let profile = Profile::of(&numbered(u32::MAX as usize, 1, &[(0, 0), (u32::MAX - 1, 0)])).expect("sorted");
    assert_eq!(profile.windows().len(), 2);
    assert_eq!((profile.windows()[1].window, profile.windows()[1].rows), (0x1fff_ffff, 7));
}

/// Columns with these numbers of entries, from the top of one window.
fn columns(counts: &[u32]) -> Entries<f32> {
    let mut positions: Vec<(u32, u32)> = Vec::new();
    for (col, &count) in (0u32..).zip(counts) {
        positions.extend((0..count).map(|row| (row, col)));
    }
    positions.sort_unstable();
    numbered(8, counts.len(), &positions)
}

fn tuned(counts: &[u32]) -> (u32, u128) {
    let profile = Profile::of(&columns(counts)).expect("sorted");
    let found = tune_spmm(&profile, &CostModel::PUBLISHED_OPTIMA, 4, false).expect("kb is 4");
    (found.eta, found.cost)
}

/// A full block of 4 columns costs 4 * 5 + 32 = 52 on tensor cores, an entry 6 on CUDA cores.
#[test]
fn the_tuner_finds_the_published_threshold_of_spmm_where_blocks_are_full() {
    assert_eq!(
        tuned(&[2; 4]),
        (48, 48),
        "8 entries are cheaper on CUDA cores; the first threshold that says so"
    );
    assert_eq!(tuned(&[3; 4]), (16, 52), "12 are not; equal costs go to the smallest");
    let every: Vec<u32> = (1..=8).flat_map(|nnz| [nnz; 4]).collect();
    let profile = Profile::of(&columns(&every)).expect("sorted");
    let found = tune_spmm(&profile, &CostModel::PUBLISHED_OPTIMA, 4, false).expect("kb is 4");
    assert_eq!(found.eta, SPMM_ETA);
    assert_eq!(found.tried.map(|t| t.0), SPMM_GRID);
    // Six blocks, and the 4 + 8 entries of the two sparsest densities.
    assert_eq!(found.cost, 6 * 52 + 12 * 6);
    assert_eq!(found.tried[0].1, 8 * 52);
    assert_eq!(found.tried[7].1, 52 + 28 * 4 * 6);
    assert!(tune_spmm(&profile, &CostModel::PUBLISHED_OPTIMA, 6, false).is_err());
}

/// One window for each number of entries, in 16 columns.
fn blocks_of(counts: &[u32]) -> Entries<f32> {
    let mut list = Vec::new();
    for (window, &count) in (0u32..).zip(counts) {
        list.extend((0..count).map(|i| Entry { row: 8 * window + i / 16, col: i % 16, value: 1.0 }));
    }
    Entries::try_new(8 * counts.len(), 16, list).expect("sorted")
}

/// A full block costs (8 + 16) * 5 + 128 = 248 on tensor cores, an entry 11 on CUDA cores: 22 cost less, 23 more.
#[test]
fn the_tuner_finds_the_published_threshold_of_sddmm_where_blocks_are_full() {
    let tuned = |counts: &[u32]| {
        let profile = Profile::of(&blocks_of(counts)).expect("sorted");
        tune_sddmm(&profile, &CostModel::PUBLISHED_OPTIMA).expect("the grid is legal")
    };
    assert_eq!((tuned(&[23]).eta, tuned(&[23]).cost), (8, 248));
    assert_eq!((tuned(&[22]).eta, tuned(&[22]).cost), (24, 22 * 11));
    let mixed = tuned(&[16, 20, 22, 24, 28, 32, 64]);
    assert_eq!((mixed.eta, mixed.cost), (SDDMM_ETA, (16 + 20 + 22) * 11 + 4 * 248));
    assert_eq!(mixed.tried.map(|t| t.0), SDDMM_GRID);
}

/// The model rewards what it is told to: dear fetches favour tensor cores, dear slots CUDA cores.
#[test]
fn the_tuner_follows_its_weights() {
    let profile = Profile::of(&columns(&[2; 4])).expect("sorted");
    let eta = |access, tensor_slot| {
        let model = CostModel { access, tensor_slot, cuda_entry: 1 };
        tune_spmm(&profile, &model, 4, false).expect("kb is 4").eta
    };
    assert_eq!((eta(100, 1), eta(1, 100)), (16, 48));
    let largest = CostModel { access: u32::MAX, tensor_slot: u32::MAX, cuda_entry: u32::MAX };
    let work = spmm_work(&profile, UsedUnits::CudaOnly, 8, false).expect("legal");
    assert_eq!(largest.cost(&work), 16 * u128::from(u32::MAX));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What is counted from densities alone is what the encoders do.
    #[test]
    fn work_is_that_of_the_encodings(
        cells in prop::collection::btree_set((0u32..30, 0u32..30), 0..=400),
        eta in 1u32..=128,
        kb in 0usize..3,
        fill in any::<bool>(),
    ) {
        let cells: Vec<_> = cells.into_iter().collect();
        let list = cells.iter().map(|&(row, col)| Entry { row, col, value: 1.0f32 });
        let entries = Entries::try_new(30, 30, list.collect()).expect("a set is sorted");
        let profile = Profile::of(&entries).expect("sorted");
        let kb = [4, 8, 16][kb];
        let params = FormatParams { eta: Some(eta), kb, fill, ..FormatParams::default() };
        let hybrid = UsedUnits::Hybrid { eta };
        let m = LibraSpmm::from_entries_with(&entries, &params).expect("legal");
        let real = |columns: &[u32]| columns.iter().filter(|&&col| col != PAD).count() as u64;
        prop_assert_eq!(spmm_work(&profile, hybrid, kb, fill), Ok(Work {
            tensor_nnz: m.values.len() as u64,
            cuda_nnz: m.col_idx.len() as u64,
            tensor_blocks: m.blocks() as u64,
            tensor_slots: (8 * m.block_col.len()) as u64,
            tensor_access: real(&m.block_col),
            cuda_access: m.col_idx.len() as u64,
        }));
        let m = LibraSddmm::from_entries_with(&entries, &params).expect("legal");
        // The last of the four windows has 6 rows.
        let rows: u64 = (0..4).map(|w| u64::from(m.window_block_ptr[w + 1] - m.window_block_ptr[w]) * [8, 8, 8, 6][w]).sum();
        prop_assert_eq!(sddmm_work(&profile, hybrid), Ok(Work {
            tensor_nnz: m.values.len() as u64,
            cuda_nnz: m.col_idx.len() as u64,
            tensor_blocks: m.blocks() as u64,
            tensor_slots: 128 * m.blocks() as u64,
            tensor_access: rows + real(&m.block_col),
            cuda_access: 2 * m.col_idx.len() as u64,
        }));
        // One resource alone: everything on it, and no other mode fetches more than CUDA cores do in SpMM.
        let cuda = spmm_work(&profile, UsedUnits::CudaOnly, kb, fill).expect("legal");
        let tensor = spmm_work(&profile, UsedUnits::TensorOnly, kb, fill).expect("legal");
        prop_assert_eq!((cuda.tensor_blocks, cuda.cuda_nnz), (0, profile.nnz()));
        prop_assert_eq!((tensor.cuda_nnz, tensor.tensor_access), (0, profile.vectors()));
        let access = spmm_work(&profile, hybrid, kb, fill).expect("legal").access();
        prop_assert!(tensor.access() <= access && access <= cuda.access());
    }
}

/// A distribution keeps denser vectors: the tensor part of a hybrid is used better than that of tensor cores alone.
#[test]
fn hybrid_raises_utilisation_and_lowers_access() {
    let profile = Profile::of(&full_columns(16)).expect("sorted");
    let work = |mode| spmm_work(&profile, mode, 8, false).expect("legal");
    let (hybrid, tensor, cuda) =
        (work(UsedUnits::Hybrid { eta: SPMM_ETA }), work(UsedUnits::TensorOnly), work(UsedUnits::CudaOnly));
    assert_eq!((hybrid.utilisation(), tensor.utilisation()), (Some(1.0), Some(129.0 / 192.0)));
    assert_eq!((hybrid.access(), tensor.access(), cuda.access()), (17, 17, 129));
}
