//! RSH-SpMM: how long windows are cut, and the numbers that the paper reports of a partition. Which rows form windows is part of the
//! format.

mod balance;
mod pipeline;
mod statistics;

pub use balance::{SEGMENT_BLOCKS, Segment, segments};
pub use pipeline::prologue;
pub use sparse_oracle::format::rs_partition::{
    RsTilePartition, RsTileThresholds, WINDOW, estimate_tau_nnz, partition, recover,
};
pub use statistics::{Statistics, statistics, sweep};
