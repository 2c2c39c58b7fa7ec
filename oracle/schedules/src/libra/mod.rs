//! Libra: what goes to the tensor cores and what to the CUDA cores, and what that costs.
//!
//! ```text
//! entries --Profile--> vectors per window --spmm_work, sddmm_work--> Work --CostModel--> cost --tune_*--> eta
//! LibraSpmm, LibraSddmm --Load--> Balance (segments of blocks, tiles of entries, which of them add atomically)
//! launches --occupancy--> one stream or two
//! ```
//!
//! Densities are in 1/128, as the parameter `eta` of the formats: 48 is 0.375. A unit of work goes to the tensor part
//! from `ceil(eta * slots / 128)` entries on, "at least" and not "more than" (slip 4: Algorithm 1 compares the number
//! of entries with `>`, and with the density itself, which would send every vector to the tensor cores; the text and
//! figure 7 say "at least", in entries).
//!
//! Costs are counted, not timed: whole numbers of elements fetched and slots multiplied, for one column of the dense
//! operand (SpMM) or one step of the inner dimension (SDDMM).
//!
//! The kernels of `sparse-kernels` share the distribution with this module, through the formats, and no more. Its CUDA kernels launch
//! both parts at once in one kernel on one stream, so [`Occupancy`] decides nothing there; they cut work by a plan of their own, not by
//! [`Balance`] (no short tiles, no atomics: sums of pieces are added in a fixed order), and take `eta` as given: [`CostModel`] has never
//! been compared with times of a device.

mod balance;
mod occupancy;
mod pieces;
mod profile;
mod reuse;
mod tune;
mod work;

pub use balance::{Balance, BalanceParts, CutLimits, Sharing, Workload};
pub use occupancy::{Grid, Occupancy, OccupancyThresholds, Streams};
pub use profile::{Profile, WindowVectors};
pub use reuse::{Mma, needed_entries};
pub use tune::{CostModel, SDDMM_GRID, SPMM_GRID, Tuned, tune_sddmm, tune_spmm};
pub use work::{UsedUnits, Work, sddmm_work, spmm_work};

/// Rows of a window.
pub const WINDOW: usize = 8;

/// Columns of an SDDMM block.
pub const SDDMM_COLS: usize = 16;

/// Density from which a vector goes to the tensor part of SpMM, in 1/128: 0.375, three entries of eight.
pub const SPMM_ETA: u32 = 48;

/// Density from which a block goes to the tensor part of SDDMM, in 1/128: 0.1875, 24 entries of 128.
pub const SDDMM_ETA: u32 = 24;
