//! Schedules of the five systems.
//! One binary: each file of tests is a module, listed here. What it shares with the tests of the oracle stands there.

#[path = "../../tests/defects/mod.rs"]
mod defects;
#[path = "../../tests/drawings/mod.rs"]
mod drawings;
#[path = "../../tests/files_shared/mod.rs"]
mod files_shared;
#[path = "../../tests/libra/mod.rs"]
mod libra;
#[path = "../../tests/matrices/mod.rs"]
mod matrices;
#[path = "../../tests/nm_support/mod.rs"]
mod nm_support;

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
