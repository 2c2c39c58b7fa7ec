//! Schedules: who does what in which order, as pure functions of a matrix and a few numbers.
//!
//! They say where the boundary of a hybrid format lies, how work is cut and in which order rows come, as the papers have it and, where
//! a paper is silent, as SEMANTICS.md pins it. A scheduler of yours can be compared with them.
//!
//! Of the kernels in `sparse-kernels`, those for LOOPS (`row_boundary`, the fitted model) and IOPS (partition, tiles, order of
//! psums) are compared with these functions by tests. Its CUDA kernels cut their work in ways of their own and call nothing here: each
//! module says where they differ.

#![forbid(unsafe_code)]

pub mod iops;
pub mod libra;
pub mod loops;
pub mod nm;
pub mod reorder;
pub mod rs_tile;
