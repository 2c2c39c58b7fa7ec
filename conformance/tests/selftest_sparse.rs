//! Seeded bugs in SDDMM and sparse results, and backends that misbehave.

mod selftest;

use selftest::sweep;
use sparse_conformance::selftest::Family;

#[test]
fn sddmm_bugs_are_found() {
    sweep(Family::Sddmm);
}

#[test]
fn wrong_sparse_results_are_found() {
    sweep(Family::Sparse);
}

#[test]
fn misbehaviour_is_found() {
    sweep(Family::Conduct);
}
