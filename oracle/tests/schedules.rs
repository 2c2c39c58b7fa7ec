//! Schedules of the five systems, and the products that follow from them.
//! One binary: each file of tests is a module, listed here.

mod defects;
mod drawings;
mod files_shared;
mod libra;
mod matrices;
mod nm_support;

mod products_nm;
mod schedule_iops_partition;
mod schedule_iops_psums;
mod schedule_iops_table_x;
mod schedule_iops_tiles;
mod schedule_libra;
mod schedule_libra_balance;
mod schedule_loops;
mod schedule_nm;
mod schedule_nm_packing;
mod schedule_reorder;
mod schedule_reorder_definition;
mod schedule_rs_tile;
mod slips_nm;
