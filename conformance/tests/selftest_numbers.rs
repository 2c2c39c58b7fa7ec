//! Seeded bugs in arithmetic: types and roundings, special values, order, width of indices.

mod selftest;

use selftest::sweep;
use sparse_conformance::selftest::Family;

#[test]
fn other_types_than_declared_are_found() {
    sweep(Family::Precision);
}

#[test]
fn lost_and_invented_special_values_are_found() {
    sweep(Family::Special);
}

#[test]
fn other_orders_lost_updates_and_reused_answers_are_found() {
    sweep(Family::Order);
}

#[test]
fn narrow_indices_are_found() {
    sweep(Family::Width);
}
