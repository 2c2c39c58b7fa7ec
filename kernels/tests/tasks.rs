//! Tasks of every kernel on every engine: products, declarations, refusals, boundaries.
//! One binary: each file of tests is a module, listed here.

mod support;

mod boundary;
mod declared;
mod iops_counters;
mod iops_dataflows;
mod iops_kernels;
mod iops_partition;
mod iops_refusals;
mod iops_support;
mod iops_tiling;
mod loops_machine;
mod loops_split;
mod moves;
mod products;
mod refusals;
mod registry;
mod rowwise_spgemm;
mod schedule_loops;
