//! The fuzz targets of what the judge reads, on stable: as `fuzz_replay` of `fuzz/targets`, with one's own table.

use sparse_fuzz_judge_targets::TARGETS;
use sparse_fuzz_targets::replay;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Seeds and dictionaries are not in the repository: `cargo run -p sparse-fuzz-judge-targets --example judge_corpus` writes them.
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

/// Files that made a target fail once, each with its story in a test of the code that was wrong.
const CRASHERS: [(&str, &str); 2] =
    [("report_json", "planned-cases-beyond-u64"), ("report_json", "planned-cases-beyond-u64-again")];

#[test]
fn every_crasher_is_replayed() {
    replay::every_crasher_is_replayed(&TARGETS, &fuzz().join("crashers"), &CRASHERS);
}

#[test]
fn binaries_manifest_and_table_agree() {
    replay::binaries_manifest_and_table_agree(&TARGETS, &fuzz().join("judge"), &fuzz().join("README.md"));
}
