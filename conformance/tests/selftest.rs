//! The suite's own bugs: that each is caught.
//! One binary: each file of tests is a module, listed here.

mod selftest_alignment;
mod selftest_catalogue;
mod selftest_comparators;
mod selftest_families;
mod selftest_lines;
mod selftest_score;
