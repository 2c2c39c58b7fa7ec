//! Judging: bounds, refusals, laws that every right result obeys, and the clauses of the semantics.
//! One binary: each file of tests is a module, listed here.

mod judge_support;
mod laws_support;

mod every_test_runs;
mod hardware_declarations;
mod judge_bound;
mod judge_exactness;
mod judge_flush;
mod judge_moves;
mod judge_padding;
mod judge_refusals;
mod judge_screen;
mod judge_sddmm;
mod judge_sheet;
mod judge_soundness;
mod judge_task;
mod judge_unjudged;
mod judge_vacuity;
mod laws_bitwise;
mod laws_definition;
mod laws_formats;
mod laws_libra;
mod laws_linear;
mod laws_order;
mod laws_products;
mod laws_scale;
mod semantics_clauses;
