//! What the paper reports of a partition: figure 13 (bytes) and figure 14 (density against the threshold).

use super::{RsTilePartition, RsTileThresholds, WINDOW, partition};
use sparse_oracle::format::{Entries, FormatParams, ImpactRule};

/// Counts of one partition. Averages are over what is there; 0 where nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Stored entries.
    pub nnz: u64,
    /// Windows of the tensor part.
    pub windows: u64,
    /// 8 x 8 blocks.
    pub blocks: u64,
    /// Entries in windows.
    pub tensor_nnz: u64,
    /// Rows of the CUDA part.
    pub residual_rows: u64,
    /// Slots of the CUDA part: rows times the longest of them.
    pub residual_slots: u64,
}

impl Statistics {
    /// Mean entries of a block.
    #[must_use]
    pub fn nnz_per_block(&self) -> f64 {
        ratio(self.tensor_nnz, self.blocks)
    }

    /// Mean entries of a window.
    #[must_use]
    pub fn nnz_per_window(&self) -> f64 {
        ratio(self.tensor_nnz, self.windows)
    }

    /// Share of the entries that the CUDA part holds, 0 to 1.
    #[must_use]
    pub fn cuda_share(&self) -> f64 {
        ratio(self.nnz - self.tensor_nnz, self.nnz)
    }

    /// Bytes of the index arrays as [`RsTileParts`](sparse_oracle::format::RsTileParts) has them. The paper lists neither the
    /// value offsets (4 of the 44 bytes of a block) nor how its kernel does without.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        let windows = 4 * self.windows + 4 * (self.windows + 1);
        let blocks = (8 + 4 + 4 * WINDOW as u64) * self.blocks + 4;
        windows + blocks + 4 * self.residual_rows + 4 * self.residual_slots
    }

    /// Bytes of all arrays with elements of `element` bytes, unused slots included.
    #[must_use]
    pub fn total_bytes(&self, element: u64) -> u64 {
        self.index_bytes() + element * (self.tensor_nnz + self.residual_slots)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Counts a partition of `entries`, which must be valid.
#[must_use]
pub fn statistics<T>(entries: &Entries<T>, partition: &RsTilePartition) -> Statistics {
    let before = |row: u64| entries.list.partition_point(|e| u64::from(e.row) < row);
    let inside = |first: u32, height: u64| {
        let first = u64::from(first);
        &entries.list[before(first)..before(first + height)]
    };
    let mut counts = Statistics {
        nnz: entries.nnz() as u64,
        windows: partition.windows.len() as u64,
        residual_rows: partition.residual.len() as u64,
        ..Statistics::default()
    };
    for &first in &partition.windows {
        let window = inside(first, WINDOW as u64);
        let mut columns: Vec<u32> = window.iter().map(|e| e.col).collect();
        columns.sort_unstable();
        columns.dedup();
        counts.tensor_nnz += window.len() as u64;
        counts.blocks += columns.len().div_ceil(WINDOW) as u64;
    }
    let lengths = partition.residual.iter().map(|&row| inside(row, 1).len() as u64);
    counts.residual_slots = counts.residual_rows * lengths.max().unwrap_or(0);
    counts
}

/// Figure 14: the statistics at each value of `tau_nnz` under one rule, `tau_inc` derived.
#[must_use]
pub fn sweep<T>(entries: &Entries<T>, rule: ImpactRule, taus: &[u32]) -> Vec<Statistics> {
    let at = |&tau: &u32| {
        let params = FormatParams { tau_nnz: Some(tau), impact: rule, ..FormatParams::default() };
        let thresholds = RsTileThresholds::new(entries.rows, entries.nnz(), &params);
        statistics(entries, &partition(entries, &thresholds))
    };
    taus.iter().map(at).collect()
}
