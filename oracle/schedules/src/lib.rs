//! Schedules: who does what in which order, as pure functions of a matrix and a few numbers.
//!
//! They decide where the boundary of a hybrid format lies, how work is cut and in which order rows come; a kernel's own
//! scheduler is compared with them.

#![forbid(unsafe_code)]

pub mod iops;
pub mod libra;
pub mod loops;
pub mod nm;
pub mod reorder;
pub mod rs_tile;
