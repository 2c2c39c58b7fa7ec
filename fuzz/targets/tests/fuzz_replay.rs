//! The fuzz targets on stable: their seeds and crashers through the same functions as libFuzzer calls, and nothing
//! in `fuzz/` that is not in the table.

use sparse_fuzz_targets::{TARGETS, replay, target};
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Seeds and dictionaries are not in the repository: `cargo run -p sparse-fuzz-targets --example fuzz_corpus` writes them.
#[test]
fn seeds_are_small_and_the_same_every_time() {
    replay::seeds_are_small_and_the_same_every_time(&TARGETS);
}

#[test]
fn every_target_accepts_its_share_of_the_seeds() {
    replay::every_target_accepts_its_share_of_the_seeds(&TARGETS);
}

#[test]
fn mangled_seeds_are_no_finding() {
    replay::mangled_seeds_are_no_finding(&TARGETS);
}

#[test]
fn bytes_that_run_out_are_an_input() {
    replay::bytes_that_run_out_are_an_input(&TARGETS);
}

/// Files that made a target fail once, each with its story in a test below.
const CRASHERS: [(&str, &str); 0] = [];

#[test]
fn every_crasher_is_replayed() {
    replay::every_crasher_is_replayed(&TARGETS, &fuzz().join("crashers"), &CRASHERS);
}

#[test]
fn binaries_manifest_and_table_agree() {
    replay::binaries_manifest_and_table_agree(&TARGETS, &fuzz(), &fuzz().join("README.md"));
    assert!(TARGETS.iter().all(|row| target(row.name).map(|found| found.name) == Some(row.name)));
}
