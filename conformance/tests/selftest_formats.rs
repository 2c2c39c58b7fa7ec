//! Seeded bugs in the papers' formats: encoders and decoders, kernels over tiles, slips.

mod selftest;

use selftest::sweep;
use sparse_conformance::selftest::Family;

#[test]
fn wrong_encodings_are_found() {
    sweep(Family::Encoding);
}

#[test]
fn wrong_walks_over_tiles_are_found() {
    sweep(Family::Tiles);
}

#[test]
fn slips_of_the_papers_are_found() {
    sweep(Family::Slip);
}
