//! RSH-SpMM: how long windows are cut, and the numbers that the paper reports of a partition. Which rows form windows is part of the
//! format.
//!
//! [`segments`] is not what the CUDA kernel of `sparse-kernels` does: that cuts every window after 16 tiles, whatever the others are
//! like, and adds the sums in a fixed order, without atomics. [`prologue`] holds for it, too: it loads tiles of its own chain only.

mod balance;
mod pipeline;
mod statistics;

pub use balance::{SEGMENT_BLOCKS, Segment, segments};
pub use pipeline::prologue;
pub use sparse_oracle::format::rs_partition::{
    RsTilePartition, RsTileThresholds, WINDOW, estimate_tau_nnz, partition, recover,
};
pub use statistics::{Statistics, statistics, sweep};
