//! Formats: layouts, round trips, refusals, pruning.
//! One binary: each file of tests is a module, listed here.

mod defects;
mod drawings;
mod files_shared;
mod libra;
mod matrices;
mod nm_support;

mod formats_approximate;
mod formats_corruption;
mod formats_cross;
mod formats_duplicates;
mod formats_iops;
mod formats_layout;
mod formats_layout_loops;
mod formats_libra;
mod formats_libra_params;
mod formats_limits;
mod formats_mma_sp;
mod formats_nm;
mod formats_refusals_compressed;
mod formats_refusals_iops;
mod formats_refusals_libra;
mod formats_refusals_loops;
mod formats_refusals_nm;
mod formats_refusals_padded;
mod formats_refusals_rs_tile;
mod formats_refusals_sr_bcrs;
mod formats_refusals_tcf;
mod formats_round_trip;
mod formats_rs_tile;
mod formats_slips_loops;
mod formats_tcf;
mod formats_two_four;
mod formats_two_four_recorded;
mod products_nm;
mod prune_nm;
