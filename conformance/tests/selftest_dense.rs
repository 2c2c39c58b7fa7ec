//! Seeded bugs in kernels with a dense result: loop bounds, the memory of C, factors, operands.

mod selftest;

use selftest::sweep;
use sparse_conformance::selftest::Family;

#[test]
fn loops_that_begin_or_end_in_the_wrong_place_are_found() {
    sweep(Family::Bounds);
}

#[test]
fn what_happens_to_the_memory_of_c_is_found() {
    sweep(Family::Output);
}

#[test]
fn wrong_factors_are_found() {
    sweep(Family::Scaling);
}

#[test]
fn operands_read_in_another_way_are_found() {
    sweep(Family::Operands);
}
