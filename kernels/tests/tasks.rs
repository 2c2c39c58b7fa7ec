//! Tasks of every kernel on every engine: products, declarations, refusals, boundaries.
//! One binary: each file of tests is a module, listed here.

mod support;

mod boundary;
mod declared;
mod iops_model;
mod moves;
mod products;
mod refusals;
mod rowwise_spgemm;
mod schedule_loops;
