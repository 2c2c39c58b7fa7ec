//! Conversions between formats.
//! One binary: each file of tests is a module, listed here.

mod papers;
mod support;

mod iops_formats;
mod libra_threads;
mod paper_formats;
mod paper_loops;
mod rs_tile;
mod structured;
mod tcf_threads;
